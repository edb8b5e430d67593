// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package discovery

import (
	"errors"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"
)

func TestClientsThatWouldPanicAreRefused(t *testing.T) {
	t.Parallel()
	for name, cli := range map[string]*clientv3.Client{"nil": nil, "context only": clientv3.NewCtxClient(t.Context())} {
		_, registry := NewRegistry(cli)
		_, resolver := NewResolver(cli)
		_, rules := NewRules(cli)
		for constructor, err := range map[string]error{"NewRegistry": registry, "NewResolver": resolver, "NewRules": rules} {
			if !errors.Is(err, ErrInvalidConfig) {
				t.Errorf("%s, %s: %v, want ErrInvalidConfig", name, constructor, err)
			}
		}
	}
}
