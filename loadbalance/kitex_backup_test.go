// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package loadbalance_test

import (
	"fmt"
	"testing"

	"github.com/cloudwego/kitex/client"
	"github.com/cloudwego/kitex/pkg/retry"

	"github.com/fairway-rpc/fairway/loadbalance"
)

// counting are the policies that read the calls in flight.
var counting = map[string]bool{
	loadbalance.BoundedHash: true, loadbalance.LeastActive: true, loadbalance.P2CEWMA: true, loadbalance.ShortestResponse: true,
}

// TestBackupRequestsGoElsewhere: the first attempt hangs, the backup is sent to
// another instance and answers. What is counted is the attempt that still hangs,
// until that has ended, too.
func TestBackupRequestsGoElsewhere(t *testing.T) {
	t.Parallel()
	tries, hosts := newAttempts(t, 3)
	for _, policy := range loadbalance.Policies() {
		t.Run(policy, func(t *testing.T) {
			t.Parallel()
			testBackups(t, policy, tries, hosts)
		})
	}
}

func testBackups(t *testing.T, policy string, tries *attempts, hosts []string) {
	lb := newBalancer(t, policy)
	cli := newClient(t, lb, client.WithHostPorts(hosts...), endedWith(t),
		client.WithBackupRequest(retry.NewBackupPolicy(50)))
	_ = ask(t, cli, "the first of all, by "+policy)
	for i := range 3 {
		message := fmt.Sprintf("hang %d by %s", i, policy)
		tries.checkElsewhere(t, message, ask(t, cli, message))
		total, byAddress := inFlight(lb)
		if counting[policy] && (total != 1 || byAddress[tries.of(message)[0]] != 1) {
			t.Errorf("%s: in flight are %v, want the attempt that hangs at %s", message, byAddress, tries.of(message)[0])
		}
		tries.release(message)
		waitIdle(t, lb)
	}
}
