// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package middleware

import (
	"errors"
	"slices"
	"sync"

	"github.com/cloudwego/kitex/pkg/registry"

	"github.com/fairway-rpc/fairway/discovery"
	"github.com/fairway-rpc/fairway/internal/fault"
)

// WithServiceNames registers the same server under further names, with the same
// weight and tags: for one that is renamed, or that serves several services.
func WithServiceNames(names ...string) ServerOption {
	return serverOption(func(s *serverSuite) error {
		for _, name := range names {
			if err := discovery.CheckServiceName(name); err != nil {
				return fault.Invalid("WithServiceNames", "%w", err)
			}
			if name != s.service && !slices.Contains(s.further, name) {
				s.further = append(s.further, name)
			}
		}
		return nil
	})
}

// manyNames registers each server under further names too.
type manyNames struct {
	*discovery.Registry

	further []string
}

// Register implements Kitex's registry.Registry. If one name is refused, none
// is registered.
func (m *manyNames) Register(info *registry.Info) error {
	err := m.each(info, m.Registry.Register)
	if err != nil {
		_ = m.each(info, m.Registry.Deregister)
	}
	return err
}

// Deregister implements Kitex's registry.Registry.
func (m *manyNames) Deregister(info *registry.Info) error {
	return m.each(info, m.Registry.Deregister)
}

// each does the same under all names at a time, so that they wait together.
func (m *manyNames) each(info *registry.Info, do func(*registry.Info) error) error {
	if info == nil {
		return do(nil)
	}
	errs := make([]error, 1+len(m.further))
	var all sync.WaitGroup
	for i, name := range append([]string{info.ServiceName}, m.further...) {
		own := *info // who is registered may keep it
		own.ServiceName = name
		all.Go(func() { errs[i] = do(&own) })
	}
	all.Wait()
	return errors.Join(errs...)
}
