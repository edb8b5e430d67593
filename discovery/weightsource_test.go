// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package discovery

import (
	"context"
	"errors"
	"log/slog"
	"math"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"pgregory.net/rapid"

	"github.com/fairway-rpc/fairway/internal/etcdtest"
)

func TestChangesWorthAWrite(t *testing.T) {
	for _, tt := range []struct {
		before, after int64
		want          bool
	}{
		{10, 10, false},
		{10, 12, false},
		{10, 13, true},
		{10, 8, false},
		{10, 7, true},
		{100, 125, true},
		{100, 75, true},
		{100, 124, false},
		{1, 2, true},
		{0, 0, false},
		{0, 1, true},
		{1, 0, true},
		{math.MaxInt32, 0, true},
		{math.MaxInt32, math.MaxInt32 - 1, false},
		{1, math.MaxInt32, true},
	} {
		if got := worthwhile(tt.before, tt.after); got != tt.want {
			t.Errorf("from %d to %d: %v, want %v", tt.before, tt.after, got, tt.want)
		}
	}
}

// TestRampGivesFewWritesThatFollowIt: however a source moves for an hour, the
// writes are at least half a minute apart, and once it rests its weight is
// published to within a quarter.
func TestRampGivesFewWritesThatFollowIt(t *testing.T) {
	const every = 30 * time.Second
	rapid.Check(t, func(rt *rapid.T) {
		steps := rapid.SliceOfN(rapid.Int64Range(-50, 80), 3600, 3600).Draw(rt, "steps")
		synctest.Test(t, func(t *testing.T) {
			p := ramp{published: 10}
			weight, last := int64(10), time.Time{}
			sample := func() {
				time.Sleep(time.Second)
				if !p.publish(time.Now(), weight, every) {
					return
				}
				if !last.IsZero() && time.Since(last) < every {
					t.Fatalf("two writes within %v", time.Since(last))
				}
				last = time.Now()
			}
			for _, step := range steps {
				weight = max(0, weight+step)
				sample()
			}
			for range 37 { // at rest: the interval, its jitter and one sample
				sample()
			}
			if worthwhile(p.published, weight) {
				t.Fatalf("%d is published, the source rests at %d", p.published, weight)
			}
		})
	})
}

func TestSourceOfAService(t *testing.T) {
	all, echo, laterAll := &weightSource{}, &weightSource{services: []string{"echo"}}, &weightSource{}
	sources := []*weightSource{all, echo, laterAll}
	if sourceOf(sources, "echo") != echo || sourceOf(sources, "other") != laterAll || sourceOf(sources[1:2], "other") != nil {
		t.Error("a named source wins over a general one, and a later over an earlier")
	}
}

func TestBadWeightSources(t *testing.T) {
	for name, opt := range map[string]RegistryOption{
		"nil":           WithWeightSource(nil),
		"a bad service": WithWeightSource(func() int { return 1 }, "a/b"),
	} {
		if _, err := NewRegistry(dialTest(t, deadEndpoint(t)), opt); !errors.Is(err, ErrInvalidConfig) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// quick is the timing of tests that wait for many rounds.
func quick(c *registryConfig) error {
	c.timing = timing{check: 200 * time.Millisecond, tick: 100 * time.Millisecond, sample: 10 * time.Millisecond, republish: 200 * time.Millisecond}
	return nil
}

// TestWeightSourceDrivesTheWeight: a ramp from 10 to 1,000 in many small steps
// arrives in few writes; then a weight set by hand ends the source's say.
func TestWeightSourceDrivesTheWeight(t *testing.T) {
	t.Parallel()
	cli := etcdtest.Start(t).Client(t)
	var load atomic.Int64
	load.Store(10)
	log := &lines{}
	r := testRegistry(t, cli, registryOption(quick), WithLogger(slog.New(slog.NewTextHandler(log, nil))),
		WithWeightSource(func() int { return int(load.Load()) }))
	for _, address := range []string{"127.0.0.1:1", "127.0.0.1:2"} {
		if err := r.Register(infoOf("echo", address, 10)); err != nil {
			t.Fatal(err)
		}
	}
	puts := countPuts(t, cli, "fairway/echo/127.0.0.1:1")
	began := time.Now()
	for load.Load() < 1000 {
		load.Add(5)
		pause(t.Context(), 2*time.Millisecond, nil)
	}
	near := func(address string) bool { return !worthwhile(keyWeight(t, cli, address), 1000) }
	waitFor(t, "the weights follow", func() bool { return near("127.0.0.1:1") && near("127.0.0.1:2") })
	if most := int(time.Since(began)/(200*time.Millisecond)) + 1; puts() > most {
		t.Errorf("%d writes, want at most %d", puts(), most)
	}
	for range 2 {
		load.Store(-1)
		pause(t.Context(), 50*time.Millisecond, nil)
		load.Store(math.MaxInt64)
		pause(t.Context(), 50*time.Millisecond, nil)
	}
	if n := log.count("weight source"); n != 1 {
		t.Errorf("%d lines about bad values, want 1", n)
	}
	if err := r.SetWeight(t.Context(), "echo", 3); err != nil {
		t.Fatal(err)
	}
	load.Store(500)
	before := revision(t, cli)
	pause(t.Context(), 500*time.Millisecond, nil)
	if w := keyWeight(t, cli, "127.0.0.1:1"); w != 3 || revision(t, cli) != before {
		t.Errorf("weight %d after %d more writes; SetWeight is to stand", w, revision(t, cli)-before)
	}
}

func TestPanickingSourceIsNotHidden(t *testing.T) {
	r := &Registry{cfg: &registryConfig{sources: []*weightSource{{sample: func() int { panic("theirs") }}}}}
	defer func() {
		if recover() == nil {
			t.Error("the panic is lost")
		}
	}()
	(&sampler{}).sample(r)
}

// revision is that of the store: each write adds one.
func revision(t *testing.T, cli *clientv3.Client) int64 {
	t.Helper()
	resp, err := cli.Get(t.Context(), "x")
	if err != nil {
		t.Fatal(err)
	}
	return resp.Header.Revision
}

// countPuts counts the writes to a key from now on.
func countPuts(t *testing.T, cli *clientv3.Client, key string) func() int {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	watch := cli.Watch(ctx, key, clientv3.WithCreatedNotify(), clientv3.WithFilterDelete())
	<-watch // it has begun
	var n atomic.Int64
	done := make(chan struct{})
	go func() {
		defer close(done)
		for resp := range watch {
			n.Add(int64(len(resp.Events)))
		}
	}()
	t.Cleanup(func() {
		cancel()
		<-done
	})
	return func() int { return int(n.Load()) }
}

// keyRecord is what stands in etcd of echo at an address; nil if nothing does.
// It fails the test if the key has no lease.
func keyRecord(t *testing.T, cli *clientv3.Client, address string) *record {
	t.Helper()
	resp, err := cli.Get(t.Context(), keyspace{prefix: DefaultPrefix}.instance("echo", address))
	if err != nil {
		t.Fatal(err)
	}
	if len(resp.Kvs) == 0 {
		return nil
	}
	if resp.Kvs[0].Lease == 0 {
		t.Fatal("a key without a lease")
	}
	rec, err := decodeRecord(resp.Kvs[0].Value)
	if err != nil {
		t.Fatal(err)
	}
	return rec
}

func keyWeight(t *testing.T, cli *clientv3.Client, address string) int64 {
	t.Helper()
	if rec := keyRecord(t, cli, address); rec != nil {
		return rec.weight()
	}
	return -1
}
