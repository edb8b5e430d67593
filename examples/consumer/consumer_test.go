// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cloudwego/kitex/pkg/klog"

	"github.com/fairway-rpc/fairway/discovery"
	"github.com/fairway-rpc/fairway/examples/internal/cluster"
)

// logs takes what the consumer logs.
type logs struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logs) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logs) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func capture(t *testing.T) *logs {
	t.Helper()
	l, before := &logs{}, slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(l, nil)))
	klog.SetOutput(io.Discard)
	t.Cleanup(func() { slog.SetDefault(before) })
	return l
}

func (l *logs) await(t *testing.T, pattern string) []string {
	t.Helper()
	wanted := regexp.MustCompile(pattern)
	deadline := time.NewTimer(30 * time.Second)
	defer deadline.Stop()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		if found := wanted.FindStringSubmatch(l.String()); found != nil {
			return found
		}
		select {
		case <-tick.C:
		case <-deadline.C:
			t.Fatalf("not logged within 30 s: %s\n%s", pattern, l)
		}
	}
}

// startCluster starts an etcd and providers of the weights 3 and 1.
func startCluster(t *testing.T) (e *cluster.Etcd, heavy *cluster.Provider) {
	t.Helper()
	e = cluster.NewEtcd(t.TempDir(), io.Discard)
	if err := e.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Stop)
	cli, err := discovery.Dial(discovery.EtcdConfig{Endpoints: []string{e.Endpoint()}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cli.Close() })
	reg, err := discovery.NewRegistry(cli, discovery.WithDrainDelay(0))
	if err != nil {
		t.Fatal(err)
	}
	for _, weight := range []int{1, 3} {
		p, err := cluster.NewProvider(reg, "echo", weight)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := p.Stop(); err != nil {
				t.Error(err)
			}
		})
		heavy = p
	}
	return e, heavy
}

// start runs a consumer until stop is called.
func start(t *testing.T, args ...string) (stop func() error) {
	t.Helper()
	cfg, err := parse(append(args, "-every", "200ms", "-qps", "400"))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- run(ctx, cfg) }()
	return func() error {
		cancel()
		return <-ended
	}
}

// TestRestartDuringOutage: a consumer logs what it does, and one that starts
// while etcd is down goes on with what the former had stored.
func TestRestartDuringOutage(t *testing.T) {
	e, heavy := startCluster(t)
	args := []string{"-etcd", e.Endpoint(), "-snapshots", t.TempDir(), "-cluster", "test"}

	log := capture(t)
	stop := start(t, args...)
	log.await(t, `msg=distribution policy=smooth-wrr calls=\d+ failed=0 total_calls=\d+ total_failed=0 state=live source=etcd age=`)
	found := log.await(t, `msg=instance address=`+heavy.Address+` weight=3 calls=\d+ share=(0\.7\d+) expected=0\.750`)
	if share, err := strconv.ParseFloat(found[1], 64); err != nil || share < 0.72 || share > 0.78 {
		t.Errorf("the share of a weight of 3 in 4 is %s", found[1])
	}
	if err := stop(); err != nil {
		t.Fatalf("%v\n%s", err, log)
	}
	log.await(t, `msg=totals policy=smooth-wrr calls=[1-9]\d* failed=0`)

	e.Stop()
	log = capture(t)
	stop = start(t, args...)
	log.await(t, `msg=distribution policy=smooth-wrr calls=[1-9]\d* failed=0 .* source=disk`)
	if err := stop(); err != nil {
		t.Fatalf("%v\n%s", err, log)
	}
}

func TestStopBeforeTheFirstInstance(t *testing.T) {
	log := capture(t)
	stop := start(t, "-etcd", "127.0.0.1:1", "-snapshots", t.TempDir())
	log.await(t, "waiting for the first instance")
	if err := stop(); err != nil {
		t.Error(err)
	}
}

func TestBadInput(t *testing.T) {
	for _, tt := range []struct{ flag, value, want string }{
		{"-policy", "nope", "smooth-wrr"},
		{"-qps", "0", "not positive"},
		{"-every", "0s", "not positive"},
		{"-service", "a/b", "a/b"},
	} {
		if _, err := parse([]string{tt.flag, tt.value}); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s %s: got %v, want an error with %q", tt.flag, tt.value, err, tt.want)
		}
	}
}
