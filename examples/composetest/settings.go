// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
)

// settings are the variables of .env, in which a variable of the environment
// wins as it does for compose.
type settings struct {
	names  []string // in the file's order
	values map[string]string
}

func readSettings(path string) (settings, error) {
	f, err := os.Open(path)
	if err != nil {
		return settings{}, err
	}
	defer func() { _ = f.Close() }()
	s, err := parseSettings(f, os.LookupEnv)
	if err != nil {
		return settings{}, fmt.Errorf("%s: %w", path, err)
	}
	return s, nil
}

// parseSettings reads NAME=value lines. Quotes and references, which the two
// compose versions read differently, are refused.
func parseSettings(r io.Reader, environ func(string) (string, bool)) (settings, error) {
	s := settings{values: make(map[string]string)}
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		line := strings.TrimSpace(lines.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		name, value, ok := strings.Cut(line, "=")
		if !ok || name == "" || strings.ContainsAny(line, "\"'$ \t") {
			return settings{}, fmt.Errorf("line %q: want NAME=value without quotes, spaces and references", line)
		}
		if set, ok := environ(name); ok {
			value = set
		}
		s.names = append(s.names, name)
		s.values[name] = value
	}
	return s, lines.Err()
}

// ports returns the names of the host ports.
func (s settings) ports() []string {
	var names []string
	for _, name := range s.names {
		if strings.HasSuffix(name, "_PORT") {
			names = append(names, name)
		}
	}
	return names
}

// reference is a variable as compose and Dockerfiles write it, with or without
// a default or an error message.
var reference = regexp.MustCompile(`\$\{(\w+)(?::?[-?]([^}]*))?\}`)

// expand puts the variables' values into text, and reports a name that is not set.
func (s settings) expand(text string) (string, error) {
	var missing error
	expanded := reference.ReplaceAllStringFunc(text, func(ref string) string {
		name := reference.FindStringSubmatch(ref)[1]
		value, ok := s.values[name]
		if !ok {
			missing = fmt.Errorf("%q: %s is not set in %s", text, name, envFile)
		}
		return value
	})
	return expanded, missing
}
