// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package loadbalance

import (
	"errors"
	"testing"
	"time"

	kdiscovery "github.com/cloudwego/kitex/pkg/discovery"

	"github.com/fairway-rpc/fairway/internal/pick"
)

// closing is a balancer whose picks fail where all are ejected, with its service.
func closing(t *testing.T, res kdiscovery.Result, opts ...Option) (*Balancer, *service) {
	t.Helper()
	b := observed(t, RoundRobin, opts...)
	if err := b.Eject(Ejection{FailClosed: true, MaxShare: 1}); err != nil {
		t.Fatal(err)
	}
	_, _ = picked(t.Context(), b, res)
	s := b.core.find(res.CacheKey)
	t.Cleanup(s.end)
	return b, s
}

// shut makes an instance unhealthy, as a report of a check does.
func shut(s *service, address string) { s.reported(address, false, errors.New("ill")) }

// noConnection sets an instance aside, which closes nothing.
func noConnection(s *service, address string) { s.nodes[address].failed(pick.NoConnection, false) }

// TestClosedGroupStaysClosed whatever is the matter with the other groups.
func TestClosedGroupStaysClosed(t *testing.T) {
	res := versioned("v1", "v2")
	b, s := closing(t, res, WithTagFilter(TagFilter{Key: "version", Of: wishOf}))
	v1 := wish(t.Context(), "v1")
	shut(s, "i0:80")
	isClosed := func() bool {
		_, err := picked(v1, b, res)
		return errors.Is(err, ErrAllEjected)
	}
	waitFor(t, "the group is closed", isClosed)
	noConnection(s, "i1:80")
	waitFor(t, "everybody is out", func() bool { return s.table.Load().allAside })
	if got, err := picked(v1, b, res); !errors.Is(err, ErrAllEjected) {
		t.Errorf("picked %v, %v: v1 is unhealthy", got, err)
	}
	if got, err := picked(wish(t.Context(), "v2"), b, res); err != nil {
		t.Errorf("picked %v, %v: v2 may be tried", got, err)
	}
}

// TestClosedZoneGivesCallsAway to a zone whose instances may be tried.
func TestClosedZoneGivesCallsAway(t *testing.T) {
	res := taggedResult(tagged{weight: 1, zone: "a"}, tagged{weight: 1, zone: "b"})
	b, s := closing(t, res, WithZone("zone", "a"))
	shut(s, "i0:80")
	noConnection(s, "i1:80")
	waitFor(t, "everybody is out", func() bool { return s.table.Load().allAside })
	if got, err := picked(t.Context(), b, res); err != nil || got.Address().String() != "i1:80" {
		t.Errorf("picked %v, %v, want i1", got, err)
	}
}

// TestClosesAndOpensWithoutAnotherList: what is out stays out, but for another
// reason.
func TestClosesAndOpensWithoutAnotherList(t *testing.T) {
	for name, opts := range map[string][]Option{"one group": nil, "groups": {WithZone("zone", "a")}} {
		t.Run(name, func(t *testing.T) {
			res := taggedResult(tagged{weight: 1, zone: "a"}, tagged{weight: 1, zone: "a"})
			b, s := closing(t, res, opts...)
			shut(s, "i0:80")
			noConnection(s, "i1:80")
			waitFor(t, "everybody is out", func() bool { return s.table.Load().allAside })
			if _, err := picked(t.Context(), b, res); err != nil {
				t.Errorf("%v: i1 may be tried", err)
			}
			shut(s, "i1:80")
			waitFor(t, "picks fail", func() bool {
				_, err := picked(t.Context(), b, res)
				return errors.Is(err, ErrAllEjected)
			})
			s.reported("i1:80", true, nil)
			waitFor(t, "i1 may be tried again", func() bool {
				_, err := picked(t.Context(), b, res)
				return err == nil
			})
		})
	}
}

// TestAffinityWhileAllAreOut: calls go to all then, and those of one key to one.
func TestAffinityWhileAllAreOut(t *testing.T) {
	for _, observe := range []bool{true, false} {
		b := mustNew(t, RoundRobin, WithAffinity(wishOf, time.Hour))
		if observe {
			b = b.Observed(nil)
		}
		res := result("r", 1, 1, 1)
		ctx := wish(t.Context(), "session")
		_ = call(ctx, b, res)
		s := b.core.find("r")
		for address := range s.nodes {
			shut(s, address)
		}
		waitFor(t, "everybody is out", func() bool { return s.table.Load().allAside })
		counts := map[string]int{}
		for range 10 {
			counts[call(ctx, b, res)]++
		}
		if len(counts) != 1 || counts[""] > 0 {
			t.Errorf("the session went to %v", counts)
		}
		s.end()
	}
}
