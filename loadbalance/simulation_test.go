// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package loadbalance

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	kdiscovery "github.com/cloudwego/kitex/pkg/discovery"

	"github.com/fairway-rpc/fairway/internal/pick"
)

// world is a simulation in virtual time: calls arrive at random and wait at the
// instance that is picked until those before them are done.
type world struct {
	t       *testing.T
	lb      *Balancer
	random  *rand.Rand
	servers []*server

	mu    sync.Mutex
	waits []float64 // how long each call took, in mean service times
}

type server struct {
	weight int
	slower float64 // than a mean service time of 10 ms; 0 for as fast
	fails  float64 // the part of the calls that fail, at once

	free  time.Time     // when the calls that wait there are done
	first time.Duration // what the first call takes, 0 for as any
	calls int
	last  time.Time     // when it was picked or busy last
	idle  time.Duration // the longest time that it was neither
}

const serviceTime = 10 * time.Millisecond

func newWorld(t *testing.T, policy string, servers ...*server) *world {
	t.Helper()
	return seededWorld(t, policy, 1, servers...)
}

func seededWorld(t *testing.T, policy string, seed uint64, servers ...*server) *world {
	t.Helper()
	return &world{t: t, lb: mustNew(t, policy, WithRand(LockedRand(seed))), random: rand.New(rand.NewPCG(seed+1, seed+2)), servers: servers}
}

func equalServers(n int) []*server {
	servers := make([]*server, n)
	for i := range servers {
		servers[i] = &server{weight: 10}
	}
	return servers
}

func (w *world) result() kdiscovery.Result {
	weights := make([]int, len(w.servers))
	for i, s := range w.servers {
		weights[i] = s.weight
	}
	return result("r", weights...)
}

// run has calls arrive for a while, as many as keep servers of all that weight
// busy for a part of the time.
func (w *world) run(load float64, d time.Duration) {
	w.t.Helper()
	capacity := 0.0
	for _, s := range w.servers {
		capacity += float64(s.weight) / 10
	}
	res := w.result()
	w.lb.Rebalance(kdiscovery.Change{Result: res})
	for end := time.Now().Add(d); time.Now().Before(end); {
		time.Sleep(time.Duration(w.random.ExpFloat64() * float64(serviceTime) / (capacity * load)))
		w.call(res)
	}
}

func (w *world) call(res kdiscovery.Result) {
	p := w.lb.GetPicker(res)
	var at int
	if _, err := fmt.Sscanf(p.Next(withKey(context.Background(), "k"), nil).Address().String(), "i%d:80", &at); err != nil {
		w.t.Fatal(err)
	}
	s, node := w.servers[at], w.lb.core.find("r").nodes[fmt.Sprintf("i%d:80", at)]
	began, outcome := time.Now(), pick.Answered
	s.calls++
	if s.free.After(s.last) {
		s.last = s.free // it was busy until then
	}
	if !s.last.IsZero() {
		s.idle = max(s.idle, began.Sub(s.last))
	}
	s.last = began
	ends := began
	if w.random.Float64() < s.fails {
		outcome = pick.Broken
	} else {
		service := w.random.ExpFloat64() * float64(serviceTime) * max(s.slower, 1) / (float64(s.weight) / 10)
		if s.first > 0 {
			service, s.first = float64(s.first), 0
		}
		if s.free.After(ends) {
			ends = s.free
		}
		ends = ends.Add(time.Duration(service))
		s.free = ends
	}
	clock := node.Clock()
	time.AfterFunc(time.Until(ends), func() {
		if clock != 0 {
			node.Took(clock, outcome)
		}
		recycle(p)
		w.mu.Lock()
		defer w.mu.Unlock()
		w.waits = append(w.waits, float64(time.Since(began))/float64(serviceTime))
	})
	synctest.Wait()
}

// figures are the mean and the 99th percentile of the waits.
func (w *world) figures() (mean, p99 float64) {
	time.Sleep(time.Minute) // in virtual time: all calls end
	synctest.Wait()
	for _, wait := range w.waits {
		mean += wait / float64(len(w.waits))
	}
	slices.Sort(w.waits)
	return mean, w.waits[len(w.waits)*99/100]
}

// share is the part of its fair share of the calls that a server has got.
func (w *world) share(at int) float64 {
	calls, weight := 0, 0
	for _, s := range w.servers {
		calls += s.calls
		weight += s.weight
	}
	return float64(w.servers[at].calls) / float64(calls) * float64(weight) / float64(w.servers[at].weight)
}

func (w *world) forget() {
	for _, s := range w.servers {
		s.calls = 0
	}
}
