// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package guard

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

var limits = Limits{Window: 10 * time.Second, Share: 0.5, AtLeast: 2, Hold: 10 * time.Minute}

// set plays a registry of members a, b, c ... against a ledger.
type set struct {
	ledger  *Ledger[string]
	now     time.Time
	members map[string]bool
}

func newSet(members string) *set {
	s := &set{ledger: New[string](limits), now: time.Unix(0, 0), members: make(map[string]bool)}
	s.put(members)
	return s
}

func (s *set) put(members string) {
	for _, m := range members {
		s.members[string(m)] = true
		s.ledger.Returned(string(m))
	}
	s.ledger.Judge(s.now, len(s.members))
}

func (s *set) leave(members string) {
	for _, m := range members {
		delete(s.members, string(m))
	}
	s.ledger.Judge(s.now, len(s.members))
}

func (s *set) vanish(members string) {
	for _, m := range members {
		delete(s.members, string(m))
		s.ledger.Vanished(s.now, string(m), string(m))
	}
	s.ledger.Judge(s.now, len(s.members))
}

func (s *set) wait(d time.Duration) { s.now = s.now.Add(d) }

func (s *set) held() string {
	var b strings.Builder
	for _, one := range s.ledger.Suspects() {
		b.WriteString(one.Key)
	}
	return b.String()
}

func TestWhoIsHeld(t *testing.T) {
	for _, c := range []struct {
		name    string
		members string
		play    func(*set)
		want    string
	}{
		{"one of many crashes", "abcd", func(s *set) { s.vanish("a") }, ""},
		{"half of them", "abcd", func(s *set) { s.vanish("ab") }, ""},
		{"more than half", "abcd", func(s *set) { s.vanish("abc") }, "abc"},
		{"all at once", "abcd", func(s *set) { s.vanish("abcd") }, "abcd"},
		{"the only one", "a", func(s *set) { s.vanish("a") }, "a"},
		{"one of two", "ab", func(s *set) { s.vanish("a") }, ""},
		{"the last one after the other has left", "ab", func(s *set) { s.leave("a"); s.vanish("b") }, "b"},
		{"all leave", "ab", func(s *set) { s.leave("ab") }, ""},
		{"one by one within the window", "abcde", func(s *set) {
			for _, m := range []string{"a", "b", "c"} {
				s.vanish(m)
				s.wait(3 * time.Second)
			}
		}, "abc"},
		{"one by one, slower than the window", "abcde", func(s *set) {
			for _, m := range []string{"a", "b", "c"} {
				s.vanish(m)
				s.wait(11 * time.Second)
			}
		}, ""},
		{"against the largest set in the window", "abcdef", func(s *set) { s.leave("abc"); s.vanish("de") }, ""},
		{"an old peak does not count", "abcdef", func(s *set) { s.leave("abc"); s.wait(11 * time.Second); s.vanish("de") }, "de"},
		{"more, while some are held", "abcdefgh", func(s *set) { s.vanish("abcde"); s.wait(time.Minute); s.vanish("f") }, "abcdef"},
		{"back within the window does not count", "abcd", func(s *set) { s.vanish("ab"); s.put("ab"); s.vanish("c") }, ""},
		{"released by coming back", "abcd", func(s *set) { s.vanish("abcd"); s.put("bd") }, "ac"},
		{"a dropped suspect is not held again", "abc", func(s *set) { s.vanish("ab"); s.ledger.Drop("a"); s.vanish("c") }, "bc"},
		{"it may happen again", "abc", func(s *set) { s.vanish("abc"); s.put("abc"); s.wait(time.Hour); s.vanish("abc") }, "abc"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newSet(c.members)
			c.play(s)
			if got := s.held(); got != c.want {
				t.Errorf("held %q, want %q", got, c.want)
			}
		})
	}
}

func TestTheWindowFollowsTheTimeToLive(t *testing.T) {
	s := newSet("abc")
	s.ledger.Widen(30 * time.Second)
	s.ledger.Widen(5 * time.Second)
	s.vanish("a")
	s.wait(25 * time.Second)
	s.vanish("b")
	if got := s.held(); got != "ab" {
		t.Errorf("held %q, want ab", got)
	}
}

func TestHeldNamesASuspect(t *testing.T) {
	s := newSet("a")
	s.vanish("a")
	if v, held := s.ledger.Held("a"); !held || v != "a" {
		t.Errorf("Held = %q, %v", v, held)
	}
	if _, held := s.ledger.Held("b"); held {
		t.Error("b is held")
	}
}

func TestHoldTime(t *testing.T) {
	s := newSet("ab")
	s.vanish("ab")
	s.wait(limits.Hold - time.Second)
	if got := s.ledger.Overdue(s.now); len(got) != 0 {
		t.Errorf("%v overdue within the hold time", got)
	}
	s.wait(time.Second)
	if got := s.ledger.Overdue(s.now); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("overdue: %v, want a and b", got)
	}
}

func TestHoldingWhatAFormerLedgerHeld(t *testing.T) {
	now := time.Unix(1e6, 0)
	l := New[string](limits)
	if l.Hold(now, "old", "old", now.Add(-limits.Hold)) {
		t.Error("held again although its hold time is over")
	}
	if !l.Hold(now, "young", "young", now.Add(-time.Minute)) || !l.Hold(now, "future", "future", now.Add(time.Hour)) {
		t.Error("not held again")
	}
	if got := l.Overdue(now.Add(limits.Hold - time.Minute)); !slices.Equal(got, []string{"young"}) {
		t.Errorf("overdue: %v, want young alone: its time went on", got)
	}
	if got := l.Overdue(now.Add(limits.Hold)); !slices.Equal(got, []string{"future", "young"}) {
		t.Errorf("overdue: %v, want the one from the future too, as if it had vanished now", got)
	}
}

// The peak of a window is what a plain search through all sizes finds.
func TestPeakMatchesAPlainSearch(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const window = 10 * time.Second
		type noted struct {
			at   time.Time
			size int
		}
		var p peak
		var all []noted
		now := time.Unix(0, 0)
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			now = now.Add(time.Duration(rapid.IntRange(0, 6000).Draw(t, "wait")) * time.Millisecond)
			size := rapid.IntRange(0, 20).Draw(t, "size")
			all = append(all, noted{now, size})
			want := 0
			for i, n := range all {
				lasted := i+1 == len(all) || now.Sub(all[i+1].at) <= window
				if lasted {
					want = max(want, n.size)
				}
			}
			if got := p.note(now, size, window); got != want {
				t.Fatalf("peak %d, want %d of %v", got, want, all)
			}
			if len(p.sizes) > 21 {
				t.Fatalf("%d sizes are kept", len(p.sizes))
			}
		}
	})
}

// Whatever happens, nobody is there and held at once, nobody is held who was not
// told to have vanished, and the last never goes without being held.
func TestInvariants(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := newSet("abcdefgh")
		vanished := make(map[string]bool)
		for range rapid.IntRange(1, 80).Draw(t, "steps") {
			m := string(rune('a' + rapid.IntRange(0, 7).Draw(t, "member")))
			s.wait(time.Duration(rapid.IntRange(0, 5000).Draw(t, "wait")) * time.Millisecond)
			switch rapid.SampledFrom([]string{"put", "leave", "vanish", "drop"}).Draw(t, "what") {
			case "put":
				s.put(m)
				vanished[m] = false
			case "leave":
				if s.members[m] {
					s.leave(m)
				}
			case "vanish":
				if !s.members[m] {
					continue
				}
				vanished[m] = true
				s.vanish(m)
				if len(s.members) == 0 && !strings.Contains(s.held(), m) {
					t.Fatalf("the last one, %s, vanished and is not held", m)
				}
			case "drop":
				if _, held := s.ledger.Drop(m); held {
					vanished[m] = false
				}
			}
			for _, one := range s.ledger.Suspects() {
				if s.members[one.Key] || !vanished[one.Key] {
					t.Fatalf("%s is held; there: %v, vanished: %v", one.Key, s.members[one.Key], vanished[one.Key])
				}
			}
		}
	})
}

func ExampleLedger() {
	l := New[string](Limits{Window: 10 * time.Second, Share: 0.5, AtLeast: 2, Hold: 10 * time.Minute})
	now := time.Now()
	l.Judge(now, 3) // a, b and c are there
	l.Vanished(now, "a", "10.0.0.1:8888")
	l.Vanished(now, "b", "10.0.0.2:8888")
	fmt.Println(l.Judge(now, 1))
	fmt.Println(l.Returned("b"))
	fmt.Println(l.Len())
	// Output:
	// [10.0.0.1:8888 10.0.0.2:8888]
	// 10.0.0.2:8888 true
	// 1
}
