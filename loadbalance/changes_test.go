// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package loadbalance_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	kdiscovery "github.com/cloudwego/kitex/pkg/discovery"
	kloadbalance "github.com/cloudwego/kitex/pkg/loadbalance"

	"github.com/fairway-rpc/fairway/internal/live"
	"github.com/fairway-rpc/fairway/loadbalance"
)

// passing is an instance that knows the last list that it is in.
type passing struct {
	kdiscovery.Instance

	last int64
}

// passingList is list number k: an instance that leaves after it, one that comes
// with it, and one that stays.
func passingList(k int64) []kdiscovery.Instance {
	at := func(address string, weight int) kdiscovery.Instance {
		return kdiscovery.NewInstance("tcp", address, weight, nil)
	}
	return []kdiscovery.Instance{
		passing{Instance: at(fmt.Sprintf("passing%d:1", k), 10), last: k},
		passing{Instance: at(fmt.Sprintf("passing%d:1", k+1), 10), last: k + 1},
		passing{Instance: at("staying:1", 1+int(k%20)), last: math.MaxInt64},
	}
}

// passingSet is the same list as a resolver of Fairway's publishes it.
func passingSet(k int64) *live.Set {
	set := &live.Set{Revision: k, Source: "etcd"}
	for _, i := range passingList(k) {
		set.Nodes = append(set.Nodes, &live.Node{Instance: i, Address: i.Address().String(), Weight: i.Weight(), Serving: true})
	}
	return set
}

// passage is one service whose list changes all the time.
type passage struct {
	key    string
	change func(k int64)
	made   atomic.Int64 // the number of the last list that is in effect
}

// first is what Kitex hands over at first.
func (p *passage) first() kdiscovery.Result {
	return kdiscovery.Result{Cacheable: true, CacheKey: p.key, Instances: passingList(0)}
}

func (p *passage) show(k int64) {
	p.change(k)
	p.made.Store(k)
}

// TestPicksBesideAThousandChangesASecond: a pick that begins after a list has come
// into effect never returns somebody who is only in earlier ones. Of two services
// one comes from a foreign resolver and one from a live view.
func TestPicksBesideAThousandChangesASecond(t *testing.T) {
	t.Parallel()
	for _, policy := range loadbalance.Policies() {
		t.Run(policy, func(t *testing.T) {
			t.Parallel()
			testPassages(t, newRandomKeys(t, policy))
		})
	}
}

func testPassages(t *testing.T, lb *loadbalance.Balancer) {
	plain := &passage{key: "plain", change: func(k int64) {
		lb.Rebalance(kdiscovery.Change{Result: kdiscovery.Result{Cacheable: true, CacheKey: "plain", Instances: passingList(k)}})
	}}
	view := &live.View{}
	view.Publish(passingSet(0))
	lively := &passage{key: live.Key("resolver", t.Name()), change: func(k int64) {
		view.Publish(passingSet(k))
		view.Settle()
	}}
	live.Enter(lively.key, view)
	defer live.Leave(lively.key, view)

	for _, p := range []*passage{plain, lively} { // Kitex announces changes of what was picked from
		recycle(lb.GetPicker(p.first()))
	}
	ctx, cancel := context.WithCancel(t.Context())
	var readers sync.WaitGroup
	var picks atomic.Int64
	for range 3 {
		readers.Go(func() { picks.Add(pickOn(ctx, t, lb, plain, lively)) })
	}
	changes := changeOn(plain, lively)
	cancel()
	readers.Wait()
	t.Logf("%d changes, %d picks", changes, picks.Load())
	if picks.Load() < 10*changes {
		t.Errorf("only %d picks beside %d changes, which shows little", picks.Load(), changes)
	}
	waitIdle(t, lb)
}

// changeOn changes both lists for a second, a thousand times at most, and ten times
// at least.
func changeOn(passages ...*passage) (changes int64) {
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for began := time.Now(); changes < 10 || changes < 1000 && time.Since(began) < time.Second; {
		<-tick.C
		changes++
		for _, p := range passages {
			p.show(changes)
		}
	}
	return changes
}

// pickOn picks until the end of ctx, with two calls in flight.
func pickOn(ctx context.Context, t *testing.T, lb *loadbalance.Balancer, passages ...*passage) (picks int64) {
	t.Helper()
	first := make(map[*passage]kdiscovery.Result)
	for _, p := range passages {
		first[p] = p.first()
	}
	var underWay kloadbalance.Picker
	for ctx.Err() == nil {
		p := passages[rand.N(len(passages))]
		made := p.made.Load()
		picker := lb.GetPicker(first[p])
		instance := picker.Next(ctx, nil)
		recycle(underWay)
		underWay = picker
		if instance == nil {
			t.Errorf("%s: nobody was picked after list %d", p.key, made)
			break
		}
		if got := instance.(passing); got.last < made {
			t.Errorf("%s: picked %s, which left after list %d, when list %d was in effect", p.key, got.Address(), got.last, made)
			break
		}
		if picks++; picks%16 == 0 {
			runtime.Gosched() // the changes are to have a turn
		}
	}
	recycle(underWay)
	return picks
}
