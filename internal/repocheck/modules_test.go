// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package repocheck

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// pinned are the modules, or with a slash at the end the families of modules,
// that have one version in every go.mod of the repository: what the tests and
// examples run is what the library is built for. CONTRIBUTING.md has the reasons.
var pinned = []string{"github.com/cloudwego/kitex", "go.etcd.io/etcd/", "google.golang.org/genproto"}

func TestModulesAgree(t *testing.T) {
	found := map[string]map[string]string{} // pin, version, a requirement of it
	for _, f := range files(t) {
		if f.name() != "go.mod" {
			continue
		}
		for module, version := range requirements(f.text) {
			if pin := pinOf(module); pin != "" {
				if found[pin] == nil {
					found[pin] = map[string]string{}
				}
				found[pin][version] = f.path + ": " + module
			}
		}
	}
	for _, pin := range pinned {
		if len(found[pin]) != 1 {
			t.Errorf("%s must have one version in all go.mod files, and has %v", pin, found[pin])
		}
	}
}

func pinOf(module string) string {
	for _, pin := range pinned {
		if module == pin || strings.HasSuffix(pin, "/") && strings.HasPrefix(module, pin) {
			return pin
		}
	}
	return ""
}

// TestNoReplace keeps the library usable: a replace counts in the main module
// only, so that users would get another build than the tests.
func TestNoReplace(t *testing.T) {
	for line := range strings.Lines(read(t, "go.mod")) {
		if strings.HasPrefix(strings.TrimSpace(line), "replace") {
			t.Errorf("go.mod must not replace anything: %s", line)
		}
	}
}

// requirements reads the modules and versions of a go.mod.
func requirements(text string) map[string]string {
	found := map[string]string{}
	for line := range strings.Lines(text) {
		fields := strings.Fields(strings.TrimPrefix(strings.TrimSpace(line), "require "))
		if len(fields) >= 2 && strings.HasPrefix(fields[1], "v") {
			found[fields[0]] = fields[1]
		}
	}
	return found
}

func TestRequirements(t *testing.T) {
	text := "module m\n\ngo 1.26.0\n\nrequire a v1.0.0\n\nrequire (\n\tb/v2 v2.1.0\n\tc v0.1.0 // indirect\n)\n"
	want := map[string]string{"a": "v1.0.0", "b/v2": "v2.1.0", "c": "v0.1.0"}
	if diff := cmp.Diff(want, requirements(text)); diff != "" {
		t.Errorf("requirements (-want +got):\n%s", diff)
	}
}
