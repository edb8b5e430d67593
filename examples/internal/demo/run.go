// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/fairway-rpc/fairway/examples/internal/report"
)

var (
	// errCallsFailed is the result of a demo in which not every call worked.
	errCallsFailed = errors.New("calls failed")
	// errInterrupted is the result of one that ended before it had a result.
	errInterrupted = errors.New("interrupted")
)

// run runs the demo until ctx ends, its time is over or somebody quits, and
// leaves nothing behind but the log, and that only if something failed. The
// report is nil if the demo did not come to count calls.
func run(ctx context.Context, cfg Config, out *console, keys io.Reader) (r *report.Report, err error) {
	err = withLog(out, func(logs *logFile) error {
		out.say("Fairway demo: an etcd, %d providers and a consumer, all in this process.", len(weights))
		out.say("Logs of etcd, Kitex and Fairway, kept if something fails: %s", logs.path)
		r, err = live(ctx, &session{cfg: cfg, out: out, logs: logs}, keys)
		return err
	})
	return r, err
}

// withLog does something with a log file, which stays if that failed.
func withLog(out *console, do func(*logFile) error) (err error) {
	logs, err := openLog()
	if err != nil {
		return err
	}
	err = do(logs)
	keep := err != nil && !errors.Is(err, errInterrupted)
	if closeErr := logs.close(keep); closeErr != nil {
		return errors.Join(err, closeErr)
	}
	if keep {
		out.say("Something failed; the log stays: %s", logs.path)
	}
	return err
}

func live(ctx context.Context, s *session, keys io.Reader) (r *report.Report, err error) {
	defer func() { err = errors.Join(err, s.stop()) }()
	err = s.start(ctx)
	if err == nil {
		err = s.awaitCalls(ctx)
	}
	switch {
	case ctx.Err() != nil:
		return nil, errors.Join(errInterrupted, s.failed())
	case err != nil:
		return nil, errors.Join(err, s.failed())
	}
	return s.measure(ctx, keys)
}

// measure counts calls, shows them and ends the load.
func (s *session) measure(ctx context.Context, keys io.Reader) (*report.Report, error) {
	m := measurement{began: time.Now(), base: s.counts.Read()}
	s.watch(ctx, m, keys)
	if err := s.stopLoad(); err != nil {
		return nil, err
	}
	lasted := time.Since(m.began)
	s.out.leave()
	tally, snapshot := s.counts.Read(), s.snapshot()
	s.out.say("\nIn all:")
	s.out.show(s.last(m, tally, lasted))
	s.out.say("\nStopping the providers and etcd ...")
	part := m.part(tally)
	r := report.New(s.cfg.Policy, s.rows(snapshot, part), part, part.Failed)
	return &r, s.failed()
}

// failed is an error if a call has failed, with some of the causes.
func (s *session) failed() error {
	tally := s.counts.Read()
	if tally.Failed == 0 {
		return nil
	}
	return fmt.Errorf("%d %w: %q", tally.Failed, errCallsFailed, tally.Errors)
}
