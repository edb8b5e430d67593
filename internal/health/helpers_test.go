// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package health

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

var errSick = errors.New("sick")

// reported is one call of a Report.
type reported struct {
	at      time.Duration
	address string
	healthy bool
	err     error
}

// world is where targets live, in fake time: it answers checks and notes them and
// what is reported.
type world struct {
	*Checker

	mu       sync.Mutex
	began    time.Time
	answer   func(ctx context.Context, address string) error
	checks   map[string][]time.Duration // since began
	inFlight int
	most     int // in flight at a time
	reports  []reported
}

// inBubble runs f in fake time with a Checker, which it closes.
func inBubble(t *testing.T, cfg Config, answer Func, f func(w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := &world{began: time.Now(), answer: answer, checks: map[string][]time.Duration{}}
		var err error
		if w.Checker, err = New(cfg, w.checkOne, w.note); err != nil {
			t.Fatal(err)
		}
		defer w.Close()
		f(w)
	})
}

func (w *world) checkOne(ctx context.Context, address string) error {
	w.mu.Lock()
	w.checks[address] = append(w.checks[address], time.Since(w.began))
	w.inFlight++
	w.most = max(w.most, w.inFlight)
	answer := w.answer
	w.mu.Unlock()
	defer func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.inFlight--
	}()
	return answer(ctx, address)
}

func (w *world) note(address string, healthy bool, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.reports = append(w.reports, reported{time.Since(w.began), address, healthy, err})
}

func (w *world) nowAnswer(f Func) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.answer = f
}

// times returns when a target was checked.
func (w *world) times(address string) []time.Duration {
	synctest.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.checks[address])
}

// takeReports returns what was reported since it was called last.
func (w *world) takeReports() []reported {
	synctest.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	defer func() { w.reports = nil }()
	return w.reports
}

func well(context.Context, string) error { return nil }
func sick(context.Context, string) error { return errSick }

// hangs answers no check before it is given up.
func hangs(ctx context.Context, _ string) error {
	<-ctx.Done()
	return ctx.Err()
}

// gaps are the times between checks.
func gaps(times []time.Duration) []time.Duration {
	var all []time.Duration
	for i := 1; i < len(times); i++ {
		all = append(all, times[i]-times[i-1])
	}
	return all
}

// within reports whether d is want, give or take a tenth.
func within(d, want time.Duration) bool { return d >= want-want/10 && d <= want+want/10 }

func TestConfigErrorsNameTheField(t *testing.T) {
	for field, cfg := range map[string]Config{
		"Interval":     {Interval: time.Millisecond},
		"FastInterval": {FastInterval: 11 * time.Second},
		"Timeout":      {Timeout: -1},
		"Unhealthy":    {Unhealthy: -1},
		"Healthy":      {Healthy: -1},
		"Concurrency":  {Concurrency: -1},
	} {
		if _, err := New(cfg, well, func(string, bool, error) {}); err == nil || !strings.HasPrefix(err.Error(), field+" is ") {
			t.Errorf("%s: %v", field, err)
		}
	}
	if _, err := New(Config{}, nil, nil); err == nil {
		t.Error("no functions are no error")
	}
	if _, err := New(Config{Interval: 100 * time.Millisecond}, well, func(string, bool, error) {}); err != nil {
		t.Errorf("an interval below the default of FastInterval: %v", err)
	}
}
