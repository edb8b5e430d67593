// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package discovery

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// view is what a consumer sees of an instance that rules can change.
type view struct {
	Weight, BaseWeight int
	State              InstanceState
	Tags               map[string]string
}

func viewOf(i *Instance) view {
	return view{Weight: i.Weight(), BaseWeight: i.BaseWeight(), State: i.State(), Tags: maps.Collect(i.Tags())}
}

func instanceOf(t testing.TB, value string) *Instance {
	t.Helper()
	r, err := decodeRecord([]byte(value))
	if err != nil {
		t.Fatal(err)
	}
	return newInstance(r)
}

func ruleOf(t testing.TB, value string) *Rule {
	t.Helper()
	if value == "" {
		return nil
	}
	r, err := decodeRule([]byte(value))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestEffective(t *testing.T) {
	const record = `{"address":"a:1","weight":20,"tags":{"zone":"a","version":"1"}}`
	tags := map[string]string{"zone": "a", "version": "1"}
	tests := []struct {
		name, record, star, own string
		want                    view
	}{
		{"no rule", record, "", "", view{20, 20, StateServing, tags}},
		{"rules that say nothing", record, `{"reason":"x"}`, `{}`, view{20, 20, StateServing, tags}},
		{"a weight", record, "", `{"weight":5}`, view{5, 5, StateServing, tags}},
		{"weight 0 is none", record, "", `{"weight":0}`, view{0, 0, StateServing, tags}},
		{"the own weight wins", record, `{"weight":5}`, `{"weight":7}`, view{7, 7, StateServing, tags}},
		{"an absent weight leaves the star's", record, `{"weight":5}`, `{"state":"serving"}`, view{5, 5, StateServing, tags}},
		{"draining keeps the place", record, `{"state":"draining"}`, "", view{0, 20, StateDraining, tags}},
		{"all disabled but one", record, `{"state":"disabled"}`, `{"state":"serving"}`, view{20, 20, StateServing, tags}},
		{
			"a rule undrains", `{"address":"a:1","weight":20,"state":"draining"}`, "", `{"state":"serving"}`,
			view{20, 20, StateServing, map[string]string{}},
		},
		{
			"who leaves is not called back", `{"address":"a:1","weight":20,"state":"leaving"}`, `{"state":"serving"}`, `{"weight":5,"state":"disabled"}`,
			view{0, 5, StateLeaving, map[string]string{}},
		},
		{
			"tags merge, null removes", record, `{"tags":{"zone":"b","lane":"x","version":null}}`, `{"tags":{"lane":null,"version":"2","new":""}}`,
			view{20, 20, StateServing, map[string]string{"zone": "b", "version": "2", "new": ""}},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			base := instanceOf(t, tt.record)
			before := viewOf(base)
			got := effective(base, ruleOf(t, tt.star), ruleOf(t, tt.own))
			if diff := cmp.Diff(tt.want, viewOf(got)); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(before, viewOf(base)); diff != "" {
				t.Errorf("the record's instance has changed: %s", diff)
			}
			if unchanged := cmp.Equal(before, tt.want); unchanged != (got == base) || unchanged != got.same(base) {
				t.Errorf("unchanged %t, but the same pointer %t and the same to see %t", unchanged, got == base, got.same(base))
			}
		})
	}
}

func drawInstance(t *rapid.T) *Instance {
	return newInstance(&record{
		Network: "tcp", Address: "a:1",
		Weight: new(rapid.Int64Range(0, maxWeight).Draw(t, "base weight")),
		State:  rapid.SampledFrom([]InstanceState{StateServing, StateDraining, StateLeaving}).Draw(t, "base state"),
		Tags:   rapid.MapOf(rapid.StringMatching(`[a-e]`), rapid.String()).Draw(t, "base tags"),
	})
}

func TestEffectiveProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		base, star, own := drawInstance(t), drawRule(t), drawRule(t)
		before := viewOf(base)
		got := effective(base, star, own)
		checkOverridden(t, base, got, star, own)
		if again := effective(base, star, own); !again.same(got) {
			t.Fatalf("once %v, once %v", viewOf(got), viewOf(again))
		}
		if twice := effective(got, nil, own); !twice.same(got) || twice != got {
			t.Fatalf("the own rule once more made %v of %v", viewOf(twice), viewOf(got))
		}
		if inTurn := effective(effective(base, star, nil), nil, own); !inTurn.same(got) {
			t.Fatalf("one after the other %v, both %v", viewOf(inTurn), viewOf(got))
		}
		if diff := cmp.Diff(before, viewOf(base)); diff != "" {
			t.Fatalf("base has changed: %s", diff)
		}
		if got != base && got.same(base) {
			t.Fatal("a new instance that differs in nothing")
		}
	})
}

// checkOverridden compares with the rules' definition, field by field.
func checkOverridden(t *rapid.T, base, got *Instance, rules ...*Rule) {
	want := viewOf(base)
	for _, r := range rules {
		if r.Weight != nil {
			want.BaseWeight = *r.Weight
		}
		if r.State != "" && want.State != StateLeaving {
			want.State = r.State
		}
		for key, value := range r.Tags {
			delete(want.Tags, key)
			if value != nil {
				want.Tags[key] = *value
			}
		}
	}
	if want.Weight = want.BaseWeight; want.State != StateServing {
		want.Weight = 0
	}
	if diff := cmp.Diff(want, viewOf(got)); diff != "" {
		t.Fatal(diff)
	}
	if !slices.IsSortedFunc(got.tags, func(a, b tag) int { return strings.Compare(a.key, b.key) }) {
		t.Fatalf("tags are not ordered: %v", got.tags)
	}
	for key, value := range want.Tags {
		if found, ok := got.Tag(key); !ok || found != value {
			t.Fatalf("tag %q is %q, %t", key, found, ok)
		}
	}
}
