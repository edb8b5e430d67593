// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package discovery

import (
	"crypto/tls"
	"crypto/x509"
	"os"

	"github.com/fairway-rpc/fairway/internal/fault"
)

// tls builds the TLS configuration, nil where none is asked for.
func (c EtcdConfig) tls() (*tls.Config, error) {
	if !c.secure() {
		return nil, nil //nolint:nilnil // no TLS is a valid answer
	}
	if c.TLS != nil {
		if c.CAFile != "" || c.CertFile != "" || c.KeyFile != "" || c.ServerName != "" {
			return nil, fault.Invalid("EtcdConfig.TLS", "give either TLS or the files and ServerName, not both")
		}
		return c.TLS.Clone(), nil
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: c.ServerName}
	if c.CAFile != "" {
		pool, err := readAuthorities(c.CAFile)
		if err != nil {
			return nil, err
		}
		config.RootCAs = pool
	}
	if c.CertFile != "" || c.KeyFile != "" {
		cert, err := tls.LoadX509KeyPair(c.CertFile, c.KeyFile)
		if err != nil {
			return nil, fault.Invalid("EtcdConfig.CertFile", "%w", err)
		}
		config.Certificates = []tls.Certificate{cert}
	}
	return config, nil
}

func readAuthorities(file string) (*x509.CertPool, error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, fault.Invalid("EtcdConfig.CAFile", "%w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(content) {
		return nil, fault.Invalid("EtcdConfig.CAFile", "%s has no PEM certificate", file)
	}
	return pool, nil
}
