// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package story

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

const (
	// wide is the longest line of what is said.
	wide = 80
	// indent stands before what belongs to a step.
	indent = "    "
)

// lines say what a step counted and showed.
func (s *Step) lines() []string {
	texts := []string{s.Shows}
	if len(s.Shares) > 0 {
		texts = append(texts, "shares: "+describe(s.Shares))
	}
	took := time.Duration(s.TookMS) * time.Millisecond
	texts = append(texts, fmt.Sprintf("%s calls, %s, in %s", thousands(s.Calls), s.failures(), brief(took)))
	var lines []string
	for _, text := range texts {
		lines = append(lines, wrap(text, wide-len(indent))...)
	}
	return lines
}

func (c *count) failures() string {
	text := thousands(c.Failed) + " failed"
	if c.InFlight > 0 {
		text += fmt.Sprintf(" (and %d in flight at the killed provider)", c.InFlight)
	}
	return text
}

// table is the whole story in figures.
func (r *Report) table() []string {
	row := func(name, calls, failed, took string) string {
		return fmt.Sprintf("%-18s  %7s  %6s  %7s", name, calls, failed, took)
	}
	figures := func(name string, c count, tookMS int64) string {
		text := row(name, thousands(c.Calls), thousands(c.Failed), brief(time.Duration(tookMS)*time.Millisecond))
		if c.InFlight > 0 {
			text += fmt.Sprintf("  and %d in flight at the kill", c.InFlight)
		}
		return text
	}
	lines := []string{row("step", "calls", "failed", "took")}
	for _, s := range r.Steps {
		lines = append(lines, figures(s.Name, s.count, s.TookMS))
	}
	return append(lines, figures("in all", r.count, r.TookMS))
}

// cluster says whether the ID would have told.
func (r *Registry) cluster() string {
	if r.ClusterID == r.ClusterIDBefore {
		return "under the same cluster ID " + r.ClusterID
	}
	return fmt.Sprintf("and its cluster ID was %s and is %s", r.ClusterIDBefore, r.ClusterID)
}

// brief writes 12.3 s or 4 ms.
func brief(d time.Duration) string {
	switch {
	case d >= 100*time.Millisecond:
		return strconv.FormatFloat(d.Seconds(), 'f', 1, 64) + " s"
	case d >= time.Millisecond:
		return strconv.FormatInt(d.Round(time.Millisecond).Milliseconds(), 10) + " ms"
	}
	return "less than 1 ms"
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// thousands writes 12,345.
func thousands(n uint64) string {
	digits := strconv.FormatUint(n, 10)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// wrap breaks a text at blanks into lines of at most width bytes, unless a word
// is longer.
func wrap(text string, width int) (lines []string) {
	line := ""
	for word := range strings.FieldsSeq(text) {
		if line != "" && len(line)+1+len(word) > width {
			lines, line = append(lines, line), ""
		}
		line = strings.TrimSpace(line + " " + word)
	}
	if line == "" {
		return lines
	}
	return append(lines, line)
}
