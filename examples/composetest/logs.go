// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"strconv"
	"strings"
)

// report is one interval of the consumer's log.
type report struct {
	policy      string
	calls       int
	failed      int
	totalCalls  int
	totalFailed int
	state       string
	source      string
	instances   []instance
}

// instance is one provider in a report.
type instance struct {
	address string
	weight  int
	calls   int
}

// whole tells a report whose instance lines have all been written.
func (r report) whole() bool {
	sum := 0
	for _, i := range r.instances {
		sum += i.calls
	}
	return sum >= r.calls-r.failed && (len(r.instances) > 0 || r.calls == 0)
}

// parseReports reads the consumer's log: a line msg=distribution for each
// interval, then a line msg=instance for each provider. Other lines are skipped.
func parseReports(log string) ([]report, error) {
	var reports []report
	for line := range strings.Lines(log) {
		fields := parseLine(line)
		var err error
		switch fields["msg"] {
		case "distribution":
			var r report
			r, err = parseReport(fields)
			reports = append(reports, r)
		case "instance":
			if len(reports) == 0 {
				continue
			}
			last := &reports[len(reports)-1]
			var i instance
			i, err = parseInstance(fields)
			last.instances = append(last.instances, i)
		}
		if err != nil {
			return nil, fmt.Errorf("log line %q: %w", strings.TrimSpace(line), err)
		}
	}
	return reports, nil
}

// parseTotals reads the consumer's last line, msg=totals, and tells whether it is there.
func parseTotals(log string) (calls, failed int, found bool) {
	for line := range strings.Lines(log) {
		fields := parseLine(line)
		if fields["msg"] == "totals" {
			found = numbers(fields, map[string]*int{"calls": &calls, "failed": &failed}) == nil
		}
	}
	return calls, failed, found
}

func parseReport(fields map[string]string) (r report, err error) {
	r.policy, r.state, r.source = fields["policy"], fields["state"], fields["source"]
	err = numbers(fields, map[string]*int{
		"calls": &r.calls, "failed": &r.failed,
		"total_calls": &r.totalCalls, "total_failed": &r.totalFailed,
	})
	return r, err
}

func parseInstance(fields map[string]string) (i instance, err error) {
	i.address = fields["address"]
	err = numbers(fields, map[string]*int{"weight": &i.weight, "calls": &i.calls})
	return i, err
}

func numbers(fields map[string]string, into map[string]*int) (err error) {
	for name, n := range into {
		if *n, err = strconv.Atoi(fields[name]); err != nil {
			return fmt.Errorf("field %s: %w", name, err)
		}
	}
	return nil
}

// parseLine splits a line of slog's text handler. It stops at text that does
// not have its form.
func parseLine(line string) map[string]string {
	fields := make(map[string]string)
	rest := strings.TrimSpace(line)
	for rest != "" {
		key, value, ok := strings.Cut(rest, "=")
		if !ok || strings.ContainsAny(key, " \"") {
			break
		}
		if quoted, err := strconv.QuotedPrefix(value); err == nil {
			rest = value[len(quoted):]
			value, _ = strconv.Unquote(quoted) // a valid prefix by then
		} else {
			value, rest, _ = strings.Cut(value, " ")
		}
		fields[key] = value
		rest = strings.TrimLeft(rest, " ")
	}
	return fields
}
