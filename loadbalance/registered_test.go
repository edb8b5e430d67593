// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package loadbalance

import (
	"errors"
	"testing"

	kdiscovery "github.com/cloudwego/kitex/pkg/discovery"
	kloadbalance "github.com/cloudwego/kitex/pkg/loadbalance"
)

// register makes a policy known until the test ends.
func register(t *testing.T, name string, build Builder) {
	t.Helper()
	if err := Register(name, build); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		policies.mu.Lock()
		defer policies.mu.Unlock()
		policies.all = policies.all[:len(builtin)]
	})
}

// emptiest is a policy such as applications write: the candidate with the fewest
// calls, the first of several. It notes the hashes that it is given.
type emptiest struct {
	candidates []Candidate
	hashes     *[]uint64
}

func (e *emptiest) Choose(hash uint64, skip func(int) bool) int {
	*e.hashes = append(*e.hashes, hash)
	best := -1
	for i := range e.candidates {
		c := &e.candidates[i]
		if c.Weight == 0 || skip != nil && skip(i) {
			continue
		}
		if best < 0 || c.InFlight() < e.candidates[best].InFlight() {
			best = i
		}
	}
	return best
}

func TestRegisteredPolicyPicks(t *testing.T) {
	var hashes []uint64
	register(t, "emptiest", func(candidates []Candidate, _ Chooser) Chooser {
		return &emptiest{candidates: candidates, hashes: &hashes}
	})
	b, err := New("emptiest")
	if err != nil {
		t.Fatal(err)
	}
	res := result("r", 1, 0, 1)
	var underWay []kloadbalance.Picker
	for _, want := range []string{"i0:80", "i2:80", "i0:80", "i2:80"} {
		p := b.GetPicker(res)
		if got := p.Next(t.Context(), nil).Address().String(); got != want {
			t.Errorf("picked %s, want %s", got, want)
		}
		underWay = append(underWay, p)
	}
	recycle(underWay[1])
	if got := call(t.Context(), b, res); got != "i2:80" {
		t.Errorf("picked %s, want i2:80, whose call has ended", got)
	}
	if got := call(attempt(t.Context(), res.Instances[2], nil), b, res); got != "i0:80" {
		t.Errorf("a retry went to %s", got)
	}
	if len(hashes) < 2 || hashes[0] == hashes[1] {
		t.Errorf("hashes %x without a key function, want random ones", hashes)
	}
}

func TestRegisteredPolicyGetsWhatItReplaces(t *testing.T) {
	var built, before []Chooser
	register(t, "wrong", func(_ []Candidate, prev Chooser) Chooser {
		c := wrong(len(built))
		built, before = append(built, c), append(before, prev)
		return c
	})
	b, err := New("wrong")
	if err != nil {
		t.Fatal(err)
	}
	_ = call(t.Context(), b, result("r", 1))
	b.Rebalance(kdiscovery.Change{Result: result("r", 1, 1)})
	if len(built) != 2 || before[0] != nil || before[1] != built[0] {
		t.Errorf("built %v after %v", built, before)
	}
}

func TestRegisteredPolicyGetsTheKeysHash(t *testing.T) {
	var hashes []uint64
	register(t, "emptiest", func(candidates []Candidate, _ Chooser) Chooser {
		return &emptiest{candidates: candidates, hashes: &hashes}
	})
	b := mustNew(t, "emptiest")
	for range 2 {
		_ = call(withKey(t.Context(), "a"), b, result("r", 1))
	}
	if len(hashes) != 2 || hashes[0] != hashes[1] {
		t.Errorf("hashes %x of one key", hashes)
	}
}

// wrong is a policy that returns what it must not.
type wrong int

func (w wrong) Choose(uint64, func(int) bool) int { return int(w) }

func TestWrongChoicesAreReplaced(t *testing.T) {
	for _, index := range []int{-1, 0, 7} {
		register(t, "wrong", func([]Candidate, Chooser) Chooser { return wrong(index) })
		b, err := New("wrong")
		if err != nil {
			t.Fatal(err)
		}
		if got := call(t.Context(), b, result("r", 0, 1)); got != "i1:80" {
			t.Errorf("index %d: picked %q, want the only one of weight 1", index, got)
		}
		policies.all = policies.all[:len(builtin)]
	}
}

func TestBadRegistrationsAreRefused(t *testing.T) {
	build := func([]Candidate, Chooser) Chooser { return wrong(0) }
	for name, err := range map[string]error{
		"no name":    Register("", build),
		"no builder": Register("x", nil),
		"builtin":    Register(SmoothWRR, build),
	} {
		if !errors.Is(err, ErrInvalidConfig) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
