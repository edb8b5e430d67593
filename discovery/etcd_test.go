// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package discovery

import (
	"context"
	"log/slog"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cloudwego/kitex/pkg/registry"
	"github.com/cloudwego/kitex/pkg/utils"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/fairway-rpc/fairway/internal/leaktest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// waitFor polls until ok, and fails the test after a generous while.
func waitFor(t *testing.T, what string, ok func() bool) {
	t.Helper()
	waitWithin(t, 20*time.Second, what, ok)
}

func waitWithin(t *testing.T, within time.Duration, what string, ok func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	for !ok() {
		pause(ctx, 2*time.Millisecond, nil)
		if ctx.Err() != nil {
			t.Fatalf("not within %v: %s", within, what)
		}
	}
}

func testResolver(t *testing.T, cli *clientv3.Client, opts ...ResolverOption) *Resolver {
	t.Helper()
	opts = append([]ResolverOption{WithSnapshotDir(t.TempDir()), WithLogger(testLog(t))}, opts...)
	r, err := NewResolver(cli, opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	return r
}

func testRegistry(t *testing.T, cli *clientv3.Client, opts ...RegistryOption) *Registry {
	t.Helper()
	opts = append([]RegistryOption{WithDrainDelay(0), WithLogger(testLog(t))}, opts...)
	r, err := NewRegistry(cli, opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	return r
}

func infoOf(service, address string, weight int) *registry.Info {
	return &registry.Info{ServiceName: service, Addr: utils.NewNetAddr("tcp", address), Weight: weight}
}

// addresses is what Kitex's own balancers would get, for comparison.
func addresses(t *testing.T, r *Resolver, service string) string {
	t.Helper()
	res, err := r.Resolve(t.Context(), service)
	if err != nil {
		return "error: " + err.Error()
	}
	list := make([]string, 0, len(res.Instances))
	for _, i := range res.Instances {
		list = append(list, i.Address().String())
	}
	return strings.Join(list, " ")
}

func put(t *testing.T, cli *clientv3.Client, key, value string) int64 {
	t.Helper()
	resp, err := cli.Put(t.Context(), key, value)
	if err != nil {
		t.Fatal(err)
	}
	return resp.Header.Revision
}

func keyCount(t *testing.T, cli *clientv3.Client, prefix string) int {
	t.Helper()
	resp, err := cli.Get(t.Context(), prefix, clientv3.WithPrefix(), clientv3.WithCountOnly())
	if err != nil {
		t.Fatal(err)
	}
	return int(resp.Count)
}

// deadEndpoint refuses connections: nothing listens there.
func deadEndpoint(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

func dialTest(t *testing.T, endpoints ...string) *clientv3.Client {
	t.Helper()
	cli, err := Dial(EtcdConfig{Endpoints: endpoints, Logger: testLog(t)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cli.Close() })
	return cli
}

// testLog writes into the test's own log until the test ends.
func testLog(t *testing.T) *slog.Logger {
	w := &testWriter{t: t}
	t.Cleanup(w.close)
	return slog.New(slog.NewTextHandler(w, nil))
}

type testWriter struct {
	mu     sync.Mutex
	t      *testing.T
	closed bool
}

func (w *testWriter) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
}

func (w *testWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.closed {
		w.t.Log(strings.TrimSpace(string(p)))
	}
	return len(p), nil
}

// lines collects log lines for tests about what is logged.
type lines struct {
	mu  sync.Mutex
	all []string
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, string(p))
	return len(p), nil
}

func (l *lines) count(part string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := 0
	for _, line := range l.all {
		if strings.Contains(line, part) {
			n++
		}
	}
	return n
}
