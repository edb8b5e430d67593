// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package discovery

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/fairway-rpc/fairway/internal/etcdtest"
)

// TestNothingDiffersWhileNothingChanges: what is right is found to be so, also of
// keys under leases, at the latest revision and at an older one; and other leases
// are found to be others.
func TestNothingDiffersWhileNothingChanges(t *testing.T) {
	t.Parallel()
	for _, n := range []int{3, largeService + 100} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			s := etcdtest.Start(t)
			cli := s.Client(t)
			lease, err := cli.Grant(t.Context(), 600)
			if err != nil {
				t.Fatal(err)
			}
			for from := 0; from < n; from += 100 {
				var ops []clientv3.Op
				for i := from; i < min(from+100, n); i++ {
					address := fmt.Sprintf("10.0.%d.%d:80", i/250, i%250)
					ops = append(ops, clientv3.OpPut("fairway/echo/"+address, value(address, 1), clientv3.WithLease(lease.ID)))
				}
				if _, err := cli.Txn(t.Context()).Then(ops...).Commit(); err != nil {
					t.Fatal(err)
				}
			}
			put(t, cli, "fairway/_rules/echo/*", `{"weight":3}`)
			r := testResolver(t, dialTest(t, s.Endpoint()))
			known(t, r, "echo", n, 0)
			f, err := r.feed("echo")
			if err != nil {
				t.Fatal(err)
			}
			for _, when := range []string{"at the latest revision", "at an older one"} {
				f.mu.Lock()
				spans := []span{f.instances, f.rules}
				f.mu.Unlock() // nothing is written any more that would change them
				for _, span := range spans {
					for _, whole := range []bool{true, false} {
						if err := span.verify(t.Context(), f.cli, whole); err != nil {
							t.Errorf("%s, whole %v: %v", when, whole, err)
						}
					}
				}
				put(t, cli, "elsewhere", "x")
			}
			lost, err := cli.Grant(t.Context(), 600)
			if err != nil {
				t.Fatal(err)
			}
			other := f.instances
			other.entries = slices.Clone(other.entries)
			for i := range other.entries {
				other.entries[i].lease = int64(lost.ID)
			}
			for _, whole := range []bool{true, false} {
				if err := other.verify(t.Context(), f.cli, whole); !errors.Is(err, errDiverged) {
					t.Errorf("other leases, whole %v: %v", whole, err)
				}
			}
		})
	}
}
