// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package leaktest

import "go.uber.org/goleak"

// exception is one function whose goroutine Kitex leaves running.
type exception struct {
	function string
	reason   string
	// anywhere accepts the function below others on the stack. Otherwise it must
	// be on top, which for a worker means that it idles: one that is stuck in a
	// task, ours for instance, is still reported.
	anywhere bool
}

// kitex lists the goroutines of Kitex v0.16.3 and of the libraries that it
// starts for itself.
var kitex = []exception{
	{
		function: "github.com/cloudwego/kitex/pkg/loadbalance/lbcache.(*BalancerFactory).watcher",
		reason:   "looks for expired balancers for ever; a client with a balancer of its own starts one, Close does not end it",
	},
	{
		function: "github.com/cloudwego/kitex/pkg/utils.(*SharedTicker).Tick",
		reason:   "refreshes balancers until the watcher has dropped the last, up to 30 s after the last call; an idle connection pool has one too",
	},
	{
		function: "github.com/cloudwego/kitex/client.(*timeoutPool).createWorker.func1",
		reason:   "waits a minute for the next call with an RPC timeout",
	},
	{
		function: "github.com/cloudwego/kitex/client.(*timeoutPool).createTicker.func1",
		reason:   "lives as long as those workers",
	},
	{
		function: "github.com/cloudwego/kitex/pkg/remote/trans/nphttp2/grpc.preallocateForStream",
		reason:   "makes stream buffers in advance for ever after the first gRPC call",
	},
	{
		function: "github.com/cloudwego/kitex/internal/server.DefaultSysExitSignal.func1",
		reason:   "waits for a signal for ever; each server that ran without server.WithExitSignal leaves one",
	},
	{
		function: "github.com/cloudwego/netpoll.(*defaultPoll).Wait",
		reason:   "the event loop of the process, with the system call that it waits in on top",
		anywhere: true,
	},
}

func (e exception) option() goleak.Option {
	if e.anywhere {
		return goleak.IgnoreAnyFunction(e.function)
	}
	return goleak.IgnoreTopFunction(e.function)
}
