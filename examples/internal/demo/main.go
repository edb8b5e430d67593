// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package demo

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/term"

	"github.com/fairway-rpc/fairway/examples/internal/cluster"
	"github.com/fairway-rpc/fairway/examples/internal/table"
)

// Exit statuses.
const (
	exitOK = iota
	exitFailed
	exitUsage
)

// Main is the whole program and returns its exit status: 1 if a call or the
// demo itself failed, 2 if the arguments are bad. The first interrupt ends the
// demo in order, the second one the process. In the process that the story
// starts to kill it, Main is a provider.
func Main(args []string, stdin, stdout, stderr *os.File) int {
	if status, ran := cluster.RunProcess(); ran {
		return status
	}
	cfg, err := Parse(args, stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return exitOK
	case err != nil:
		complain(stderr, err)
		return exitUsage
	}
	ctx, release := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer release()
	context.AfterFunc(ctx, release) // from now on a signal does what it does by default

	human := stdout
	if cfg.JSON {
		human = stderr
	}
	out := newConsole(human, cfg)
	var keys io.Reader
	if term.IsTerminal(int(stdin.Fd())) {
		keys = stdin
		if out.inPlace {
			out.prompt = "> "
		}
	}
	r, err := perform(ctx, cfg, out, keys)
	out.leave()
	if !cfg.JSON {
		r = nil
	}
	return finish(r, err, stdout, stderr)
}

// finish writes the report, if there is one, and the error, and returns the exit
// status.
func finish(r writer, err error, stdout, stderr io.Writer) int {
	if r != nil {
		err = errors.Join(err, r.Write(stdout))
	}
	if err != nil {
		complain(stderr, err)
		return exitFailed
	}
	return exitOK
}

// writer is a report.
type writer interface{ Write(w io.Writer) error }

// perform does what the flags ask for. The report is nil if there is none.
func perform(ctx context.Context, cfg Config, out *console, keys io.Reader) (writer, error) {
	if cfg.Story {
		r, err := tell(ctx, out)
		if r == nil {
			return nil, err
		}
		return r, err
	}
	r, err := run(ctx, cfg, out, keys)
	if r == nil {
		return nil, err
	}
	return r, err
}

// complain writes an error; that it cannot be written has nowhere to go.
func complain(w io.Writer, err error) { _, _ = fmt.Fprintf(w, "demo: %v\n", err) }

// The smallest screen for a table in place.
const (
	minWidth  = 60
	minHeight = 18
)

// newConsole draws in place on a terminal that can, unless spans scroll by.
func newConsole(f *os.File, cfg Config) *console {
	c := &console{out: f, style: func() table.Style { return table.Style{} }}
	fd := int(f.Fd())
	if !term.IsTerminal(fd) || os.Getenv("TERM") == "dumb" || !enableSequences(f) {
		return c
	}
	colour := os.Getenv("NO_COLOR") == ""
	width, height, err := term.GetSize(fd)
	c.inPlace = err == nil && width >= minWidth && height >= minHeight && !cfg.Spans.On
	c.style = func() table.Style {
		if !c.inPlace {
			return table.Style{Colour: colour}
		}
		if now, _, err := term.GetSize(fd); err == nil {
			width = now
		}
		return table.Style{Colour: colour, Width: width - 1}
	}
	return c
}
