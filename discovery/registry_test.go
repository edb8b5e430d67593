// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package discovery

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cloudwego/kitex/pkg/registry"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/fairway-rpc/fairway/internal/etcdtest"
	"github.com/fairway-rpc/fairway/internal/weight"
)

func TestRegisterPutsTheRecordUnderALease(t *testing.T) {
	cli := etcdtest.Start(t).Client(t)
	r := testRegistry(t, cli)
	info := infoOf("echo", "127.0.0.1:8888", 20)
	info.Tags = map[string]string{"zone": "a"}
	if err := r.Register(info); err != nil {
		t.Fatal(err)
	}
	resp, err := cli.Get(t.Context(), "fairway/echo/127.0.0.1:8888")
	if err != nil {
		t.Fatal(err)
	}
	if len(resp.Kvs) != 1 || resp.Kvs[0].Lease == 0 {
		t.Fatalf("got %v, want one key with a lease", resp.Kvs)
	}
	rec, err := decodeRecord(resp.Kvs[0].Value)
	if err != nil {
		t.Fatal(err)
	}
	if rec.weight() != 20 || rec.Tags["zone"] != "a" || rec.State != StateServing || rec.Instance == "" || rec.StartedAt.IsZero() {
		t.Errorf("record %+v", rec)
	}
	if err := r.Deregister(info); err != nil {
		t.Fatal(err)
	}
	if n := keyCount(t, cli, "fairway/"); n != 0 {
		t.Errorf("%d keys left after Deregister", n)
	}
	leases, err := cli.Leases(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(leases.Leases) != 0 {
		t.Errorf("%d leases left after Deregister", len(leases.Leases))
	}
}

func TestWeightsThatRegisterWrites(t *testing.T) {
	cli := etcdtest.Start(t).Client(t)
	r := testRegistry(t, cli)
	for n, want := range map[int]int64{0: 10, 1: 1, weight.Zero: 0, maxWeight: maxWeight} {
		info := infoOf("echo", fmt.Sprintf("127.0.0.1:%d", 1000+want%50000), n)
		if err := r.Register(info); err != nil {
			t.Fatal(err)
		}
		resp, err := cli.Get(t.Context(), "fairway/echo/"+info.Addr.String())
		if err != nil || len(resp.Kvs) != 1 {
			t.Fatal(resp, err)
		}
		rec, err := decodeRecord(resp.Kvs[0].Value)
		if err != nil {
			t.Fatal(err)
		}
		if rec.weight() != want {
			t.Errorf("Info.Weight %d is written as %d, want %d", n, rec.weight(), want)
		}
	}
}

func TestBadRegistrationsAreRefusedWhole(t *testing.T) {
	cli := etcdtest.Start(t).Client(t)
	r := testRegistry(t, cli)
	bad := map[string]*registry.Info{
		"no address":       {ServiceName: "echo"},
		"no port":          infoOf("echo", "127.0.0.1", 1),
		"no service name":  infoOf("", "127.0.0.1:1", 1),
		"a slash":          infoOf("a/b", "127.0.0.1:1", 1),
		"a kept name":      infoOf("_rules", "127.0.0.1:1", 1),
		"negative weight":  infoOf("echo", "127.0.0.1:1", -1),
		"too heavy":        infoOf("echo", "127.0.0.1:1", maxWeight+1),
		"oversized record": {ServiceName: "echo", Addr: infoOf("", "127.0.0.1:1", 0).Addr, Tags: map[string]string{"x": strings.Repeat("x", maxRecordSize)}},
	}
	for name, info := range bad {
		if err := r.Register(info); !errors.Is(err, ErrInvalidConfig) {
			t.Errorf("%s: got %v, want ErrInvalidConfig", name, err)
		}
	}
	if n := keyCount(t, cli, ""); n != 0 {
		t.Errorf("%d keys in etcd after refused registrations", n)
	}
}

func TestDeregisterIsSafeAtAnyTime(t *testing.T) {
	cli := etcdtest.Start(t).Client(t)
	r := testRegistry(t, cli, WithDrainDelay(time.Hour)) // none may be waited for here
	info := infoOf("echo", "127.0.0.1:8888", 1)
	for name, i := range map[string]*registry.Info{"nil": nil, "empty": {}, "never registered": info} {
		if err := r.Deregister(i); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := r.Register(nil); err != nil {
		t.Errorf("Register(nil), as Kitex does when stopped early: %v", err)
	}
}

func TestDeregisterTwice(t *testing.T) {
	cli := etcdtest.Start(t).Client(t)
	r := testRegistry(t, cli)
	info := infoOf("echo", "127.0.0.1:8888", 1)
	if err := r.Register(info); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := r.Deregister(info); err != nil {
			t.Fatal(err)
		}
	}
	if n := keyCount(t, cli, ""); n != 0 {
		t.Errorf("%d keys left", n)
	}
	if err := r.Register(info); err != nil { // and back again
		t.Fatal(err)
	}
	if n := keyCount(t, cli, ""); n != 1 {
		t.Errorf("%d keys after the second registration, want 1", n)
	}
}

func TestLeavingIsAnnouncedBeforeTheKeyGoes(t *testing.T) {
	cli := etcdtest.Start(t).Client(t)
	r := testRegistry(t, cli)
	info := infoOf("echo", "127.0.0.1:8888", 1)
	if err := r.Register(info); err != nil {
		t.Fatal(err)
	}
	watch := cli.Watch(t.Context(), "fairway/", clientv3.WithPrefix())
	if err := r.Deregister(info); err != nil {
		t.Fatal(err)
	}
	var seen []string
	for !slices.Contains(seen, "deleted") {
		for _, ev := range (<-watch).Events {
			rec, _ := decodeRecord(ev.Kv.Value)
			if ev.Type == clientv3.EventTypeDelete {
				seen = append(seen, "deleted")
			} else {
				seen = append(seen, string(rec.State))
			}
		}
	}
	if got := strings.Join(seen, ", "); got != "leaving, deleted" {
		t.Errorf("consumers saw %s; want leaving, deleted", got)
	}
}

// TestProviderOutlivesEveryLossOfItsKey: whatever happens to the key or the
// store, the key is back.
func TestProviderOutlivesEveryLossOfItsKey(t *testing.T) {
	losses := map[string]func(t *testing.T, s *etcdtest.Server, cli *clientv3.Client){
		"lease revoked": func(t *testing.T, _ *etcdtest.Server, cli *clientv3.Client) {
			leases, err := cli.Leases(t.Context())
			if err != nil || len(leases.Leases) != 1 {
				t.Fatal(leases, err)
			}
			if _, err := cli.Revoke(t.Context(), leases.Leases[0].ID); err != nil {
				t.Fatal(err)
			}
		},
		"etcd restarted": func(_ *testing.T, s *etcdtest.Server, _ *clientv3.Client) {
			s.Kill()
			s.Restart()
		},
		"etcd wiped": func(_ *testing.T, s *etcdtest.Server, _ *clientv3.Client) {
			s.Wipe()
			s.Restart()
		},
		"key deleted": func(t *testing.T, _ *etcdtest.Server, cli *clientv3.Client) {
			if _, err := cli.Delete(t.Context(), "fairway/", clientv3.WithPrefix()); err != nil {
				t.Fatal(err)
			}
		},
		"key overwritten": func(t *testing.T, _ *etcdtest.Server, cli *clientv3.Client) {
			put(t, cli, "fairway/echo/127.0.0.1:8888", "rubbish")
		},
	}
	for name, lose := range losses {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := etcdtest.Start(t)
			cli := s.Client(t)
			r := testRegistry(t, cli, WithTTL(2*time.Second))
			if err := r.Register(infoOf("echo", "127.0.0.1:8888", 7)); err != nil {
				t.Fatal(err)
			}
			lose(t, s, cli)
			waitFor(t, "the key is back under a lease", func() bool {
				resp, err := cli.Get(t.Context(), "fairway/echo/127.0.0.1:8888")
				if err != nil || len(resp.Kvs) != 1 || resp.Kvs[0].Lease == 0 {
					return false
				}
				rec, err := decodeRecord(resp.Kvs[0].Value)
				return err == nil && rec.weight() == 7
			})
		})
	}
}

func TestProviderStartsWhileEtcdIsDown(t *testing.T) {
	s := etcdtest.New(t)
	r := testRegistry(t, dialTest(t, s.Endpoint()))
	began := time.Now()
	if err := r.Register(infoOf("echo", "127.0.0.1:8888", 1)); err != nil {
		t.Fatalf("Register with etcd down: %v", err)
	}
	if took := time.Since(began); took > 2*time.Second {
		t.Errorf("Register took %v with etcd down; Kitex serves no signal meanwhile", took)
	}
	s.Restart()
	cli := s.Client(t)
	waitFor(t, "the provider registers when etcd comes", func() bool { return keyCount(t, cli, "fairway/echo/") == 1 })
}

func TestFailFastReportsADeadRegistry(t *testing.T) {
	r := testRegistry(t, dialTest(t, deadEndpoint(t)), WithFailFast())
	if err := r.Register(infoOf("echo", "127.0.0.1:8888", 1)); !errors.Is(err, ErrRegistryUnavailable) {
		t.Errorf("got %v, want ErrRegistryUnavailable", err)
	}
}

func TestDeregisterWithEtcdDownEndsInTime(t *testing.T) {
	s := etcdtest.Start(t)
	r := testRegistry(t, s.Client(t))
	info := infoOf("echo", "127.0.0.1:8888", 1)
	if err := r.Register(info); err != nil {
		t.Fatal(err)
	}
	s.Kill()
	began := time.Now()
	if err := r.Deregister(info); err != nil {
		t.Errorf("got %v; the server stops whatever we say", err)
	}
	if took := time.Since(began); took > endWithin+time.Second {
		t.Errorf("took %v, want at most %v", took, endWithin)
	}
}

// TestDeregisterBeforeAnythingWasPut: an early SIGTERM with etcd down neither
// waits nor leaves a key behind when etcd comes.
func TestDeregisterBeforeAnythingWasPut(t *testing.T) {
	s := etcdtest.New(t)
	r := testRegistry(t, dialTest(t, s.Endpoint()), WithDrainDelay(time.Hour))
	info := infoOf("echo", "127.0.0.1:8888", 1)
	if err := r.Register(info); err != nil {
		t.Fatal(err)
	}
	if err := r.Deregister(info); err != nil {
		t.Fatal(err)
	}
	s.Restart()
	if n := keyCount(t, s.Client(t), ""); n != 0 {
		t.Errorf("%d keys left behind", n)
	}
}

func TestSuccessorAtTheSameAddressKeepsItsKey(t *testing.T) {
	cli := etcdtest.Start(t).Client(t)
	old, successor := testRegistry(t, cli), testRegistry(t, cli)
	first, second := infoOf("echo", "127.0.0.1:8888", 1), infoOf("echo", "127.0.0.1:8888", 2)
	first.StartTime = time.Now().Add(-time.Minute)
	if err := old.Register(first); err != nil {
		t.Fatal(err)
	}
	if err := successor.Register(second); err != nil {
		t.Fatal(err)
	}
	if err := old.Deregister(first); err != nil {
		t.Fatal(err)
	}
	resp, err := cli.Get(t.Context(), "fairway/echo/127.0.0.1:8888")
	if err != nil || len(resp.Kvs) != 1 {
		t.Fatalf("the successor's key is gone: %v %v", resp, err)
	}
	rec, err := decodeRecord(resp.Kvs[0].Value)
	if err != nil || rec.weight() != 2 || rec.State != StateServing {
		t.Errorf("the key holds %+v (%v), want the successor's record", rec, err)
	}
}

// TestNothingIsWrittenWhileNothingChanges: many checks, wake-ups of every kind
// and renewals of the lease later, etcd's revision is the same.
func TestNothingIsWrittenWhileNothingChanges(t *testing.T) {
	t.Parallel()
	cli := etcdtest.Start(t).Client(t)
	r := testRegistry(t, cli, WithTTL(2*time.Second), registryOption(quick))
	info := infoOf("echo", "127.0.0.1:8888", 1)
	if err := r.Register(info); err != nil {
		t.Fatal(err)
	}
	before := revision(t, cli)
	began := time.Now()
	waitFor(t, "twice the lease's time passes", func() bool {
		r.lookAll()
		return time.Since(began) > 4*time.Second
	})
	if err := r.SetWeight(t.Context(), "echo", 1); err != nil { // what it is already
		t.Fatal(err)
	}
	if err := r.Register(info); err != nil {
		t.Fatal(err)
	}
	if after := revision(t, cli); after != before {
		t.Errorf("revision went from %d to %d", before, after)
	}
}

func TestClosedRegistryRefuses(t *testing.T) {
	cli := etcdtest.Start(t).Client(t)
	r := testRegistry(t, cli)
	if err := r.Register(infoOf("echo", "127.0.0.1:8888", 1)); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if n := keyCount(t, cli, ""); n != 0 {
		t.Errorf("%d keys left after Close", n)
	}
	if err := r.Register(infoOf("echo", "127.0.0.1:8888", 1)); !errors.Is(err, ErrClosed) {
		t.Errorf("got %v, want ErrClosed", err)
	}
}
