// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package demo

import (
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/fairway-rpc/fairway/examples/internal/table"
)

// ANSI sequences. Saving the cursor keeps what somebody is typing.
const (
	saveCursor    = "\x1b7"
	restoreCursor = "\x1b8"
	clearLine     = "\x1b[K"
	clearBelow    = "\x1b[J"
)

// console prints lines and a view. In place, the view stays below the lines and
// is drawn over; otherwise a view is lines like others.
type console struct {
	out     io.Writer
	inPlace bool
	prompt  string
	style   func() table.Style

	mu      sync.Mutex
	shown   []string // the view that stands on the screen
	entered int      // lines that were typed below it
}

// say prints a line.
func (c *console) say(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	line := fmt.Sprintf(format, args...) + "\n"
	if c.shown == nil {
		c.write(line)
		return
	}
	c.write(c.toTop() + clearBelow + line + c.draw())
}

// show shows a view.
func (c *console) show(v table.View) {
	c.mu.Lock()
	defer c.mu.Unlock()
	lines := table.Render(v, c.style())
	switch {
	case !c.inPlace:
		c.write("\n" + strings.Join(lines, "\n") + "\n")
		return
	case len(lines) == len(c.shown) && c.entered == 0:
		c.shown = lines
		c.write(saveCursor + c.toTop() + strings.Join(lines, clearLine+"\n") + clearLine + restoreCursor)
		return
	case c.shown == nil:
		c.shown = append([]string{}, lines...)
		c.write(c.draw())
		return
	}
	top := c.toTop()
	c.shown = append([]string{}, lines...)
	c.write(top + clearBelow + c.draw())
}

// typed tells that somebody has typed a line: the cursor is one line lower.
func (c *console) typed() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.entered++
}

// leave lets the last view stand; what follows is printed below it.
func (c *console) leave() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.shown != nil {
		c.write("\n")
	}
	c.shown, c.entered, c.inPlace = nil, 0, false
}

// toTop moves the cursor to the first line of the view.
func (c *console) toTop() string {
	if up := len(c.shown) + c.entered; up > 0 {
		return fmt.Sprintf("\r\x1b[%dA", up)
	}
	return "\r"
}

// draw prints the view and leaves the cursor behind the prompt.
func (c *console) draw() string {
	c.entered = 0
	return strings.Join(c.shown, "\n") + "\n" + c.prompt
}

// write does not report errors: whoever reads has gone, and the load goes on.
func (c *console) write(text string) { _, _ = io.WriteString(c.out, text) }
