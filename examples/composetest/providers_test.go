// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseKeys(t *testing.T) {
	// "ZmFpcndheS9lY2hvLzEwLjAuMC4zOjg4ODg=" is fairway/echo/10.0.0.3:8888.
	got, err := parseKeys(`{"header":{"revision":4},"kvs":[{"key":"ZmFpcndheS9lY2hvLzEwLjAuMC4zOjg4ODg=","lease":7587895}],"count":1}`)
	if err != nil {
		t.Fatal(err)
	}
	want := []key{{"fairway/echo/10.0.0.3:8888", 7587895}}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(key{})); diff != "" {
		t.Error(diff)
	}
	if _, err := parseKeys("context deadline exceeded"); err == nil {
		t.Error("no error for an answer that is not JSON")
	}
}

func TestCheckKeys(t *testing.T) {
	providers := []provider{{"provider-a", "10.0.0.3:8888", 5}, {"provider-b", "10.0.0.4:8888", 3}}
	a, b := key{"fairway/echo/10.0.0.3:8888", 1}, key{"fairway/echo/10.0.0.4:8888", 2}
	rule := key{name: "fairway/_rules/echo/10.0.0.9:8888"}
	for name, tc := range map[string]struct {
		keys  []key
		unmet bool
		fails bool
	}{
		"all":       {keys: []key{a, b}},
		"and rules": {keys: []key{rule, a, b}},
		"none":      {unmet: true},
		"one":       {keys: []key{a}, unmet: true},
		"too many":  {keys: []key{a, b, {"fairway/echo/10.0.0.5:8888", 3}}, unmet: true},
		"no lease":  {keys: []key{a, {name: b.name}}, fails: true},
	} {
		t.Run(name, func(t *testing.T) {
			err := checkKeys(tc.keys, providers)
			var wait unmet
			if errors.As(err, &wait) != tc.unmet || (err != nil) != (tc.unmet || tc.fails) {
				t.Errorf("err = %v, want unmet %t, failure %t", err, tc.unmet, tc.fails)
			}
		})
	}
}
