// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package discovery

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	kdiscovery "github.com/cloudwego/kitex/pkg/discovery"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/fairway-rpc/fairway/internal/etcdtest"
)

func value(address string, weight int) string {
	return fmt.Sprintf(`{"network":"tcp","address":%q,"weight":%d,"tags":{"zone":"a"}}`, address, weight)
}

func TestResolverFollowsEachChange(t *testing.T) {
	cli := etcdtest.Start(t).Client(t)
	put(t, cli, "fairway/echo/a:1", value("a:1", 5))
	put(t, cli, "fairway/echo2/z:1", value("z:1", 5)) // another service
	r := testResolver(t, cli)
	sees := func(want string) {
		t.Helper()
		waitFor(t, "instances are "+want, func() bool { return addresses(t, r, "echo") == want })
	}
	sees("a:1")
	put(t, cli, "fairway/echo/b:1", value("b:1", 3))
	sees("a:1 b:1")
	put(t, cli, "fairway/echo/a:1", value("a:1", 0)) // weight 0 gets no calls
	sees("b:1")
	put(t, cli, "fairway/echo/b:1", strings.Replace(value("b:1", 3), `"network"`, `"state":"leaving","network"`, 1))
	sees("")
	put(t, cli, "fairway/echo/a:1", value("a:1", 1))
	sees("a:1")
	if _, err := cli.Delete(t.Context(), "fairway/echo/", clientv3.WithPrefix()); err != nil {
		t.Fatal(err)
	}
	sees("") // known once, so that an empty list is an answer and no error
	s, ok := r.Snapshot("echo")
	if !ok || s.State != FeedLive || s.Source != SourceEtcd || s.ClusterID == 0 || s.Revision == 0 || time.Since(s.ProvedAt) > time.Minute {
		t.Errorf("snapshot %+v", s)
	}
	if _, ok := r.Snapshot("echo2"); ok {
		t.Error("a service nobody asked for is followed")
	}
}

func TestErrorsOfResolve(t *testing.T) {
	t.Run("no instance yet", func(t *testing.T) {
		cli := etcdtest.Start(t).Client(t)
		r := testResolver(t, cli)
		if _, err := r.Resolve(t.Context(), "echo"); !errors.Is(err, ErrServiceNotFound) {
			t.Errorf("got %v, want ErrServiceNotFound", err)
		}
		put(t, cli, "fairway/echo/a:1", value("a:1", 5))
		waitFor(t, "the first provider is found", func() bool { return addresses(t, r, "echo") == "a:1" })
	})
	t.Run("etcd down and no disk copy", func(t *testing.T) {
		r := testResolver(t, dialTest(t, deadEndpoint(t)), WithResolveTimeout(50*time.Millisecond))
		for range 2 {
			began := time.Now()
			if _, err := r.Resolve(t.Context(), "echo"); !errors.Is(err, ErrRegistryUnavailable) {
				t.Errorf("got %v, want ErrRegistryUnavailable", err)
			}
			if took := time.Since(began); took > time.Second {
				t.Errorf("took %v", took)
			}
		}
	})
	t.Run("bad service name", func(t *testing.T) {
		r := testResolver(t, dialTest(t, deadEndpoint(t)))
		for _, bad := range []string{"", "a/b", "_rules"} {
			if _, err := r.Resolve(t.Context(), bad); !errors.Is(err, ErrInvalidConfig) {
				t.Errorf("%q: got %v, want ErrInvalidConfig", bad, err)
			}
		}
	})
	t.Run("one service too many", func(t *testing.T) {
		r := testResolver(t, dialTest(t, deadEndpoint(t)), WithMaxServices(1), WithResolveTimeout(time.Millisecond))
		_, _ = r.Resolve(t.Context(), "echo")
		if _, err := r.Resolve(t.Context(), "other"); !errors.Is(err, ErrInvalidConfig) {
			t.Errorf("got %v, want ErrInvalidConfig", err)
		}
	})
	t.Run("closed", func(t *testing.T) {
		r := testResolver(t, dialTest(t, deadEndpoint(t)))
		for range 2 {
			if err := r.Close(); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := r.Resolve(t.Context(), "echo"); !errors.Is(err, ErrClosed) {
			t.Errorf("got %v, want ErrClosed", err)
		}
	})
}

func TestUnreadableRecordIsSkippedAndLoggedOnce(t *testing.T) {
	cli := etcdtest.Start(t).Client(t)
	log := &lines{}
	put(t, cli, "fairway/echo/bad:1", `{"address":"bad:1","weight":-5}`)
	put(t, cli, "fairway/echo/good:1", value("good:1", 5))
	r := testResolver(t, cli, WithLogger(slog.New(slog.NewTextHandler(log, nil))))
	if got := addresses(t, r, "echo"); got != "good:1" {
		t.Errorf("instances %q, want good:1", got)
	}
	put(t, cli, "fairway/echo/bad:1", `{"address":"bad:1","weight":-6}`)
	put(t, cli, "fairway/echo/new:1", value("new:1", 5))
	waitFor(t, "the next change is seen", func() bool { return addresses(t, r, "echo") == "good:1 new:1" })
	if n := log.count("instance record skipped"); n != 1 {
		t.Errorf("%d lines about the unreadable record, want 1", n)
	}
}

func TestLargeServiceIsListedWhole(t *testing.T) {
	cli := etcdtest.Start(t).Client(t)
	const n = 2*pageSize + 7
	for from := 0; from < n; from += 100 {
		ops := make([]clientv3.Op, 0, 100)
		for i := from; i < min(from+100, n); i++ {
			address := fmt.Sprintf("10.0.%d.%d:80", i/250, i%250)
			ops = append(ops, clientv3.OpPut("fairway/echo/"+address, value(address, 1)))
		}
		if _, err := cli.Txn(t.Context()).Then(ops...).Commit(); err != nil {
			t.Fatal(err)
		}
	}
	r := testResolver(t, cli, WithResolveTimeout(20*time.Second))
	res, err := r.Resolve(t.Context(), "echo")
	if err != nil || len(res.Instances) != n {
		t.Fatalf("%d instances (%v), want %d", len(res.Instances), err, n)
	}
}

// TestResolverComesBackFromEveryEndOfItsWatch: after each kind of interruption
// the resolver sees what was written meanwhile and afterwards.
func TestResolverComesBackFromEveryEndOfItsWatch(t *testing.T) {
	interruptions := map[string]func(t *testing.T, s *etcdtest.Server, p *etcdtest.Proxy, direct *clientv3.Client){
		"connection cut": func(t *testing.T, _ *etcdtest.Server, p *etcdtest.Proxy, direct *clientv3.Client) {
			p.Cut()
			put(t, direct, "fairway/echo/b:1", value("b:1", 1))
			p.Restore()
		},
		"compacted while cut off": func(t *testing.T, _ *etcdtest.Server, p *etcdtest.Proxy, direct *clientv3.Client) {
			p.Cut()
			revision := put(t, direct, "fairway/echo/b:1", value("b:1", 1))
			if _, err := direct.Compact(t.Context(), revision); err != nil {
				t.Fatal(err)
			}
			p.Restore()
		},
		"etcd killed and restarted": func(t *testing.T, s *etcdtest.Server, _ *etcdtest.Proxy, direct *clientv3.Client) {
			s.Kill()
			s.Restart()
			put(t, direct, "fairway/echo/b:1", value("b:1", 1))
		},
		"etcd wiped": func(t *testing.T, s *etcdtest.Server, _ *etcdtest.Proxy, direct *clientv3.Client) {
			s.Wipe()
			s.Restart()
			put(t, direct, "fairway/echo/a:1", value("a:1", 1))
			put(t, direct, "fairway/echo/b:1", value("b:1", 1))
		},
		"black hole": func(t *testing.T, _ *etcdtest.Server, p *etcdtest.Proxy, direct *clientv3.Client) {
			p.Blackhole()
			put(t, direct, "fairway/echo/b:1", value("b:1", 1))
			p.Restore()
		},
	}
	for name, interrupt := range interruptions {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := etcdtest.Start(t)
			direct := s.Client(t)
			p := etcdtest.NewProxy(t, s.Endpoint())
			for range 20 { // so that a wiped etcd is behind
				put(t, direct, "fairway/echo/a:1", value("a:1", 1))
			}
			r := testResolver(t, dialTest(t, p.Addr()))
			if got := addresses(t, r, "echo"); got != "a:1" {
				t.Fatalf("instances %q", got)
			}
			interrupt(t, s, p, direct)
			waitWithin(t, time.Minute, "the missed change is seen", func() bool { return addresses(t, r, "echo") == "a:1 b:1" })
			put(t, direct, "fairway/echo/c:1", value("c:1", 1))
			waitFor(t, "later changes are seen", func() bool { return addresses(t, r, "echo") == "a:1 b:1 c:1" })
		})
	}
}

func TestOutageServesTheLastKnownAndSaysSo(t *testing.T) {
	t.Parallel()
	s := etcdtest.Start(t)
	put(t, s.Client(t), "fairway/echo/a:1", value("a:1", 1))
	r := testResolver(t, dialTest(t, s.Endpoint()))
	if got := addresses(t, r, "echo"); got != "a:1" {
		t.Fatalf("instances %q", got)
	}
	s.Kill()
	state := func() FeedState {
		snapshot, _ := r.Snapshot("echo")
		return snapshot.State
	}
	waitWithin(t, time.Minute, "the feed is stale", func() bool { return state() == FeedStale })
	if got := addresses(t, r, "echo"); got != "a:1" {
		t.Errorf("instances %q in the outage, want a:1", got)
	}
	s.Restart()
	waitWithin(t, time.Minute, "the feed is live again", func() bool { return state() == FeedLive })
}

func TestQuietFeedStaysLive(t *testing.T) {
	t.Parallel()
	cli := etcdtest.Start(t).Client(t)
	put(t, cli, "fairway/echo/a:1", value("a:1", 1))
	r := testResolver(t, cli)
	_ = addresses(t, r, "echo")
	first, _ := r.Snapshot("echo")
	waitWithin(t, 30*time.Second, "etcd proves a quiet feed", func() bool {
		now, _ := r.Snapshot("echo")
		return now.ProvedAt.Sub(first.ProvedAt) > brokenAfter
	})
	if s, _ := r.Snapshot("echo"); s.State != FeedLive {
		t.Errorf("state %s, want live", s.State)
	}
}

func TestStartFromDiskWhileEtcdIsDown(t *testing.T) {
	t.Parallel()
	s := etcdtest.Start(t)
	dir := t.TempDir()
	direct := s.Client(t)
	put(t, direct, "fairway/echo/a:1", value("a:1", 4))
	before := testResolver(t, direct, WithSnapshotDir(dir), WithCluster("test"))
	if got := addresses(t, before, "echo"); got != "a:1" {
		t.Fatalf("instances %q", got)
	}
	if err := before.Close(); err != nil { // writes what is owed
		t.Fatal(err)
	}
	s.Kill()
	r := testResolver(t, dialTest(t, s.Endpoint()), WithSnapshotDir(dir), WithCluster("test"), WithResolveTimeout(100*time.Millisecond))
	if got := addresses(t, r, "echo"); got != "a:1" {
		t.Fatalf("first call without etcd: instances %q, want a:1", got)
	}
	snapshot, _ := r.Snapshot("echo")
	if snapshot.Source != SourceDisk || snapshot.State != FeedStarting || snapshot.Instances[0].Weight() != 4 {
		t.Errorf("snapshot %+v", snapshot)
	}
	s.Restart()
	put(t, direct, "fairway/echo/b:1", value("b:1", 1))
	waitFor(t, "etcd takes over", func() bool { return addresses(t, r, "echo") == "a:1 b:1" })
	if snapshot, _ = r.Snapshot("echo"); snapshot.Source != SourceEtcd {
		t.Errorf("source %s, want etcd", snapshot.Source)
	}
}

func TestShortDeadlineYieldsTheDiskCopy(t *testing.T) {
	t.Parallel()
	s := etcdtest.Start(t)
	dir := t.TempDir()
	put(t, s.Client(t), "fairway/echo/a:1", value("a:1", 4))
	before := testResolver(t, s.Client(t), WithSnapshotDir(dir), WithCluster("test"))
	_ = addresses(t, before, "echo")
	_ = before.Close()
	r := testResolver(t, dialTest(t, deadEndpoint(t)), WithSnapshotDir(dir), WithCluster("test"), WithResolveTimeout(time.Hour))
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	res, err := r.Resolve(ctx, "echo")
	if err != nil || len(res.Instances) != 1 {
		t.Errorf("got %v, %v; want the instance of the disk copy", res.Instances, err)
	}
}

func TestEmptiedServiceStaysEmptyAfterARestartInAnOutage(t *testing.T) {
	t.Parallel()
	s := etcdtest.Start(t)
	dir := t.TempDir()
	direct := s.Client(t)
	put(t, direct, "fairway/echo/a:1", value("a:1", 4))
	before := testResolver(t, direct, WithSnapshotDir(dir), WithCluster("test"))
	_ = addresses(t, before, "echo")
	if _, err := direct.Delete(t.Context(), "fairway/echo/a:1"); err != nil {
		t.Fatal(err)
	}
	waitFor(t, "the service is empty", func() bool { return addresses(t, before, "echo") == "" })
	_ = before.Close()
	s.Kill()
	r := testResolver(t, dialTest(t, s.Endpoint()), WithSnapshotDir(dir), WithCluster("test"), WithResolveTimeout(10*time.Millisecond))
	if got := addresses(t, r, "echo"); got != "" {
		t.Errorf("got %q; a removed provider has come back", got)
	}
}

func TestDiskCopyThatCannotBeUsedIsReportedAndIgnored(t *testing.T) {
	dir := t.TempDir()
	log := &lines{}
	cli := dialTest(t, deadEndpoint(t))
	r := testResolver(t, cli, WithSnapshotDir(dir), WithCluster("test"), WithResolveTimeout(time.Millisecond),
		WithLogger(slog.New(slog.NewTextHandler(log, nil))))
	if err := os.WriteFile(r.disk.file("echo"), []byte("rubbish"), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if _, err := r.Resolve(t.Context(), "echo"); !errors.Is(err, ErrRegistryUnavailable) {
			t.Errorf("got %v, want ErrRegistryUnavailable", err)
		}
	}
	if s, ok := r.Snapshot("echo"); ok {
		t.Errorf("snapshot %+v of a file that cannot be used", s)
	}
	if n := log.count("disk copy ignored"); n != 1 {
		t.Errorf("%d lines about the disk copy, want 1", n)
	}
}

func TestDiskCopyOverItsAgeLimitIsRefused(t *testing.T) {
	dir := t.TempDir()
	r := testResolver(t, dialTest(t, deadEndpoint(t)), WithSnapshotDir(dir), WithMaxSnapshotAge(time.Minute), WithResolveTimeout(time.Millisecond))
	old := testSaved()
	old.ProvedAt = time.Now().Add(-time.Hour)
	if err := r.disk.save(old); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Resolve(t.Context(), "echo"); !errors.Is(err, ErrRegistryUnavailable) {
		t.Errorf("got %v, want ErrRegistryUnavailable", err)
	}
}

func TestSubscribe(t *testing.T) {
	cli := etcdtest.Start(t).Client(t)
	r := testResolver(t, cli)
	var mu sync.Mutex
	var last *Snapshot
	cancel := r.Subscribe("echo", func(s *Snapshot) {
		mu.Lock()
		defer mu.Unlock()
		if last != nil && s.Revision < last.Revision {
			t.Errorf("revision %d after %d", s.Revision, last.Revision)
		}
		last = s
	})
	size := func() int {
		mu.Lock()
		defer mu.Unlock()
		if last == nil {
			return -1
		}
		return len(last.Instances)
	}
	waitFor(t, "the first snapshot, empty", func() bool { return size() == 0 })
	for i := range 50 {
		put(t, cli, fmt.Sprintf("fairway/echo/a:%d", i+1), value(fmt.Sprintf("a:%d", i+1), 1))
	}
	waitFor(t, "the latest snapshot", func() bool { return size() == 50 })
	cancel()
	cancel()
	put(t, cli, "fairway/echo/b:1", value("b:1", 1))
	waitFor(t, "the resolver sees a later change", func() bool { return strings.Contains(addresses(t, r, "echo"), "b:1") })
	if size() != 50 {
		t.Error("called after cancel")
	}
}

func TestDiffTellsTagsAndWeights(t *testing.T) {
	r := testResolver(t, dialTest(t, deadEndpoint(t)))
	make1 := func(value string) kdiscovery.Result {
		rec, err := decodeRecord([]byte(value))
		if err != nil {
			t.Fatal(err)
		}
		return kdiscovery.Result{Cacheable: true, CacheKey: "echo", Instances: []kdiscovery.Instance{newInstance(rec)}}
	}
	base := make1(value("a:1", 5))
	for name, next := range map[string]kdiscovery.Result{
		"weight":   make1(value("a:1", 6)),
		"tags":     make1(strings.Replace(value("a:1", 5), `"a"}`, `"b"}`, 1)),
		"instance": make1(value("b:1", 5)),
		"none":     {Cacheable: true, CacheKey: "echo"},
	} {
		change, changed := r.Diff("key", base, next)
		if !changed || change.Result.CacheKey != "key" || !change.Result.Cacheable {
			t.Errorf("%s: change %+v, %v", name, change, changed)
		}
	}
	if _, changed := r.Diff("key", base, base); changed {
		t.Error("the same result is called a change")
	}
	if _, changed := r.Diff("key", base, make1(value("a:1", 5))); changed {
		t.Error("an equal result is called a change")
	}
}

func TestResolversNeverShareAName(t *testing.T) {
	cli := dialTest(t, deadEndpoint(t))
	a, b := testResolver(t, cli), testResolver(t, cli)
	if a.Name() == b.Name() {
		t.Errorf("two resolvers are both called %s; Kitex would take one for the other", a.Name())
	}
}
