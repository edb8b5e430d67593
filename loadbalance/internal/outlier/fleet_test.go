// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package outlier

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

// tail is the probability of k or more failures in n trials.
func tail(n, k int, p float64) float64 {
	choose := func(n, k int) float64 {
		a, _ := math.Lgamma(float64(n + 1))
		b, _ := math.Lgamma(float64(k + 1))
		c, _ := math.Lgamma(float64(n - k + 1))
		return a - b - c
	}
	sum := 0.0
	for i := k; i <= n; i++ {
		sum += math.Exp(choose(n, i) + float64(i)*math.Log(p) + float64(n-i)*math.Log(1-p))
	}
	return sum
}

// fleet is a service in simulated time: calls go round the hosts that are not
// ejected, take a time drawn from an exponential distribution and succeed or not.
type fleet struct {
	*Detector
	hosts   []*Record
	random  *rand.Rand
	failing []float64 // the probability, by host
	took    []int64   // on average
	every   int64     // a call begins

	now, next int64
	turn      int
	done      [1 << 12][]func() // what ends at which millisecond, modulo the length
	calls     []int             // that began, by host
	log       []happened
}

type happened struct {
	at int64
	Change
}

func newFleet(cfg Config, hosts int, seed uint64) *fleet {
	f := &fleet{random: rand.New(rand.NewPCG(seed, 1)), every: 3 * ms}
	f.Detector, f.hosts = fleetOf(cfg, hosts)
	f.failing, f.took, f.calls = make([]float64, hosts), make([]int64, hosts), make([]int, hosts)
	for i := range f.hosts {
		f.failing[i], f.took[i] = 0.005, 5*ms
	}
	return f
}

func (f *fleet) run(span time.Duration) {
	for end := f.now + int64(span); f.now < end; f.now += ms {
		done := &f.done[f.now/ms%int64(len(f.done))]
		for _, end := range *done {
			end()
		}
		*done = (*done)[:0]
		if f.now%f.every == 0 {
			f.call()
		}
		if f.now >= f.next {
			f.sweep()
		}
	}
}

func (f *fleet) call() {
	for range f.hosts {
		f.turn = (f.turn + 1) % len(f.hosts)
		if !f.hosts[f.turn].Ejected() {
			break
		}
	}
	h := f.turn
	f.calls[h]++
	took := int64(f.random.ExpFloat64()*float64(f.took[h]))/ms*ms + ms
	failed := f.random.Float64() < f.failing[h]
	done := &f.done[(f.now+took)/ms%int64(len(f.done))]
	*done = append(*done, func() {
		if f.hosts[h].Call(f.now, took, failed) {
			f.sweep()
		}
	})
}

func (f *fleet) sweep() {
	var changes []Change
	changes, f.next = f.Sweep(f.now, f.hosts)
	for _, c := range changes {
		f.log = append(f.log, happened{f.now, c})
	}
}

// first returns what happened to a host first, after a time.
func (f *fleet) first(host int, after int64) (happened, bool) {
	for _, h := range f.log {
		if h.Index == host && h.at >= after {
			return h, true
		}
	}
	return happened{}, false
}

// TestFleet: of five instances one is ten times as slow and one fails; after a while
// the slow one recovers and gets its share back.
func TestFleet(t *testing.T) {
	for name, failing := range map[string]float64{"fails always": 1, "fails by half": 0.5} {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(8) {
				testFleet(t, newFleet(Defaults(), 5, seed), failing)
			}
		})
	}
}

func testFleet(t *testing.T, f *fleet, failing float64) {
	const slow, bad = 1, 3
	f.run(20 * time.Second)
	if len(f.log) > 0 {
		t.Fatalf("%+v while nothing was wrong", f.log[0])
	}
	onset := f.now
	f.failing[bad], f.took[slow] = failing, 50*ms
	f.run(5 * time.Second)
	if h, ok := f.first(bad, onset); !ok || h.at-onset > 2*second {
		t.Errorf("the failing one was not ejected within 2 s: %+v", h)
	}
	if h, ok := f.first(slow, onset); !ok || h.Ejection.Cause != CauseLatency {
		t.Errorf("the slow one was not ejected within 5 s: %+v", h)
	}
	f.took[slow] = 5 * ms // it recovers
	f.run(35 * time.Second)
	if f.hosts[slow].Ejected() {
		t.Error("the slow one has recovered and is not back")
	}
	before := f.calls[slow]
	f.run(3 * time.Second)
	if got := f.calls[slow] - before; got < 190 { // a fifth of 1,000, or more while the bad one is out
		t.Errorf("the one that was slow got %d of 1,000 calls", got)
	}
	f.run(5 * time.Minute)
	again := 0
	for _, h := range f.log {
		switch {
		case h.Index != slow && h.Index != bad, h.Index == slow && h.at > onset+5*second && !h.Returned:
			t.Errorf("%+v, which was well", h)
		case h.Index == bad && !h.Returned:
			again = max(again, h.Ejection.Multiplier)
		}
	}
	if again < 3 {
		t.Errorf("the failing one got no longer times: %d", again)
	}
}

// TestNoiseEjectsNobody: hosts that are alike differ by chance.
func TestNoiseEjectsNobody(t *testing.T) {
	for name, c := range map[string]struct {
		failing float64
		took    int64
	}{"few failures": {0.01, 5 * ms}, "many failures": {0.2, 50 * ms}} {
		cfg := Defaults()
		cfg.ConsecutiveFailures = 20 // five in a row do happen where one in five fails
		f := newFleet(cfg, 20, 7)
		for i := range f.hosts {
			f.failing[i], f.took[i] = c.failing, c.took
		}
		f.run(45 * time.Minute)
		for _, h := range f.log {
			t.Errorf("%s: %+v", name, h)
		}
	}
}
