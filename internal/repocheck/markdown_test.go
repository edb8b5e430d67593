// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package repocheck

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// block is a fenced code block of a Markdown file.
type block struct {
	line int // of its first line of code, counted from 1
	code string
}

// goBlocks returns the blocks that are fenced as go. An open fence at the end
// of the text is a block, too.
func goBlocks(markdown string) []block {
	var (
		all    []block
		fenced bool // between two fences of any language
		wanted bool // and the language is go
	)
	for i, line := range strings.SplitAfter(markdown, "\n") {
		language, fence := strings.CutPrefix(strings.TrimSpace(line), "```")
		switch {
		case fence && !fenced:
			fenced, wanted = true, language == "go"
			if wanted {
				all = append(all, block{line: i + 2})
			}
		case fence:
			fenced, wanted = false, false
		case wanted:
			all[len(all)-1].code += line
		}
	}
	return all
}

func TestGoBlocks(t *testing.T) {
	fence := "```"
	text := strings.Join([]string{
		"# Title", fence + "go", "a := 1", "", "b := 2", fence, "text",
		fence + "sh", "go test ./...", fence,
		fence, fence, fence + "go", "c", fence,
	}, "\n")
	want := []block{{line: 3, code: "a := 1\n\nb := 2\n"}, {line: 14, code: "c\n"}}
	if diff := cmp.Diff(want, goBlocks(text), cmp.AllowUnexported(block{})); diff != "" {
		t.Errorf("goBlocks (-want +got):\n%s", diff)
	}
}
