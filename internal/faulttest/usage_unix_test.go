// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package faulttest

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/fairway-rpc/fairway/discovery"
	"github.com/fairway-rpc/fairway/internal/etcdtest"
)

// processorTime is what this process has used of all cores.
func processorTime() time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		panic(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// TestTokenExpiresDuringACut: a client that was away for longer than its token
// and its lease live has to authenticate again, for the watch and the lease,
// without a loop that shows in the log or on a core.
func TestTokenExpiresDuringACut(t *testing.T) {
	t.Parallel()
	etcd := etcdtest.Start(t, etcdtest.WithAuth(2*time.Second))
	direct := etcd.Client(t)
	way := etcdtest.NewProxy(t, etcd.Endpoint())
	cfg := configOf(etcd)
	cfg.Endpoints = []string{way.Addr()}
	g := startGauge(t, cfg)
	waitFor(t, "the process is registered and sees itself", func() bool {
		u := g.does("look")
		return slices.Equal(u.Instances, []string{u.Address})
	})
	lasts(t, 3*time.Second) // until calm
	before, began := g.does("look"), time.Now()
	for _, away := range []time.Duration{4 * time.Second, 12 * time.Second} { // longer than the token, longer than the lease
		way.Cut()
		lasts(t, away)
		way.Restore()
		back := time.Now()
		waitWithin(t, 10*time.Second, "the lease is renewed or made anew", func() bool {
			return leaseLeft(t, direct, "fairway/echo/"+before.Address) >= 8*time.Second
		})
		other := fmt.Sprintf("127.0.0.1:%d", away/time.Second)
		put(t, direct, "fairway/echo/"+other, record(other))
		waitWithin(t, 10*time.Second, "the watch goes on", func() bool { return slices.Contains(g.does("look").Instances, other) })
		t.Logf("after %v everything was back within %v", away, time.Since(back))
	}
	lasts(t, 30*time.Second-time.Since(began))
	after := g.does("look")
	if after.State != discovery.FeedLive || !slices.Contains(after.Instances, after.Address) || after.Suspects != 0 {
		t.Errorf("in the end %+v", after)
	}
	t.Logf("%d lines and %v of a core in %v", after.Lines-before.Lines, after.Processor-before.Processor, time.Since(began))
	if n := after.Lines - before.Lines; n > 20 {
		t.Errorf("%d log lines, want at most 20", n)
	}
	if used := after.Processor - before.Processor; used > time.Since(began)/50 {
		t.Errorf("used %v of a core in %v, want at most 2 %%", used, time.Since(began))
	}
}

// leaseLeft is how long a key's lease lives unless it is renewed, 0 without key.
func leaseLeft(t *testing.T, cli *clientv3.Client, key string) time.Duration {
	t.Helper()
	resp, err := cli.Get(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	if len(resp.Kvs) == 0 {
		return 0
	}
	lease, err := cli.TimeToLive(t.Context(), clientv3.LeaseID(resp.Kvs[0].Lease))
	if err != nil {
		t.Fatal(err)
	}
	return time.Duration(lease.TTL) * time.Second
}

// TestChurnLeavesNothingBehind: a thousand subscriptions, and a thousand times
// a key that comes and goes.
func TestChurnLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	etcd := etcdtest.Start(t)
	cli := etcd.Client(t)
	for i := range 4 { // so that one that goes is no reason for the guard
		put(t, cli, fmt.Sprintf("fairway/echo/127.0.0.1:%d", i+1), record(fmt.Sprintf("127.0.0.1:%d", i+1)))
	}
	g := startGauge(t, configOf(etcd))
	waitFor(t, "the process sees all", func() bool { return len(g.does("look").Instances) == 5 })
	round := func() usage {
		g.does("subscribe")
		flap(t, cli, 1000)
		waitFor(t, "the process is up to date", func() bool { return slices.Contains(g.does("look").Instances, "127.0.0.1:99") })
		return g.does("collect")
	}
	round() // warms up
	before, watchers := g.does("collect"), watchersOf(t, etcd)
	round()
	waitFor(t, "no goroutine is left", func() bool { return g.does("look").Goroutines <= before.Goroutines })
	after := g.does("collect")
	if n := watchersOf(t, etcd); n != watchers {
		t.Errorf("etcd has %s watchers after %s", n, watchers)
	}
	const spare = 1 << 20
	if after.Heap > before.Heap+spare {
		t.Errorf("the heap has grown from %d to %d bytes", before.Heap, after.Heap)
	}
	if after.Suspects != 0 {
		t.Errorf("%d suspects", after.Suspects)
	}
}

// flap makes a key come and go n times, and stay.
func flap(t *testing.T, cli *clientv3.Client, n int) {
	t.Helper()
	const key, address = "fairway/echo/127.0.0.1:99", "127.0.0.1:99"
	for range n {
		put(t, cli, key, record(address))
		if _, err := cli.Delete(t.Context(), key); err != nil {
			t.Fatal(err)
		}
	}
	put(t, cli, key, record(address))
}

// watchersOf is how many watchers etcd counts.
func watchersOf(t *testing.T, etcd *etcdtest.Server) string {
	t.Helper()
	// Connections that are kept would look like leaks.
	web := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := web.Get("http://" + etcd.Endpoint() + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if n, ok := strings.CutPrefix(line, "etcd_debugging_mvcc_watcher_total "); ok {
			return strings.TrimSpace(n)
		}
	}
	t.Fatal("etcd does not count its watchers")
	return ""
}
