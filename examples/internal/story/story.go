// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package story

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/fairway-rpc/fairway/discovery"
)

var (
	// ErrCallsFailed means that the story came to its end but calls failed.
	ErrCallsFailed = errors.New("calls failed")
	// ErrNotInTime means that what a step waited for did not come true.
	ErrNotInTime = errors.New("not in time")
	// ErrUnexpected means that a step saw what must not be.
	ErrUnexpected = errors.New("unexpected")
)

// Config is what the story needs from the program.
type Config struct {
	// Log gets the logs of etcd, Kitex and Fairway.
	Log io.Writer
	// Say prints a line for a person.
	Say func(format string, args ...any)
}

// Run tells the story and returns what each step counted, also that of the steps
// before an error. The error is the context's cause if that ended, else it wraps
// one of those above and names the step. Nothing is left behind.
func Run(ctx context.Context, cfg Config) (*Report, error) { return run(ctx, cfg, steps) }

func run(ctx context.Context, cfg Config, steps []step) (report *Report, err error) {
	began := time.Now()
	introduce(cfg.Say, len(steps))
	s := &stage{cfg: cfg}
	defer func() {
		cfg.Say("\nStopping the providers and etcd ...")
		err = errors.Join(err, s.stop())
	}()
	if err := s.start(ctx); err != nil {
		return nil, err
	}
	report = newReport()
	for i, step := range steps {
		cfg.Say("\n%d/%d %s: %s", i+1, len(steps), step.name, step.does)
		told, err := s.tell(ctx, step, i == len(steps)-1)
		report.add(told)
		for _, line := range told.lines() {
			cfg.Say("    %s", line)
		}
		if err != nil {
			return report, err
		}
	}
	report.TookMS = time.Since(began).Milliseconds()
	cfg.Say("")
	for _, line := range report.table() {
		cfg.Say("%s", line)
	}
	return report, report.failed(s.errors)
}

func introduce(say func(string, ...any), n int) {
	say("The story of a consumer that calls three providers, %d times a second, through %d events.", qps, n)
	say("Each step says what is done, how many calls were made and failed meanwhile, and what they show.")
	say("Everything runs here, on free ports. Providers register under a lease of %v (the default is %v):",
		ttl, discovery.DefaultTTL)
	say("one that dies without a word is forgotten by etcd after that. The policy is %s.", policy)
}

// tell does one step and counts its calls. It ends the calls after the last.
func (s *stage) tell(ctx context.Context, step step, last bool) (Step, error) {
	began := time.Now()
	found, err := step.run(s, ctx)
	took := time.Since(began)
	if last || err != nil {
		s.stopCalls()
	}
	tallies := s.endStep()
	told := Step{Name: step.name, TookMS: took.Milliseconds(), Finding: found, count: countOf(tallies, s.killed)}
	s.killed = loss{}
	if err != nil && ctx.Err() == nil {
		err = fmt.Errorf("step %q: %w", step.name, err)
	}
	return told, err
}
