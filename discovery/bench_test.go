// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package discovery

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"runtime"
	"slices"
	"testing"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// benchFeed is a feed that nobody runs, with n listed instances of two tags.
func benchFeed(tb testing.TB, n int) *feed {
	tb.Helper()
	cli, err := Dial(EtcdConfig{Endpoints: []string{"127.0.0.1:1"}})
	if err != nil {
		tb.Fatal(err)
	}
	r, err := NewResolver(cli, WithoutSnapshotDir(), WithLogger(slog.New(slog.DiscardHandler)), WithGuard(Guard{
		Probe: func(context.Context, string, string) error { return nil },
	}))
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = r.Close(); _ = cli.Close() })
	f := newFeed("echo", r)
	f.adopt(listing{position: position{revision: 1, cluster: 1, term: 1}, instances: benchEntries(f, n)})
	return f
}

func benchEntries(f *feed, n int) entries {
	list := make(entries, 0, n)
	for i := range n {
		list = append(list, f.instances.decode(benchKV(i, 10, 1)))
	}
	return list
}

func benchKV(i, weight int, revision int64) *mvccpb.KeyValue {
	address := fmt.Sprintf("10.%03d.%03d.%03d:8888", i>>16, i>>8&255, i&255)
	return &mvccpb.KeyValue{
		Key:         []byte("fairway/echo/" + address),
		ModRevision: revision,
		Value: fmt.Appendf(nil, `{"network":"tcp","address":%q,"weight":%d,"tags":{"zone":"zone-%d","version":"v1.%d"},`+
			`"state":"serving","instance":"%026d","started_at":"2026-01-02T03:04:05.000000006Z","ttl":"10s"}`, address, weight, i%3, i%7, i),
	}
}

func benchPut(kv *mvccpb.KeyValue) *clientv3.WatchResponse {
	return &clientv3.WatchResponse{
		Header: &etcdserverpb.ResponseHeader{Revision: kv.ModRevision, ClusterId: 1, RaftTerm: 1},
		Events: []*clientv3.Event{{Type: clientv3.EventTypePut, Kv: kv}},
	}
}

// BenchmarkBurst is a thousand changes of ten thousand instances, as one watch
// response after another and as they come when the feed is behind: together.
func BenchmarkBurst(b *testing.B) {
	const instances, changes = 10_000, 1000
	for name, together := range map[string]int{"one by one": 1, "together": batch} {
		b.Run(name, func(b *testing.B) {
			f := benchFeed(b, instances)
			revision := int64(1)
			for b.Loop() {
				for from := 0; from < changes; from += together {
					var all []*clientv3.WatchResponse
					for range min(together, changes-from) {
						revision++
						all = append(all, benchPut(benchKV(int(revision)%instances, int(revision), revision)))
					}
					f.apply(&f.instances, said(all...))
				}
			}
		})
	}
}

// BenchmarkChange is one changed weight from the watch's response to the
// published snapshot.
func BenchmarkChange(b *testing.B) {
	for _, n := range []int{10, 1000, 10000} {
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			f := benchFeed(b, n)
			b.ReportAllocs()
			revision := int64(1)
			for b.Loop() {
				revision++
				f.apply(&f.instances, said(benchPut(benchKV(int(revision)%n, int(revision), revision))))
			}
		})
	}
}

// BenchmarkReturn is one provider that registers again after more than half of
// them have vanished.
func BenchmarkReturn(b *testing.B) {
	f := benchFeed(b, 10000)
	rest := slices.DeleteFunc(slices.Clone(f.instances.entries), func(e entry) bool { return e.key[len(e.key)-6]%3 > 0 })
	f.adopt(listing{position: f.instances.pos, instances: rest})
	lost := f.guard.all()
	if len(lost) == 0 {
		b.Fatal("nobody is held")
	}
	b.ReportAllocs()
	for i := 0; b.Loop() && i < len(lost); i++ {
		revision := int64(2 + i)
		f.apply(&f.instances, said(benchPut(&mvccpb.KeyValue{
			Key: []byte(lost[i].entry.key), ModRevision: revision, Value: lost[i].entry.value,
		})))
	}
}

// BenchmarkWipe is 100 services that a consumer follows, of 100 instances each,
// which vanish together.
func BenchmarkWipe(b *testing.B) {
	const services, instances = 100, 100
	r := benchFeed(b, 0).resolver
	all := make(entries, services*instances)
	feeds := make([]*feed, services)
	for n := range feeds {
		feeds[n] = newFeed(fmt.Sprint("service-", n), r)
		feeds[n].stop = func() {}
		close(feeds[n].done)
		r.feeds[feeds[n].service] = feeds[n]
		for i := range instances {
			kv := benchKV(n*instances+i, 10, 1)
			kv.Key = bytes.Replace(kv.Key, []byte("echo"), []byte(feeds[n].service), 1)
			all[n*instances+i] = feeds[n].instances.decode(kv)
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		b.StopTimer()
		for n, f := range feeds {
			f.adopt(listing{position: position{revision: 1, cluster: 1, term: 1}, instances: slices.Clone(all[n*instances : (n+1)*instances])})
		}
		b.StartTimer()
		for _, f := range feeds {
			f.adopt(listing{position: position{revision: 1, cluster: 2, term: 1}})
		}
		if held := r.suspects.Load(); held != services*instances {
			b.Fatalf("%d are held", held)
		}
	}
}

// BenchmarkSnapshotMemory is the live heap of a feed with 10,000 instances.
func BenchmarkSnapshotMemory(b *testing.B) {
	for b.Loop() {
		before := liveHeap()
		f := benchFeed(b, 10000)
		b.ReportMetric(float64(liveHeap()-before)/(1<<20), "MiB")
		runtime.KeepAlive(f)
	}
}

func liveHeap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
