// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package discovery

import (
	"fmt"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/fairway-rpc/fairway/internal/fault"
)

// DefaultPrefix is the etcd prefix under which services live by default.
const DefaultPrefix = "fairway"

// keyspace builds the keys of one prefix:
//
//	<prefix>/<service>/<path-escaped address>         an instance's record
//	<prefix>/_rules/<service>/<path-escaped address>  the operator's rule for it
//	<prefix>/_rules/<service>/*                       the one for all its instances
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

// allRules is the prefix of the rules of all services. No service's name
// starts with "_", so that it is nobody's.
func (k keyspace) allRules() string { return k.prefix + "/_rules/" }

// rules is the prefix of all rules of a service. It ends with a slash.
func (k keyspace) rules(service string) string { return k.allRules() + service + "/" }

// rule is the key of one rule. The star stays as it is: url.PathEscape would
// make it %2A, which nobody would type into etcdctl.
func (k keyspace) rule(service, address string) string {
	if address == AllAddresses {
		return k.rules(service) + AllAddresses
	}
	return k.rules(service) + url.PathEscape(address)
}

// ruleAddress takes the key of a rule apart. It accepts none but what rule
// makes, so that no two keys are about one address; errors wrap
// ErrInvalidRecord and leave what could be read.
func (k keyspace) ruleAddress(key string) (service, address string, err error) {
	service, segment, _ := strings.Cut(strings.TrimPrefix(key, k.allRules()), "/")
	if address, err = url.PathUnescape(segment); err == nil {
		err = k.checkRuleKey(key, service, address)
	}
	if err != nil {
		return service, "", fmt.Errorf("%w: key %q: %w", ErrInvalidRecord, key, err)
	}
	return service, address, nil
}

func (k keyspace) checkRuleKey(key, service, address string) error {
	if CheckServiceName(service) != nil {
		return fmt.Errorf("%q is no service's name", service)
	}
	if canonical := k.rule(service, address); key != canonical {
		return fmt.Errorf("the key of that rule is %q", canonical)
	}
	return checkRuleAddress(address)
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
