// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package etcdtest

import (
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
)

// notYetAuthenticated stands for a token until the first call has got one.
const notYetAuthenticated = "not-yet-authenticated"

// config is that of a client which may do everything.
func (s *Server) config(endpoints ...string) clientv3.Config {
	cfg := clientv3.Config{
		Endpoints:   endpoints,
		Logger:      zap.NewNop(),
		DialOptions: quickReconnect(),
	}
	if s.opts.tls != nil {
		cfg.TLS = s.opts.tls.Config()
	}
	cfg.Username, cfg.Password = s.Credentials()
	return cfg
}

// testClient returns a client that is closed at the end of tb's test.
func testClient(tb testing.TB, cfg clientv3.Config, change []func(*clientv3.Config)) *clientv3.Client {
	tb.Helper()
	for _, f := range change {
		f(&cfg)
	}
	cli, err := newClient(cfg)
	if err != nil {
		tb.Fatalf("etcdtest: create a client of %s: %v", cfg.Endpoints, err)
	}
	tb.Cleanup(func() { _ = cli.Close() })
	return cli
}

// newClient does not wait for etcd, as clientv3.New does when there is a
// password: a token that etcd refuses makes the first call authenticate.
func newClient(cfg clientv3.Config) (*clientv3.Client, error) {
	username, password := cfg.Username, cfg.Password
	if username == "" || cfg.Token != "" {
		return clientv3.New(cfg)
	}
	cfg.Username, cfg.Password, cfg.Token = "", "", notYetAuthenticated
	cli, err := clientv3.New(cfg)
	if err != nil {
		return nil, err
	}
	cli.Token, cli.Username, cli.Password = "", username, password
	return cli, nil
}

// EtcdctlFlags returns what makes [Etcdctl] talk to this server, with the
// certificates of [WithTLS] and the user of [WithAuth].
func (s *Server) EtcdctlFlags() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	flags := []string{"--endpoints=" + s.clientURL()}
	if t := s.opts.tls; t != nil {
		flags = append(flags, "--cacert="+t.CAFile, "--cert="+t.CertFile, "--key="+t.KeyFile)
	}
	if username, password := s.Credentials(); username != "" {
		flags = append(flags, "--user="+username, "--password="+password)
	}
	return flags
}
