// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"time"
)

// narrator prints what the run is doing, with the seconds since it began.
type narrator struct {
	out   io.Writer
	start time.Time
}

func newNarrator(out io.Writer) *narrator {
	return &narrator{out: out, start: time.Now()}
}

func (n *narrator) step(format string, args ...any) {
	_, _ = fmt.Fprintf(n.out, "[%6.1fs] %s\n", time.Since(n.start).Seconds(), fmt.Sprintf(format, args...))
}
