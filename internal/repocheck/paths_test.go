// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package repocheck

import (
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

// machinePath matches absolute paths into someone's home or workspace. They
// work on one machine only, and tell about it.
var machinePath = regexp.MustCompile(`(^|[\s"'=:,(\x60])(/(home|Users|root|work|workspace)/\w|[A-Za-z]:\\Users\\)`)

func TestMachinePaths(t *testing.T) {
	for _, f := range files(t) {
		// In a build's containers root's home is the same on every machine.
		if f.generated() || f.name() == "Dockerfile" || !utf8.ValidString(f.text) {
			continue
		}
		for number, line := range strings.Split(f.text, "\n") {
			if found := machinePath.FindString(line); found != "" {
				t.Errorf("%s:%d: %q is a path of one machine", f.path, number+1, strings.TrimSpace(found))
			}
		}
	}
}

func TestMachinePath(t *testing.T) {
	tests := map[string]struct {
		line string
		want bool
	}{
		"home":           {"cd /" + "home/jo/fairway", true},
		"quoted":         {`dir := "/` + `root/fairway"`, true},
		"macOS":          {"see (/" + "Users/jo)", true},
		"Windows":        {`C:\` + `Users\jo`, true},
		"address":        {"https://example.com/" + "home/page", false},
		"part of a path": {"docs/" + "work/a.md", false},
		"etcd's data":    {"--data-dir=/var/lib/etcd", false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := machinePath.MatchString(test.line); got != test.want {
				t.Errorf("machinePath matches %q: %t", test.line, got)
			}
		})
	}
}
