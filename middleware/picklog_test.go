// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package middleware_test

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"testing"

	"github.com/cloudwego/kitex/client"
	kdiscovery "github.com/cloudwego/kitex/pkg/discovery"
	kloadbalance "github.com/cloudwego/kitex/pkg/loadbalance"
	"github.com/cloudwego/kitex/pkg/utils"

	"github.com/fairway-rpc/fairway/internal/echotest"
	"github.com/fairway-rpc/fairway/loadbalance"
	"github.com/fairway-rpc/fairway/middleware"
)

// TestPickLog: a line says what the pick span says, with and without spans.
func TestPickLog(t *testing.T) {
	server := echotest.Start(t)
	for _, spans := range []middleware.PickSpans{middleware.PickSpansOff, middleware.PickSpansAll} {
		var out bytes.Buffer
		logger := slog.New(slog.NewJSONHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug}))
		tp, recorder := tracing(t)
		_ = call(t, newClient(t, client.WithSuite(middleware.NewClientSuite(hosts(server.Address), balancer(t, loadbalance.SmoothWRR),
			middleware.WithPickLog(logger), middleware.WithPickSpans(spans), middleware.WithTracerProvider(tp)))))
		var line map[string]any
		if err := json.Unmarshal(out.Bytes(), &line); err != nil {
			t.Fatalf("%v: %s", err, out.String())
		}
		if line["level"] != "DEBUG" || line["msg"] != "picked" || line["fairway.service"] != service || line["network.peer.address"] != "127.0.0.1" ||
			line["fairway.policy"] != "smooth-wrr" || line["fairway.candidates"] != float64(1) {
			t.Errorf("%v", line)
		}
		if n := len(picks(recorder)); (n == 1) != (spans == middleware.PickSpansAll) {
			t.Errorf("%d spans", n)
		}
	}
}

// TestPickLogThatIsOffIsFree: without a logger, and with one that is not at debug.
func TestPickLogThatIsOffIsFree(t *testing.T) {
	var out bytes.Buffer
	for name, logger := range map[string]*slog.Logger{"none": nil, "info": slog.New(slog.NewJSONHandler(&out, nil))} {
		var lb kloadbalance.Loadbalancer
		_ = newClient(t, client.WithSuite(middleware.NewClientSuite(hosts(), balancer(t, loadbalance.SmoothWRR), middleware.WithPickLog(logger))),
			client.Option{F: func(o *client.Options, _ *utils.Slice) { lb = o.Balancer }})
		res := kdiscovery.Result{Cacheable: true, CacheKey: "hosts", Instances: []kdiscovery.Instance{kdiscovery.NewInstance("tcp", "10.0.0.1:1", 10, nil)}}
		ctx := t.Context()
		if n := testing.AllocsPerRun(100, func() { lb.GetPicker(res).Next(ctx, nil) }); n != 0 || out.Len() > 0 {
			t.Errorf("%s: a pick allocates %v times and writes %q", name, n, out.String())
		}
	}
}
