// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package discovery

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cloudwego/kitex/pkg/registry"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/fairway-rpc/fairway/internal/etcdtest"
)

// collected is each data point as "name{attributes} value", ordered; ages are
// left out of the values.
func collected(t *testing.T, reader sdkmetric.Reader) []string {
	t.Helper()
	var data metricdata.ResourceMetrics
	if err := reader.Collect(context.WithoutCancel(t.Context()), &data); err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, scope := range data.ScopeMetrics {
		if scope.Scope.Name != ScopeName || scope.Scope.Version != Version || scope.Scope.SchemaURL == "" {
			t.Errorf("scope %+v", scope.Scope)
		}
		for _, m := range scope.Metrics {
			if m.Description == "" || m.Unit == "" {
				t.Errorf("%s has no description or unit", m.Name)
			}
			list = append(list, points(m)...)
		}
	}
	slices.Sort(list)
	return list
}

func points(m metricdata.Metrics) (list []string) {
	switch d := m.Data.(type) {
	case metricdata.Gauge[int64]:
		for _, p := range d.DataPoints {
			list = append(list, point(m.Name, p, fmt.Sprint(p.Value)))
		}
	case metricdata.Sum[int64]:
		for _, p := range d.DataPoints {
			list = append(list, point(m.Name, p, fmt.Sprint(p.Value)))
		}
	case metricdata.Gauge[float64]:
		for _, p := range d.DataPoints {
			list = append(list, point(m.Name, p, m.Unit))
		}
	}
	return list
}

func point[N int64 | float64](name string, p metricdata.DataPoint[N], value string) string {
	var attrs []string
	for _, kv := range p.Attributes.ToSlice() {
		if kv.Key != keyResolver {
			attrs = append(attrs, string(kv.Key)+"="+kv.Value.String())
		}
	}
	return fmt.Sprintf("%s{%s} %s", name, strings.Join(attrs, ","), value)
}

func TestResolverMetrics(t *testing.T) {
	t.Parallel()
	s := etcdtest.Start(t)
	f := newFleet(t, s.Client(t), 3)
	put(t, f.cli, "fairway/echo/bad", "{")
	last := put(t, f.cli, "fairway/_rules/echo/*", `{"tags":{"a":"b"}}`)
	reader := sdkmetric.NewManualReader()
	r := testResolver(t, f.cli, WithMeterProvider(sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader))))
	known(t, r, "echo", 3, 0)
	_ = f.list[2].Close()
	for i := range f.list {
		f.vanish(i)
		last++
	}
	known(t, r, "echo", 2, 2)
	put(t, f.cli, f.key("echo", 0), value(f.address(0), 1))
	last++
	known(t, r, "echo", 2, 1)
	want := []string{
		"fairway.resolver.feed{fairway.service=echo,fairway.snapshot.source=etcd,fairway.state=live} 1",
		"fairway.resolver.guard.dropped{fairway.guard.reason=probes failed,fairway.service=echo} 1",
		"fairway.resolver.guard.held{fairway.service=echo} 3",
		"fairway.resolver.guard.returned{fairway.service=echo} 1",
		"fairway.resolver.instances{fairway.service=echo} 2",
		"fairway.resolver.rules{fairway.service=echo} 1",
		"fairway.resolver.skipped{fairway.service=echo} 1",
		"fairway.resolver.snapshot.age{fairway.service=echo} s",
		fmt.Sprintf("fairway.resolver.snapshot.revision{fairway.service=echo} %d", last),
		"fairway.resolver.suspects{fairway.service=echo} 1",
	}
	if got := collected(t, reader); !slices.Equal(got, want) {
		t.Errorf("metrics\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	_ = r.Close()
	if got := collected(t, reader); len(got) != 0 {
		t.Errorf("after Close there is still %v", got)
	}
}

func TestRegistryMetrics(t *testing.T) {
	t.Parallel()
	s := etcdtest.Start(t)
	reader := sdkmetric.NewManualReader()
	reg := testRegistry(t, s.Client(t), WithMeterProvider(sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader))))
	for _, info := range []*registry.Info{infoOf("echo", "127.0.0.1:1001", 1), infoOf("echo", "127.0.0.1:1002", 1), infoOf("other", "127.0.0.1:1003", 1)} {
		if err := reg.Register(info); err != nil {
			t.Fatal(err)
		}
	}
	expect := func(want ...string) {
		t.Helper()
		var got []string
		waitFor(t, "the metrics are as they should be", func() bool {
			got = collected(t, reader)
			return slices.Equal(got, want)
		})
	}
	expect("fairway.registry.lease.ttl_left{fairway.prefix=fairway,fairway.service=echo} s",
		"fairway.registry.lease.ttl_left{fairway.prefix=fairway,fairway.service=other} s",
		"fairway.registry.registrations{fairway.prefix=fairway,fairway.service=echo,fairway.state=registered} 2",
		"fairway.registry.registrations{fairway.prefix=fairway,fairway.service=other,fairway.state=registered} 1")
	if err := reg.Drain(t.Context()); err != nil {
		t.Fatal(err)
	}
	expect("fairway.registry.lease.ttl_left{fairway.prefix=fairway,fairway.service=echo} s",
		"fairway.registry.lease.ttl_left{fairway.prefix=fairway,fairway.service=other} s",
		"fairway.registry.registrations{fairway.prefix=fairway,fairway.service=echo,fairway.state=draining} 2",
		"fairway.registry.registrations{fairway.prefix=fairway,fairway.service=other,fairway.state=draining} 1")
	_ = reg.Close()
	expect()
}
