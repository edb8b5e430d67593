// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package discovery

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

func TestDecodeRule(t *testing.T) {
	tests := []struct {
		name, value string
		want        Rule
	}{
		{"nothing", `{}`, Rule{}},
		{"nulls leave", `{"weight":null,"state":null,"tags":null,"until":null}`, Rule{}},
		{"weight 0 is none", `{"weight":0}`, Rule{Weight: new(0)}},
		{
			"everything",
			`{"weight":5,"state":"disabled","tags":{"zone":"b","old":null},"reason":"hot","by":"ann",` +
				`"until":"2026-01-02T03:04:05Z","of a later version":[1]}`,
			Rule{
				Weight: new(5), State: StateDisabled, Tags: map[string]*string{"zone": new("b"), "old": nil},
				Reason: "hot", By: "ann", Until: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
			},
		},
		{"the revision is etcd's", `{"state":"serving","revision":7}`, Rule{State: StateServing}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := decodeRule([]byte(tt.value))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(&tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestUnreadableRules(t *testing.T) {
	for _, value := range []string{
		``, `null`, `[]`, `"draining"`, `5`, `{`,
		`{"weight":-1}`, `{"weight":2147483648}`, `{"weight":1.5}`, `{"weight":"5"}`,
		`{"state":"leaving"}`, `{"state":"asleep"}`, `{"state":1}`,
		`{"tags":[]}`, `{"tags":{"a":1}}`, `{"until":"tomorrow"}`, `{"until":1}`, `{"reason":1}`,
	} {
		if _, err := decodeRule([]byte(value)); !errors.Is(err, ErrInvalidRecord) {
			t.Errorf("%s: got %v, want ErrInvalidRecord", value, err)
		}
	}
}

func TestARecordCannotDisableItself(t *testing.T) {
	if _, err := decodeRecord([]byte(`{"address":"a:1","state":"disabled"}`)); !errors.Is(err, ErrInvalidRecord) {
		t.Errorf("got %v, want ErrInvalidRecord", err)
	}
}

func TestRuleExpires(t *testing.T) {
	end := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	r := &Rule{Until: end}
	if r.expired(end.Add(-1)) || !r.expired(end) || !r.expired(end.Add(1)) {
		t.Error("a rule holds until its end, and from then on no more")
	}
	if (&Rule{}).expired(end) {
		t.Error("a rule without an end has expired")
	}
}

func TestRuleKeys(t *testing.T) {
	keys := keyspace{prefix: "team/a"}
	tests := map[string]string{
		"*":              "team/a/_rules/echo/*",
		"10.0.0.1:8888":  "team/a/_rules/echo/10.0.0.1:8888",
		"[::1]:8888":     "team/a/_rules/echo/%5B::1%5D:8888",
		"[fe80::1%e0]:1": "team/a/_rules/echo/%5Bfe80::1%25e0%5D:1",
		"/run/echo.sock": "team/a/_rules/echo/%2Frun%2Fecho.sock",
		"/run/*":         "team/a/_rules/echo/%2Frun%2F%2A",
		"@abstract":      "team/a/_rules/echo/@abstract",
	}
	for address, want := range tests {
		key := keys.rule("echo", address)
		if key != want {
			t.Errorf("key of %s is %s, want %s", address, key, want)
		}
		service, got, err := keys.ruleAddress(key)
		if err != nil || service != "echo" || got != address {
			t.Errorf("%s was taken apart into %q, %q, %v", key, service, got, err)
		}
	}
}

func TestUnreadableRuleKeys(t *testing.T) {
	keys := keyspace{prefix: "fairway"}
	for _, key := range []string{
		"fairway/_rules/echo/", "fairway/_rules/echo", "fairway/_rules/", "fairway/echo/10.0.0.1:8888",
		"fairway/_rules/echo/%2A",                    // the star is not escaped
		"fairway/_rules/echo/[::1]:8888",             // brackets are
		"fairway/_rules/echo/%5b::1%5d:8888",         // in upper case
		"fairway/_rules/echo/%zz",                    //
		"fairway/_rules/echo/10.0.0.1",               // no port
		"fairway/_rules/echo/0.0.0.0:80",             // nobody's address
		"fairway/_rules/echo/further/10.0.0.1:8888",  // of another prefix, further below
		"fairway/_rules/_rules/10.0.0.1:8888",        // no service's name
		"elsewhere/_rules/echo/10.0.0.1:8888",        //
		"fairway/_rules/echo//run/echo.sock",         // its slashes are escaped
		"fairway/_rules/a service/10.0.0.1:8888",     // no service's name
		"fairway/_rules/echo/10.0.0.1:8888/draining", //
	} {
		if service, address, err := keys.ruleAddress(key); !errors.Is(err, ErrInvalidRecord) || address != "" {
			t.Errorf("%s was taken apart into %q, %q, %v", key, service, address, err)
		}
	}
}

func drawRule(t *rapid.T) *Rule {
	return &Rule{
		Weight: rapid.Ptr(rapid.IntRange(0, maxWeight), true).Draw(t, "weight"),
		State:  rapid.SampledFrom([]InstanceState{"", StateServing, StateDraining, StateDisabled}).Draw(t, "state"),
		Tags:   rapid.MapOfN(rapid.StringMatching(`[a-d]`), rapid.Ptr(rapid.String(), true), 1, 4).Draw(t, "tags"),
		Reason: rapid.String().Draw(t, "reason"),
		By:     rapid.String().Draw(t, "by"),
		Until:  time.Unix(0, rapid.Int64Range(1, 1<<60).Draw(t, "until")).UTC(),
	}
}

func TestRuleSurvivesItsEncoding(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := drawRule(t)
		value, err := want.encode()
		if err != nil {
			t.Fatal(err)
		}
		got, err := decodeRule(value)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatal(diff)
		}
	})
}

// FuzzDecodeRule: whatever stands in etcd is either refused with the right
// error or makes an instance that a balancer can use.
func FuzzDecodeRule(f *testing.F) {
	f.Add([]byte(`{"weight":5,"state":"draining","tags":{"zone":"b","old":null},"reason":"r","by":"b","until":"2026-01-02T03:04:05Z"}`))
	f.Add([]byte(`{"weight":-1,"state":"leaving"}`))
	f.Add([]byte(`{"tags":{}}`))
	f.Add([]byte(`null`))
	f.Fuzz(func(t *testing.T, value []byte) {
		r, err := decodeRule(value)
		if err != nil {
			if !errors.Is(err, ErrInvalidRecord) {
				t.Fatalf("error %v does not wrap ErrInvalidRecord", err)
			}
			return
		}
		i := effective(newInstance(&record{Network: "tcp", Address: "a:1", State: StateServing}), nil, r)
		if w := i.Weight(); w < 0 || w > maxWeight || w > 0 && i.State() != StateServing {
			t.Fatalf("weight %d while %s", w, i.State())
		}
		again, err := r.encode()
		if err != nil {
			t.Fatalf("decoded but cannot be encoded: %v", err)
		}
		twice, err := decodeRule(again)
		if err != nil {
			t.Fatalf("encoded but cannot be decoded: %v", err)
		}
		if diff := cmp.Diff(r, twice, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("not the same rule after a turn: %s", diff)
		}
	})
}
