// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package discovery

import (
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/fairway-rpc/fairway/internal/fault"
)

// DefaultPrefix is the etcd prefix under which services live by default.
const DefaultPrefix = "fairway"

// keyspace builds the keys of one prefix:
//
//	<prefix>/<service>/<path-escaped address>
//
// Keys are relative, so that a client wrapped by clientv3/namespace works.
type keyspace struct{ prefix string }

func newKeyspace(prefix string) (keyspace, error) {
	trimmed := strings.TrimRight(prefix, "/")
	if trimmed == "" {
		return keyspace{}, fault.Invalid("WithPrefix", "prefix %q has no characters but slashes; give a name such as %q", prefix, DefaultPrefix)
	}
	if strings.ContainsFunc(trimmed, isControl) {
		return keyspace{}, fault.Invalid("WithPrefix", "prefix %q has control characters", prefix)
	}
	return keyspace{prefix: trimmed}, nil
}

func isControl(r rune) bool { return r < ' ' || r == 0x7f }

// service is the prefix of all keys of a service. It ends with a slash, so
// that "echo" never sees "echo2".
func (k keyspace) service(name string) string { return k.prefix + "/" + name + "/" }

// instance is the key of one instance. The address is escaped, since a Unix
// socket's has slashes.
func (k keyspace) instance(service, address string) string {
	return k.service(service) + url.PathEscape(address)
}

// maxServiceName keeps names usable as file names with room for a suffix.
const maxServiceName = 200

// CheckServiceName refuses names that are not of letters, digits and ._-:@, start
// with "_", or are empty or over 200 bytes long: they could leave their place
// among the keys. The error wraps [ErrInvalidConfig].
func CheckServiceName(name string) error {
	switch {
	case name == "":
		return fault.Invalid("service name", "it is empty")
	case len(name) > maxServiceName:
		return fault.Invalid("service name", "%d characters are more than %d", len(name), maxServiceName)
	case name[0] == '_':
		return fault.Invalid("service name", "%q starts with '_', which is kept for Fairway's own keys", name)
	}
	if i := strings.IndexFunc(name, notInServiceName); i >= 0 {
		return fault.Invalid("service name", "%q has %q at position %d; use letters, digits and . _ - : @", name, firstRune(name[i:]), i)
	}
	return nil
}

func firstRune(s string) rune {
	r, _ := utf8.DecodeRuneInString(s)
	return r
}

func notInServiceName(r rune) bool {
	switch {
	case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9':
		return false
	}
	return !strings.ContainsRune("._-:@", r)
}
