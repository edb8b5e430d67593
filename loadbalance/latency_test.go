// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package loadbalance

import (
	"fmt"
	"math"
	"testing"
	"testing/synctest"
	"time"
)

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

// TestNewInstanceGetsItsShareAtOnce, neither more nor less, but for what chance
// does to the few calls of a second: their number varies by its root.
func TestNewInstanceGetsItsShareAtOnce(t *testing.T) {
	const fleets = 8
	for _, policy := range byLatency {
		for _, load := range []float64{0.3, 0.6, 0.8} {
			t.Run(fmt.Sprint(policy, "/", load), func(t *testing.T) {
				mean := 0.
				for seed := range uint64(fleets) {
					synctest.Test(t, func(t *testing.T) {
						w := seededWorld(t, policy, seed, equalServers(9)...)
						w.run(load, 5*time.Second)
						w.servers = append(w.servers, &server{weight: 10})
						w.forget()
						w.run(load, time.Second)
						mean += w.share(9) / fleets
						chance := 2 / math.Sqrt(load*float64(time.Second/serviceTime))
						if share := w.share(9); share < 0.5-chance || share > 1.5+chance {
							t.Errorf("fleet %d: it has %.2f of its share in its first second", seed, share)
						}
						_, _ = w.figures()
					})
				}
				if mean < 0.8 || mean > 1.2 {
					t.Errorf("in the mean it has %.2f of its share in its first second", mean)
				}
			})
		}
	}
}

// TestFirstCallThatTakesLongIsForgiven: a new instance has to open files and
// connections. Had it kept the name of that, it would starve.
func TestFirstCallThatTakesLongIsForgiven(t *testing.T) {
	for _, policy := range byLatency {
		t.Run(policy, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, policy, equalServers(9)...)
				w.run(0.6, 5*time.Second)
				w.servers = append(w.servers, &server{weight: 10, first: time.Second})
				w.run(0.6, 4*time.Second) // the call itself, and what came behind it
				w.forget()
				w.run(0.6, 2*time.Second)
				if share := w.share(9); share < 0.5 {
					t.Errorf("three seconds after a first call of one second it has %.2f of its share", share)
				}
				_, _ = w.figures()
			})
		})
	}
}

// TestFewFailuresEverywhereCostNothing: they are nobody's fault.
func TestFewFailuresEverywhereCostNothing(t *testing.T) {
	for _, policy := range byLatency {
		t.Run(policy, func(t *testing.T) {
			waits := map[float64]float64{}
			for _, fails := range []float64{0, 0.005} {
				synctest.Test(t, func(t *testing.T) {
					servers := equalServers(10)
					for _, s := range servers {
						s.fails = fails
					}
					w := newWorld(t, policy, servers...)
					w.run(0.8, 10*time.Second)
					waits[fails], _ = w.figures()
				})
			}
			t.Logf("mean wait %.2f service times without failures, %.2f with", waits[0], waits[0.005])
			if waits[0.005] > 1.15*waits[0] {
				t.Errorf("with 0.5 %% of failures calls wait for %.2f service times, without for %.2f", waits[0.005], waits[0])
			}
		})
	}
}

// TestWhoIsNotPickedAnyMoreIsTriedWithinASecond: one that fails always, and one
// that is very slow.
func TestWhoIsNotPickedAnyMoreIsTriedWithinASecond(t *testing.T) {
	for _, policy := range byLatency {
		for name, bad := range map[string]server{"fails": {fails: 1}, "slow": {slower: 30}} {
			t.Run(policy+"/"+name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					servers := equalServers(10)
					servers[3].fails, servers[3].slower = bad.fails, bad.slower
					w := newWorld(t, policy, servers...)
					w.run(0.4, 5*time.Second)
					servers[3].idle = 0
					w.forget()
					w.run(0.4, 10*time.Second)
					if servers[3].idle > 1100*time.Millisecond {
						t.Errorf("it was not tried for %v", servers[3].idle)
					}
					if share := w.share(3) / 10; share > 0.015 {
						t.Errorf("it has %.1f %% of the calls", 100*share)
					}
					_, _ = w.figures()
				})
			})
		}
	}
}
