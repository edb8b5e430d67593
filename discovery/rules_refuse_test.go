// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package discovery

import (
	"errors"
	"strings"
	"testing"
	"time"
)

func TestNewRulesRefuses(t *testing.T) {
	if _, err := NewRules(nil); !errors.Is(err, ErrInvalidConfig) {
		t.Errorf("without a client: got %v, want ErrInvalidConfig", err)
	}
	cli := dialTest(t, deadEndpoint(t))
	if _, err := NewRules(cli, WithPrefix("/")); !errors.Is(err, ErrInvalidConfig) || !strings.Contains(err.Error(), "WithPrefix") {
		t.Errorf("without a prefix: got %v, want ErrInvalidConfig that names the option", err)
	}
	if _, err := NewRules(cli, nil, WithLogger(nil)); err != nil {
		t.Error(err)
	}
}

// TestRuleArguments: each is refused before etcd, which is down, is asked.
func TestRuleArguments(t *testing.T) {
	rules := testRules(t, dialTest(t, deadEndpoint(t)))
	check := func(t *testing.T, err error) {
		t.Helper()
		if !errors.Is(err, ErrInvalidConfig) || errors.Is(err, ErrRegistryUnavailable) {
			t.Errorf("got %v, want ErrInvalidConfig", err)
		}
	}
	places := map[string]struct {
		service, address string
		revision         int64
	}{
		"no service":          {"", "a:1", 0},
		"a slash":             {"a/b", "a:1", 0},
		"kept name":           {"_rules", "a:1", 0},
		"no address":          {"echo", "", 0},
		"no port":             {"echo", "10.0.0.1", 0},
		"port 0":              {"echo", "10.0.0.1:0", 0},
		"bare IPv6":           {"echo", "::1", 0},
		"nobody's":            {"echo", "0.0.0.0:80", 0},
		"no host":             {"echo", ":80", 0},
		"a pattern":           {"echo", "10.0.0.*", 0},
		"two stars":           {"echo", "**", 0},
		"a control character": {"echo", "/run/echo\n", 0},
		"negative revision":   {"echo", "a:1", -1},
	}
	for name, p := range places {
		t.Run(name, func(t *testing.T) {
			_, err := rules.Put(t.Context(), p.service, p.address, Rule{Weight: new(1), Revision: p.revision})
			check(t, err)
			check(t, rules.Delete(t.Context(), p.service, p.address, p.revision))
		})
	}
	for name, r := range map[string]Rule{
		"says nothing":       {Reason: "because", By: "ann"},
		"no tags":            {Tags: map[string]*string{}},
		"weight below 0":     {Weight: new(-1)},
		"weight over 2^31-1": {Weight: new(maxWeight + 1)},
		"leaving":            {State: StateLeaving},
		"no such state":      {State: "asleep"},
		"in the past":        {Weight: new(1), Until: time.Now().Add(-time.Second)},
		"after year 9999":    {Weight: new(1), Until: time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)},
		"too long":           {Weight: new(1), Reason: strings.Repeat("x", maxRuleSize)},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := rules.Put(t.Context(), "echo", "a:1", r)
			check(t, err)
		})
	}
	_, err := rules.List(t.Context(), "a/b")
	check(t, err)
	_, err = rules.Put(t.Context(), "echo", "/"+strings.Repeat("x", maxRuleSize), Rule{Weight: new(1)})
	check(t, err)
}
