// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package discovery

import (
	"context"
	"log/slog"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/fairway-rpc/fairway/internal/etcdtest"
)

// listener accepts connections, as the host of a live provider does.
func listener(t *testing.T) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			_ = conn.Close()
		}
	}()
	t.Cleanup(func() { _ = l.Close(); <-done })
	return l
}

// fleet is what a test registers by hand.
type fleet struct {
	t    *testing.T
	cli  *clientv3.Client
	list []net.Listener
}

func newFleet(t *testing.T, cli *clientv3.Client, n int) *fleet {
	t.Helper()
	f := &fleet{t: t, cli: cli}
	for range n {
		f.list = append(f.list, listener(t))
	}
	f.register("echo")
	return f
}

func (f *fleet) address(i int) string { return f.list[i].Addr().String() }

func (f *fleet) key(service string, i int) string { return "fairway/" + service + "/" + f.address(i) }

func (f *fleet) register(service string) {
	f.t.Helper()
	for i := range f.list {
		put(f.t, f.cli, f.key(service, i), value(f.address(i), 10))
	}
}

func (f *fleet) vanish(i int) {
	f.t.Helper()
	if _, err := f.cli.Delete(f.t.Context(), f.key("echo", i)); err != nil {
		f.t.Fatal(err)
	}
}

func (f *fleet) leave(i int) {
	f.t.Helper()
	put(f.t, f.cli, f.key("echo", i), strings.Replace(value(f.address(i), 10), "{", `{"state":"leaving",`, 1))
	f.vanish(i)
}

// known waits until the resolver has this many instances and suspects.
func known(t *testing.T, r *Resolver, service string, instances, suspects int) {
	t.Helper()
	var s *Snapshot
	waitFor(t, "the snapshot is as it should be", func() bool {
		_, _ = r.Resolve(t.Context(), service)
		s, _ = r.Snapshot(service)
		return s != nil && len(s.Instances) == instances && s.Suspects == suspects
	})
}

func TestWipedRegistryEmptiesNoConsumer(t *testing.T) {
	t.Parallel()
	s := etcdtest.Start(t)
	f := newFleet(t, s.Client(t), 3)
	log := &lines{}
	r := testResolver(t, dialTest(t, s.Endpoint()), WithLogger(slog.New(slog.NewTextHandler(log, nil))))
	known(t, r, "echo", 3, 0)
	s.Wipe()
	s.Restart()
	known(t, r, "echo", 3, 3)
	if res, err := r.Resolve(t.Context(), "echo"); err != nil || len(res.Instances) != 3 {
		t.Errorf("Resolve = %v, %v; want the three suspects", res.Instances, err)
	}
	for _, i := range mustSnapshot(t, r, "echo").Instances {
		if !i.Suspect() {
			t.Errorf("%s is no suspect", i)
		}
	}
	f.cli = s.Client(t)
	f.register("echo")
	known(t, r, "echo", 3, 0)
	for _, line := range []string{"held as suspects", "holds no suspect any more"} {
		waitFor(t, "what was published is logged", func() bool { return log.count(line) > 0 })
		if log.count(line) != 1 {
			t.Errorf("%d lines with %q, want 1", log.count(line), line)
		}
	}
	if st := r.Status().Services[0]; st.GuardHeld != 3 || st.GuardReturned != 3 || st.Relists[causeDiverged] != 1 {
		t.Errorf("status %+v", st)
	}
}

func mustSnapshot(t *testing.T, r *Resolver, service string) *Snapshot {
	t.Helper()
	s, ok := r.Snapshot(service)
	if !ok {
		t.Fatalf("nothing is known of %s", service)
	}
	return s
}

func TestWithoutTheGuardAWipedRegistryEmptiesAConsumer(t *testing.T) {
	t.Parallel()
	s := etcdtest.Start(t)
	newFleet(t, s.Client(t), 3)
	r := testResolver(t, dialTest(t, s.Endpoint()), WithGuard(Guard{Off: true}))
	known(t, r, "echo", 3, 0)
	s.Wipe()
	s.Restart()
	known(t, r, "echo", 0, 0)
}

func TestSuspectThatRefusesIsDropped(t *testing.T) {
	t.Parallel()
	f := newFleet(t, etcdtest.Start(t).Client(t), 3)
	r := testResolver(t, f.cli)
	known(t, r, "echo", 3, 0)
	_ = f.list[0].Close()
	for i := range f.list {
		f.vanish(i)
	}
	known(t, r, "echo", 2, 2)
	if st := r.Status().Services[0]; st.GuardDropped[dropProbes] != 1 {
		t.Errorf("status %+v", st)
	}
}

func TestOrderlyLeavingIsNoVanishing(t *testing.T) {
	t.Parallel()
	f := newFleet(t, etcdtest.Start(t).Client(t), 3)
	r := testResolver(t, f.cli)
	known(t, r, "echo", 3, 0)
	for i := range f.list {
		f.leave(i)
	}
	known(t, r, "echo", 0, 0)
	if st := r.Status().Services[0]; st.GuardHeld != 0 {
		t.Errorf("%d were held although all have left in order", st.GuardHeld)
	}
}

func TestProvidersThatExpireOneByOneAreHeld(t *testing.T) {
	t.Parallel()
	f := newFleet(t, etcdtest.Start(t).Client(t), 5)
	r := testResolver(t, f.cli)
	known(t, r, "echo", 5, 0)
	for i := range 3 {
		f.vanish(i)
		waitFor(t, "the consumer has seen it", func() bool { return len(registeredOf(t, r)) == 4-i })
	}
	known(t, r, "echo", 5, 3)
}

func registeredOf(t *testing.T, r *Resolver) (list []*Instance) {
	t.Helper()
	for _, i := range mustSnapshot(t, r, "echo").Instances {
		if !i.Suspect() {
			list = append(list, i)
		}
	}
	return list
}

func TestHoldTimeEnds(t *testing.T) {
	t.Parallel()
	f := newFleet(t, etcdtest.Start(t).Client(t), 2)
	r := testResolver(t, f.cli, WithGuard(Guard{HoldTime: 3 * time.Second}))
	known(t, r, "echo", 2, 0)
	began := time.Now()
	f.vanish(0)
	f.vanish(1)
	known(t, r, "echo", 2, 2)
	known(t, r, "echo", 0, 0)
	if held := time.Since(began); held < 2900*time.Millisecond {
		t.Errorf("held for %v, want three seconds", held)
	}
}

func TestSuspectWhosePortAnotherServiceHasIsDropped(t *testing.T) {
	t.Parallel()
	f := newFleet(t, etcdtest.Start(t).Client(t), 3)
	r := testResolver(t, f.cli)
	known(t, r, "echo", 3, 0)
	put(t, f.cli, f.key("other", 1), value(f.address(1), 10))
	known(t, r, "other", 1, 0)
	for i := range f.list {
		f.vanish(i)
	}
	known(t, r, "echo", 2, 2) // 1 was another's when it vanished
	put(t, f.cli, f.key("other", 0), value(f.address(0), 10))
	known(t, r, "echo", 1, 1)
	if got := mustSnapshot(t, r, "echo").Instances[0].String(); got != f.address(2) {
		t.Errorf("%s is held, want %s", got, f.address(2))
	}
}

func TestOneServerUnderTwoNamesIsNotItsOwnRival(t *testing.T) {
	t.Parallel()
	s := etcdtest.Start(t)
	cli := s.Client(t)
	l := listener(t)
	both := strings.Replace(value(l.Addr().String(), 10), "{", `{"instance":"`+newInstanceID()+`",`, 1)
	keys := []string{"fairway/one/" + l.Addr().String(), "fairway/two/" + l.Addr().String()}
	for _, key := range keys {
		put(t, cli, key, both)
	}
	r := testResolver(t, cli)
	known(t, r, "one", 1, 0)
	known(t, r, "two", 1, 0)
	if _, err := cli.Delete(t.Context(), keys[0]); err != nil {
		t.Fatal(err)
	}
	known(t, r, "one", 1, 1)
	put(t, cli, keys[1], strings.Replace(both, `"weight":10`, `"weight":20`, 1))
	waitFor(t, "two has its new weight", func() bool { return mustSnapshot(t, r, "two").Instances[0].Weight() == 20 })
	known(t, r, "one", 1, 1)
}

// restartedAfterWipe is a consumer that has a disk copy and starts when etcd,
// wiped, is up.
func restartedAfterWipe(t *testing.T, age time.Duration, ahead bool) *Resolver {
	t.Helper()
	s := etcdtest.Start(t)
	f := newFleet(t, s.Client(t), 3)
	dir := t.TempDir()
	opts := []ResolverOption{WithSnapshotDir(dir), WithCluster("test")}
	before := testResolver(t, f.cli, opts...)
	known(t, before, "echo", 3, 0)
	if err := before.Close(); err != nil {
		t.Fatal(err)
	}
	saved, err := before.disk.load("echo")
	if err != nil {
		t.Fatal(err)
	}
	saved.ProvedAt = saved.ProvedAt.Add(-age)
	if err := os.Remove(before.disk.file("echo")); err != nil { // it would win as the later proof
		t.Fatal(err)
	}
	if err := before.disk.save(saved); err != nil {
		t.Fatal(err)
	}
	s.Wipe()
	s.Restart()
	cli := s.Client(t)
	for ahead && put(t, cli, "other", "x") <= saved.Revision {
	}
	return testResolver(t, cli, opts...)
}

func TestConsumerThatStartsAfterAWipeHoldsItsDiskCopy(t *testing.T) {
	t.Parallel()
	known(t, restartedAfterWipe(t, time.Minute, true), "echo", 3, 3)
}

func TestOldDiskCopyIsABaselineForAnOlderRegistry(t *testing.T) {
	t.Parallel()
	known(t, restartedAfterWipe(t, time.Hour, false), "echo", 3, 3)
}

func TestStaleDiskCopyIsNotBroughtBack(t *testing.T) {
	t.Parallel()
	r := restartedAfterWipe(t, 21*24*time.Hour, true)
	waitFor(t, "the list has been taken", func() bool {
		_, _ = r.Resolve(t.Context(), "echo")
		s, ok := r.Snapshot("echo")
		return ok && s.Source == SourceEtcd
	})
	if s := mustSnapshot(t, r, "echo"); len(s.Instances) != 0 {
		t.Errorf("%d instances came back after three weeks", len(s.Instances))
	}
}

func TestSuspectsOutliveARestartOfTheConsumer(t *testing.T) {
	t.Parallel()
	s := etcdtest.Start(t)
	f := newFleet(t, s.Client(t), 3)
	opts := []ResolverOption{WithSnapshotDir(t.TempDir()), WithCluster("test")}
	before := testResolver(t, f.cli, opts...)
	known(t, before, "echo", 3, 0)
	for i := range f.list {
		f.vanish(i)
	}
	known(t, before, "echo", 3, 3)
	if err := before.Close(); err != nil {
		t.Fatal(err)
	}
	r := testResolver(t, f.cli, opts...)
	known(t, r, "echo", 3, 3)
	_ = f.list[0].Close()
	known(t, r, "echo", 2, 2)
}

func TestGuardOptions(t *testing.T) {
	for name, g := range map[string]Guard{
		"negative":  {HoldTime: -1},
		"all":       {Share: 1},
		"more":      {Share: 1.5},
		"less":      {Share: -0.1},
		"no window": {Window: -time.Second},
	} {
		if _, err := newResolverConfig([]ResolverOption{WithGuard(g)}); err == nil || !strings.Contains(err.Error(), "WithGuard") {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestOwnProbeDecides(t *testing.T) {
	t.Parallel()
	f := newFleet(t, etcdtest.Start(t).Client(t), 2)
	r := testResolver(t, f.cli, WithGuard(Guard{Probe: func(context.Context, string, string) error {
		return context.DeadlineExceeded
	}}))
	known(t, r, "echo", 2, 0)
	f.vanish(0)
	f.vanish(1)
	waitFor(t, "the guard has held them", func() bool { return r.Status().Services[0].GuardHeld == 2 })
	known(t, r, "echo", 0, 0)
}
