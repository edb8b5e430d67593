// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package repocheck

import (
	"regexp"
	"strings"
	"testing"
)

var (
	namedTest   = regexp.MustCompile("`(Test[A-Z][A-Za-z0-9]*)`")
	definedTest = regexp.MustCompile(`(?m)^func (Test[A-Z][A-Za-z0-9]*)\(`)
)

// TestDocsNameTestsThatExist: pages refer to the tests that prove what they say.
func TestDocsNameTestsThatExist(t *testing.T) {
	exists := make(map[string]bool)
	var pages []file
	for _, f := range files(t) {
		switch {
		case strings.HasSuffix(f.name(), "_test.go"):
			for _, m := range definedTest.FindAllStringSubmatch(f.text, -1) {
				exists[m[1]] = true
			}
		case strings.HasPrefix(f.path, "docs/") && f.ext() == ".md":
			pages = append(pages, f)
		}
	}
	named := 0
	for _, page := range pages {
		for _, m := range namedTest.FindAllStringSubmatch(page.text, -1) {
			named++
			if !exists[m[1]] {
				t.Errorf("%s names %s, which does not exist", page.path, m[1])
			}
		}
	}
	if named == 0 {
		t.Error("no page names a test")
	}
}
