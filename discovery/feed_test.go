// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package discovery

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// handFed is a feed that nobody runs and that has listed instances with these
// values, by key, at revision 100. Whoever is probed answers.
func handFed(t *testing.T, values map[string]string, opts ...ResolverOption) *feed {
	t.Helper()
	answers := func(context.Context, string, string) error { return nil }
	opts = append([]ResolverOption{WithoutSnapshotDir(), WithGuard(Guard{Probe: answers})}, opts...)
	f := newFeed("echo", testResolver(t, dialTest(t, "127.0.0.1:1"), opts...))
	t.Cleanup(f.rest)
	f.adopt(handList(f, 100, values))
	return f
}

// handList is a list in which each key was written at the revision.
func handList(f *feed, revision int64, values map[string]string) listing {
	l := listing{position: position{revision: revision, cluster: 1, term: 1}}
	for key, value := range values {
		l.instances.put(f.instances.decode(&mvccpb.KeyValue{Key: []byte(key), ModRevision: revision, Value: []byte(value)}))
	}
	return l
}

// oneEvent is a response of a watch with one event, a deletion if value is "".
func oneEvent(revision int64, key, value string) *clientv3.WatchResponse {
	ev := &clientv3.Event{Type: clientv3.EventTypePut, Kv: &mvccpb.KeyValue{Key: []byte(key), ModRevision: revision, Value: []byte(value)}}
	if value == "" {
		ev.Type = clientv3.EventTypeDelete
	}
	return &clientv3.WatchResponse{
		Header: &etcdserverpb.ResponseHeader{Revision: revision, ClusterId: 1, RaftTerm: 1},
		Events: []*clientv3.Event{ev},
	}
}

// said is what a watch says.
func said(all ...*clientv3.WatchResponse) []response {
	responses := make([]response, len(all))
	for i, r := range all {
		responses[i] = response{*r, true}
	}
	return responses
}

func offered(f *feed) string {
	s := f.current()
	return fmt.Sprint(s.Instances, " suspects ", s.Suspects, " skipped ", s.Skipped)
}

// TestUnreadableRecordsVanish in a list and in the watch alike: the guard holds
// whom it would hold if their keys were gone, and offers them.
func TestUnreadableRecordsVanish(t *testing.T) {
	t.Parallel()
	both := map[string]string{"fairway/echo/a:1": value("a:1", 1), "fairway/echo/b:1": value("b:1", 1)}
	bad := map[string]string{"fairway/echo/a:1": "{", "fairway/echo/b:1": "{"}
	const want = "[a:1 b:1] suspects 2 skipped 2"
	t.Run("list", func(t *testing.T) {
		t.Parallel()
		f := handFed(t, both)
		f.adopt(handList(f, 200, bad))
		if got := offered(f); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	})
	t.Run("watch", func(t *testing.T) {
		t.Parallel()
		f := handFed(t, both)
		f.apply(&f.instances, said(oneEvent(101, "fairway/echo/a:1", "{")))
		f.apply(&f.instances, said(oneEvent(102, "fairway/echo/b:1", "{")))
		if got := offered(f); got != want {
			t.Errorf("%s, want %s", got, want)
		}
		f.apply(&f.instances, said(oneEvent(103, "fairway/echo/a:1", value("a:1", 1))))
		if got, want := offered(f), "[a:1 b:1] suspects 1 skipped 1"; got != want {
			t.Errorf("%s, want %s", got, want)
		}
		f.apply(&f.instances, said(oneEvent(104, "fairway/echo/b:1", "")))
		if got, want := offered(f), "[a:1 b:1] suspects 1 skipped 0"; got != want {
			t.Errorf("when the unreadable key is gone too: %s, want %s", got, want)
		}
	})
}

// TestEndedFeedIsLeftAlone by what comes late: the failed call of a suspect and
// a caller that still waits for the disk copy.
func TestEndedFeedIsLeftAlone(t *testing.T) {
	t.Parallel()
	f := handFed(t, map[string]string{"fairway/echo/a:1": value("a:1", 1)})
	f.apply(&f.instances, said(oneEvent(101, "fairway/echo/a:1", "")))
	late := f.guard.all()[0]
	f.rest()
	f.drop(late, dropCalls)
	if got, want := offered(f), "[a:1] suspects 1 skipped 0"; got != want {
		t.Errorf("%s, want the last snapshot as it was, %s", got, want)
	}
	if n := f.resolver.suspects.Load(); n != 0 {
		t.Errorf("the resolver counts %d suspects", n)
	}
}

func TestEndedFeedReadsNoDiskCopy(t *testing.T) {
	t.Parallel()
	d := testDisk(t, "c1", "fairway")
	s := testSaved()
	until := time.Now().Add(time.Hour).Format(time.RFC3339)
	s.Rules = []savedRecord{{Key: "fairway/_rules/echo/*", ModRevision: 1, Value: json.RawMessage(`{"weight":1,"until":"` + until + `"}`)}}
	if err := d.save(s); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Dir(filepath.Dir(d.dir))
	r := testResolver(t, dialTest(t, "127.0.0.1:1"), WithSnapshotDir(dir), WithCluster("c1"), WithResolveTimeout(time.Hour))
	f, err := r.feed("echo")
	if err != nil {
		t.Fatal(err)
	}
	_ = r.Close()
	_, _ = r.Resolve(t.Context(), "echo")
	if f.ruleSet.timer != nil {
		t.Error("a timer runs although the resolver was closed")
	}
}

// TestSilentWatchEndsWhenEtcdHasForgotten its revision: it can be reached, and
// no comparison will ever succeed again.
func TestSilentWatchEndsWhenEtcdHasForgotten(t *testing.T) {
	t.Parallel()
	v := newVerifier(handFed(t, nil))
	if err := v.judge(finding{rpctypes.ErrCompacted}); err != nil {
		t.Errorf("a watch that speaks is given up: %v", err)
	}
	v.heard = time.Now().Add(-2 * silentWatch)
	if err := v.judge(finding{rpctypes.ErrCompacted}); !errors.Is(err, errWatchSilent) {
		t.Errorf("judged %v, want %v", err, errWatchSilent)
	}
	if err := v.judge(finding{context.DeadlineExceeded}); err != nil {
		t.Errorf("an etcd that cannot be reached says nothing about the watch, but %v", err)
	}
}

// TestChangesOfALaggingMemberAreNotLost: what is not taken in is listed anew.
func TestChangesOfALaggingMemberAreNotLost(t *testing.T) {
	t.Parallel()
	f := handFed(t, map[string]string{"fairway/echo/a:1": value("a:1", 1)})
	resp := oneEvent(101, "fairway/echo/b:1", value("b:1", 1))
	resp.Header.RaftTerm = 0
	if _, err := f.receive(&f.instances, said(resp)); !errors.Is(err, errDiverged) {
		t.Errorf("the watch goes on (%v) with %s", err, offered(f))
	}
	resp.Events = nil
	if behind, err := f.receive(&f.instances, said(resp)); !behind || err != nil {
		t.Errorf("a notice without changes: behind %v, %v; want a comparison only", behind, err)
	}
}

// TestRuleThatHoldsOnIsNoChange: its end is looked at from time to time.
func TestRuleThatHoldsOnIsNoChange(t *testing.T) {
	t.Parallel()
	f := handFed(t, map[string]string{"fairway/echo/a:1": value("a:1", 1)})
	until := time.Now().Add(time.Hour).Format(time.RFC3339)
	f.apply(&f.rules, said(oneEvent(101, "fairway/_rules/echo/*", `{"weight":7,"until":"`+until+`"}`)))
	before := f.published.Load()
	f.expireRules()
	if f.published.Load() != before {
		t.Error("published again, although no rule has ended")
	}
	if f.ruleSet.timer == nil {
		t.Error("nobody looks at the rule again")
	}
}
