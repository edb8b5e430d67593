// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package loadbalance_test

import (
	"context"
	"errors"
	"net"
	"strings"
	"sync"
	"testing"

	"github.com/cloudwego/kitex/client"
	"github.com/cloudwego/kitex/pkg/endpoint"
	"github.com/cloudwego/kitex/pkg/retry"
	"github.com/cloudwego/kitex/server"

	"github.com/fairway-rpc/fairway/idl/kitex_gen/fairway/echo"
	"github.com/fairway-rpc/fairway/internal/echotest"
)

// attempts notes which instances each message came to, and spoils the first
// attempt wherever it comes to: of a message that begins with "fail" it fails, of
// one that begins with "hang" it is not answered before release, or the end of the
// test.
type attempts struct {
	ended chan struct{}

	mu    sync.Mutex
	seen  map[string][]string
	hangs map[string]chan struct{}
}

// newAttempts makes attempts and n servers that tell them of their calls.
func newAttempts(t *testing.T, n int) (a *attempts, hosts []string) {
	t.Helper()
	a = &attempts{ended: make(chan struct{}), seen: map[string][]string{}, hangs: map[string]chan struct{}{}}
	for range n {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		address := listener.Addr().String()
		_ = echotest.StartOn(t, listener, server.WithMiddleware(a.at(address)))
		hosts = append(hosts, address)
	}
	t.Cleanup(func() { close(a.ended) }) // before the servers end
	return a, hosts
}

func (a *attempts) at(address string) endpoint.Middleware {
	return func(next endpoint.Endpoint) endpoint.Endpoint {
		return func(ctx context.Context, request, response any) error {
			message := request.(interface{ GetFirstArgument() any }).GetFirstArgument().(*echo.Request).Message
			first := a.note(message, address)
			if first && strings.HasPrefix(message, "fail") {
				return errors.New("spoilt")
			}
			if first && strings.HasPrefix(message, "hang") {
				a.wait(message)
			}
			return next(ctx, request, response)
		}
	}
}

// note reports whether the attempt is the first one of the message.
func (a *attempts) note(message, address string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.seen[message] = append(a.seen[message], address)
	return len(a.seen[message]) == 1
}

func (a *attempts) wait(message string) {
	select {
	case <-a.hang(message):
	case <-a.ended:
	}
}

// release has the first attempt of a message answered, once.
func (a *attempts) release(message string) { close(a.hang(message)) }

func (a *attempts) hang(message string) chan struct{} {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.hangs[message] == nil {
		a.hangs[message] = make(chan struct{})
	}
	return a.hangs[message]
}

// of returns the instances that a message came to.
func (a *attempts) of(message string) []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.seen[message]
}

// checkElsewhere checks that a message was spoilt at one instance and answered
// by another, the next that it came to.
func (a *attempts) checkElsewhere(t testing.TB, message, answered string) {
	t.Helper()
	seen := a.of(message)
	if len(seen) < 2 || seen[1] == seen[0] || answered == seen[0] {
		t.Errorf("%s: the attempts went to %v, and %q answered; want the second elsewhere", message, seen, answered)
	}
}

// endedWith has what watches over retries end with the test. Otherwise it ends
// with the client.
func endedWith(t testing.TB) client.Option {
	t.Helper()
	container := retry.NewRetryContainerWithPercentageLimit()
	t.Cleanup(func() { _ = container.Close() })
	return client.WithRetryContainer(container)
}
