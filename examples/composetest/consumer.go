// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// reports returns the consumer's whole reports so far, an error if a call failed.
func (s *scenario) reports(ctx context.Context) ([]report, error) {
	text, err := s.log(ctx, consumerService)
	if err != nil {
		return nil, err
	}
	reports, err := parseReports(text)
	if err != nil {
		return nil, err
	}
	for _, r := range reports {
		if r.failed != 0 || r.totalFailed != 0 {
			return nil, fmt.Errorf("calls failed: %d in an interval, %d in all", r.failed, r.totalFailed)
		}
	}
	if n := len(reports); n > 0 && !reports[n-1].whole() {
		reports = reports[:n-1]
	}
	return reports, nil
}

// consumer waits until the consumer's newest report is as wanted.
func (s *scenario) consumer(ctx context.Context, what string, wanted func(report) bool) error {
	return waitFor(ctx, patience, what, func(ctx context.Context) error {
		reports, err := s.reports(ctx)
		switch {
		case err != nil:
			return err
		case len(reports) == 0:
			return unmet("no report yet")
		}
		if last := reports[len(reports)-1]; !wanted(last) {
			return unmet(fmt.Sprintf("the last report is %+v", last))
		}
		return nil
	})
}

// seesAll waits until the consumer calls every provider.
func (s *scenario) seesAll(ctx context.Context) error {
	return s.consumer(ctx, "a consumer that calls every provider", func(r report) bool {
		seen, _ := tally([]report{r})
		for _, p := range s.providers {
			if seen[p.address] == 0 {
				return false
			}
		}
		return true
	})
}

// callsOn waits for that many more reports, each with calls.
func (s *scenario) callsOn(ctx context.Context, more int) error {
	before, err := s.reports(ctx)
	if err != nil {
		return err
	}
	return waitFor(ctx, patience, "more calls", func(ctx context.Context) error {
		after, err := s.reports(ctx)
		if err != nil {
			return err
		}
		fresh := after[min(len(before), len(after)):]
		if slices.ContainsFunc(fresh, func(r report) bool { return r.calls == 0 }) {
			return errors.New("an interval without a call")
		}
		if len(fresh) < more {
			return unmet(fmt.Sprintf("%d of %d more reports", len(fresh), more))
		}
		return nil
	})
}

// stopConsumer stops it and wants status 0, which it ends with if no call
// failed, the last ones included.
func (s *scenario) stopConsumer(ctx context.Context) error {
	if _, err := s.do(ctx, "stop", consumerService); err != nil {
		return err
	}
	if err := s.ended(ctx, consumerService); err != nil {
		return err
	}
	text, err := s.log(ctx, consumerService)
	if err != nil {
		return err
	}
	calls, failed, found := parseTotals(text)
	if !found || calls == 0 || failed != 0 {
		return fmt.Errorf("the consumer's totals (logged: %t) are %d calls, %d failed; want some and none", found, calls, failed)
	}
	s.say.step("  the consumer ended with status 0: %d calls, none failed", calls)
	return nil
}

// tally sums the calls by address, and all of them.
func tally(reports []report) (calls map[string]int, n int) {
	calls = make(map[string]int)
	for _, r := range reports {
		for _, i := range r.instances {
			calls[i.address] += i.calls
			n += i.calls
		}
	}
	return calls, n
}

// describe renders calls by address with their shares.
func describe(calls map[string]int) string {
	n := 0
	for _, c := range calls {
		n += c
	}
	parts := []string{fmt.Sprintf("%d calls", n)}
	for _, address := range slices.Sorted(maps.Keys(calls)) {
		parts = append(parts, fmt.Sprintf("%s %.3f", address, float64(calls[address])/float64(max(n, 1))))
	}
	return strings.Join(parts, ", ")
}
