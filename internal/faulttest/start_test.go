// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package faulttest

import (
	"bytes"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fairway-rpc/fairway/discovery"
	"github.com/fairway-rpc/fairway/idl/kitex_gen/fairway/echo/echoservice"
	"github.com/fairway-rpc/fairway/internal/echotest"
	"github.com/fairway-rpc/fairway/internal/etcdtest"
	"github.com/fairway-rpc/fairway/loadbalance"
)

// firstCall is how long the first call of a consumer that starts in an outage
// may take: the first wait for etcd is a second.
const firstCall = 1500 * time.Millisecond

// leaveCopies has a consumer, which then ends, leave a disk copy of echo with n
// instances, and one of the empty service other.
func leaveCopies(t *testing.T, cfg discovery.EtcdConfig, dir string, n int) {
	t.Helper()
	res := resolverOn(t, dialAs(t, cfg), discovery.WithSnapshotDir(dir))
	sees(t, res, n, 0)
	_, _ = res.Resolve(t.Context(), "other")
	if err := res.Close(); err != nil {
		t.Fatal(err)
	}
}

// startsFromDisk makes a consumer, whose first call has to succeed in time.
func startsFromDisk(t *testing.T, cfg discovery.EtcdConfig, dir string) (*discovery.Resolver, echoservice.Client) {
	t.Helper()
	res := resolverOn(t, dialAs(t, cfg), discovery.WithSnapshotDir(dir))
	cli := consumer(t, res, loadbalance.SmoothWRR)
	if _, took, err := call(t, cli); err != nil || took > firstCall {
		t.Errorf("the first call took %v, %v; want an answer within %v", took, err, firstCall)
	}
	return res, cli
}

// TestConsumerStartsWhileEtcdIsDown: it calls whom the disk copy names.
func TestConsumerStartsWhileEtcdIsDown(t *testing.T) {
	t.Parallel()
	for name, opts := range map[string][]etcdtest.Option{
		"without a password": nil,
		"with a password":    {etcdtest.WithAuth(time.Minute)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			etcd := etcdtest.Start(t, opts...)
			cfg := configOf(etcd)
			startProviders(t, cfg, 2)
			dir := t.TempDir()
			leaveCopies(t, cfg, dir, 2)
			etcd.Kill()
			res, cli := startsFromDisk(t, cfg, dir)
			if s := status(t, res); s.Source != discovery.SourceDisk {
				t.Errorf("the instances are from %s", s.Source)
			}
			load := startLoad(t, cli)
			load.goesOn(50)
			etcd.Restart()
			waitFor(t, "etcd is followed", func() bool {
				s := status(t, res)
				return s.Source == discovery.SourceEtcd && s.State == discovery.FeedLive
			})
			sees(t, res, 2, 0)
			load.goesOn(50)
			load.noneFailed()
		})
	}
}

// configOf is how a user of the server would dial it.
func configOf(etcd *etcdtest.Server) discovery.EtcdConfig {
	cfg := discovery.EtcdConfig{Endpoints: []string{etcd.Endpoint()}}
	cfg.Username, cfg.Password = etcd.Credentials()
	return cfg
}

func startProviders(t *testing.T, cfg discovery.EtcdConfig, n int) []*echotest.Server {
	t.Helper()
	list := make([]*echotest.Server, n)
	for i := range list {
		log := testLog(t)
		reg, err := discovery.NewRegistry(dialAs(t, cfg), discovery.WithLogger(log), discovery.WithDrainDelay(time.Second/2))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = reg.Close() })
		list[i] = provider(t, reg)
	}
	return list
}

// TestUselessDiskCopyWhileEtcdIsDown: the first call says what is wrong, and
// the consumer works as soon as etcd does.
func TestUselessDiskCopyWhileEtcdIsDown(t *testing.T) {
	t.Parallel()
	etcd := etcdtest.Start(t)
	cfg := configOf(etcd)
	startProviders(t, cfg, 1)
	dir := t.TempDir()
	leaveCopies(t, cfg, dir, 1)
	good, foreign := read(t, copyOf(t, dir, service)), read(t, copyOf(t, dir, "other"))
	etcd.Kill()
	files := map[string][]byte{
		"truncated":    good[:len(good)/2],
		"empty":        {},
		"foreign":      foreign,
		"newer format": bytes.Replace(good, []byte(`"format": 1`), []byte(`"format": 2`), 1),
	}
	consumers := make(map[string]*started)
	for name, content := range files {
		if bytes.Equal(content, good) {
			t.Fatalf("the %s copy is the good one", name)
		}
		consumers[name] = startOn(t, cfg, dir, content)
	}
	for name, c := range consumers {
		_, took, err := call(t, c.cli)
		if !errors.Is(err, discovery.ErrRegistryUnavailable) || took > firstCall {
			t.Errorf("%s: the first call took %v: %v; want ErrRegistryUnavailable within %v", name, took, err, firstCall)
		}
		if n := c.log.count("disk copy ignored"); n != 1 {
			t.Errorf("%s: %d lines about the disk copy, want 1", name, n)
		}
	}
	etcd.Restart()
	for name, c := range consumers {
		waitWithin(t, 10*time.Second, name+": calls work", func() bool {
			_, _, err := call(t, c.cli)
			return err == nil
		})
	}
}

// started is a consumer with what it logs.
type started struct {
	cli echoservice.Client
	log *lines
}

// startOn makes a consumer whose disk copy has this content; dir has a good one
// at the same place.
func startOn(t *testing.T, cfg discovery.EtcdConfig, dir string, content []byte) *started {
	t.Helper()
	own := t.TempDir()
	if err := os.CopyFS(own, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(copyOf(t, own, service), content, 0o600); err != nil {
		t.Fatal(err)
	}
	s := &started{log: &lines{}}
	res := resolverOn(t, dialAs(t, cfg), discovery.WithSnapshotDir(own), discovery.WithLogger(slog.New(slog.NewTextHandler(s.log, nil))))
	s.cli = consumer(t, res, loadbalance.SmoothWRR)
	return s
}

// copyOf finds a service's disk copy.
func copyOf(t *testing.T, dir, name string) (found string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if filepath.Base(path) == "s-"+name+".json" {
			found = path
		}
		return err
	})
	if err != nil || found == "" {
		t.Fatalf("no disk copy of %s in %s: %v", name, dir, err)
	}
	return found
}

func read(t *testing.T, file string) []byte {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return content
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

func (l *lines) count(part string) (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, line := range l.all {
		if strings.Contains(line, part) {
			n++
		}
	}
	return n
}

// TestConsumerStartsAfterAWipe: etcd answers and knows nobody, but the disk copy
// does.
func TestConsumerStartsAfterAWipe(t *testing.T) {
	t.Parallel()
	etcd := etcdtest.Start(t)
	way := etcdtest.NewProxy(t, etcd.Endpoint())
	startProviders(t, discovery.EtcdConfig{Endpoints: []string{way.Addr()}}, 3)
	cfg := configOf(etcd)
	dir := t.TempDir()
	leaveCopies(t, cfg, dir, 3)
	way.Cut() // so that etcd stays empty
	etcd.Wipe()
	etcd.Restart()
	res, cli := startsFromDisk(t, cfg, dir)
	load := startLoad(t, cli)
	sees(t, res, 3, 3)
	load.goesOn(50)
	way.Restore()
	sees(t, res, 3, 0)
	if s := status(t, res); s.GuardReturned != 3 || s.Source != discovery.SourceEtcd {
		t.Errorf("%d suspects returned, source %s; want three, from etcd", s.GuardReturned, s.Source)
	}
	load.goesOn(50)
	load.noneFailed()
}
