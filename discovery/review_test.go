// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package discovery

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/fairway-rpc/fairway/internal/etcdtest"
)

// TestCalmServiceKeepsAFreshDiskCopy: what etcd has proved since the last
// change counts for the age of the copy.
func TestCalmServiceKeepsAFreshDiskCopy(t *testing.T) {
	t.Parallel()
	s := etcdtest.Start(t)
	dir := t.TempDir()
	put(t, s.Client(t), "fairway/echo/a:1", value("a:1", 1))
	before := testResolver(t, s.Client(t), WithSnapshotDir(dir), WithCluster("test"))
	_ = addresses(t, before, "echo")
	first, _ := before.Snapshot("echo")
	waitFor(t, "etcd proves the calm service", func() bool {
		now, _ := before.Snapshot("echo")
		return now.ProvedAt.Sub(first.ProvedAt) > 4*time.Second
	})
	_ = before.Close()
	saved, err := before.disk.load("echo")
	if err != nil {
		t.Fatal(err)
	}
	if !saved.ProvedAt.After(first.ProvedAt.Add(3 * time.Second)) {
		t.Errorf("the copy was proved at %v, the first list at %v", saved.ProvedAt, first.ProvedAt)
	}
}

// TestHTTPSAmongEndpointsMeansTLSForAll: the client would speak to all as to
// the first.
func TestHTTPSAmongEndpointsMeansTLSForAll(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	first := make(chan []byte, 1)
	go func() {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		b := make([]byte, 3)
		n, _ := conn.Read(b)
		first <- b[:n]
	}()
	cli, err := Dial(EtcdConfig{Endpoints: []string{deadEndpoint(t), "https://" + listener.Addr().String()}, Logger: testLog(t)})
	if err != nil {
		t.Fatal(err)
	}
	defer cli.Close()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() { _, _ = cli.Get(ctx, "x") }()
	if got := <-first; !bytes.HasPrefix(got, []byte{0x16, 0x03}) { // a TLS handshake
		t.Errorf("the first bytes to an https endpoint are %q", got)
	}
}

func TestKeyThatBelongsToNobodyIsTaken(t *testing.T) {
	t.Parallel()
	cli := etcdtest.Start(t).Client(t)
	later := time.Now().Add(time.Hour).UTC().Format(time.RFC3339)
	put(t, cli, "fairway/echo/127.0.0.1:8888", fmt.Sprintf(`{"address":"127.0.0.1:8888","instance":"other","started_at":%q}`, later))
	r := testRegistry(t, cli)
	if err := r.Register(infoOf("echo", "127.0.0.1:8888", 3)); err != nil {
		t.Fatal(err)
	}
	waitFor(t, "a key without a lease is taken over", func() bool {
		resp, err := cli.Get(t.Context(), "fairway/echo/127.0.0.1:8888")
		return err == nil && len(resp.Kvs) == 1 && resp.Kvs[0].Lease != 0
	})
}

func TestOfTwoThatStartedTogetherOneGivesWay(t *testing.T) {
	started := time.Now()
	a, b := &record{Instance: "a", StartedAt: started}, &record{Instance: "b", StartedAt: started}
	for _, r := range []*record{a, b} {
		r.Network, r.Address, r.State = "tcp", "x:1", StateServing
	}
	if n := supersedesOf(t, a, b) + supersedesOf(t, b, a); n != 1 {
		t.Errorf("%d of the two give way", n)
	}
}

func supersedesOf(t *testing.T, found, ours *record) int {
	t.Helper()
	value, err := found.encode()
	if err != nil {
		t.Fatal(err)
	}
	if superseder(&mvccpb.KeyValue{Value: value, Lease: 1}, ours) != nil {
		return 1
	}
	return 0
}

func TestPrefixOfAnyLanguage(t *testing.T) {
	cli := etcdtest.Start(t).Client(t)
	put(t, cli, "dienst-ü/echo/a:1", value("a:1", 1))
	r := testResolver(t, cli, WithPrefix("dienst-ü"))
	if got := addresses(t, r, "echo"); got != "a:1" {
		t.Errorf("instances %q", got)
	}
}

// TestChurnDropsNoHealthyWatch verifies again and again while writers are busy.
func TestChurnDropsNoHealthyWatch(t *testing.T) {
	t.Parallel()
	cli := etcdtest.Start(t).Client(t)
	put(t, cli, "fairway/echo/a:1", value("a:1", 1))
	log := &lines{}
	r := testResolver(t, cli, WithLogger(slog.New(slog.NewTextHandler(log, nil))))
	_ = addresses(t, r, "echo")
	f := r.all()[0]
	ctx, cancel := context.WithCancel(t.Context())
	writing := make(chan struct{})
	go func() {
		defer close(writing)
		for i := 0; ctx.Err() == nil; i++ {
			_, _ = cli.Put(ctx, fmt.Sprintf("fairway/echo/b:%d", 1+i%50), value(fmt.Sprintf("b:%d", 1+i%50), 1))
		}
	}()
	v := newVerifier(f)
	for range 100 {
		v.ask(ctx)
		v.heard = time.Now()
		if err := v.judge(<-v.found); err != nil {
			t.Errorf("a healthy watch is given up: %v", err)
		}
	}
	cancel()
	<-writing
	v.wait()
}

// deafWatcher lists but never watches.
type deafWatcher struct{ clientv3.Watcher }

func (deafWatcher) Watch(ctx context.Context, _ string, _ ...clientv3.OpOption) clientv3.WatchChan {
	<-ctx.Done()
	ch := make(chan clientv3.WatchResponse)
	close(ch)
	return ch
}

func TestFeedWithoutAWatchIsNotLive(t *testing.T) {
	t.Parallel()
	cli := etcdtest.Start(t).Client(t)
	put(t, cli, "fairway/echo/a:1", value("a:1", 1))
	cli.Watcher = deafWatcher{cli.Watcher}
	r := testResolver(t, cli)
	state := func() FeedState {
		_ = addresses(t, r, "echo")
		s, _ := r.Snapshot("echo")
		return s.State
	}
	waitFor(t, "it is called stale", func() bool { return state() == FeedStale })
	waitWithin(t, time.Minute, "it lists again", func() bool {
		s, _ := r.Snapshot("echo")
		return time.Since(s.ProvedAt) < time.Second
	})
	if got := state(); got != FeedStale {
		t.Errorf("state %s without any watch", got)
	}
}

func TestSkippedRecordsAreCounted(t *testing.T) {
	cli := etcdtest.Start(t).Client(t)
	put(t, cli, "fairway/echo/a:1", value("a:1", 1))
	put(t, cli, "fairway/echo/bad", "{")
	put(t, cli, "fairway/echo/deep/echo/z:1", value("z:1", 1)) // service "echo" under the prefix "fairway/echo/deep"
	put(t, cli, "fairway/echo//run/old.sock", `{"network":"unix","address":"/run/old.sock"}`)
	r := testResolver(t, cli)
	if got := addresses(t, r, "echo"); got != "/run/old.sock a:1" {
		t.Errorf("instances %q", got)
	}
	if s, _ := r.Snapshot("echo"); s.Skipped != 2 {
		t.Errorf("%d skipped, want 2", s.Skipped)
	}
}

func TestDiskCopyOfOddNamesAndRecords(t *testing.T) {
	d := testDisk(t, "c1", strings.Repeat("prefix/", 60))
	s := testSaved()
	s.Prefix, s.Service = d.prefix, strings.Repeat("A:@", 60)
	s.Records[0].Key = keyspace{d.prefix}.instance(s.Service, "a:1")
	if err := d.save(s); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(d.dir); err != nil { // a cleaner of caches
		t.Fatal(err)
	}
	if err := d.save(s); err != nil {
		t.Fatal(err)
	}
	if _, err := d.load(s.Service); err != nil {
		t.Error(err)
	}
	deep := `{"address":"a:1","later":` + strings.Repeat("[", 9990) + strings.Repeat("]", 9990) + `}`
	rec, err := decodeRecord([]byte(deep))
	if err != nil {
		t.Fatal(err)
	}
	kept, err := rec.encode()
	if err != nil || len(kept) > 200 {
		t.Errorf("kept %d bytes, %v", len(kept), err)
	}
}

// TestNameThatNeverExistedStaysNotFound, also from disk and afterwards.
func TestNameThatNeverExistedStaysNotFound(t *testing.T) {
	t.Parallel()
	s := etcdtest.Start(t)
	dir := t.TempDir()
	before := testResolver(t, s.Client(t), WithSnapshotDir(dir), WithCluster("test"))
	if _, err := before.Resolve(t.Context(), "typo"); !errors.Is(err, ErrServiceNotFound) {
		t.Fatal(err)
	}
	_ = before.Close()
	s.Kill()
	r := testResolver(t, dialTest(t, s.Endpoint()), WithSnapshotDir(dir), WithCluster("test"), WithResolveTimeout(10*time.Millisecond))
	if _, err := r.Resolve(t.Context(), "typo"); !errors.Is(err, ErrServiceNotFound) {
		t.Errorf("from disk: got %v, want ErrServiceNotFound", err)
	}
}

func TestSubscriptionGetsTheLastSnapshotAtClose(t *testing.T) {
	cli := etcdtest.Start(t).Client(t)
	for range 20 {
		r := testResolver(t, cli)
		_, _ = r.Resolve(t.Context(), "echo")
		_ = r.Close()
		got := make(chan *Snapshot, 1)
		cancel := r.Subscribe("echo", func(s *Snapshot) { got <- s })
		select {
		case <-got:
		case <-t.Context().Done():
		}
		cancel()
	}
}

func TestEtcdConfigKeepsItsPasswordInJSONAndLogs(t *testing.T) {
	cfg := EtcdConfig{Endpoints: []string{"a:1"}, Username: "root", Password: "secret-word"}
	var log bytes.Buffer
	slog.New(slog.NewJSONHandler(&log, nil)).Info("dialling", "config", cfg)
	encoded, err := json.Marshal(cfg.String())
	if err != nil || strings.Contains(log.String()+string(encoded), "secret-word") {
		t.Errorf("%v: %s%s", err, &log, encoded)
	}
}
