// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package etcdtest

import (
	"os"
	"slices"
	"strings"
)

// args returns etcd's command line.
func (s *Server) args() []string {
	args := []string{
		"--name=" + s.name,
		"--data-dir=" + s.DataDir(),
		"--listen-client-urls=" + s.clientURL(),
		"--advertise-client-urls=" + s.clientURL(),
		"--listen-peer-urls=" + s.peerURL(),
		"--initial-advertise-peer-urls=" + s.peerURL(),
		"--initial-cluster=" + s.cluster,
		"--initial-cluster-token=" + s.token,
		"--log-outputs=stderr",
	}
	if !s.opts.fsync {
		args = append(args, "--unsafe-no-fsync")
	}
	args = append(args, s.opts.auth.flags()...)
	args = append(args, s.tlsFlags()...)
	return append(args, s.opts.flags...)
}

// environ keeps the ETCD_ variables of the user's shell, each of which stands
// for a flag, away from the process.
func (s *Server) environ() []string {
	return append(cleanEnv(), s.opts.env...)
}

func cleanEnv() []string {
	return slices.DeleteFunc(os.Environ(), func(kv string) bool {
		return strings.HasPrefix(kv, "ETCD_")
	})
}
