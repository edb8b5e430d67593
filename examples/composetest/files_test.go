// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// repository returns its root and the settings of its .env.
func repository(t *testing.T) (string, settings) {
	t.Helper()
	root, err := findRoot()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(root, envFile))
	if err != nil {
		t.Fatal(err)
	}
	s, err := parseSettings(strings.NewReader(string(text)), unset)
	if err != nil {
		t.Fatal(err)
	}
	return root, s
}

func TestBaseImagesOfTheRepository(t *testing.T) {
	root, s := repository(t)
	got, err := readBaseImages(root, s)
	if err != nil {
		t.Fatal(err)
	}
	want := baseImages{etcd: s.values["ETCD_IMAGE"], golang: s.values["GO_IMAGE"], packages: []string{"./provider", "./consumer"}}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(baseImages{})); diff != "" {
		t.Error(diff)
	}
}

// The Dockerfile has a default so that it builds without compose.
func TestDockerfileDefaultIsThatOfEnv(t *testing.T) {
	root, s := repository(t)
	text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(dockerfile)))
	if err != nil {
		t.Fatal(err)
	}
	got, err := one(dockerfile, regexp.MustCompile(`(?m)^ARG GO_IMAGE=(.*)$`), string(text))
	if want := s.values["GO_IMAGE"]; got != want || err != nil {
		t.Errorf("ARG GO_IMAGE=%s (%v), .env says %s", got, err, want)
	}
}

// etcd's client and server are pinned in go.mod, its image in .env.
func TestEtcdImageIsTheVersionOfTheModule(t *testing.T) {
	root, s := repository(t)
	mod, err := os.ReadFile(filepath.Join(root, "tools", "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	want, err := one("tools/go.mod", regexp.MustCompile(`(?m)^\s*go\.etcd\.io/etcd/server/v3 (v\S+)`), string(mod))
	if err != nil {
		t.Fatal(err)
	}
	if image := s.values["ETCD_IMAGE"]; !strings.HasSuffix(image, ":"+want) {
		t.Errorf("ETCD_IMAGE=%s, tools/go.mod says %s", image, want)
	}
}

func TestParseBaseImagesRefusesAmbiguity(t *testing.T) {
	const compose, docker = "  etcd:\n    image: e:1\n", "FROM g:1 AS build\nRUN [\"go\", \"build\", \"./p\"]\n"
	if _, err := parseBaseImages(compose, docker, settings{}); err != nil {
		t.Fatal(err)
	}
	for name, files := range map[string][2]string{
		"two images":   {compose + "    image: f:1\n", docker},
		"no image":     {"", docker},
		"no stage":     {compose, "FROM scratch\n"},
		"shell form":   {compose, "FROM g:1 AS build\nRUN go build ./p\n"},
		"builds none":  {compose, "FROM g:1 AS build\nRUN [\"go\", \"version\"]\n"},
		"broken array": {compose, "FROM g:1 AS build\nRUN [\"go\" \"./p\"]\n"},
		"unset name":   {"    image: ${E}\n", docker},
	} {
		if got, err := parseBaseImages(files[0], files[1], settings{}); err == nil {
			t.Errorf("%s: no error but %+v", name, got)
		}
	}
}
