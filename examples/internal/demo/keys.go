// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package demo

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// hints tell what can be typed.
var hints = []string{
	"Things to try (type, then Enter):",
	"  k 1  stop provider 1    e  stop etcd, or start it again",
	"  r 1  start it again     q  quit",
}

// noHints stand where nobody can type.
var noHints = []string{"Ctrl-C ends the demo"}

// command is a line that was typed: the key, and a provider's number for the
// keys that take one.
type command struct {
	key      byte
	provider int
}

// The keys.
const (
	keyStop  = 'k'
	keyStart = 'r'
	keyEtcd  = 'e'
	keyQuit  = 'q'
)

// parseCommand understands "k 1", "k1" and "e".
func parseCommand(line string, providers int) (command, error) {
	line = strings.ToLower(strings.TrimSpace(line))
	if line == "" {
		return command{}, nil
	}
	c, rest := command{key: line[0]}, strings.TrimSpace(line[1:])
	switch c.key {
	case keyEtcd, keyQuit:
		if rest == "" {
			return c, nil
		}
	case keyStop, keyStart:
		n, err := strconv.Atoi(rest)
		if err != nil || n < 1 || n > providers {
			return command{}, fmt.Errorf("%c needs the number of a provider: %c 1 to %c %d", c.key, c.key, c.key, providers)
		}
		c.provider = n
		return c, nil
	}
	return command{}, fmt.Errorf("%q is not understood: type k 1, r 1, e or q", line)
}

// readLines sends the lines of r until it ends or ctx does. A read that waits
// for input lasts as long as the process.
func readLines(ctx context.Context, r io.Reader) <-chan string {
	lines := make(chan string)
	go func() {
		scanner := bufio.NewScanner(r)
		for scanner.Scan() {
			select {
			case lines <- scanner.Text():
			case <-ctx.Done():
				return
			}
		}
	}()
	return lines
}
