// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package middleware_test

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/cloudwego/kitex/client"
	"github.com/cloudwego/kitex/client/callopt"
	"github.com/cloudwego/kitex/pkg/transmeta"
	"github.com/cloudwego/kitex/server"
	"github.com/cloudwego/kitex/transport"
	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/attribute"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/fairway-rpc/fairway/idl/kitex_gen/fairway/echo"
	"github.com/fairway-rpc/fairway/internal/echotest"
	"github.com/fairway-rpc/fairway/internal/etcdtest"
	"github.com/fairway-rpc/fairway/loadbalance"
	"github.com/fairway-rpc/fairway/middleware"
)

// meter is a provider of metrics and what reads them.
func meter(t testing.TB) (middleware.MetricOption, *sdkmetric.ManualReader) {
	t.Helper()
	reader := sdkmetric.NewManualReader()
	provider := sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader))
	t.Cleanup(func() { _ = provider.Shutdown(context.Background()) })
	return middleware.WithMeterProvider(provider), reader
}

// point is one measurement: its attributes, as "key=value,key=value" by key, and
// the count of a histogram or the value of a sum.
type point struct {
	attributes string
	value      int64
}

// points are those of a metric that are not 0.
func points(t testing.TB, reader *sdkmetric.ManualReader, name string) map[string]int64 {
	t.Helper()
	found := map[string]int64{}
	for _, m := range metrics(t, reader) {
		if m.Name != name {
			continue
		}
		for _, p := range pointsOf(m) {
			if p.value != 0 {
				found[p.attributes] = p.value
			}
		}
	}
	return found
}

func metrics(t testing.TB, reader *sdkmetric.ManualReader) (all []metricdata.Metrics) {
	t.Helper()
	var data metricdata.ResourceMetrics
	if err := reader.Collect(context.Background(), &data); err != nil {
		t.Fatal(err)
	}
	for _, s := range data.ScopeMetrics {
		all = append(all, s.Metrics...)
	}
	return all
}

func pointsOf(m metricdata.Metrics) (all []point) {
	switch data := m.Data.(type) {
	case metricdata.Histogram[float64]:
		for _, p := range data.DataPoints {
			all = append(all, point{words(p.Attributes), int64(p.Count)})
		}
	case metricdata.Sum[int64]:
		for _, p := range data.DataPoints {
			all = append(all, point{words(p.Attributes), p.Value})
		}
	}
	return all
}

func words(set attribute.Set) string {
	var all []string
	for _, kv := range set.ToSlice() {
		if kv.Key != "rpc.system.name" {
			all = append(all, fmt.Sprintf("%s=%s", kv.Key, kv.Value.String()))
		}
	}
	return strings.Join(all, ",")
}

func expect(t *testing.T, reader *sdkmetric.ManualReader, name string, want map[string]int64) {
	t.Helper()
	var got map[string]int64
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("%s is %v, want %v", name, got, want)
		}
	})
	waitWithin(t, waitLong, name, func() bool {
		got = points(t, reader, name)
		return cmp.Equal(got, want)
	})
}

// TestCallsAreMeasuredOnBothSides, whether or not there is a trace.
func TestCallsAreMeasuredOnBothSides(t *testing.T) {
	t.Parallel()
	etcd := etcdtest.Start(t)
	onServer, answered := meter(t)
	onClient, called := meter(t)
	reg, res := registry(t, etcd.Client(t)), resolver(t, etcd.Client(t))
	echotest.Start(t, server.WithSuite(middleware.NewServerSuite(reg, service, onServer)), server.WithMetaHandler(transmeta.ServerTTHeaderHandler))
	waitFor(t, "the provider is found", func() bool {
		result, err := res.Resolve(t.Context(), service)
		return err == nil && len(result.Instances) == 1
	})
	cli := newClient(t, client.WithSuite(middleware.NewClientSuite(res, balancer(t, loadbalance.SmoothWRR), onClient)),
		client.WithTransportProtocol(transport.TTHeader), client.WithMetaHandler(transmeta.ClientTTHeaderHandler)) // which carry business errors
	for _, failure := range []echo.Failure{echo.Failure_NONE, echo.Failure_NONE, echo.Failure_BUSINESS, echo.Failure_REMOTE} {
		_, _ = cli.Echo(t.Context(), &echo.Request{Failure: failure})
	}
	if err := cli.Notify(t.Context(), &echo.Request{}); err != nil {
		t.Fatal(err)
	}
	const of, notify = "fairway.service=echo", ",rpc.method=echo.EchoService/Notify"
	method := ",rpc.method=echo.EchoService/Echo"
	expect(t, called, "rpc.client.call.duration", map[string]int64{
		of + method: 2, "error.type=business," + of + method: 1, "error.type=remote," + of + method: 1, of + notify: 1,
	})
	expect(t, answered, "rpc.server.call.duration", map[string]int64{
		of + method: 2, "error.type=business," + of + method: 1, "error.type=handler," + of + method: 1, of + notify: 1,
	})
	expect(t, called, "fairway.client.picks", map[string]int64{"fairway.policy=smooth-wrr," + of: 5})
	expect(t, called, "fairway.client.active_calls", map[string]int64{})
	expect(t, answered, "fairway.server.active_calls", map[string]int64{})
}

func TestPicksThatFindNobodyAreMeasured(t *testing.T) {
	option, reader := meter(t)
	list := fleet(t)
	if err := list.Add("10.0.0.1:1", 0); err != nil {
		t.Fatal(err)
	}
	cli := newClient(t, client.WithSuite(middleware.NewClientSuite(list, balancer(t, loadbalance.SmoothWRR), option)))
	if _, err := cli.Echo(t.Context(), &echo.Request{}); err == nil {
		t.Fatal("answered by nobody")
	}
	expect(t, reader, "fairway.client.picks", map[string]int64{"error.type=all_drained,fairway.policy=smooth-wrr,fairway.service=echo": 1})
	expect(t, reader, "rpc.client.call.duration", map[string]int64{"error.type=all_drained,fairway.service=echo,rpc.method=echo.EchoService/Echo": 1})
}

func TestStreamsAreMeasuredToTheirEnd(t *testing.T) {
	option, reader := meter(t)
	onServer, answered := meter(t)
	etcd := etcdtest.New(t)
	suite := middleware.NewServerSuite(registry(t, etcd.Client(t)), service, onServer)
	s := echotest.StartStreaming(t, measuredOnly(suite)...)
	cli := newClient(t, client.WithSuite(middleware.NewClientSuite(hosts(s.Address), balancer(t, loadbalance.SmoothWRR), option)))
	stream, err := cli.Chat(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := stream.Send(t.Context(), &echo.Request{Message: "a"}); err != nil {
		t.Fatal(err)
	}
	if _, err := stream.Recv(t.Context()); err != nil {
		t.Fatal(err)
	}
	expect(t, reader, "fairway.client.active_calls", map[string]int64{"fairway.service=echo": 1})
	expect(t, reader, "rpc.client.call.duration", map[string]int64{})
	if err := stream.CloseSend(t.Context()); err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := stream.Recv(t.Context()); err != nil {
			break
		}
	}
	expect(t, reader, "fairway.client.active_calls", map[string]int64{})
	expect(t, reader, "rpc.client.call.duration", map[string]int64{"fairway.service=echo,rpc.method=echo.EchoService/Chat": 1})
	// Kitex tells the server of a stream no package.
	expect(t, answered, "rpc.server.call.duration", map[string]int64{"fairway.service=echo,rpc.method=EchoService/Chat": 1})
}

// measuredOnly is a server suite's options without those that register.
func measuredOnly(suite server.Suite) []server.Option {
	opts := suite.Options()
	return []server.Option{opts[0], server.WithSuite(optionsOf(opts[2:3]))}
}

type optionsOf []server.Option

// Options implements Kitex's server.Suite.
func (o optionsOf) Options() []server.Option { return o }

// TestInstanceLabelIsCapped: with ten thousand instances as many labels as are
// wanted, and one for all others.
func TestInstanceLabelIsCapped(t *testing.T) {
	option, reader := meter(t)
	list := fleet(t)
	for i := range 10_000 {
		if err := list.Add(fmt.Sprintf("10.0.%d.%d:1", i/250, i%250), 10); err != nil {
			t.Fatal(err)
		}
	}
	cli := newClient(t, client.WithInstanceMW(stub()),
		client.WithSuite(middleware.NewClientSuite(list, balancer(t, loadbalance.RoundRobin), option, middleware.WithInstanceLabel(0))),
		client.WithInstanceMW(stub()))
	for range 10_000 {
		if _, err := cli.Echo(t.Context(), &echo.Request{Message: "ok"}); err != nil {
			t.Fatal(err)
		}
	}
	got := points(t, reader, "rpc.client.call.duration")
	others := got["fairway.service=echo,network.peer.address=other,rpc.method=echo.EchoService/Echo"]
	if len(got) != middleware.DefaultInstanceLabels+1 || others != 10_000-middleware.DefaultInstanceLabels {
		t.Errorf("%d labels, %d calls of other instances", len(got), others)
	}
}

// TestTableOfMetrics: docs/observability.md lists what is emitted, with unit and
// attributes, and nothing else.
func TestTableOfMetrics(t *testing.T) {
	option, reader := meter(t)
	relay := newRelay(t, "")
	relay.broken.Store(true)
	lb, err := loadbalance.New(loadbalance.RoundRobin, loadbalance.WithTagFilter(loadbalance.TagFilter{Key: "v", Value: "2", Preferred: true}))
	if err != nil {
		t.Fatal(err)
	}
	good := echotest.Start(t)
	cli := newClient(t, client.WithSuite(middleware.NewClientSuite(fleet(t, relay.address(), good.Address), lb, option,
		middleware.WithInstanceLabel(2), middleware.WithPickDuration(), middleware.WithEjection(middleware.Ejection{ConsecutiveFailures: 2}))))
	waitFor(t, "an instance is ejected", func() bool {
		_, _ = cli.Echo(t.Context(), &echo.Request{}, callopt.WithRPCTimeout(waitLong))
		return len(points(t, reader, "fairway.client.ejections")) > 0
	})
	onServer, answered := meter(t)
	suite := middleware.NewServerSuite(registry(t, etcdtest.New(t).Client(t)), service, onServer)
	s := echotest.Start(t, measuredOnly(suite)...)
	_ = call(t, newClient(t, client.WithHostPorts(s.Address)))
	waitFor(t, "the server has measured", func() bool { return len(points(t, answered, "rpc.server.call.duration")) > 0 })

	emitted := map[string]string{}
	for _, m := range append(metrics(t, reader), metrics(t, answered)...) {
		keys := map[string]bool{}
		switch data := m.Data.(type) {
		case metricdata.Histogram[float64]:
			for _, p := range data.DataPoints {
				addKeys(keys, p.Attributes)
			}
		case metricdata.Sum[int64]:
			for _, p := range data.DataPoints {
				addKeys(keys, p.Attributes)
			}
		}
		var names []string
		for k := range keys {
			names = append(names, k)
		}
		slices.Sort(names)
		emitted[m.Name] = m.Unit + " " + strings.Join(names, " ")
	}
	if diff := cmp.Diff(tableOfMetrics(t), emitted); diff != "" {
		t.Errorf("docs/observability.md (-) and what is emitted (+) differ:\n%s", diff)
	}
}

func addKeys(keys map[string]bool, set attribute.Set) {
	for _, kv := range set.ToSlice() {
		keys[string(kv.Key)] = true
	}
}

// tableOfMetrics reads the rows of docs/observability.md that begin with a name of
// this package's: name, kind, unit, attributes, meaning.
func tableOfMetrics(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile("../docs/observability.md")
	if err != nil {
		t.Fatal(err)
	}
	row := regexp.MustCompile("(?m)^\\| `((?:rpc|fairway)\\.(?:client|server)\\.[a-z_.]+)` \\| [a-z ]+ \\| `([^`]+)` \\| ([^|]+) \\|")
	table := map[string]string{}
	for _, m := range row.FindAllStringSubmatch(string(text), -1) {
		var keys []string
		for _, k := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(m[3], -1) {
			keys = append(keys, k[1])
		}
		slices.Sort(keys)
		table[m[1]] = m[2] + " " + strings.Join(keys, " ")
	}
	return table
}
