// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package story

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
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
// before an error, or nil if there was none. Calls that failed and steps that did not
// come to their end are an error, which wraps one of those above or the
// context's cause and names the step. Nothing is left behind.
func Run(ctx context.Context, cfg Config) (*Report, error) { return run(ctx, cfg, steps) }

func run(ctx context.Context, cfg Config, steps []step) (report *Report, err error) {
	began := time.Now()
	introduce(cfg.Say, len(steps))
	s := &stage{cfg: cfg}
	defer func() { err = errors.Join(err, s.stop()) }()
	if err := s.start(ctx); err != nil {
		return nil, err
	}
	report = newReport()
	err = s.tellAll(ctx, steps, report)
	report.TookMS = time.Since(began).Milliseconds()
	cfg.Say("\n%s", strings.Join(report.table(), "\n"))
	cfg.Say("\nStopping the providers and etcd ...")
	return report, errors.Join(err, report.failed(s.causes))
}

func introduce(say func(string, ...any), n int) {
	text := fmt.Sprintf("The story of a consumer that calls three providers %d times a second, by the policy %s, while %d things happen to them and to etcd. "+
		"Each step says what is done, what that showed, and how many of the calls meanwhile failed. "+
		"All of it runs here, on free ports, and is gone at the end. "+
		"Providers register under a lease of %.0f s (the default is %.0f s): etcd lists one that dies without a word until that runs out.",
		qps, policy, n, ttl.Seconds(), discovery.DefaultTTL.Seconds())
	say("%s", strings.Join(wrap(text, wide), "\n"))
}

// tellAll does the steps until one fails.
func (s *stage) tellAll(ctx context.Context, steps []step, report *Report) error {
	for i, step := range steps {
		heading := fmt.Sprintf("%d/%d %s: %s", i+1, len(steps), step.name, step.does)
		s.cfg.Say("\n%s", strings.Join(wrap(heading, wide), "\n"))
		told, err := s.tell(ctx, step, i == len(steps)-1)
		report.add(told)
		for _, line := range told.lines() {
			s.cfg.Say("%s%s", indent, line)
		}
		if err != nil {
			return fmt.Errorf("step %q: %w", step.name, err)
		}
	}
	return nil
}

// tell does one step and counts its calls. It ends the calls after the last.
func (s *stage) tell(ctx context.Context, step step, last bool) (Step, error) {
	began := time.Now()
	found, err := step.run(ctx, s)
	took := time.Since(began)
	if err != nil {
		found.Shows = "" // it did not come to show that
	}
	if last || err != nil {
		s.stopCalls()
	}
	tallies := s.endStep()
	told := Step{Name: step.name, TookMS: took.Milliseconds(), Finding: found, count: countOf(tallies, s.killed)}
	s.killed = loss{}
	if told.Failed > 0 {
		for _, tally := range tallies {
			s.causes = append(s.causes, tally.Errors...)
		}
	}
	return told, err
}
