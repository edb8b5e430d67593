// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package loadbalance

import (
	"context"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/cloudwego/kitex/pkg/rpcinfo"

	"github.com/fairway-rpc/fairway/internal/fault"
	"github.com/fairway-rpc/fairway/internal/pick"
)

// TagFilter keeps calls to the instances that have a tag of a certain value. Either
// Value or Of says which.
type TagFilter struct {
	// Key is the instances' tag.
	Key string
	// Value is the same for all calls.
	Value string
	// Of reads the value from a call, for each pick and concurrently, as the key
	// function of [WithKey] does. A call that it returns "" for is not filtered.
	// [CallTag] makes such a function.
	Of func(ctx context.Context, request any) string
	// Preferred filters let a call pass when no instance with the value can be
	// picked. Without it the pick fails with [ErrNoneInSubset].
	Preferred bool
}

// maxFilters bounds the number of groups, which is that of the combinations of
// values that instances have, with and without each filter.
const maxFilters = 4

// WithTagFilter adds a filter before the policy. Instances are grouped by their
// values when the list changes, so that a filter costs a pick one lookup. Filters
// apply in the order in which they are given, at most four of them. Selectors
// ignore them.
func WithTagFilter(filter TagFilter) Option {
	return optionFunc(func(c *config) error {
		switch {
		case filter.Key == "":
			return fault.Invalid("WithTagFilter", "the filter has no key")
		case (filter.Value == "") == (filter.Of == nil):
			return fault.Invalid("WithTagFilter", "the filter of tag %q needs either a Value or a function Of", filter.Key)
		case len(c.filters) == maxFilters:
			return fault.Invalid("WithTagFilter", "there are %d filters already", maxFilters)
		}
		c.filters = append(c.filters, filter)
		return nil
	})
}

// wish is the value that the call wants, "" for none.
func (f *TagFilter) wish(ctx context.Context, request any) string {
	if f.Of == nil {
		return f.Value
	}
	return f.Of(ctx, request)
}

// CallTag makes a function for [TagFilter] of a tag of the call, as Kitex's
// client.WithTag and callopt.WithTag set it.
func CallTag(key string) func(ctx context.Context, request any) string {
	return func(ctx context.Context, _ any) string {
		info := rpcinfo.GetRPCInfo(ctx)
		if info == nil || info.To() == nil {
			return ""
		}
		return pick.CallTag(info.To(), pick.Failed(info.To()), key)
	}
}

// zone is where calls should stay.
type zone struct{ tag, name string }

// WithZone keeps calls to the instances whose tag has the zone's name, after the
// filters, as long as the zone has enough weight: while what its instances weigh
// in effect is at least seven tenths of what they are registered with, drained
// ones included, all calls stay. Below that the missing part of the seven tenths
// goes to the other instances, in proportion: half of the calls at 35 per cent.
// A zone without instances gets no calls, and one that is all there is gets all
// of them. A retry leaves the zone rather than repeat an instance.
func WithZone(tag, name string) Option {
	return optionFunc(func(c *config) error {
		if tag == "" || name == "" {
			return fault.Invalid("WithZone", "the tag %q or the name %q is empty", tag, name)
		}
		c.zone = zone{tag, name}
		return nil
	})
}

// WithSubset has this process use so many of the instances only, for services so
// large that connections to all of them cost too much. Which ones depends on the
// caller's name and the addresses alone, so that one instance that joins or leaves
// changes one place at most, and all callers together use all instances alike. It
// applies within each filter's value and zone. An empty name means this process:
// its address, host and number.
func WithSubset(size int, caller string) Option {
	return optionFunc(func(c *config) error {
		if size < 1 {
			return fault.Invalid("WithSubset", "%d is not above 0", size)
		}
		if caller == "" {
			host, _ := os.Hostname() // the rest has to do
			caller = fmt.Sprint(ownAddress(), "/", host, "/", os.Getpid())
		}
		c.subsetSize, c.subsetCaller = size, caller
		return nil
	})
}

// MaxAffinityKeys is the number of keys whose instances a service remembers under
// [WithAffinity]. The least recently used ones are forgotten first.
const MaxAffinityKeys = 100_000

// WithAffinity keeps a key of the call, such as a session's, with the instance
// that the policy has picked for it, for a time from then on, on top of any
// policy. If the instance drains, leaves, is set aside or has just failed the
// attempt, another is picked at once and kept from then on. The key function is
// that of [WithKey]; an empty key means no affinity. Keys are forgotten when the
// service is not used for a minute. A pick holds one of sixteen mutexes for O(1).
func WithAffinity(key func(ctx context.Context, request any) string, keep time.Duration) Option {
	return optionFunc(func(c *config) error {
		switch {
		case key == nil:
			return fault.Invalid("WithAffinity", "the function is nil")
		case keep <= 0:
			return fault.Invalid("WithAffinity", "%v is not above 0", keep)
		}
		c.affinityKey, c.affinityTime = key, keep
		return nil
	})
}

// divides reports whether instances are grouped.
func (c *config) divides() bool {
	return len(c.filters) > 0 || c.zone.name != "" || c.subsetSize > 0
}

// enough is the part of its registered weight at which a zone keeps all calls.
const enough = 0.7

// nearShare is the part of the calls that stay in a zone, in 2^64ths.
func nearShare(near []*candidate) uint64 {
	registered, effective := 0., 0.
	for _, c := range near {
		registered += float64(c.weight)
		effective += c.effective()
	}
	if registered == 0 {
		return 0
	}
	share := effective / registered / enough
	if share >= 1-1e-12 {
		return math.MaxUint64
	}
	return uint64(share * (1 << 32) * (1 << 32))
}

// tagIs names one step of a path. The value is quoted, or a tag with a comma might
// name another group.
func tagIs(key, value string) string { return key + "=" + strconv.Quote(value) }

// pathOf names a group: the filters that it went through.
func pathOf(path []string) string { return strings.Join(path, ",") }
