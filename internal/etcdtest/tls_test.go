// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package etcdtest

import (
	"crypto/tls"
	"os/exec"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"
)

func withTLS(cfg *tls.Config) func(*clientv3.Config) {
	return func(c *clientv3.Config) { c.TLS = cfg }
}

func TestTLS(t *testing.T) {
	t.Parallel()
	certs := NewTLS(t)
	srv := Start(t, WithTLS(certs))
	proxy := NewProxy(t, srv.Endpoint())
	put(t, srv.Client(t, Through(proxy)))

	strangers := certs.Config()
	strangers.RootCAs = NewTLS(t).Config().RootCAs
	anonymous := certs.Config()
	anonymous.Certificates = nil
	mustHang(t, srv.Client(t, withTLS(nil)))       // plaintext
	mustHang(t, srv.Client(t, withTLS(strangers))) // does not trust etcd
	if got := get(t, srv.Client(t, withTLS(anonymous))); got != "v" {
		t.Errorf("value for a client without a certificate = %q, want v", got)
	}
	srv.Restart()
	if got := get(t, srv.Client(t)); got != "v" {
		t.Errorf("value after Restart = %q, want v", got)
	}
}

func TestMutualTLS(t *testing.T) {
	t.Parallel()
	certs := NewTLS(t)
	srv := Start(t, WithMutualTLS(certs))
	put(t, srv.Client(t))
	anonymous := certs.Config()
	anonymous.Certificates = nil
	mustHang(t, srv.Client(t, withTLS(anonymous)))
	foreign := certs.Config()
	foreign.Certificates = NewTLS(t).Config().Certificates
	mustHang(t, srv.Client(t, withTLS(foreign)))

	args := append(srv.EtcdctlFlags(), "get", key)
	if out, err := exec.Command(Etcdctl(t), args...).CombinedOutput(); err != nil || string(out) != "k\nv\n" {
		t.Errorf("etcdctl get = %q, %v", out, err)
	}
}

// The files are what a configuration names; they have to be what Config holds.
func TestCertificateFilesServeClients(t *testing.T) {
	t.Parallel()
	certs := NewTLS(t)
	pair, err := tls.LoadX509KeyPair(certs.CertFile, certs.KeyFile)
	if err != nil {
		t.Fatal(err)
	}
	if own := certs.Config().Certificates[0].Leaf; !own.Equal(pair.Leaf) {
		t.Error("the client's files and its configuration differ")
	}
	certs.Config().Certificates = nil // the caller's own: changes nothing
	if len(certs.Config().Certificates) != 1 {
		t.Error("a change to one configuration shows in the next")
	}
}
