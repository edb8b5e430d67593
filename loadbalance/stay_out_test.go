// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package loadbalance

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	kdiscovery "github.com/cloudwego/kitex/pkg/discovery"

	"github.com/fairway-rpc/fairway/internal/live"
	"github.com/fairway-rpc/fairway/internal/pick"
	"github.com/fairway-rpc/fairway/loadbalance/internal/outlier"
)

// liveList publishes lists of i0, i1 ... of which those named are drained.
type liveList struct {
	view *live.View
	res  kdiscovery.Result
	n    int
}

func newLiveList(t *testing.T, n int) *liveList {
	t.Helper()
	l := &liveList{view: &live.View{}, n: n, res: kdiscovery.Result{Cacheable: true, CacheKey: t.Name()}}
	live.Enter(l.res.CacheKey, l.view)
	t.Cleanup(func() { live.Leave(l.res.CacheKey, l.view) })
	l.show()
	return l
}

func (l *liveList) show(drained ...int) {
	set := &live.Set{Revision: 1, Source: "etcd", Nodes: nodesOf(result("", weightsOf(l.n)...).Instances)}
	for _, i := range drained {
		set.Nodes[i].Serving = false
	}
	l.view.Publish(set)
}

func weightsOf(n int) []int {
	weights := make([]int, n)
	for i := range weights {
		weights[i] = 1
	}
	return weights
}

// eject has calls to an instance fail until it is ejected, while those to others
// are answered.
func eject(t *testing.T, s *service, which string, others ...string) {
	t.Helper()
	for range 5 {
		now := s.core.config.now()
		for _, address := range others {
			s.nodes[address].Took(now, pick.Answered)
		}
		s.nodes[which].Took(now, pick.TimedOut)
	}
	time.Sleep(10 * time.Millisecond) // in a bubble: past the sweep
	synctest.Wait()
	if s.nodes[which].ejectedFor() == "" {
		t.Fatalf("%s is not ejected", which)
	}
}

// TestEjectedInstanceComesBackAfterADrain: that of an instance which nobody swept
// while it was drained ends, too, also where picks fail meanwhile.
func TestEjectedInstanceComesBackAfterADrain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := observed(t, RoundRobin)
		if err := b.Eject(Ejection{FailClosed: true, MaxShare: 1}); err != nil {
			t.Fatal(err)
		}
		l := newLiveList(t, 2)
		_ = call(t.Context(), b, l.res)
		s := b.core.find(l.res.CacheKey)
		defer s.end()
		eject(t, s, "i0:80", "i1:80")
		l.show(0)
		time.Sleep(time.Minute) // nobody calls, so that nobody looks any more
		l.show(1)
		synctest.Wait()
		time.Sleep(time.Second)
		synctest.Wait()
		if got, err := picked(t.Context(), b, l.res); err != nil {
			t.Fatalf("picked %v, %v: its ejection was over 30 s ago", got, err)
		}
	})
}

// sickness is checks that fail for one address.
type sickness struct{ ill, checks atomic.Int64 }

func (s *sickness) check(_ context.Context, address string) error {
	s.checks.Add(1)
	if address == "i0:80" && s.ill.Load() > 0 {
		return errors.New("ill")
	}
	return nil
}

// checkedList is a service of two instances of which i0 is unhealthy.
func checkedList(t *testing.T) (*Balancer, *service, *liveList, *sickness) {
	t.Helper()
	b, sick := observed(t, RoundRobin), &sickness{}
	sick.ill.Store(1)
	if err := b.CheckHealth(HealthCheck{Check: sick.check}); err != nil {
		t.Fatal(err)
	}
	l := newLiveList(t, 2)
	_ = call(t.Context(), b, l.res)
	s := b.core.find(l.res.CacheKey)
	time.Sleep(30 * time.Second)
	synctest.Wait()
	if counts := shares(t, b, l.res, 10); counts["i0:80"] > 0 {
		t.Fatalf("%v: i0 is unhealthy", counts)
	}
	return b, s, l, sick
}

// TestHealthyInstanceComesBack after it was not checked for a while, as it drained
// or nobody used the service, and got well meanwhile.
func TestHealthyInstanceComesBack(t *testing.T) {
	for name, pause := range map[string]func(*service, *liveList, func()){
		"drained": func(_ *service, l *liveList, meanwhile func()) {
			l.show(0)
			synctest.Wait()
			meanwhile()
			l.show()
		},
		"idle": func(s *service, l *liveList, meanwhile func()) {
			s.rest()
			synctest.Wait()
			meanwhile()
			s.wake(l.res)
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b, s, l, sick := checkedList(t)
				defer s.end()
				pause(s, l, func() { sick.ill.Store(0) })
				time.Sleep(15 * time.Second)
				synctest.Wait()
				if counts := shares(t, b, l.res, 10); counts["i0:80"] == 0 {
					t.Errorf("%v: i0 has been healthy for 15 s", counts)
				}
			})
		})
	}
}

// TestUnhealthyInstanceStaysOut when it was not checked for a while and is still
// ill: it need not fail calls again first.
func TestUnhealthyInstanceStaysOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, s, l, _ := checkedList(t)
		defer s.end()
		l.show(0)
		synctest.Wait()
		l.show()
		for range 20 {
			synctest.Wait()
			if counts := shares(t, b, l.res, 10); counts["i0:80"] > 0 {
				t.Fatalf("%v: i0 is unhealthy", counts)
			}
			time.Sleep(time.Second)
		}
	})
}

// TestReturningInstanceWaitsForItsCheck also if picks had stopped looking out when
// its ejection ended.
func TestReturningInstanceWaitsForItsCheck(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := observed(t, RoundRobin)
		if err := b.CheckHealth(HealthCheck{Check: func(ctx context.Context, _ string) error {
			<-ctx.Done()
			return ctx.Err()
		}}); err != nil {
			t.Fatal(err)
		}
		res := result("r", 1, 1)
		_ = call(t.Context(), b, res)
		s := b.core.find("r")
		defer s.end()
		s.ejected(s.nodes["i0:80"], outlier.Change{Returned: true})
		if counts := shares(t, b, res, 10); counts["i0:80"] > 0 {
			t.Errorf("%v: i0 must pass a check first", counts)
		}
	})
}

// TestServiceMadeMeanwhileIsChecked: whatever the order in which a balancer is told
// to eject and to check, and first used.
func TestServiceMadeMeanwhileIsChecked(t *testing.T) {
	var both sync.WaitGroup
	for i := range 300 {
		b := observed(t, RoundRobin)
		started := make(chan struct{})
		both.Go(func() {
			close(started)
			_ = b.GetPicker(result(fmt.Sprint(i), weightsOf(1000)...))
		})
		<-started
		if err := b.Eject(Ejection{}); err != nil {
			t.Fatal(err)
		}
		if err := b.CheckHealth(HealthCheck{Check: func(context.Context, string) error { return nil }}); err != nil {
			t.Fatal(err)
		}
		both.Wait()
		s := b.core.find(fmt.Sprint(i))
		ejects, checks := s.ejector.Load() != nil, s.health.Load() != nil
		s.end()
		if !ejects || !checks {
			t.Fatalf("service %d: ejects %v, checks %v", i, ejects, checks)
		}
	}
}
