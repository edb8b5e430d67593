// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"net"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestOwnEnviron(t *testing.T) {
	got := ownEnviron([]string{"PATH=/bin", "COMPOSE_FILE=other.yml", "COMPOSE_PROFILES=x", "COMPOSE_HTTP_TIMEOUT=5"})
	if diff := cmp.Diff([]string{"PATH=/bin", "COMPOSE_HTTP_TIMEOUT=5"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestFreePorts(t *testing.T) {
	got, err := freePorts(t.Context(), []string{"A_PORT", "B_PORT"})
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for i, name := range []string{"A_PORT=", "B_PORT="} {
		port, ok := strings.CutPrefix(got[i], name)
		if !ok || seen[port] {
			t.Fatalf("%q", got)
		}
		seen[port] = true
		l, err := new(net.ListenConfig).Listen(t.Context(), "tcp4", "127.0.0.1:"+port)
		if err != nil {
			t.Fatalf("port %s is not free: %v", port, err)
		}
		_ = l.Close()
	}
}

func TestContainerReadsInspect(t *testing.T) {
	var c container
	c.Config.Env = []string{"FAIRWAY_WEIGHT=5", "FAIRWAY_WEIGHTS=6"}
	if got := c.variable("FAIRWAY_WEIGHT"); got != "5" {
		t.Errorf("variable = %q, want 5", got)
	}
	if got := c.variable("FAIRWAY_LISTEN"); got != "" {
		t.Errorf("unset variable = %q", got)
	}
}
