// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package discovery

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/fairway-rpc/fairway/internal/etcdtest"
)

func revokeAll(t *testing.T, cli *clientv3.Client) {
	t.Helper()
	leases, err := cli.Leases(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range leases.Leases {
		if _, err := cli.Revoke(t.Context(), l.ID); err != nil && !isLeaseNotFound(err) {
			t.Fatal(err)
		}
	}
}

// TestKeyIsBackWithinASecond with the latest weight and tags, again and again.
func TestKeyIsBackWithinASecond(t *testing.T) {
	t.Parallel()
	cli := etcdtest.Start(t).Client(t)
	r := testRegistry(t, cli)
	register(t, r, echo1, 20)
	key := "fairway/echo/" + echo1
	losses := map[string]func(){
		"deleted":       func() { _, _ = cli.Delete(t.Context(), key) },
		"lease revoked": func() { revokeAll(t, cli) },
		"overwritten":   func() { put(t, cli, key, "rubbish") },
	}
	for n := range 3 {
		if err := errors.Join(r.SetWeight(t.Context(), "echo", n), r.SetTags(t.Context(), "echo", map[string]string{"n": "x"})); err != nil {
			t.Fatal(err)
		}
		for name, lose := range losses {
			lose()
			waitWithin(t, time.Second, name+", and the key is back", func() bool {
				resp, err := cli.Get(t.Context(), key)
				if err != nil || len(resp.Kvs) != 1 || resp.Kvs[0].Lease == 0 {
					return false
				}
				rec, err := decodeRecord(resp.Kvs[0].Value)
				return err == nil && rec.weight() == int64(n) && rec.Tags["n"] == "x"
			})
		}
	}
}

// TestOneWhoKeepsDeletingTheKeyKeepsNobodyBusy: the key is put back for ever,
// but neither etcd nor the log is flooded.
func TestOneWhoKeepsDeletingTheKeyKeepsNobodyBusy(t *testing.T) {
	t.Parallel()
	cli := etcdtest.Start(t).Client(t)
	log := &lines{}
	r := testRegistry(t, cli, WithLogger(slog.New(slog.NewTextHandler(log, nil))))
	register(t, r, echo1, 20)
	puts := countPuts(t, cli, "fairway/echo/"+echo1)
	const lasts = time.Second
	began := time.Now()
	for time.Since(began) < lasts {
		if _, err := cli.Delete(t.Context(), "fairway/echo/"+echo1); err != nil {
			t.Fatal(err)
		}
	}
	waitFor(t, "the key is back", func() bool { return keyRecord(t, cli, echo1) != nil })
	// An attempt each 100 ms, and some for lost races.
	if n := puts(); n < 2 || n > 3*int(time.Since(began)/retryBase) {
		t.Errorf("%d writes in %v", n, time.Since(began))
	}
	if n := log.count(""); n > 20 {
		t.Errorf("%d lines in the log", n)
	}
}

// TestFullEtcd: what is registered lives on, a change waits and says why, and
// arrives when there is room.
func TestFullEtcd(t *testing.T) {
	t.Parallel()
	s := etcdtest.Start(t, etcdtest.WithFlags("--quota-backend-bytes=4194304"))
	cli := s.Client(t)
	const ttl = 2 * time.Second
	r := testRegistry(t, cli, WithTTL(ttl), registryOption(quick))
	register(t, r, echo1, 20)
	fill(t, cli)
	full := time.Now()
	waitFor(t, "the lease is renewed while etcd is full", func() bool {
		if keyWeight(t, cli, echo1) != 20 {
			t.Fatal("the key is gone")
		}
		return time.Since(full) > 2*ttl
	})
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if err := r.SetWeight(ctx, "echo", 5); !errors.Is(err, ErrRegistryUnavailable) || !strings.Contains(err.Error(), "NOSPACE") {
		t.Errorf("got %v, want ErrRegistryUnavailable that says why", err)
	}
	if s := r.Status().Registrations[0]; s.State != Retrying || !strings.Contains(s.LastError, "NOSPACE") || s.TTLLeft == 0 {
		t.Errorf("status %+v", s)
	}
	makeRoom(t, cli, s.Endpoint())
	waitFor(t, "the weight arrives", func() bool { return keyWeight(t, cli, echo1) == 5 })
}

func fill(t *testing.T, cli *clientv3.Client) {
	t.Helper()
	junk := strings.Repeat("x", 512<<10)
	for range 100 {
		if _, err := cli.Put(t.Context(), "junk", junk); err != nil {
			if !strings.Contains(err.Error(), "space") {
				t.Fatal(err)
			}
			return
		}
	}
	t.Fatal("etcd does not fill up")
}

func makeRoom(t *testing.T, cli *clientv3.Client, endpoint string) {
	t.Helper()
	resp, err := cli.Delete(t.Context(), "junk")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := cli.Compact(t.Context(), resp.Header.Revision, clientv3.WithCompactPhysical()); err != nil {
		t.Fatal(err)
	}
	if _, err := cli.Defragment(t.Context(), endpoint); err != nil {
		t.Fatal(err)
	}
	if _, err := cli.AlarmDisarm(t.Context(), &clientv3.AlarmMember{}); err != nil {
		t.Fatal(err)
	}
}

// TestExpiredTokens: the provider lives on, and comes back after an outage,
// although etcd forgets its token after each second of silence.
func TestExpiredTokens(t *testing.T) {
	t.Parallel()
	s := etcdtest.Start(t, etcdtest.WithFlags("--auth-token-ttl=1"))
	open := s.Client(t)
	enableAuth(t, open)
	log := &lines{}
	logger := slog.New(slog.NewTextHandler(log, nil))
	cli, err := Dial(EtcdConfig{Endpoints: []string{s.Endpoint()}, Username: "root", Password: "pw", Logger: logger})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cli.Close() })
	other, err := Dial(EtcdConfig{Endpoints: []string{s.Endpoint()}, Username: "root", Password: "pw", Logger: testLog(t)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = other.Close() })
	r := testRegistry(t, cli, WithTTL(2*time.Second), WithLogger(logger))
	register(t, r, echo1, 20)
	registered := time.Now()
	waitFor(t, "time passes", func() bool {
		if keyRecord(t, other, echo1) == nil {
			t.Fatal("the key is gone")
		}
		return time.Since(registered) > 5*time.Second
	})
	s.Kill()
	began := time.Now()
	waitFor(t, "the lease is lost", func() bool {
		return r.Status().Registrations[0].State == Retrying && time.Since(began) > 3*time.Second
	})
	s.Restart()
	if err := r.SetWeight(t.Context(), "echo", 5); err != nil {
		t.Fatal(err)
	}
	if w := keyWeight(t, other, echo1); w != 5 {
		t.Errorf("weight %d", w)
	}
	if n := log.count(""); n > 60 {
		t.Errorf("%d lines in the log", n)
	}
}

// lateKV holds writes back as a network does that delivers them after the
// client has given up.
type lateKV struct {
	clientv3.KV
	mu   sync.Mutex
	late bool
	held []func()
}

type lateTxn struct {
	clientv3.Txn
	kv *lateKV
}

func (k *lateKV) Txn(context.Context) clientv3.Txn {
	return &lateTxn{k.KV.Txn(context.Background()), k}
}

func (x *lateTxn) If(c ...clientv3.Cmp) clientv3.Txn  { x.Txn = x.Txn.If(c...); return x }
func (x *lateTxn) Then(o ...clientv3.Op) clientv3.Txn { x.Txn = x.Txn.Then(o...); return x }

func (x *lateTxn) Commit() (*clientv3.TxnResponse, error) {
	x.kv.mu.Lock()
	defer x.kv.mu.Unlock()
	if !x.kv.late {
		return x.Txn.Commit()
	}
	x.kv.held = append(x.kv.held, func() { _, _ = x.Txn.Commit() })
	return nil, context.DeadlineExceeded
}

func (k *lateKV) hold(late bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.late = late
}

// deliver sends what was held back and returns how much.
func (k *lateKV) deliver() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, commit := range k.held {
		commit()
	}
	return len(k.held)
}

// TestWriteThatArrivesLate: after Deregister it leaves no ghost, and after a
// newer weight it brings no old one back.
func TestWriteThatArrivesLate(t *testing.T) {
	t.Parallel()
	s := etcdtest.Start(t)
	cli := s.Client(t)
	clean := s.Client(t)
	kv := &lateKV{KV: cli.KV, late: true}
	cli.KV = kv
	r := testRegistry(t, cli)
	info := infoOf("echo", echo1, 20)
	if err := r.Register(info); err != nil {
		t.Fatal(err)
	}
	if err := r.Deregister(info); err != nil {
		t.Fatal(err)
	}
	if kv.deliver() == 0 {
		t.Fatal("nothing was late")
	}
	if n := keyCount(t, clean, "fairway/"); n != 0 {
		t.Errorf("%d ghosts", n)
	}
	kv.hold(false)
	register(t, r, echo1, 1)
	kv.hold(true)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := r.SetWeight(ctx, "echo", 2); !errors.Is(err, ErrRegistryUnavailable) {
		t.Fatalf("got %v", err)
	}
	kv.hold(false)
	if err := r.SetWeight(t.Context(), "echo", 3); err != nil {
		t.Fatal(err)
	}
	before := revision(t, clean)
	_ = kv.deliver()
	if w := keyWeight(t, clean, echo1); w != 3 || revision(t, clean) != before {
		t.Errorf("an old write brought back weight %d", w)
	}
}
