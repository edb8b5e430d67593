// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package etcdtest

import (
	"os"
	"strings"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"
)

func TestKillAndRestartKeepPortAndData(t *testing.T) {
	t.Parallel()
	srv := Start(t)
	cli := srv.Client(t)
	put(t, cli)
	endpoint := srv.Endpoint()

	srv.Kill()
	if srv.Running() || !refused(endpoint) {
		t.Error("etcd is still there after Kill")
	}
	srv.Kill() // of a dead one: nothing happens

	srv.Restart()
	if srv.Endpoint() != endpoint {
		t.Errorf("endpoint after Restart = %s, want %s", srv.Endpoint(), endpoint)
	}
	if got := get(t, cli); got != "v" {
		t.Errorf("value after Restart = %q, want v", got)
	}
}

func TestStopAndRestart(t *testing.T) {
	t.Parallel()
	srv := Start(t, WithFsync())
	put(t, srv.Client(t))
	srv.Stop()
	if srv.Running() || !refused(srv.Endpoint()) {
		t.Error("etcd is still there after Stop")
	}
	srv.Stop()    // of a dead one: nothing happens
	srv.Restart() // from down
	srv.Restart() // from running
	if got := get(t, srv.Client(t)); got != "v" {
		t.Errorf("value after two restarts = %q, want v", got)
	}
}

func TestWipeComesBackEmptyAsTheSameCluster(t *testing.T) {
	t.Parallel()
	srv := Start(t)
	cli := srv.Client(t)
	put(t, cli)
	before, err := cli.Get(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	srv.Wipe()
	if _, err := os.Stat(srv.DataDir()); srv.Running() || !os.IsNotExist(err) {
		t.Errorf("after Wipe: running %v, data folder: %v", srv.Running(), err)
	}
	srv.Restart()
	after, err := cli.Get(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	if after.Count != 0 || after.Header.Revision >= before.Header.Revision {
		t.Errorf("after Wipe: %d keys at revision %d, want none and a revision below %d",
			after.Count, after.Header.Revision, before.Header.Revision)
	}
	if after.Header.ClusterId != before.Header.ClusterId {
		t.Error("the cluster ID changed with Wipe")
	}
}

func TestFreezeAndThaw(t *testing.T) {
	t.Parallel()
	srv := Start(t)
	cli := srv.Client(t)
	put(t, cli)
	srv.Freeze()
	if !srv.Running() {
		t.Error("a frozen etcd does not count as running")
	}
	mustHang(t, cli)
	srv.Thaw()
	if got := get(t, cli); got != "v" {
		t.Errorf("value after Thaw = %q, want v", got)
	}
	srv.Freeze()
	srv.Stop() // wakes it for that
	if srv.Running() {
		t.Error("etcd is still there after Stop")
	}
}

func TestNewIsDownUntilRestart(t *testing.T) {
	t.Parallel()
	srv := New(t)
	if srv.Running() || !refused(srv.Endpoint()) {
		t.Error("New started something")
	}
	cli := srv.Client(t) // does not wait for etcd
	srv.Restart()
	put(t, cli)
}

func TestServersAreClustersOfTheirOwn(t *testing.T) {
	t.Parallel()
	ids := make(map[uint64]bool)
	for range 2 {
		resp, err := Start(t).Client(t).Get(t.Context(), key)
		if err != nil {
			t.Fatal(err)
		}
		ids[resp.Header.ClusterId] = true
	}
	if len(ids) != 2 {
		t.Error("two servers have one cluster ID")
	}
}

func TestOptionsReachEtcd(t *testing.T) {
	t.Setenv("ETCD_NAME", "from-the-shell")                // must not
	t.Setenv("ETCD_QUOTA_BACKEND_BYTES", "from-the-shell") // would end etcd
	srv := Start(t, WithFlags("--max-request-bytes=10240"), WithEnv("ETCD_MAX_TXN_OPS=2"))
	cli := srv.Client(t)
	if _, err := cli.Put(t.Context(), key, strings.Repeat("x", 20<<10)); err == nil {
		t.Error("--max-request-bytes has no effect")
	}
	ops := []clientv3.Op{clientv3.OpGet("a"), clientv3.OpGet("b"), clientv3.OpGet("c")}
	if _, err := cli.Txn(t.Context()).Then(ops...).Commit(); err == nil {
		t.Error("ETCD_MAX_TXN_OPS has no effect")
	}
}

func TestRestartWithAuthenticationOfTheTest(t *testing.T) {
	t.Parallel()
	srv := Start(t, WithFlags("--bcrypt-cost=4"))
	cli := srv.Client(t)
	for _, step := range []func() error{
		func() error { _, err := cli.UserAdd(t.Context(), "root", "secret"); return err },
		func() error { _, err := cli.UserGrantRole(t.Context(), "root", "root"); return err },
		func() error { _, err := cli.AuthEnable(t.Context()); return err },
	} {
		if err := step(); err != nil {
			t.Fatal(err)
		}
	}
	srv.Restart()
	root := srv.Client(t, func(cfg *clientv3.Config) { cfg.Username, cfg.Password = "root", "secret" })
	put(t, root)
}

// A stranger's etcd on the port must not be taken for our own.
func TestRestartOnStrangersPortFails(t *testing.T) {
	t.Parallel()
	stranger := Start(t)
	r := &recorder{TB: t}
	srv := New(r)
	srv.client = stranger.Endpoint()
	inGoroutine(srv.Restart)
	if !strings.Contains(r.text.String(), "address already in use") {
		t.Errorf("Restart said %q, want that the port is taken", r.text.String())
	}
}

func TestTakenPortIsReplaced(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"client", "peer"} {
		t.Run(kind, func(t *testing.T) {
			srv := New(t)
			addr := map[string]string{"client": srv.client, "peer": srv.peer}[kind]
			defer occupy(t, addr)()
			srv.startOnFreePorts()
			put(t, srv.Client(t))
			if srv.client == addr || srv.peer == addr {
				t.Errorf("etcd claims to be at the taken address %s", addr)
			}
		})
	}
}
