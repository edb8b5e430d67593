// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package table

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Style says how a view is rendered.
type Style struct {
	// Colour marks states and the actual share with ANSI colours.
	Colour bool
	// Width is the longest line; 0 is no limit.
	Width int
}

// barWidth is the length of a bar for a share of 1.
const barWidth = 20

// stateWidth is the length of the longest state.
const stateWidth = len("stopping")

// Render returns the lines of a view, without line ends.
func Render(v View, s Style) []string {
	r := renderer{style: s}
	r.line(span(fmt.Sprintf("policy %s, %s: %s calls, ", v.Policy, seconds(v.Elapsed), thousands(v.Calls))), r.failed(v.Failed),
		span(fmt.Sprintf("; %s calls/s", thousands(uint64(v.QPS+0.5)))), over(v.Span))
	r.line()
	r.rows(v)
	r.line()
	r.feed(v)
	r.list("error:", v.Errors)
	if len(v.Hints) > 0 {
		r.line()
		r.list("", v.Hints)
	}
	return r.lines
}

type renderer struct {
	style Style
	lines []string
}

func (r *renderer) rows(v View) {
	wide := len("127.0.0.1:65535")
	for _, row := range v.Rows {
		wide = max(wide, len(row.Address))
	}
	r.line(span(fmt.Sprintf("%2s  %-*s  %6s  %8s  %7s  %7s  %9s  %-8s  %s",
		"#", wide, "instance", "weight", "expected", "actual", "calls/s", "in flight", "state", "share, | expected")))
	for _, row := range v.Rows {
		r.line(span(fmt.Sprintf("%2d  %-*s  %6d  %8s  %7s  %7s  %9d  ", row.Number, wide, row.Address, row.Weight,
			percent(row.Expected), percent(row.Actual), thousands(uint64(row.QPS+0.5)), row.InFlight)),
			state(row.State),
			span(strings.Repeat(" ", max(stateWidth-len(row.State.State), 0)+2)),
			coloured(cyan, bar(row)))
	}
}

// bar is the actual share, with a mark where it is expected to end.
func bar(row Row) string {
	b := []byte(strings.Repeat(" ", barWidth))
	for i := range cells(row.Actual) {
		b[i] = '#'
	}
	if at := cells(row.Expected) - 1; at >= 0 {
		b[at] = '|'
	}
	return string(b)
}

func cells(share float64) int { return min(int(share*barWidth+0.5), barWidth) }

func (r *renderer) feed(v View) {
	f := v.Feed
	r.line(span("feed: "), state(Service{State: f.State, Up: f.State == "live"}),
		span(fmt.Sprintf(" from %s, revision %d, proved %.1f s ago; etcd at %s: ", f.Source, f.Revision, f.Age.Seconds(), v.Etcd.Name)),
		state(v.Etcd))
}

// over tells what the shares and rates are taken from.
func over(d time.Duration) piece {
	if d <= 0 {
		return span("")
	}
	return span(" and shares over the last " + seconds(d))
}

func (r *renderer) failed(n uint64) piece {
	text := thousands(n) + " failed"
	if n > 0 {
		return coloured(red, text)
	}
	return span(text)
}

func (r *renderer) list(label string, texts []string) {
	for _, text := range texts {
		r.line(coloured(red, label), span(strings.Repeat(" ", min(len(label), 1))+strings.ReplaceAll(text, "\n", " ")))
	}
}

func state(s Service) piece {
	if s.Up {
		return coloured(green, s.State)
	}
	return coloured(yellow, s.State)
}

// piece is a part of a line in one colour.
type piece struct{ colour, text string }

// ANSI codes.
const (
	red    = "\x1b[31m"
	green  = "\x1b[32m"
	yellow = "\x1b[33m"
	cyan   = "\x1b[36m"
	reset  = "\x1b[0m"
)

func span(text string) piece             { return piece{text: text} }
func coloured(colour, text string) piece { return piece{colour: colour, text: text} }
func (p piece) in(colour bool, text string) string {
	if !colour || p.colour == "" || text == "" {
		return text
	}
	return p.colour + text + reset
}

// line adds a line, cut to the width and without blanks at its end.
func (r *renderer) line(pieces ...piece) {
	var b strings.Builder
	left := r.style.Width
	for i, p := range pieces {
		text := p.text
		if i == len(pieces)-1 {
			text = strings.TrimRight(text, " ")
		}
		if r.style.Width > 0 {
			text = cut(text, left)
			left -= utf8.RuneCountInString(text)
		}
		b.WriteString(p.in(r.style.Colour, text))
	}
	r.lines = append(r.lines, strings.TrimRight(b.String(), " "))
}

func cut(text string, width int) string {
	runes := []rune(text)
	if len(runes) <= width {
		return text
	}
	return string(runes[:width])
}

func percent(share float64) string { return strconv.FormatFloat(100*share, 'f', 1, 64) + " %" }

func seconds(d time.Duration) string { return strconv.Itoa(int(d.Round(time.Second).Seconds())) + " s" }

// thousands writes 12,345.
func thousands(n uint64) string {
	digits := strconv.FormatUint(n, 10)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}
