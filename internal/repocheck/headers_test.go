// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package repocheck

import (
	"strings"
	"testing"
)

// header is what each source file begins with, after the sign of a comment.
var header = []string{"Copyright The Fairway Authors", "SPDX-License-Identifier: Apache-2.0"}

func TestHeaders(t *testing.T) {
	for _, f := range files(t) {
		if sign := commentSign(f); sign != "" && !hasHeader(f.text, sign) {
			t.Errorf("%s: its first lines are not %q", f.path, []string{sign + " " + header[0], sign + " " + header[1]})
		}
	}
}

// commentSign returns "" for files that need no header.
func commentSign(f file) string {
	if f.generated() {
		return ""
	}
	if f.isScript() {
		return "#"
	}
	switch f.ext() {
	case ".go", ".thrift", ".proto", ".js":
		return "//"
	case ".sh", ".yml", ".yaml", ".toml":
		return "#"
	}
	switch f.name() {
	case "Makefile", "Dockerfile", ".env", ".dockerignore", ".gitignore", ".gitattributes", ".editorconfig":
		return "#"
	}
	return ""
}

// hasHeader skips what must stand in the first line: how to run a script, or its dialect.
func hasHeader(text, sign string) bool {
	if strings.HasPrefix(text, "#!") || strings.HasPrefix(text, "# shellcheck shell=") || strings.HasPrefix(text, "# syntax=") {
		_, text, _ = strings.Cut(text, "\n")
	}
	return strings.HasPrefix(text, sign+" "+header[0]+"\n"+sign+" "+header[1]+"\n")
}

func TestHasHeader(t *testing.T) {
	good := "# " + header[0] + "\n# " + header[1] + "\n"
	tests := map[string]struct {
		text string
		want bool
	}{
		"header":              {good, true},
		"after the first":     {"#!/usr/bin/env bash\n" + good, true},
		"after another line":  {"set -e\n" + good, false},
		"empty":               {"", false},
		"copyright only":      {"# " + header[0] + "\n", false},
		"sign of another":     {strings.ReplaceAll(good, "#", "//"), false},
		"year in the line":    {strings.Replace(good, "Copyright", "Copyright 2026", 1), false},
		"another licence":     {strings.Replace(good, "Apache-2.0", "MIT", 1), false},
		"text in the licence": {strings.Replace(good, "2.0\n", "2.0 or later\n", 1), false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := hasHeader(test.text, "#"); got != test.want {
				t.Errorf("hasHeader(%q) = %t", test.text, got)
			}
		})
	}
}
