// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package discovery

import (
	"cmp"
	"iter"
	"maps"
	"net"
	"slices"
	"time"

	kdiscovery "github.com/cloudwego/kitex/pkg/discovery"
	"github.com/cloudwego/kitex/pkg/utils"
)

var _ kdiscovery.Instance = (*Instance)(nil)

// Instance is one provider of a service as a consumer sees it: what the
// provider registered, overridden by the operator's rules (see [Rule]). It is
// immutable. It implements Kitex's discovery.Instance.
type Instance struct {
	addr      net.Addr
	id        string
	state     InstanceState
	weight    int
	startedAt time.Time
	warmUp    time.Duration
	ttl       time.Duration
	suspect   bool
	tags      []tag // sorted by key: a tenth of a map's memory, and few
}

type tag struct{ key, value string }

func newInstance(r *record) *Instance {
	i := &Instance{
		addr:      utils.NewNetAddr(r.Network, r.Address),
		id:        r.Instance,
		state:     r.State,
		weight:    int(r.weight()),
		startedAt: r.StartedAt,
		warmUp:    time.Duration(r.WarmUp),
		ttl:       time.Duration(r.TTL),
		tags:      make([]tag, 0, len(r.Tags)),
	}
	for _, key := range slices.Sorted(maps.Keys(r.Tags)) {
		i.tags = append(i.tags, tag{key, r.Tags[key]})
	}
	return i
}

// Address implements Kitex's discovery.Instance.
func (i *Instance) Address() net.Addr { return i.addr }

// Weight is the effective weight: the configured one while the instance
// serves, otherwise 0. An instance of weight 0 gets no calls.
func (i *Instance) Weight() int {
	if i.state != StateServing {
		return 0
	}
	return i.weight
}

// BaseWeight is the configured weight, whatever the state: the one that a rule
// sets, otherwise the one that the provider registered. Hashes place the
// instance by it, so that draining moves no other instance's keys.
func (i *Instance) BaseWeight() int { return i.weight }

// State is the one that a rule sets, otherwise what the instance says of itself.
func (i *Instance) State() InstanceState { return i.state }

// Suspect reports whether the instance vanished from etcd without a word and is
// held by the guard (see [Guard]).
func (i *Instance) Suspect() bool { return i.suspect }

// StartedAt is when the provider says that it started; zero if it does not say.
func (i *Instance) StartedAt() time.Time { return i.startedAt }

// WarmUp is the time over which the provider wants its weight to grow.
func (i *Instance) WarmUp() time.Duration { return i.warmUp }

// Tag implements Kitex's discovery.Instance.
func (i *Instance) Tag(key string) (value string, exist bool) {
	at, found := slices.BinarySearchFunc(i.tags, key, func(t tag, key string) int {
		return cmp.Compare(t.key, key)
	})
	if !found {
		return "", false
	}
	return i.tags[at].value, true
}

// Tags yields the tags ordered by key.
func (i *Instance) Tags() iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		for _, t := range i.tags {
			if !yield(t.key, t.value) {
				return
			}
		}
	}
}

// String is for logs and Kitex's dumps.
func (i *Instance) String() string { return i.addr.String() }

// same reports whether nothing that a consumer can see differs.
func (i *Instance) same(o *Instance) bool {
	return i == o || i.addr.Network() == o.addr.Network() && i.addr.String() == o.addr.String() &&
		i.id == o.id && i.state == o.state && i.weight == o.weight && i.suspect == o.suspect && i.ttl == o.ttl &&
		i.startedAt.Equal(o.startedAt) && i.warmUp == o.warmUp && slices.Equal(i.tags, o.tags)
}
