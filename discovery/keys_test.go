// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package discovery

import (
	"errors"
	"strings"
	"testing"
)

func TestServiceNames(t *testing.T) {
	for _, good := range []string{"echo", "a.b-c_d:e@f", "Echo2", "0", strings.Repeat("x", 200)} {
		if err := CheckServiceName(good); err != nil {
			t.Errorf("%q refused: %v", good, err)
		}
	}
	for _, bad := range []string{"", "_rules", "a/b", "a b", "é", "a%2f", "a\x00", "..\\", strings.Repeat("x", 201)} {
		if err := CheckServiceName(bad); !errors.Is(err, ErrInvalidConfig) {
			t.Errorf("%q: got %v, want ErrInvalidConfig", bad, err)
		}
	}
}

func TestKeys(t *testing.T) {
	keys, err := newKeyspace("/team/a//")
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]string{
		"10.0.0.1:8888":  "/team/a/echo/10.0.0.1:8888",
		"[::1]:8888":     "/team/a/echo/%5B::1%5D:8888",
		"/run/echo.sock": "/team/a/echo/%2Frun%2Fecho.sock",
	}
	for address, want := range tests {
		if got := keys.instance("echo", address); got != want {
			t.Errorf("key of %s is %s, want %s", address, got, want)
		}
	}
	if service := keys.service("echo"); strings.HasPrefix(keys.service("echo2"), service) {
		t.Errorf("the keys of echo2 start with %s, those of echo", service)
	}
	for _, bad := range []string{"", "/", "//", "a\nb"} {
		if _, err := newKeyspace(bad); !errors.Is(err, ErrInvalidConfig) {
			t.Errorf("prefix %q: got %v, want ErrInvalidConfig", bad, err)
		}
	}
}
