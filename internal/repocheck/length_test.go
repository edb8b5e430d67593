// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package repocheck

import (
	"strings"
	"testing"
)

// The lengths above which a file holds more than one idea.
const (
	maxCode   = 450
	maxTest   = 800
	maxReadme = 220
	maxGuide  = 150
)

func TestFileLengths(t *testing.T) {
	for _, f := range files(t) {
		if limit := maxLines(f); limit > 0 && f.lines() > limit {
			t.Errorf("%s has %d lines, more than %d: split it by what its parts do", f.path, f.lines(), limit)
		}
	}
}

// maxLines returns 0 for files of any length.
func maxLines(f file) int {
	switch {
	case f.generated():
		return 0
	case strings.HasSuffix(f.path, "_test.go"):
		return maxTest
	case f.ext() == ".go":
		return maxCode
	case f.path == "README.md":
		return maxReadme
	case f.path == "CONTRIBUTING.md":
		return maxGuide
	}
	return 0
}
