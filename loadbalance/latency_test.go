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

	free  time.Time // when the calls that wait there are done
	calls int
}

const serviceTime = 10 * time.Millisecond

func newWorld(t *testing.T, policy string, servers ...*server) *world {
	t.Helper()
	return &world{t: t, lb: mustNew(t, policy, WithRand(LockedRand(1))), random: rand.New(rand.NewPCG(2, 3)), servers: servers}
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
	ends := began
	if w.random.Float64() < s.fails {
		outcome = pick.Broken
	} else {
		service := w.random.ExpFloat64() * float64(serviceTime) * max(s.slower, 1) / (float64(s.weight) / 10)
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

var byLatency = []string{P2CEWMA, ShortestResponse}

// TestWaitsAreShorterThanAtRandom: at a load of 0.8, with equal instances and
// with weights from 10 to 100.
func TestWaitsAreShorterThanAtRandom(t *testing.T) {
	fleets := map[string]func() []*server{
		"equal": func() []*server { return equalServers(10) },
		"mixed": func() []*server {
			servers := equalServers(10)
			for i, s := range servers {
				s.weight = 10 * (i + 1)
			}
			return servers
		},
	}
	for name, fleet := range fleets {
		figures := map[string][2]float64{}
		for _, policy := range append(byLatency, WeightedRandom) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, policy, fleet()...)
				w.run(0.8, 8*time.Second)
				mean, p99 := w.figures()
				figures[policy] = [2]float64{mean, p99}
			})
		}
		random := figures[WeightedRandom]
		for _, policy := range byLatency {
			got := figures[policy]
			t.Logf("%s, %s: mean %.1f, p99 %.1f; at random %.1f, %.1f", name, policy, got[0], got[1], random[0], random[1])
			if got[0] > 0.7*random[0] || got[1] > 0.7*random[1] {
				t.Errorf("%s, %s: mean %.1f and p99 %.1f service times, at random %.1f and %.1f", name, policy, got[0], got[1], random[0], random[1])
			}
		}
	}
}

// TestSlowInstanceGetsLess, and is not given up.
func TestSlowInstanceGetsLess(t *testing.T) {
	for _, policy := range byLatency {
		t.Run(policy, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				servers := equalServers(10)
				servers[3].slower = 5
				w := newWorld(t, policy, servers...)
				w.run(0.4, 10*time.Second)
				share, calls := w.share(3), servers[3].calls
				if share > 0.5 || calls < 8 {
					t.Errorf("the slow one has %.2f of its share, %d calls", share, calls)
				}
				_, _ = w.figures()
			})
		})
	}
}

// TestFailingInstanceIsTriedEachSecond: hardly more often, and when it answers
// again it has its share soon.
func TestFailingInstanceIsTriedEachSecond(t *testing.T) {
	for _, policy := range byLatency {
		for _, fails := range []float64{0.5, 1} {
			t.Run(fmt.Sprint(policy, "/", fails), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					servers := equalServers(10)
					servers[3].fails = fails
					w := newWorld(t, policy, servers...)
					w.run(0.4, 2*time.Second)
					w.forget()
					w.run(0.4, 10*time.Second)
					if share, calls := w.share(3), servers[3].calls; share > 0.3 || calls < 5 {
						t.Errorf("the failing one has %.2f of its share, %d calls in ten seconds", share, calls)
					}
					servers[3].fails = 0
					w.run(0.4, 2*time.Second)
					w.forget()
					w.run(0.4, 5*time.Second)
					if share := w.share(3); share < 0.5 {
						t.Errorf("two seconds after it has recovered it has %.2f of its share", share)
					}
					_, _ = w.figures()
				})
			})
		}
	}
}

// TestNewInstanceGetsItsShareAtOnce, neither more nor less.
func TestNewInstanceGetsItsShareAtOnce(t *testing.T) {
	for _, policy := range byLatency {
		t.Run(policy, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, policy, equalServers(9)...)
				w.run(0.6, 10*time.Second)
				w.servers = append(w.servers, &server{weight: 10})
				w.forget()
				w.run(0.6, time.Second)
				if share := w.share(9); share < 0.5 || share > 1.5 {
					t.Errorf("it has %.2f of its share in its first second", share)
				}
				_, _ = w.figures()
			})
		})
	}
}
