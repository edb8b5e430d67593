// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package etcdtest

import (
	"context"
	"fmt"
	"strconv"
	"time"
)

// The user that etcd wants before it lets authentication be enabled; its role
// has the same name.
const (
	rootUser     = "root"
	rootPassword = "etcdtest"
)

// auth is how etcd authenticates; nil is not at all.
type auth struct{ tokenTTL time.Duration }

// WithAuth makes etcd authenticate its clients from the start, with one user,
// [Server.Credentials], who may do everything; the test can add others. Each
// start enables it unless the data says so, hence also one after a Wipe. The
// user's password has to stay as it is, or a restart does not succeed.
//
// A token ends when it has not been used for tokenTTL, in whole seconds, at
// least one, and up to a second later, as etcd looks once a second. A client that
// has a token when the data goes back in time, by Wipe or Restore, hangs: its
// token names a position in etcd's log that etcd then waits for.
func WithAuth(tokenTTL time.Duration) Option {
	return func(o *options) { o.auth = &auth{tokenTTL: tokenTTL} }
}

// Credentials returns the user of [WithAuth], or nothing without it.
func (s *Server) Credentials() (username, password string) {
	if s.opts.auth == nil {
		return "", ""
	}
	return rootUser, rootPassword
}

// flags returns those of etcd. The cheapest hash of passwords saves a tenth of a
// second for each.
func (a *auth) flags() []string {
	if a == nil {
		return nil
	}
	seconds := max(1, int(a.tokenTTL/time.Second))
	return []string{"--auth-token=simple", "--auth-token-ttl=" + strconv.Itoa(seconds), "--bcrypt-cost=4"}
}

// secure enables authentication if it is wanted, and returns when each server
// knows.
func secure(ctx context.Context, servers []*Server) error {
	if servers[0].opts.auth == nil {
		return nil
	}
	if err := servers[0].enableAuth(ctx); err != nil {
		return fmt.Errorf("enable authentication: %w", err)
	}
	return awaitAll(ctx, servers)
}

func (s *Server) enableAuth(ctx context.Context) error {
	cli, err := newClient(s.config(s.client))
	if err != nil {
		return err
	}
	defer func() { _ = cli.Close() }()
	status, err := cli.AuthStatus(ctx)
	if err != nil || status.Enabled {
		return err
	}
	if _, err := cli.UserAdd(ctx, rootUser, rootPassword); err != nil {
		return err
	}
	if _, err := cli.UserGrantRole(ctx, rootUser, rootUser); err != nil {
		return err
	}
	_, err = cli.AuthEnable(ctx)
	return err
}
