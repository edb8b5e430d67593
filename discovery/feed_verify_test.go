// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package discovery

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc"

	"github.com/fairway-rpc/fairway/internal/etcdtest"
)

// verifying sets how often a feed compares what it has with etcd; 0 is never.
func verifying(every time.Duration) ResolverOption {
	return resolverOption(func(c *resolverConfig) error {
		c.verifyEvery = every
		return nil
	})
}

// withoutJitter has the feeds ask an etcd that is back all at once.
func withoutJitter() ResolverOption {
	return resolverOption(func(c *resolverConfig) error {
		c.noJitter = true
		return nil
	})
}

// TestChangeThatTheWatchNeverTellsIsFoundByTheComparison: one response gets lost
// and everything looks well. The consumer without comparisons shows that nothing
// else finds it.
func TestChangeThatTheWatchNeverTellsIsFoundByTheComparison(t *testing.T) {
	t.Parallel()
	const every = 2 * time.Second
	const within = every + every/5 + brokenAfter + brokenAfter/5 // a feed looks at the clock every five seconds
	s := etcdtest.Start(t)
	direct := s.Client(t)
	put(t, direct, "fairway/echo/a:1", value("a:1", 1))
	careless, careful := etcdtest.NewProxy(t, s.Endpoint()), etcdtest.NewProxy(t, s.Endpoint())
	never := testResolver(t, connected(t, careless.Addr()), verifying(0))
	often := testResolver(t, connected(t, careful.Addr()), verifying(every))
	for _, r := range []*Resolver{never, often} {
		waitFor(t, "a is known", func() bool { return addresses(t, r, "echo") == "a:1" })
	}
	careless.DropWatchEvents(1)
	careful.DropWatchEvents(1)
	lost := put(t, direct, "fairway/echo/lost:1", value("lost:1", 1))
	waitFor(t, "both have lost the change", func() bool { return careless.Dropped() == 1 && careful.Dropped() == 1 })
	put(t, direct, "fairway/echo/b:1", value("b:1", 1))
	waitFor(t, "the later change comes", func() bool { return addresses(t, never, "echo") == "a:1 b:1" })
	waitWithin(t, within, "the comparison finds the lost one", func() bool { return addresses(t, often, "echo") == "a:1 b:1 lost:1" })
	if st := often.Status().Services[0]; st.Relists[causeDiverged] != 1 {
		t.Errorf("listed again because of %v, want one difference", st.Relists)
	}
	waitFor(t, "etcd has told the other one that it knows all", func() bool {
		return mustSnapshot(t, never, "echo").Revision > lost && time.Since(mustSnapshot(t, never, "echo").ProvedAt) < time.Second
	})
	if got := addresses(t, never, "echo"); got != "a:1 b:1" {
		t.Errorf("without comparisons it knows %q: what else has found the lost one?", got)
	}
}

// connected is a client whose connection stands: a resolver on it has no reason
// to compare early.
func connected(t *testing.T, endpoint string) *clientv3.Client {
	t.Helper()
	cli := dialTest(t, endpoint)
	keyCount(t, cli, "fairway/")
	return cli
}

// putMany registers n instances, in few requests.
func putMany(t *testing.T, cli *clientv3.Client, n int) {
	t.Helper()
	const batch = 100
	for from := 0; from < n; from += batch {
		ops := make([]clientv3.Op, 0, batch)
		for i := from; i < min(from+batch, n); i++ {
			ops = append(ops, clientv3.OpPut("fairway/echo/"+numbered(i), value(numbered(i), 1)))
		}
		if _, err := cli.Txn(t.Context()).Then(ops...).Commit(); err != nil {
			t.Fatal(err)
		}
	}
}

// numbered is the address of the i-th instance; their order is that of the keys.
func numbered(i int) string { return fmt.Sprintf("10.0.%03d.%03d:80", i/250, i%250) }

// readings counts the reads of a large service by their form.
type readings struct{ pages, summaries, keyPages atomic.Int64 }

func (r *readings) note(ctx context.Context, method string, req, reply any, conn *grpc.ClientConn,
	invoke grpc.UnaryInvoker, opts ...grpc.CallOption,
) error {
	if read, ok := req.(*etcdserverpb.RangeRequest); ok && string(read.GetKey()) >= "fairway/echo/" {
		switch {
		case read.GetLimit() == 1:
			r.summaries.Add(1)
		case read.GetKeysOnly():
			r.keyPages.Add(1)
		case read.GetLimit() > 0: // or the one key whose lease is compared
			r.pages.Add(1)
		}
	}
	return invoke(ctx, method, req, reply, conn, opts...)
}

// TestServiceOfFiveThousand: it is listed in pages, follows changes, and is
// compared in both forms, none of which finds a difference where there is none.
func TestServiceOfFiveThousand(t *testing.T) {
	t.Parallel()
	const n = 5000
	s := etcdtest.Start(t)
	direct := s.Client(t)
	putMany(t, direct, n)
	p := etcdtest.NewProxy(t, s.Endpoint())
	reads := &readings{}
	cli, err := Dial(EtcdConfig{
		Endpoints: []string{p.Addr()}, Logger: testLog(t),
		DialOptions: []grpc.DialOption{grpc.WithChainUnaryInterceptor(reads.note)},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cli.Close() })
	r := testResolver(t, cli, withoutJitter(), WithResolveTimeout(20*time.Second))
	known(t, r, "echo", n, 0)
	compare := r.feeds["echo"].reconnected // has the feed compare at once
	if pages := reads.pages.Load(); pages != n/pageSize {
		t.Errorf("listed in %d pages, want %d", pages, n/pageSize)
	}
	put(t, direct, "fairway/echo/"+numbered(n/2), value(numbered(n/2), 7))
	put(t, direct, "fairway/echo/"+numbered(n), value(numbered(n), 7))
	if _, err := direct.Delete(t.Context(), "fairway/echo/"+numbered(0)); err != nil {
		t.Fatal(err)
	}
	waitFor(t, "the changes are seen", func() bool {
		list := mustSnapshot(t, r, "echo").Instances
		return list[0].String() == numbered(1) && list[n/2-1].Weight() == 7 && list[n-1].String() == numbered(n)
	})
	summaries, keyPages := reads.summaries.Load(), reads.keyPages.Load()
	waitFor(t, "it is compared in both forms", func() bool {
		compare()
		return reads.summaries.Load() > summaries+2 && reads.keyPages.Load() > keyPages+n/pageSize
	})
	if st := r.Status().Services[0]; len(st.Relists) != 0 {
		t.Errorf("listed again because of %v: %s", st.Relists, st.LastError)
	}
	p.DropWatchEvents(1)
	put(t, direct, "fairway/echo/"+numbered(n+1), value(numbered(n+1), 7))
	waitFor(t, "a change that the watch has lost is found", func() bool {
		compare()
		list := mustSnapshot(t, r, "echo").Instances
		return p.Dropped() == 1 && list[len(list)-1].String() == numbered(n+1)
	})
	if st := r.Status().Services[0]; st.Relists[causeDiverged] != 1 {
		t.Errorf("listed again because of %v, want one difference", st.Relists)
	}
}

// TestSummaryNoticesWhatTheWatchHasLost, save for a change that a later one
// covers, which is left to the comparison of all keys.
func TestSummaryNoticesWhatTheWatchHasLost(t *testing.T) {
	t.Parallel()
	cli := etcdtest.Start(t).Client(t)
	for i := range 3 {
		put(t, cli, "fairway/echo/"+numbered(i), value(numbered(i), 1))
	}
	r := testResolver(t, cli)
	known(t, r, "echo", 3, 0)
	base := r.feeds["echo"].instances
	changes := map[string]func() int64{
		"put":    func() int64 { return put(t, cli, "fairway/echo/"+numbered(3), value(numbered(3), 1)) },
		"change": func() int64 { return put(t, cli, "fairway/echo/"+numbered(1), value(numbered(1), 2)) },
		"delete": func() int64 { return remove(t, cli, "fairway/echo/"+numbered(1)) },
	}
	for _, name := range []string{"put", "change", "delete"} {
		before := span{prefix: base.prefix, decode: base.decode}
		refresh(t, cli, &before)
		lost := before
		lost.pos.revision = changes[name]()
		verdicts(t, cli, "a lost "+name, &lost, false, false)
		now := before
		refresh(t, cli, &now)
		verdicts(t, cli, "no lost "+name, &now, true, true)
		now.entries = slices.Clone(now.entries)
		for i := range now.entries {
			now.entries[i].lease++
		}
		verdicts(t, cli, "other leases", &now, false, false)
	}
	covered := base
	refresh(t, cli, &covered)
	put(t, cli, "fairway/echo/"+numbered(0), value(numbered(0), 2)) // is lost
	covered.pos.revision = put(t, cli, "fairway/echo/"+numbered(2), value(numbered(2), 2))
	if at, found := covered.entries.find("fairway/echo/" + numbered(2)); found {
		covered.entries[at].modified = covered.pos.revision // is not
	}
	verdicts(t, cli, "a lost change below a later one", &covered, true, false)
}

func remove(t *testing.T, cli *clientv3.Client, key string) int64 {
	t.Helper()
	resp, err := cli.Delete(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	return resp.Header.Revision
}

// refresh lists the span anew.
func refresh(t *testing.T, cli *clientv3.Client, s *span) {
	t.Helper()
	pos, list, err := s.list(t.Context(), cli, 0)
	if err != nil {
		t.Fatal(err)
	}
	s.pos, s.entries = pos, list
}

// verdicts checks what the two forms of the comparison say: the same or not.
func verdicts(t *testing.T, cli *clientv3.Client, what string, s *span, summary, keys bool) {
	t.Helper()
	for form, compare := range map[string]func(context.Context, *clientv3.Client) (position, bool, error){
		"summary": s.verifySummary, "keys": s.verifyKeys,
	} {
		want := summary
		if form == "keys" {
			want = keys
		}
		if _, same, err := compare(t.Context(), cli); err != nil || same != want {
			t.Errorf("%s: the %s say same %t, %v; want %t", what, form, same, err, want)
		}
	}
}
