// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package middleware_test

import (
	"context"
	"fmt"
	"net"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	kdiscovery "github.com/cloudwego/kitex/pkg/discovery"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/fairway-rpc/fairway/discovery"
	"github.com/fairway-rpc/fairway/internal/etcdtest"
	"github.com/fairway-rpc/fairway/internal/live"
	"github.com/fairway-rpc/fairway/internal/pick"
	"github.com/fairway-rpc/fairway/loadbalance"
)

// BenchmarkChangeToPick measures from the return of the Put that changes one
// instance's weight to the first pick that takes account of it; median and 99th
// percentile of all iterations, in milliseconds. The resolver has its default
// options, disk copy included. Two callers for each processor pick and then
// wait for an answer on a loopback connection, as calls do.
func BenchmarkChangeToPick(b *testing.B) {
	for _, policy := range loadbalance.Policies() {
		for _, n := range []int{10, 1000, 10000} {
			b.Run(fmt.Sprintf("policy=%s/n=%d", policy, n), func(b *testing.B) {
				propagate(b, policy, n)
			})
		}
	}
}

func propagate(b *testing.B, policy string, n int) {
	s := etcdtest.Start(b)
	provider := s.Client(b)
	registerMany(b, provider, n)
	res := resolver(b, s.Client(b), discovery.WithSnapshotDir(b.TempDir()))
	waitFor(b, "all instances are known", func() bool {
		r, err := res.Resolve(b.Context(), service)
		return err == nil && len(r.Instances) == n
	})
	seen := &sighting{at: make(chan time.Time, 1)}
	stop := busyCallers(b, balancer(b, policy).Observed(seen), live.Key(res.Name(), service))
	took := make([]time.Duration, 0, 1024)
	for i := 0; b.Loop(); i++ {
		seen.wanted.Store(1 << 62)
		resp, err := provider.Put(b.Context(), keyOf(i%n), recordOf(i%n, 11+i%7))
		if err != nil {
			b.Fatal(err)
		}
		returned := time.Now()
		seen.wanted.Store(resp.Header.Revision)
		took = append(took, max(0, (<-seen.at).Sub(returned)))
	}
	stop()
	slices.Sort(took)
	b.ReportMetric(took[len(took)/2].Seconds()*1e3, "p50-ms")
	b.ReportMetric(took[len(took)*99/100].Seconds()*1e3, "p99-ms")
	b.ReportMetric(0, "ns/op")
}

// sighting tells when a pick first takes account of a revision.
type sighting struct {
	wanted atomic.Int64
	at     chan time.Time
}

func (s *sighting) Wants(context.Context) bool { return true }

func (s *sighting) Picked(_ context.Context, p *pick.Pick) {
	if wanted := s.wanted.Load(); p.Revision >= wanted && s.wanted.CompareAndSwap(wanted, 1<<62) {
		s.at <- p.Start
	}
}

// busyCallers pick and wait for an answer until they are stopped.
func busyCallers(b *testing.B, lb *loadbalance.Balancer, key string) (stop func()) {
	b.Helper()
	result := kdiscovery.Result{Cacheable: true, CacheKey: key}
	var ended atomic.Bool
	var all sync.WaitGroup
	for range 2 * runtime.GOMAXPROCS(0) {
		conn := answering(b)
		all.Go(func() {
			buf := make([]byte, 1)
			for !ended.Load() {
				pickOnce(lb, result)
				_, _ = conn.Write(buf)
				_, _ = conn.Read(buf)
			}
		})
	}
	return func() { ended.Store(true); all.Wait() }
}

// answering is a loopback connection whose other end sends back what it gets.
func answering(b *testing.B) net.Conn {
	b.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	defer l.Close()
	near, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		b.Fatal(err)
	}
	far, err := l.Accept()
	if err != nil {
		b.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		buf := make([]byte, 1)
		for {
			if _, err := far.Read(buf); err != nil {
				return
			}
			_, _ = far.Write(buf)
		}
	}()
	b.Cleanup(func() { _ = near.Close(); _ = far.Close(); <-done })
	return near
}

// registerMany puts n instances of mixed weights.
func registerMany(b *testing.B, cli *clientv3.Client, n int) {
	b.Helper()
	for from := 0; from < n; from += 100 {
		ops := make([]clientv3.Op, 0, 100)
		for i := from; i < min(from+100, n); i++ {
			ops = append(ops, clientv3.OpPut(keyOf(i), recordOf(i, 1+i%10)))
		}
		if _, err := cli.Txn(b.Context()).Then(ops...).Commit(); err != nil {
			b.Fatal(err)
		}
	}
}

func addressOf(i int) string { return fmt.Sprintf("10.0.%d.%d:8888", i>>8, i&255) }

func keyOf(i int) string { return "fairway/echo/" + addressOf(i) }

func recordOf(i, weight int) string {
	return fmt.Sprintf(`{"network":"tcp","address":%q,"weight":%d,"tags":{"zone":"zone-%d","version":"v1.%d"}}`,
		addressOf(i), weight, i%3, i%7)
}

func pickOnce(lb *loadbalance.Balancer, res kdiscovery.Result) {
	p := lb.GetPicker(res)
	_ = p.Next(context.Background(), nil)
	if r, ok := p.(interface{ Recycle() }); ok {
		r.Recycle()
	}
}
