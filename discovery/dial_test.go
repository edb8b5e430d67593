// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package discovery

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/fairway-rpc/fairway/internal/etcdtest"
)

func TestDialRefusesWhatItCannotUse(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "missing")
	notPEM := filepath.Join(t.TempDir(), "ca.pem")
	empty := filepath.Join(t.TempDir(), "empty")
	for file, content := range map[string]string{notPEM: "rubbish", empty: "\n"} {
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	ok := []string{"127.0.0.1:2379"}
	for name, cfg := range map[string]EtcdConfig{
		"no endpoint":            {},
		"empty endpoint":         {Endpoints: []string{""}},
		"no port":                {Endpoints: []string{"127.0.0.1"}},
		"no host":                {Endpoints: []string{":2379"}},
		"bad port":               {Endpoints: []string{"127.0.0.1:99999"}},
		"unknown scheme":         {Endpoints: []string{"ftp://127.0.0.1:2379"}},
		"a space":                {Endpoints: []string{"127.0.0.1 :2379"}},
		"one good, one bad":      {Endpoints: []string{"127.0.0.1:2379", "x"}},
		"plaintext beside TLS":   {Endpoints: []string{"http://127.0.0.1:2379"}, TLS: &tls.Config{MinVersion: tls.VersionTLS12}},
		"plaintext before https": {Endpoints: []string{"http://127.0.0.1:2379", "https://127.0.0.2:2379"}},
		"a socket before https":  {Endpoints: []string{"unix:/run/etcd.sock", "https://127.0.0.2:2379"}},
		"CA file missing":        {Endpoints: ok, CAFile: missing},
		"CA file not PEM":        {Endpoints: ok, CAFile: notPEM},
		"certificate missing":    {Endpoints: ok, CertFile: missing, KeyFile: missing},
		"key missing":            {Endpoints: ok, CertFile: notPEM},
		"TLS twice":              {Endpoints: ok, TLS: &tls.Config{MinVersion: tls.VersionTLS12}, CAFile: notPEM},
		"password without user":  {Endpoints: ok, Password: "secret-word"},
		"user without password":  {Endpoints: ok, Username: "root"},
		"two passwords":          {Endpoints: ok, Username: "root", Password: "secret-word", PasswordEnv: "X"},
		"password file missing":  {Endpoints: ok, Username: "root", PasswordFile: missing},
		"password file empty":    {Endpoints: ok, Username: "root", PasswordFile: empty},
		"password variable void": {Endpoints: ok, Username: "root", PasswordEnv: "FAIRWAY_TEST_UNSET"},
	} {
		cli, err := Dial(cfg)
		if !errors.Is(err, ErrInvalidConfig) || cli != nil {
			t.Errorf("%s: got client %v and error %v, want ErrInvalidConfig", name, cli != nil, err)
			continue
		}
		if strings.Contains(err.Error(), "secret-word") {
			t.Errorf("%s: the error shows the password: %v", name, err)
		}
	}
}

func TestConfigPrintsNoSecret(t *testing.T) {
	cfg := EtcdConfig{Endpoints: []string{"a:1"}, Username: "root", Password: "secret-word"}
	for _, format := range []string{"%v", "%+v", "%#v", "%s"} {
		if got := fmt.Sprintf(format, cfg); strings.Contains(got, "secret-word") {
			t.Errorf("%s prints %s", format, got)
		}
	}
}

func TestDialReturnsAtOnceWhileEtcdIsDown(t *testing.T) {
	for name, cfg := range map[string]EtcdConfig{"without": {}, "with": {Username: "root", Password: "pw"}} {
		cfg.Endpoints = []string{deadEndpoint(t)}
		began := time.Now()
		cli, err := Dial(cfg)
		if err != nil {
			t.Fatalf("%s password: %v", name, err)
		}
		if took := time.Since(began); took > time.Second {
			t.Errorf("%s password: Dial took %v", name, took)
		}
		_ = cli.Close()
	}
}

// TestLongOutageIsFollowedByAQuickReconnect: gRPC's own backoff would have grown
// to ten seconds and more by now, longer than a lease lives.
func TestLongOutageIsFollowedByAQuickReconnect(t *testing.T) {
	t.Parallel()
	p := etcdtest.NewProxy(t, etcdtest.Start(t).Endpoint())
	p.Cut()
	cli := dialTest(t, p.Addr())
	ctx, cancel := context.WithTimeout(t.Context(), 32*time.Second)
	defer cancel()
	if _, err := cli.Get(ctx, "x"); err == nil {
		t.Fatal("etcd answers through a proxy that is cut")
	}
	p.Restore()
	back := time.Now()
	if _, err := cli.Get(t.Context(), "x"); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(back); took > 5*time.Second {
		t.Errorf("reconnected %v after etcd was back", took)
	}
}

// enableAuth creates root and a user, and turns authentication on.
func enableAuth(t *testing.T, cli *clientv3.Client) {
	t.Helper()
	for _, step := range []func() error{
		func() error { _, err := cli.RoleAdd(t.Context(), "root"); return err },
		func() error { _, err := cli.UserAdd(t.Context(), "root", "pw"); return err },
		func() error { _, err := cli.UserGrantRole(t.Context(), "root", "root"); return err },
		func() error { _, err := cli.AuthEnable(t.Context()); return err },
	} {
		if err := step(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestPasswordWithEtcdDownAtTheStart: provider and consumer start all the same
// and work when etcd comes.
func TestPasswordWithEtcdDownAtTheStart(t *testing.T) {
	t.Parallel()
	s := etcdtest.Start(t)
	enableAuth(t, s.Client(t))
	s.Stop()
	password := filepath.Join(t.TempDir(), "password")
	if err := os.WriteFile(password, []byte("pw\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	cli, err := Dial(EtcdConfig{Endpoints: []string{s.Endpoint()}, Username: "root", PasswordFile: password, Logger: testLog(t)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cli.Close() })
	reg := testRegistry(t, cli)
	if err := reg.Register(infoOf("echo", "127.0.0.1:8888", 1)); err != nil {
		t.Fatal(err)
	}
	res := testResolver(t, cli, WithResolveTimeout(10*time.Millisecond))
	_ = addresses(t, res, "echo")
	s.Restart()
	waitFor(t, "the provider registers and the consumer sees it", func() bool { return addresses(t, res, "echo") == "127.0.0.1:8888" })
}

func TestWrongPasswordIsReported(t *testing.T) {
	t.Parallel()
	s := etcdtest.Start(t)
	enableAuth(t, s.Client(t))
	cli, err := Dial(EtcdConfig{Endpoints: []string{s.Endpoint()}, Username: "root", Password: "wrong", Logger: testLog(t)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cli.Close() })
	res := testResolver(t, cli)
	_, err = res.Resolve(t.Context(), "echo")
	if !errors.Is(err, ErrRegistryUnavailable) || !strings.Contains(err.Error(), "authentication failed") {
		t.Errorf("got %v, want ErrRegistryUnavailable that says why", err)
	}
}
