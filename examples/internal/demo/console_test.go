// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package demo

import (
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fairway-rpc/fairway/examples/internal/table"
)

// screen is as much of a terminal as the console uses. It scrolls without end.
type screen struct {
	lines      []string
	row, col   int
	saved      [2]int
	unexpected []string
}

// Write implements io.Writer.
func (s *screen) Write(p []byte) (int, error) {
	for rest := string(p); rest != ""; {
		rest = s.step(rest)
	}
	return len(p), nil
}

// step obeys what text begins with and returns the rest.
func (s *screen) step(text string) string {
	switch {
	case strings.HasPrefix(text, saveCursor):
		s.saved = [2]int{s.row, s.col}
		return text[2:]
	case strings.HasPrefix(text, restoreCursor):
		s.row, s.col = s.saved[0], s.saved[1]
		return text[2:]
	case strings.HasPrefix(text, "\x1b["):
		end := strings.IndexFunc(text[2:], func(r rune) bool { return r >= '@' }) + 2
		s.sequence(text[2:end], text[end])
		return text[end+1:]
	case text[0] == '\n':
		s.row, s.col = s.row+1, 0
	case text[0] == '\r':
		s.col = 0
	default:
		s.put(text[0])
	}
	return text[1:]
}

func (s *screen) sequence(number string, final byte) {
	switch final {
	case 'A':
		n, _ := strconv.Atoi(number)
		if s.row -= n; s.row < 0 {
			s.unexpected = append(s.unexpected, "the cursor left the screen")
			s.row = 0
		}
	case 'K':
		s.line()
		s.lines[s.row] = s.lines[s.row][:min(s.col, len(s.lines[s.row]))]
	case 'J':
		s.line()
		s.lines = s.lines[:s.row+1]
		s.lines[s.row] = s.lines[s.row][:min(s.col, len(s.lines[s.row]))]
	default:
		s.unexpected = append(s.unexpected, number+string(final))
	}
}

func (s *screen) line() {
	for len(s.lines) <= s.row {
		s.lines = append(s.lines, "")
	}
}

func (s *screen) put(b byte) {
	s.line()
	line := s.lines[s.row]
	line += strings.Repeat(" ", max(s.col+1-len(line), 0))
	s.lines[s.row] = line[:s.col] + string(b) + line[s.col+1:]
	s.col++
}

func (s *screen) check(t *testing.T, want string) {
	t.Helper()
	var lines []string
	for _, line := range s.lines {
		lines = append(lines, strings.TrimRight(line, " "))
	}
	if diff := cmp.Diff(want, strings.Join(lines, "\n")); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if len(s.unexpected) > 0 {
		t.Errorf("unexpected: %v", s.unexpected)
	}
}

// rendered is the view as text, to compare the screen with.
func rendered(v table.View) string { return strings.Join(table.Render(v, table.Style{}), "\n") }

func TestInPlace(t *testing.T) {
	s := &screen{}
	c := &console{out: s, inPlace: true, prompt: "> ", style: func() table.Style { return table.Style{} }}
	v := table.View{Policy: "smooth-wrr", Calls: 10_000, Hints: []string{"hint"}}
	c.say("starting")
	c.show(v)
	s.check(t, "starting\n"+rendered(v)+"\n>")

	typed := []byte("k")
	if _, err := s.Write(typed); err != nil { // the terminal echoes what is typed
		t.Fatal(err)
	}
	v.Calls = 9
	c.show(v)
	s.check(t, "starting\n"+rendered(v)+"\n> k")

	if _, err := s.Write([]byte(" 1\n")); err != nil {
		t.Fatal(err)
	}
	c.typed()
	c.say("provider 1 leaves")
	s.check(t, "starting\nprovider 1 leaves\n"+rendered(v)+"\n>")

	v.Errors = []string{"broken"}
	c.show(v)
	s.check(t, "starting\nprovider 1 leaves\n"+rendered(v)+"\n>")
	v.Errors = nil
	c.show(v)
	s.check(t, "starting\nprovider 1 leaves\n"+rendered(v)+"\n>")

	c.leave()
	c.say("in all")
	c.show(v)
	s.check(t, "starting\nprovider 1 leaves\n"+rendered(v)+"\n>\nin all\n\n"+rendered(v))
}

func TestPlain(t *testing.T) {
	s := &screen{}
	c := &console{out: s, style: func() table.Style { return table.Style{} }}
	v := table.View{Policy: "smooth-wrr"}
	c.say("starting")
	c.show(v)
	c.say("line")
	c.leave()
	s.check(t, "starting\n\n"+rendered(v)+"\nline")
}
