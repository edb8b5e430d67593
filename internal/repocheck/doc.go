// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

// Package repocheck holds tests only. They guard what no linter sees: licence
// headers, the length of files, paths of a developer's machine, the pins that
// the modules share, and that the Go code in README.md compiles.
//
// # Go code in README.md
//
// A fenced go block is either a whole file, with a package clause, and compiles
// exactly as a reader copies it; or it is a list of statements, which may use
// the packages and variables that snippets_test.go lists and may leave the
// variables that it declares unused. Both are gofmt'ed. An error names the line
// of README.md.
package repocheck
