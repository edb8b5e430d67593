// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package middleware

import (
	"strings"

	"github.com/cloudwego/kitex/client"
	"github.com/cloudwego/kitex/pkg/diagnosis"
	kdiscovery "github.com/cloudwego/kitex/pkg/discovery"
	"github.com/cloudwego/kitex/pkg/utils"

	"github.com/fairway-rpc/fairway/loadbalance"
)

// The probes that the client suite registers with the client's diagnosis service
// (Kitex's client.WithDiagnosisService). They return a [DiscoveryDump] and a
// [BalancerDump], copies that can be written as JSON.
const (
	DiscoveryProbe diagnosis.ProbeName = "fairway_discovery"
	BalancerProbe  diagnosis.ProbeName = "fairway_balancer"
)

// BalancerDump is what the balancer of a client knows.
type BalancerDump struct {
	// Name is the balancer's, which is unique in the process.
	Name   string `json:"name"`
	Policy string `json:"policy"`
	// Services are those that the client's resolver resolves, for other clients of
	// the same resolver and balancer too.
	Services []ServiceDump `json:"services"`
}

// ServiceDump is a [loadbalance.ServiceState].
type ServiceDump struct {
	Key       string         `json:"key"`
	Policy    string         `json:"policy"`
	Instances []InstanceDump `json:"instances"`
}

// InstanceDump is a [loadbalance.InstanceState].
type InstanceDump struct {
	Address   string  `json:"address"`
	Weight    int     `json:"weight"`
	Effective float64 `json:"effective_weight"`
	Share     float64 `json:"share"`
	Serving   bool    `json:"serving"`
	Aside     bool    `json:"aside,omitempty"`
	Ejected   string  `json:"ejected,omitempty"`
	Unhealthy bool    `json:"unhealthy,omitempty"`
	Suspect   bool    `json:"suspect,omitempty"`
	InFlight  int64   `json:"in_flight"`
}

// registerProbes is applied after all other options: the diagnosis service may be
// given after the suite.
func (s *clientSuite) registerProbes() client.Option {
	return client.TailOption(client.Option{F: func(o *client.Options, _ *utils.Slice) {
		service := o.Svr.ServiceName
		diagnosis.RegisterProbeFunc(o.DebugService, DiscoveryProbe, func() any { return dumpDiscovery(s.resolver, service) })
		diagnosis.RegisterProbeFunc(o.DebugService, BalancerProbe, func() any { return dumpBalancer(s.resolver, s.balancer) })
	}})
}

func dumpBalancer(res kdiscovery.Resolver, lb *loadbalance.Balancer) *BalancerDump {
	dump := &BalancerDump{Name: lb.Name(), Policy: lb.Policy(), Services: []ServiceDump{}}
	for _, s := range lb.State() {
		if !strings.HasPrefix(s.Key, res.Name()+":") {
			continue // of another client's resolver
		}
		service := ServiceDump{Key: s.Key, Policy: s.Policy, Instances: make([]InstanceDump, len(s.Instances))}
		for n, i := range s.Instances {
			service.Instances[n] = InstanceDump{
				Address: i.Address, Weight: i.Weight, Effective: i.Effective, Share: i.Share,
				Serving: i.Serving, Aside: i.Aside, Ejected: i.Ejected, Unhealthy: i.Unhealthy, Suspect: i.Suspect, InFlight: i.InFlight,
			}
		}
		dump.Services = append(dump.Services, service)
	}
	return dump
}
