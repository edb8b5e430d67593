// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package middleware

import (
	"maps"
	"time"

	kdiscovery "github.com/cloudwego/kitex/pkg/discovery"

	"github.com/fairway-rpc/fairway/discovery"
)

// DiscoveryDump is what a client's resolver knows of the service that the client
// calls.
type DiscoveryDump struct {
	// Resolver is the resolver's name, which is unique in the process.
	Resolver string `json:"resolver"`
	Service  string `json:"service"`
	// Cluster and Prefix say where a discovery.Resolver looks.
	Cluster string `json:"cluster,omitempty"`
	Prefix  string `json:"prefix,omitempty"`
	// Feed is how a discovery.Resolver follows the service: its state, revision,
	// source and last error. It is absent before the first call.
	Feed *discovery.ServiceStatus `json:"feed,omitempty"`
	// AgeSeconds is the time since etcd proved the list to be current.
	AgeSeconds float64 `json:"age_seconds,omitempty"`
	// Instances are those of the latest snapshot, or of the list of a
	// discovery.Static. A resolver of another make tells none.
	Instances []DiscoveredDump `json:"instances,omitempty"`
}

// DiscoveredDump is an instance as the registry has it, with the operator's rules
// applied.
type DiscoveredDump struct {
	Address string `json:"address"`
	// Weight is the configured one, whatever the state.
	Weight  int                     `json:"weight"`
	State   discovery.InstanceState `json:"state,omitempty"`
	Suspect bool                    `json:"suspect,omitempty"`
	Tags    map[string]string       `json:"tags,omitempty"`
	// StartedAt is when the provider says that it started.
	StartedAt time.Time `json:"started_at,omitzero"`
}

func dumpDiscovery(res kdiscovery.Resolver, service string) *DiscoveryDump {
	dump := &DiscoveryDump{Resolver: res.Name(), Service: service}
	switch r := res.(type) {
	case *discovery.Resolver:
		dump.follow(r)
	case *discovery.Static:
		for _, i := range r.List() {
			dump.Instances = append(dump.Instances, DiscoveredDump{Address: i.Address, Weight: i.Weight})
		}
	}
	return dump
}

func (d *DiscoveryDump) follow(r *discovery.Resolver) {
	status := r.Status()
	d.Cluster, d.Prefix = status.Cluster, status.Prefix
	for _, s := range status.Services {
		if s.Service == d.Service {
			d.Feed, d.AgeSeconds = &s, s.Age(time.Now()).Seconds()
		}
	}
	snapshot, known := r.Snapshot(d.Service)
	if !known {
		return
	}
	for _, i := range snapshot.Instances {
		d.Instances = append(d.Instances, DiscoveredDump{
			Address: i.Address().String(), Weight: i.BaseWeight(), State: i.State(), Suspect: i.Suspect(),
			Tags: maps.Collect(i.Tags()), StartedAt: i.StartedAt(),
		})
	}
}
