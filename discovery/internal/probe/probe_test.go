// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package probe

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairway-rpc/fairway/internal/leaktest"
)

var errRefused = &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}

// world is a network in fake time: it answers each probe by answer and notes
// when which address was probed.
type world struct {
	answer func(ctx context.Context, address string, nth int) error

	mu       sync.Mutex
	began    time.Time
	probes   map[string][]time.Duration // since began
	inFlight int
	most     int // in flight at a time
}

func newWorld(answer func(ctx context.Context, address string, nth int) error) *world {
	return &world{answer: answer, began: time.Now(), probes: map[string][]time.Duration{}}
}

func (w *world) dial(ctx context.Context, _, address string) error {
	w.mu.Lock()
	w.probes[address] = append(w.probes[address], time.Since(w.began))
	nth := len(w.probes[address])
	w.inFlight++
	w.most = max(w.most, w.inFlight)
	w.mu.Unlock()
	defer func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.inFlight--
	}()
	return w.answer(ctx, address, nth)
}

func (w *world) times(address string) []time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.probes[address])
}

// all returns the times of all probes in order.
func (w *world) all() []time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	var all []time.Duration
	for _, times := range w.probes {
		all = append(all, times...)
	}
	slices.Sort(all)
	return all
}

// always answers every probe alike.
func always(err error) func(context.Context, string, int) error {
	return func(context.Context, string, int) error { return err }
}

// hangs answers no probe before it is given up.
func hangs(ctx context.Context, _ string, _ int) error {
	<-ctx.Done()
	return ctx.Err()
}

// inBubble runs f in fake time with a Prober, which it closes.
func inBubble(t *testing.T, cfg Config, answer func(context.Context, string, int) error, f func(w *world, p *Prober)) {
	t.Helper()
	synctest.Test(t, func(*testing.T) {
		w := newWorld(answer)
		cfg := cfg
		cfg.Dial = w.dial
		p := New(cfg)
		defer p.Close()
		f(w, p)
	})
}

// count returns a callback and how often it has been called.
func count() (f func(), calls func() int) {
	var n atomic.Int32
	return func() { n.Add(1) }, func() int { return int(n.Load()) }
}

func TestRefusedTwiceIsDead(t *testing.T) {
	inBubble(t, Config{}, always(errRefused), func(w *world, p *Prober) {
		dead, calls := count()
		p.Start("tcp", "a", dead)
		time.Sleep(999 * time.Millisecond)
		if n := calls(); n != 0 {
			t.Error("dead after one failed probe")
		}
		time.Sleep(time.Minute)
		if n := calls(); n != 1 {
			t.Errorf("dead was called %d times, want once", n)
		}
		if got := w.times("a"); !slices.Equal(got, []time.Duration{0, time.Second}) {
			t.Errorf("probes at %v; want one at once, one after a second, none afterwards", got)
		}
	})
}

func TestSilenceTwiceIsDead(t *testing.T) {
	inBubble(t, Config{}, hangs, func(w *world, p *Prober) {
		died := make(chan time.Duration, 1)
		p.Start("tcp", "a", func() { died <- time.Since(w.began) })
		if after := <-died; after != 3*time.Second {
			t.Errorf("dead after %v; want two time-outs of 1 s with 1 s between", after)
		}
	})
}

func TestSuccessResets(t *testing.T) {
	everySecond := func(_ context.Context, _ string, nth int) error {
		if nth%2 == 1 {
			return errRefused
		}
		return nil
	}
	inBubble(t, Config{}, everySecond, func(w *world, p *Prober) {
		dead, calls := count()
		p.Start("tcp", "a", dead)
		time.Sleep(time.Hour)
		if calls() != 0 {
			t.Error("dead although no two probes in a row failed")
		}
		if n := len(w.times("a")); n < 1000 {
			t.Errorf("%d probes within an hour", n)
		}
	})
}

func TestOwnTroubleIsNoSignOfDeath(t *testing.T) {
	trouble := fmt.Errorf("dial: %w", syscall.EMFILE)
	thenDies := func(_ context.Context, _ string, nth int) error {
		if nth == 1 || nth == 10 {
			return errRefused
		}
		return trouble
	}
	inBubble(t, Config{}, thenDies, func(w *world, p *Prober) {
		dead, calls := count()
		p.Start("tcp", "a", dead)
		time.Sleep(8500 * time.Millisecond)
		if n := len(w.times("a")); n != 9 || calls() != 0 {
			t.Errorf("%d probes, dead %d times; want one a second and none", n, calls())
		}
		time.Sleep(time.Minute)
		if calls() != 1 {
			t.Error("not dead, though the two probes that counted failed")
		}
	})
}

func TestIntervalIsJittered(t *testing.T) {
	inBubble(t, Config{}, always(nil), func(w *world, p *Prober) {
		p.Start("tcp", "a", func() {})
		time.Sleep(time.Hour)
		times := w.times("a")
		shortest, longest := time.Hour, time.Duration(0)
		for i := range len(times) - 1 {
			gap := times[i+1] - times[i]
			shortest, longest = min(shortest, gap), max(longest, gap)
		}
		if shortest < 4*time.Second || longest > 6*time.Second || longest-shortest < time.Second {
			t.Errorf("from %v to %v between two probes; want 5 s, give or take a fifth", shortest, longest)
		}
	})
}

func TestStoppedIsNeverDead(t *testing.T) {
	t.Run("between two probes", func(t *testing.T) {
		inBubble(t, Config{}, always(errRefused), func(w *world, p *Prober) {
			dead, calls := count()
			stop := p.Start("tcp", "a", dead)
			time.Sleep(time.Second / 2)
			stop()
			stop()
			time.Sleep(time.Minute)
			if calls() != 0 || len(w.times("a")) != 1 {
				t.Errorf("dead %d times, %d probes; want none and the one before the stop", calls(), len(w.times("a")))
			}
		})
	})
	t.Run("in the deciding probe", func(t *testing.T) {
		inBubble(t, Config{}, hangs, func(w *world, p *Prober) {
			dead, calls := count()
			stop := p.Start("tcp", "a", dead)
			time.Sleep(2500 * time.Millisecond)
			before := time.Now()
			stop()
			synctest.Wait()
			if w.inFlight != 0 || time.Since(before) != 0 {
				t.Error("the dial in flight goes on after the stop")
			}
			time.Sleep(time.Minute)
			if calls() != 0 || len(w.times("a")) != 2 {
				t.Errorf("dead %d times after %d probes; want none after 2", calls(), len(w.times("a")))
			}
		})
	})
	t.Run("by its own callback", func(t *testing.T) {
		inBubble(t, Config{}, always(errRefused), func(_ *world, p *Prober) {
			dead, calls := count()
			handle := make(chan func(), 1)
			handle <- p.Start("tcp", "a", func() {
				dead()
				stop := <-handle
				stop()
			})
			time.Sleep(time.Minute)
			if n := calls(); n != 1 {
				t.Errorf("called %d times, want once", n)
			}
		})
	})
}

func TestCloseEndsEverything(t *testing.T) {
	inBubble(t, Config{Concurrency: 4}, hangs, func(w *world, p *Prober) {
		dead, calls := count()
		var stops []func()
		for i := range 100 {
			stops = append(stops, p.Start("tcp", fmt.Sprint(i), dead))
		}
		time.Sleep(time.Second / 2)
		before := time.Now()
		p.Close()
		p.Close()
		if w.inFlight != 0 || time.Since(before) != 0 {
			t.Errorf("%d dials in flight, %v after Close", w.inFlight, time.Since(before))
		}
		n := len(w.all())
		stops = append(stops, p.Start("tcp", "late", dead))
		time.Sleep(time.Minute)
		for _, stop := range stops {
			stop()
		}
		if calls() != 0 || len(w.all()) != n {
			t.Errorf("dead %d times, %d probes after Close", calls(), len(w.all())-n)
		}
	})
}

func TestCloseWaitsForTheCallback(t *testing.T) {
	inBubble(t, Config{}, always(errRefused), func(_ *world, p *Prober) {
		var ended atomic.Bool
		p.Start("tcp", "a", func() {
			time.Sleep(10 * time.Second)
			ended.Store(true)
		})
		time.Sleep(2 * time.Second)
		p.Close()
		if !ended.Load() {
			t.Error("Close returned while the callback ran")
		}
	})
}

// TestTenThousandSuspectsStayInBounds has answering, refusing and silent ones:
// everybody gets a turn before anybody gets the next one.
func TestTenThousandSuspectsStayInBounds(t *testing.T) {
	const n = 10_000
	mixed := func(ctx context.Context, address string, nth int) error {
		time.Sleep(50 * time.Millisecond)
		switch address[len(address)-1] {
		case '1':
			return errRefused
		case '2':
			return hangs(ctx, address, nth)
		}
		return nil
	}
	inBubble(t, Config{}, mixed, func(w *world, p *Prober) {
		dead, calls := count()
		for i := range n {
			p.Start("tcp", fmt.Sprint(i), dead)
		}
		time.Sleep(6 * time.Minute)
		p.Close()
		if w.most > 16 || w.most < 10 {
			t.Errorf("%d probes in flight at a time; want 16 at most, and use made of them", w.most)
		}
		checkRate(t, w.all(), 100)
		if got := calls(); got != n/5 {
			t.Errorf("%d dead, want %d", got, n/5)
		}
		checkFairness(t, w)
	})
}

// checkRate fails if more than rate probes began within any second, or if they
// were far fewer.
func checkRate(t *testing.T, all []time.Duration, rate int) {
	t.Helper()
	for i := range len(all) - rate {
		if within := all[i+rate] - all[i]; within < time.Second {
			t.Errorf("%d probes within %v", rate+1, within)
			break
		}
	}
	if mean := float64(len(all)) / all[len(all)-1].Seconds(); mean < 0.5*float64(rate) {
		t.Errorf("%.0f probes a second, of %d allowed", mean, rate)
	}
}

// checkFairness fails if the second probe of one came before the first of
// another, or an answering one was probed much less often than its like.
func checkFairness(t *testing.T, w *world) {
	t.Helper()
	lastFirst, firstSecond := time.Duration(0), time.Hour
	fewest, most := 1<<30, 0
	for address, times := range w.probes {
		lastFirst, firstSecond = max(lastFirst, times[0]), min(firstSecond, times[1])
		if last := address[len(address)-1]; last != '1' && last != '2' {
			fewest, most = min(fewest, len(times)), max(most, len(times))
		}
	}
	if firstSecond < lastFirst {
		t.Errorf("a second probe at %v, the last first one at %v", firstSecond, lastFirst)
	}
	if most-fewest > 1 {
		t.Errorf("some were probed %d times, others %d times", most, fewest)
	}
}

func TestNothingRunsWithoutSuspects(t *testing.T) {
	p := New(Config{Dial: func(context.Context, string, string) error { return nil }})
	defer p.Close()
	for range 3 {
		stop := p.Start("tcp", "a", func() {})
		stop()
		leaktest.Check(t) // p is not closed
	}
	died := make(chan struct{})
	q := New(Config{Retry: time.Millisecond, Dial: func(context.Context, string, string) error { return errors.New("no") }})
	defer q.Close()
	q.Start("tcp", "a", func() { close(died) })
	<-died
	leaktest.Check(t)
}

func TestConcurrentUse(t *testing.T) {
	inBubble(t, Config{Rate: 1000}, always(errRefused), func(_ *world, p *Prober) {
		var group sync.WaitGroup
		dead, calls := count()
		for i := range 200 {
			group.Go(func() {
				stop := p.Start("tcp", fmt.Sprint(i), dead)
				if i%2 == 0 {
					time.Sleep(time.Duration(i) * 5 * time.Millisecond)
					stop()
				}
			})
		}
		group.Wait()
		time.Sleep(10 * time.Second)
		if n := calls(); n < 100 || n > 200 {
			t.Errorf("%d dead, want the 100 that were not stopped, and at most the others", n)
		}
	})
}
