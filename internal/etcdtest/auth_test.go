// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package etcdtest

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
)

func withoutUser(cfg *clientv3.Config) { cfg.Username, cfg.Password = "", "" }

func TestAuthentication(t *testing.T) {
	t.Parallel()
	srv := Start(t, WithAuth(time.Minute))
	cli := srv.Client(t)
	put(t, cli)
	if _, err := srv.Client(t, withoutUser).Get(t.Context(), key); !errors.Is(err, rpctypes.ErrUserEmpty) {
		t.Errorf("get without a user: %v, want %v", err, rpctypes.ErrUserEmpty)
	}
	lease, err := cli.Grant(t.Context(), 60)
	if err != nil {
		t.Fatal(err)
	}
	srv.Restart() // with all tokens gone
	ctx, cancel := context.WithTimeout(t.Context(), soon)
	defer cancel()
	alive, err := cli.KeepAlive(ctx, lease.ID)
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := <-alive; !ok {
		t.Error("the lease is not kept alive after Restart")
	}
	args := append(srv.EtcdctlFlags(), "get", key)
	if out, err := exec.Command(Etcdctl(t), args...).CombinedOutput(); err != nil || string(out) != "k\nv\n" {
		t.Errorf("etcdctl get = %q, %v", out, err)
	}
}

func TestAuthenticationOutlivesWipeAndRestore(t *testing.T) {
	t.Parallel()
	srv := New(t, WithAuth(time.Minute))
	cli := srv.Client(t) // does not wait for etcd
	srv.Restart()
	put(t, cli)
	snapshot := srv.Snapshot()
	srv.Wipe()
	srv.Restart()
	if got := get(t, srv.Client(t)); got != "" {
		t.Errorf("value after Wipe = %q, want none", got)
	}
	srv.Restore(snapshot)
	if got := get(t, srv.Client(t)); got != "v" {
		t.Errorf("value after Restore = %q, want v", got)
	}
	if _, err := srv.Client(t, withoutUser).Get(t.Context(), key); !errors.Is(err, rpctypes.ErrUserEmpty) {
		t.Errorf("get without a user: %v, want %v", err, rpctypes.ErrUserEmpty)
	}
}

func TestTokensEnd(t *testing.T) {
	t.Parallel()
	srv := Start(t, WithAuth(time.Second), WithFlags("--log-level=debug"))
	username, password := srv.Credentials()
	granted, err := srv.Client(t).Authenticate(t.Context(), username, password)
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "etcd forgets the token", func() bool {
		log, err := os.ReadFile(srv.LogFile())
		return err == nil && strings.Contains(string(log), `"deleted a simple token","user-name":"root","token":"`+granted.Token)
	})
	holder := srv.Client(t, withoutUser, func(cfg *clientv3.Config) { cfg.Token = granted.Token })
	if _, err := holder.Get(t.Context(), key); !errors.Is(err, rpctypes.ErrInvalidAuthToken) {
		t.Errorf("get with an old token: %v, want %v", err, rpctypes.ErrInvalidAuthToken)
	}
}

func TestClusterWithAuthenticationAndTLS(t *testing.T) {
	t.Parallel()
	c := StartCluster(t, 3, quickElections(), WithAuth(time.Minute), WithTLS(NewTLS(t)))
	put(t, c.Client(t))
	for i, s := range c.Members() {
		if _, err := s.Client(t, withoutUser).Get(t.Context(), key); !errors.Is(err, rpctypes.ErrUserEmpty) {
			t.Errorf("get from member %d without a user: %v, want %v", i, err, rpctypes.ErrUserEmpty)
		}
	}
	c.Leader() // asks as the user, over TLS
}
