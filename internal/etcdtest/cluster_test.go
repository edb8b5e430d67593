// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package etcdtest

import "testing"

// quickElections halves the time in which a leader's loss is noticed.
func quickElections() Option {
	return WithFlags("--heartbeat-interval=50", "--election-timeout=500")
}

func TestClusterOutlivesItsLeader(t *testing.T) {
	t.Parallel()
	c := StartCluster(t, 3, quickElections())
	cli := c.Client(t)
	put(t, cli)
	first := c.Leader()
	c.Members()[first].Kill()
	second := c.Leader()
	if second == first {
		t.Fatalf("member %d leads after it was killed", first)
	}
	if got := get(t, cli); got != "v" {
		t.Errorf("value without the first leader = %q, want v", got)
	}
	c.Members()[first].Restart()
	if got := get(t, c.Members()[first].Client(t)); got != "v" {
		t.Errorf("value on the member that came back = %q, want v", got)
	}
}

func TestFrozenLeaderIsReplaced(t *testing.T) {
	t.Parallel()
	c := StartCluster(t, 3, quickElections())
	put(t, c.Client(t))
	first := c.Leader()
	c.Members()[first].Freeze()
	if second := c.Leader(); second == first {
		t.Errorf("member %d leads while it is frozen", first)
	}
	c.Members()[first].Thaw()
	if got := get(t, c.Members()[first].Client(t)); got != "v" { // it follows the new one
		t.Errorf("value on the member that was frozen = %q, want v", got)
	}
}

func TestMajorityComesBackTogether(t *testing.T) {
	t.Parallel()
	c := StartCluster(t, 3, quickElections())
	put(t, c.Client(t))
	endpoints := c.Endpoints()
	alone := c.Members()[0]
	for _, s := range c.Members()[1:] {
		s.Kill()
	}
	mustHang(t, alone.Client(t)) // no majority, no linearizable read
	c.RestartDown()
	for i, s := range c.Members() {
		if s.Endpoint() != endpoints[i] {
			t.Errorf("member %d moved from %s to %s", i, endpoints[i], s.Endpoint())
		}
		if got := get(t, s.Client(t)); got != "v" {
			t.Errorf("value on member %d = %q, want v", i, got)
		}
	}
	c.RestartDown() // of none: nothing happens
}

func TestMembersAreOneCluster(t *testing.T) {
	t.Parallel()
	c := StartCluster(t, 3, quickElections())
	ids := make(map[uint64]bool)
	for _, s := range c.Members() {
		resp, err := s.Client(t).MemberList(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if len(resp.Members) != 3 {
			t.Errorf("%d members, want 3", len(resp.Members))
		}
		ids[resp.Header.ClusterId] = true
	}
	if len(ids) != 1 {
		t.Errorf("%d cluster IDs, want 1", len(ids))
	}
	first, second := NewProxy(t, c.Endpoints()[0]), NewProxy(t, c.Endpoints()[1])
	cli := c.Client(t, Through(first, second))
	put(t, cli)
	for _, p := range []*Proxy{first, second} {
		p.Cut()
		if got := get(t, cli); got != "v" { // a write would not be repeated
			t.Errorf("value by way of the other proxy = %q, want v", got)
		}
		p.Restore()
	}
}

func TestMembersTakenPortIsReplaced(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 3, []Option{quickElections()})
	last := c.members[2]
	taken := last.client
	defer occupy(t, taken)()
	c.startOnFreePorts()
	if last.client == taken {
		t.Errorf("a member claims to be at the taken address %s", taken)
	}
	put(t, c.Client(t))
}

func TestMemberIsNeverWipedOrRestored(t *testing.T) {
	t.Parallel()
	for name, f := range map[string]func(*Server){
		"Wipe":                  (*Server).Wipe,
		"Restore":               func(s *Server) { s.Restore("none") },
		"RestoreAsOtherCluster": func(s *Server) { s.RestoreAsOtherCluster("none") },
	} {
		r := &recorder{TB: t}
		inGoroutine(func() { f(newCluster(r, 1, nil).Members()[0]) })
		if !r.failed {
			t.Errorf("%s of a member did not fail the test", name)
		}
	}
}
