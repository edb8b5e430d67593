// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package etcdtest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TLS is a certificate authority of a test with a certificate for servers on
// this machine (127.0.0.1, ::1 and localhost) and one for clients. All are valid
// for a day. Two of them do not trust each other.
type TLS struct {
	// CAFile, CertFile and KeyFile are a client's, in PEM.
	CAFile   string
	CertFile string
	KeyFile  string

	serverCert string
	serverKey  string
	client     tls.Config
}

// NewTLS makes an authority and its certificates in tb's folder.
func NewTLS(tb testing.TB) *TLS {
	tb.Helper()
	t, err := newTLS(tb.TempDir())
	if err != nil {
		tb.Fatalf("etcdtest: make certificates: %v", err)
	}
	return t
}

// WithTLS makes etcd serve clients over TLS only, with a certificate of t.
// Peers of a cluster go on in plaintext.
func WithTLS(t *TLS) Option {
	return func(o *options) { o.tls, o.clientCerts = t, false }
}

// WithMutualTLS is [WithTLS] and makes etcd refuse clients that have no
// certificate of t.
func WithMutualTLS(t *TLS) Option {
	return func(o *options) { o.tls, o.clientCerts = t, true }
}

// Config returns a client's configuration, the caller's own: it trusts the
// authority and has the client's certificate.
func (t *TLS) Config() *tls.Config { return t.client.Clone() }

func (s *Server) tlsFlags() []string {
	t := s.opts.tls
	if t == nil {
		return nil
	}
	flags := []string{"--cert-file=" + t.serverCert, "--key-file=" + t.serverKey}
	if s.opts.clientCerts {
		flags = append(flags, "--client-cert-auth", "--trusted-ca-file="+t.CAFile)
	}
	return flags
}

func newTLS(dir string) (*TLS, error) {
	ca, err := newAuthority(dir)
	if err != nil {
		return nil, err
	}
	t := &TLS{CAFile: filepath.Join(dir, "ca.pem")}
	if t.serverCert, t.serverKey, err = ca.issue("server"); err != nil {
		return nil, err
	}
	if t.CertFile, t.KeyFile, err = ca.issue("client"); err != nil {
		return nil, err
	}
	own, err := tls.LoadX509KeyPair(t.CertFile, t.KeyFile)
	if err != nil {
		return nil, err
	}
	t.client.MinVersion = tls.VersionTLS12
	t.client.Certificates = []tls.Certificate{own}
	t.client.RootCAs = x509.NewCertPool()
	t.client.RootCAs.AddCert(ca.cert)
	return t, nil
}

// authority signs certificates into a folder.
type authority struct {
	dir  string
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newAuthority(dir string) (*authority, error) {
	template := newTemplate("ca")
	template.IsCA, template.BasicConstraintsValid = true, true
	template.KeyUsage = x509.KeyUsageCertSign
	a := &authority{dir: dir, cert: template}
	var err error
	if a.key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
		return nil, err
	}
	der, err := a.sign(template, &a.key.PublicKey)
	if err != nil {
		return nil, err
	}
	a.cert, err = x509.ParseCertificate(der)
	return a, err
}

// issue makes a key and a certificate. Either end may use either: etcd is a
// client of itself with its own, for its JSON gateway.
func (a *authority) issue(name string) (certFile, keyFile string, err error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return "", "", err
	}
	template := newTemplate(name)
	template.KeyUsage = x509.KeyUsageDigitalSignature
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}
	template.DNSNames = []string{"localhost"}
	template.IPAddresses = []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback}
	if _, err := a.sign(template, &key.PublicKey); err != nil {
		return "", "", err
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return "", "", err
	}
	keyFile = filepath.Join(a.dir, name+"-key.pem")
	return filepath.Join(a.dir, name+".pem"), keyFile, writePEM(keyFile, "PRIVATE KEY", der)
}

// sign writes the certificate into the file that is named as its subject.
func (a *authority) sign(template *x509.Certificate, public *ecdsa.PublicKey) ([]byte, error) {
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, public, a.key)
	if err != nil {
		return nil, err
	}
	return der, writePEM(filepath.Join(a.dir, template.Subject.CommonName+".pem"), "CERTIFICATE", der)
}

func newTemplate(name string) *x509.Certificate {
	now := time.Now()
	return &x509.Certificate{
		SerialNumber: big.NewInt(now.UnixNano()),
		Subject:      pkix.Name{CommonName: name},
		NotBefore:    now.Add(-time.Hour), // for clocks of virtual machines
		NotAfter:     now.Add(24 * time.Hour),
	}
}

func writePEM(file, kind string, der []byte) error {
	text := pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
	if err := os.WriteFile(file, text, 0o600); err != nil {
		return fmt.Errorf("write a certificate: %w", err)
	}
	return nil
}
