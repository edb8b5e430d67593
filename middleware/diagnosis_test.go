// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package middleware_test

import (
	"encoding/json"
	"strings"
	"sync"
	"testing"

	"github.com/cloudwego/kitex/client"
	"github.com/cloudwego/kitex/pkg/diagnosis"
	kdiscovery "github.com/cloudwego/kitex/pkg/discovery"

	"github.com/fairway-rpc/fairway/discovery"
	"github.com/fairway-rpc/fairway/internal/echotest"
	"github.com/fairway-rpc/fairway/internal/etcdtest"
	"github.com/fairway-rpc/fairway/loadbalance"
	"github.com/fairway-rpc/fairway/middleware"
)

// probes is a diagnosis service that keeps what is registered.
type probes struct {
	mu  sync.Mutex
	all map[diagnosis.ProbeName]diagnosis.ProbeFunc
}

func (p *probes) RegisterProbeFunc(name diagnosis.ProbeName, f diagnosis.ProbeFunc) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.all == nil {
		p.all = make(map[diagnosis.ProbeName]diagnosis.ProbeFunc)
	}
	p.all[name] = f
}

// read fills into with what a probe returns, by way of JSON.
func (p *probes) read(t *testing.T, name diagnosis.ProbeName, into any) {
	t.Helper()
	f := p.all[name]
	if f == nil {
		t.Fatalf("no probe %q", name)
	}
	text, err := json.Marshal(f())
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, into); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
}

func TestProbesShowTheSnapshotAndTheBalancer(t *testing.T) {
	t.Parallel()
	etcd := etcdtest.Start(t).Client(t)
	one := provider(t, registry(t, etcd, discovery.WithDrainDelay(0)), middleware.WithWeight(7), middleware.WithTags(map[string]string{"zone": "a"}))
	res, ds := resolver(t, etcd), &probes{}
	waitFor(t, "the provider is known", func() bool {
		r, err := res.Resolve(t.Context(), service)
		return err == nil && len(r.Instances) == 1
	})
	cli := newClient(t, client.WithSuite(middleware.NewClientSuite(res, balancer(t, loadbalance.SmoothWRR))), client.WithDiagnosisService(ds))
	_ = call(t, cli)
	var known middleware.DiscoveryDump
	ds.read(t, middleware.DiscoveryProbe, &known)
	if known.Resolver != res.Name() || known.Service != service || known.Feed == nil || known.Feed.State != discovery.FeedLive ||
		known.Feed.Revision == 0 || known.AgeSeconds < 0 || known.AgeSeconds > 60 || len(known.Instances) != 1 {
		t.Fatalf("%+v", known)
	}
	if i := known.Instances[0]; i.Address != one.Address || i.Weight != 7 || i.State != discovery.StateServing || i.Tags["zone"] != "a" {
		t.Errorf("%+v", i)
	}
	var picked middleware.BalancerDump
	ds.read(t, middleware.BalancerProbe, &picked)
	if picked.Policy != loadbalance.SmoothWRR || len(picked.Services) != 1 || len(picked.Services[0].Instances) != 1 {
		t.Fatalf("%+v", picked)
	}
	if i := picked.Services[0].Instances[0]; i.Address != one.Address || i.Weight != 7 || i.Share != 1 || !i.Serving || i.InFlight != 0 {
		t.Errorf("%+v", i)
	}
}

// TestProbesOfOtherResolvers: a Static has a list, others only a name, and each
// client shows the services of its own resolver.
func TestProbesOfOtherResolvers(t *testing.T) {
	server := echotest.Start(t)
	lb := balancer(t, loadbalance.RoundRobin)
	for _, tt := range []struct {
		res       kdiscovery.Resolver
		instances int
	}{{static(t, map[string]int{server.Address: 3}), 1}, {hosts(server.Address), 0}} {
		ds := &probes{}
		_ = call(t, newClient(t, client.WithDiagnosisService(ds), client.WithSuite(middleware.NewClientSuite(tt.res, lb))))
		var known middleware.DiscoveryDump
		ds.read(t, middleware.DiscoveryProbe, &known)
		if known.Resolver != tt.res.Name() || len(known.Instances) != tt.instances {
			t.Errorf("%+v, want %d instances", known, tt.instances)
		}
		var picked middleware.BalancerDump
		ds.read(t, middleware.BalancerProbe, &picked)
		if len(picked.Services) != 1 || !strings.HasPrefix(picked.Services[0].Key, tt.res.Name()) {
			t.Errorf("%+v", picked)
		}
	}
}

// TestKitexDumpsNoSecret reads all that Kitex dumps of a client, the text of its
// options too.
func TestKitexDumpsNoSecret(t *testing.T) {
	t.Parallel()
	const secret = "secret-word"
	etcd, err := discovery.Dial(discovery.EtcdConfig{Endpoints: []string{"127.0.0.1:1"}, Username: "root", Password: secret})
	if err != nil {
		t.Fatal(err)
	}
	defer etcd.Close()
	etcd.SetEndpoints("http://root:" + secret + "@127.0.0.1:1")
	res, ds := resolver(t, etcd), &probes{}
	lb := balancer(t, loadbalance.SmoothWRR)
	cli := newClient(t, client.WithSuite(middleware.NewClientSuite(res, lb)), client.WithDiagnosisService(ds),
		client.WithResolver(res), client.WithLoadBalancer(lb))
	fails(t, cli)
	waitFor(t, "there is an error to show", func() bool {
		var known middleware.DiscoveryDump
		ds.read(t, middleware.DiscoveryProbe, &known)
		return known.Feed.LastError != ""
	})
	text := ""
	for _, name := range []diagnosis.ProbeName{diagnosis.OptionsKey, diagnosis.ChangeEventsKey, middleware.DiscoveryProbe, middleware.BalancerProbe} {
		var dump any
		ds.read(t, name, &dump)
		dumped, err := json.Marshal(dump)
		if err != nil {
			t.Fatal(err)
		}
		text += string(dumped)
	}
	if strings.Contains(text, secret) {
		t.Errorf("the secret is in %s", text)
	}
	for _, name := range []string{res.Name(), lb.Name(), "clientSuite(fairway("} {
		if !strings.Contains(text, name) {
			t.Errorf("%q is not dumped: %s", name, text)
		}
	}
}
