// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func unset(string) (string, bool) { return "", false }

func TestParseSettings(t *testing.T) {
	text := "# ports\n\nETCD_PORT=2379\nURL=http://h/?a=b,direct\nEMPTY=\n"
	environ := func(name string) (string, bool) { return "1234", name == "ETCD_PORT" }
	got, err := parseSettings(strings.NewReader(text), environ)
	if err != nil {
		t.Fatal(err)
	}
	want := settings{
		names:  []string{"ETCD_PORT", "URL", "EMPTY"},
		values: map[string]string{"ETCD_PORT": "1234", "URL": "http://h/?a=b,direct", "EMPTY": ""},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(settings{})); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"ETCD_PORT"}, got.ports()); diff != "" {
		t.Error(diff)
	}
}

func TestParseSettingsRefusesWhatComposeVersionsReadDifferently(t *testing.T) {
	for _, line := range []string{"NAME", "=value", `A="b"`, "A='b'", "A=${B}", "A=b # c", "export A=b"} {
		if _, err := parseSettings(strings.NewReader(line), unset); err == nil {
			t.Errorf("%q: no error", line)
		}
	}
}

func TestExpand(t *testing.T) {
	s := settings{values: map[string]string{"A": "1", "B": "2"}}
	got, err := s.expand("x${A}${B:?is not set}${A:-7}${B-7}y")
	if want := "x1212y"; got != want || err != nil {
		t.Errorf("%q, %v, want %q", got, err, want)
	}
	if _, err := s.expand("${C:?is not set}"); err == nil || !strings.Contains(err.Error(), "C is not set in .env") {
		t.Errorf("err = %v, want one that names C", err)
	}
}
