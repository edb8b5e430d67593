// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package loadbalance

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	kdiscovery "github.com/cloudwego/kitex/pkg/discovery"
	"github.com/cloudwego/kitex/pkg/rpcinfo"

	"github.com/fairway-rpc/fairway/internal/live"
	"github.com/fairway-rpc/fairway/internal/pick"
)

// network stands for Kitex's resolver middleware and what is below it: some
// addresses refuse connections, and a call is tried up to six times.
type network struct {
	lb    *Balancer
	res   kdiscovery.Result
	suite bool          // the instance middleware tells outcomes
	hang  time.Duration // how long a dial to a dead address takes

	mu    sync.Mutex
	dead  map[string]bool
	dials map[string][]time.Time
	calls map[string]int
}

func newNetwork(lb *Balancer, res kdiscovery.Result, suite bool) *network {
	if suite {
		lb = lb.Observed(nil)
	}
	return &network{lb: lb, res: res, suite: suite, dead: map[string]bool{}, dials: map[string][]time.Time{}, calls: map[string]int{}}
}

func (n *network) set(dead bool, addresses ...string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, a := range addresses {
		n.dead[a] = dead
	}
}

// reach dials an address and reports whether it answered.
func (n *network) reach(address string) bool {
	n.mu.Lock()
	n.dials[address] = append(n.dials[address], time.Now())
	dead := n.dead[address]
	if !dead {
		n.calls[address]++
	}
	n.mu.Unlock()
	if dead && n.hang > 0 {
		time.Sleep(n.hang) // in the bubble's time
	}
	return !dead
}

// call returns who answered, "" if nobody did within six tries.
func (n *network) call(ctx context.Context) string {
	ctx = attempt(ctx, nil, nil)
	var own *pick.Attempt
	if n.suite {
		own = pick.Begin(ctx)
		ctx = own
	}
	for range 6 {
		p := n.lb.GetPicker(n.res)
		instance := p.Next(ctx, nil)
		if instance == nil {
			return ""
		}
		ok := n.reach(instance.Address().String())
		if own != nil {
			n.tell(own, ok)
		}
		recycle(p)
		if ok {
			return instance.Address().String()
		}
		setFailed(ctx, instance)
	}
	return ""
}

func (n *network) tell(a *pick.Attempt, ok bool) {
	o := pick.NoConnection
	if ok {
		o = pick.Answered
	}
	a.Picked.Done(o, 0, a.Aside)
}

// run has callers call for a while, each forty times a second, and returns how
// many calls nobody answered.
func (n *network) run(ctx context.Context, callers int, span time.Duration) (failed int) {
	var all sync.WaitGroup
	var mu sync.Mutex
	for c := range callers {
		all.Go(func() {
			began := time.Now()
			time.Sleep(time.Duration(c) * 100 * time.Microsecond)
			for i := 0; time.Since(began) < span; i++ {
				if n.call(withKey(ctx, fmt.Sprint(c, i%50))) == "" {
					mu.Lock()
					failed++
					mu.Unlock()
				}
				time.Sleep(25 * time.Millisecond)
			}
		})
	}
	all.Wait()
	return failed
}

// take returns the dials to an address since the last time, and forgets them.
func (n *network) take(address string) []time.Time {
	n.mu.Lock()
	defer n.mu.Unlock()
	dials := n.dials[address]
	delete(n.dials, address)
	return dials
}

func (n *network) count(address string) int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.calls[address]
}

// liveDrained is a live list of five, of which the third is drained: it keeps its
// place on a ring.
func liveDrained(t *testing.T) kdiscovery.Result {
	t.Helper()
	key := live.Key("resolver", t.Name())
	if live.Find(key) == nil {
		set := liveSet(1, 1, 1, 1, 1, 1)
		set.Nodes[2].Serving = false
		view := &live.View{}
		view.Publish(set)
		live.Enter(key, view)
		t.Cleanup(func() { live.Leave(key, view) })
	}
	return result(key)
}

// way is one way to use a balancer.
type way struct {
	*testing.T

	lb    *Balancer
	suite bool
}

// everyWay runs a test for each policy, with the suite and without.
func everyWay(t *testing.T, f func(t way)) {
	t.Helper()
	for _, policy := range Policies() {
		for _, suite := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s/suite=%v", policy, suite), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { f(way{T: t, lb: mustNew(t, policy), suite: suite}) })
			})
		}
	}
}

func TestDeadInstanceIsTriedEverMoreSeldomAndUsedAgainWhenItIsBack(t *testing.T) {
	everyWay(t, func(t way) {
		n := newNetwork(t.lb, result("r", 1, 1, 1, 1), t.suite)
		n.run(t.Context(), 4, time.Second)
		n.take("i2:80")
		n.set(true, "i2:80")
		if failed := n.run(t.Context(), 2, 200*time.Second); failed > 0 {
			t.Errorf("%d calls failed", failed)
		}
		// After 1, 2, 4, 8, 16, 30, 30 ... s, give or take a tenth and the time until it is picked.
		gaps := gapsOf(n.take("i2:80"))
		if len(gaps) < 8 || len(gaps) > 11 {
			t.Fatalf("dialled after %v", gaps)
		}
		for i, gap := range gaps {
			want := min(30*time.Second, time.Second<<i)
			if gap < time.Second || gap < want*9/10 || gap > want*11/10+time.Second {
				t.Errorf("dialled after %v, want about %v; all: %v", gap, want, gaps)
			}
		}
		n.set(false, "i2:80")
		n.run(t.Context(), 4, 35*time.Second)
		n.take("i2:80")
		n.run(t.Context(), 4, time.Second)
		if used := len(n.take("i2:80")); used < 20 { // 40 are its share
			t.Errorf("%d of 160 calls after it is back", used)
		}
		if !t.suite { // where it shows in time only that the trial was answered
			n.run(t.Context(), 4, 35*time.Second)
			n.take("i2:80")
		}
		n.set(true, "i2:80")
		n.run(t.Context(), 4, 1800*time.Millisecond)
		if gaps := gapsOf(n.take("i2:80")); len(gaps) != 1 {
			t.Errorf("after a success the delay begins anew: dialled after %v", gaps)
		}
	})
}

func gapsOf(dials []time.Time) []time.Duration {
	var gaps []time.Duration
	for i := 1; i < len(dials); i++ {
		gaps = append(gaps, dials[i].Sub(dials[i-1]))
	}
	return gaps
}

func TestFailureSoonAfterAnUnseenTrialGrowsOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lb := mustNew(t, SmoothWRR)
		n := newNetwork(lb, result("r", 1, 1), false)
		n.set(true, "i0:80")
		n.run(t.Context(), 4, 3500*time.Millisecond) // to the second trial
		n.set(false, "i0:80")
		n.run(t.Context(), 4, 5500*time.Millisecond)
		n.take("i0:80")
		n.set(true, "i0:80")
		n.run(t.Context(), 4, 7*time.Second)
		if gaps := gapsOf(n.take("i0:80")); len(gaps) > 0 {
			t.Errorf("the delay has begun anew: dialled after %v", gaps)
		}
	})
}

func TestTrialThatHangsHoldsUpNobodyElse(t *testing.T) {
	everyWay(t, func(t way) {
		n := newNetwork(t.lb, result("r", 1, 1), t.suite)
		n.set(true, "i0:80")
		n.run(t.Context(), 4, 500*time.Millisecond)
		time.Sleep(time.Second)
		n.hang = 3 * time.Second
		n.take("i0:80")
		clear(n.calls)
		var all sync.WaitGroup
		for c := range 16 {
			all.Go(func() { n.run(t.Context(), 1, time.Duration(900+c)*time.Millisecond) })
		}
		time.Sleep(900 * time.Millisecond)
		dials, calls := len(n.take("i0:80")), n.count("i1:80")
		if dials != 1 || calls < 15*30 {
			t.Errorf("%d trials, and %d calls to the other meanwhile", dials, calls)
		}
		all.Wait()
	})
}

func TestTrialOfWhichNothingIsHeardIsRepeated(t *testing.T) {
	for _, policy := range Policies() {
		t.Run(policy, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				lb := observed(t, policy)
				n := newNetwork(lb, result("r", 1, 1), true)
				n.set(true, "i0:80")
				n.run(t.Context(), 16, 500*time.Millisecond)
				n.set(false, "i0:80")
				time.Sleep(time.Second)
				lost := 0
				for i := range 100 { // a panic below the pick, or a breaker's rejection: Done is not called
					ctx := pick.Begin(attempt(withKey(t.Context(), fmt.Sprint(i)), nil, nil))
					p := lb.GetPicker(n.res)
					if p.Next(ctx, nil).Address().String() == "i0:80" {
						lost++
					}
					recycle(p)
				}
				if lost != 1 {
					t.Fatalf("%d calls let through at once, want 1", lost)
				}
				n.run(t.Context(), 16, 1500*time.Millisecond)
				if n.calls["i0:80"] < 16*20/4 {
					t.Errorf("%d calls; the lost trial has kept it aside", n.calls["i0:80"])
				}
			})
		})
	}
}

func TestWhereAllAreAsidePicksGoToThem(t *testing.T) {
	everyWay(t, func(t way) {
		n := newNetwork(t.lb, result("r", 1, 1, 1, 1, 1, 1, 1, 1), t.suite)
		all := slices.Collect(maps.Keys(shares(t.T, t.lb, n.res, 1000)))
		n.set(true, all...)
		if n.run(t.Context(), 1, 100*time.Second) == 0 {
			t.Fatal("a call has succeeded")
		}
		n.set(false, all...)
		if failed := n.run(t.Context(), 16, 10*time.Millisecond); failed > 0 {
			t.Errorf("%d calls failed with all instances back", failed)
		}
		n.run(t.Context(), 16, 3*time.Second) // they come back together, not one by one as their delays end
		clear(n.calls)
		n.run(t.Context(), 16, time.Second)
		for _, address := range all {
			if got := n.calls[address]; got < 640/8/4 {
				t.Errorf("%s got %d of 640 calls; all: %v", address, got, n.calls)
			}
		}
	})
}

func TestWhoIsAsideCostsOthersNothing(t *testing.T) {
	t.Run("keys of the others stay", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			lb, drained := mustNew(t, ConsistentHash), mustNew(t, ConsistentHash)
			n := newNetwork(lb, result("r", 1, 1, 1, 1, 1), true)
			want, moved := map[string]string{}, 0
			for i := range 500 {
				key := fmt.Sprint(i)
				ctx := withKey(t.Context(), key)
				want[key] = call(ctx, drained, liveDrained(t))
				if call(ctx, lb, n.res) == "i2:80" {
					moved++
				}
			}
			if moved == 0 {
				t.Fatal("the dead has no key")
			}
			n.set(true, "i2:80")
			for range 2 { // before the ring is built without it, and after
				for key, owner := range want {
					if got := n.call(withKey(t.Context(), key)); got != owner {
						t.Errorf("key %s goes to %s, want %s as if the dead were drained", key, got, owner)
					}
				}
				synctest.Wait()
			}
		})
	})
	t.Run("the round goes on", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			lb := mustNew(t, SmoothWRR)
			n := newNetwork(lb, result("r", 1, 1, 1, 1), true)
			n.set(true, "i1:80")
			n.run(t.Context(), 1, 200*time.Millisecond)
			synctest.Wait()
			clear(n.calls)
			for range 300 {
				n.call(t.Context())
			}
			for _, address := range []string{"i0:80", "i2:80", "i3:80"} {
				if got := n.calls[address]; got != 100 {
					t.Errorf("%s got %d of 300, want 100 exactly", address, got)
				}
			}
		})
	})
	t.Run("counts end", func(t *testing.T) {
		everyWay(t, func(t way) {
			n := newNetwork(t.lb, result("r", 1, 1, 1), t.suite)
			n.set(true, "i0:80", "i1:80")
			n.run(t.Context(), 16, 5*time.Second)
			n.set(true, "i2:80")
			n.run(t.Context(), 16, 5*time.Second)
			for address, node := range t.lb.core.find("r").nodes {
				if got := node.active(); got != 0 && t.lb.core.counts {
					t.Errorf("%s: %d calls in flight after all have ended", address, got)
				}
			}
		})
	})
}

func TestListThatChangesKeepsWhoIsAside(t *testing.T) {
	everyWay(t, func(t way) {
		n := newNetwork(t.lb, result("r", 1, 1, 1), t.suite)
		n.set(true, "i1:80")
		n.run(t.Context(), 4, 250*time.Millisecond)
		n.take("i1:80")
		n.res = result("r", 1, 1, 1, 1)
		t.lb.Rebalance(kdiscovery.Change{Result: n.res})
		n.run(t.Context(), 4, 700*time.Millisecond)
		if dials := n.take("i1:80"); len(dials) > 0 {
			t.Errorf("dialled %d times within the second", len(dials))
		}
		n.res = result("r", 1, 0, 0, 0) // the only one that serves has to be well
		t.lb.Rebalance(kdiscovery.Change{Result: n.res})
		if got := n.call(withKey(t.Context(), "k")); got != "i0:80" {
			t.Errorf("picked %q", got)
		}
	})
}

func TestOneFailureIsCountedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lb := mustNew(t, SmoothWRR)
		res := result("r", 1, 1)
		_ = call(t.Context(), lb, res)
		node := lb.core.find("r").nodes["i0:80"]
		for range 16 { // calls that were under way together
			node.Done(pick.NoConnection, 0, false)
		}
		if a := node.aside.Load(); a == nil || a.level != 1 {
			t.Errorf("%+v after one outage", a)
		}
		for _, o := range []pick.Outcome{pick.Broken, pick.TimedOut, pick.Unknown, pick.Answered} {
			other := lb.core.find("r").nodes["i1:80"]
			if other.Done(o, 0, false); other.aside.Load() != nil {
				t.Errorf("set aside, though a connection was made: %v", o)
			}
		}
		if node.Done(pick.Answered, 0, false); node.aside.Load() == nil {
			t.Error("back by a call that was picked before it failed")
		}
	})
}

func TestAttemptsOfWhichTheSuiteTellsAreNotCountedByTheirRetry(t *testing.T) {
	lb := observed(t, SmoothWRR)
	res := result("r", 1, 1)
	ctx := attempt(t.Context(), res.Instances[0], nil)
	a := pick.Begin(ctx)
	_ = lb.GetPicker(res).Next(a, nil)
	if lb.core.find("r").nodes["i0:80"].aside.Load() != nil {
		t.Error("a breaker's rejection has set the instance aside")
	}
	if rpcinfo.GetRPCInfo(a) == nil {
		t.Fatal("no call")
	}
}

func TestTableLeavesSomebodyToChooseHoweverNodesComeAndGo(t *testing.T) {
	lb := mustNew(t, WeightedRandom)
	_ = call(t.Context(), lb, result("r", 1, 1))
	s := lb.core.find("r")
	nodes := []*node{s.nodes["i0:80"], s.nodes["i1:80"]}
	done := make(chan struct{})
	var toggling sync.WaitGroup
	toggling.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-done:
				return
			default:
				nodes[i%2].aside.Store(asideAfter(1, time.Now()))
				nodes[1-i%2].aside.Store(nil)
				nodes[1-i%2].aside.Store(asideAfter(1, time.Now()))
				nodes[i%2].aside.Store(nil)
			}
		}
	})
	for range 20000 {
		s.mu.Lock()
		table := s.newTable(s.table.Load().nodes, nil, s.table.Load())
		s.mu.Unlock()
		if table.chooser.choose(0, nil) == nil {
			t.Error("a table without anybody to choose")
			break
		}
	}
	close(done)
	toggling.Wait()
}
