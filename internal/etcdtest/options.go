// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package etcdtest

import "slices"

// Option changes how an etcd process is started.
type Option func(*options)

type options struct {
	flags []string
	env   []string
	fsync bool
	auth  *auth
	tls   *TLS
	// clientCerts makes etcd refuse clients without a certificate.
	clientCerts bool
}

// WithFlags adds flags to etcd's command line, after the ones that this package
// sets, so that a flag given here wins. They hold for every restart. The log
// level must stay at info or below: a start is complete when the log says so.
func WithFlags(flags ...string) Option {
	flags = slices.Clone(flags)
	return func(o *options) { o.flags = append(o.flags, flags...) }
}

// WithEnv adds "KEY=value" pairs to etcd's environment, which is the test's
// own without its ETCD_ variables. They hold for every restart.
func WithEnv(pairs ...string) Option {
	pairs = slices.Clone(pairs)
	return func(o *options) { o.env = append(o.env, pairs...) }
}

// WithFsync makes etcd wait for its disk, as it does in production. The default
// is --unsafe-no-fsync, which is faster and loses nothing here: what a killed
// process has written stays in the kernel's page cache.
func WithFsync() Option {
	return func(o *options) { o.fsync = true }
}

func newOptions(opts []Option) options {
	var o options
	for _, opt := range opts {
		opt(&o)
	}
	return o
}
