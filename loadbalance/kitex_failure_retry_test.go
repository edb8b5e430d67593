// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package loadbalance_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/cloudwego/kitex/client"
	"github.com/cloudwego/kitex/pkg/retry"

	"github.com/fairway-rpc/fairway/idl/kitex_gen/fairway/echo"
	"github.com/fairway-rpc/fairway/loadbalance"
)

// TestFailureRetriesGoElsewhere: after an error, and after no answer in time.
func TestFailureRetriesGoElsewhere(t *testing.T) {
	t.Parallel()
	tries, hosts := newAttempts(t, 3)
	for _, policy := range loadbalance.Policies() {
		t.Run(policy, func(t *testing.T) {
			t.Parallel()
			testFailureRetries(t, policy, tries, hosts)
		})
	}
}

func testFailureRetries(t *testing.T, policy string, tries *attempts, hosts []string) {
	often := retry.NewFailurePolicyWithResultRetry(retry.AllErrorRetry())
	often.WithRetryBreaker(0.3)
	lb := newBalancer(t, policy)
	cli := newClient(t, lb, client.WithHostPorts(hosts...), endedWith(t),
		client.WithFailureRetry(often), client.WithRPCTimeout(200*time.Millisecond))
	_ = answers(t, cli, 25) // Kitex stops retries when too large a part of the attempts fails
	for i := range 4 {
		message := fmt.Sprintf("fail %d by %s", i, policy)
		tries.checkElsewhere(t, message, ask(t, cli, message))
	}
	var all sync.WaitGroup
	for i := range 3 {
		all.Go(func() {
			message := fmt.Sprintf("hang %d by %s", i, policy)
			response, err := cli.Echo(t.Context(), &echo.Request{Message: message})
			if err != nil {
				t.Errorf("call %q: %v", message, err)
				return
			}
			tries.checkElsewhere(t, message, response.Instance)
		})
	}
	all.Wait()
	waitIdle(t, lb)
}
