// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"path/filepath"
)

// etcdBin is the folder of etcd's programs in the official image.
const etcdBin = "usr/local/bin"

// etcd builds etcd and etcdctl, as the tools module pins them, into an image
// that is laid out like the official one: static programs and no shell.
func (s *standins) etcd(ctx context.Context, name, work string) error {
	s.say.step("stand-in for %s from the tools module", name)
	programs := []struct{ name, pkg string }{
		{"etcd", "go.etcd.io/etcd/server/v3"},
		{"etcdctl", "go.etcd.io/etcd/etcdctl/v3"},
	}
	for _, p := range programs {
		if err := s.goTool(ctx, "tools", nil, "build", "-o", filepath.Join(work, p.name), p.pkg); err != nil {
			return err
		}
	}
	return s.load(ctx, name, []string{"PATH=/" + etcdBin}, func(l *layer) error {
		errs := []error{l.dir(etcdBin, false), l.dir("var/lib/etcd", false), l.dir("tmp", true)}
		for _, p := range programs {
			errs = append(errs, l.file(etcdBin+"/"+p.name, filepath.Join(work, p.name)))
		}
		return errors.Join(errs...)
	})
}
