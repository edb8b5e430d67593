// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package discovery

import (
	"cmp"
	"slices"
	"time"
)

// RegistrationState says how far etcd agrees with what a provider wants.
type RegistrationState string

// The states of a registration.
const (
	// Registering is a registration that etcd has not answered for yet.
	Registering RegistrationState = "registering"
	// Registered is one whose key was as wanted when it was last looked at.
	Registered RegistrationState = "registered"
	// Draining is the same in the state "draining": no new calls.
	Draining RegistrationState = "draining"
	// Hidden is one that is drained under [WithHideDrained]: its key is absent.
	Hidden RegistrationState = "hidden"
	// Retrying is one whose last attempt to read or write etcd failed. It is
	// tried again for ever. What was registered before stands for TTLLeft.
	Retrying RegistrationState = "retrying"
	// Conflict is one whose address is held by another live provider that
	// started later. It is tried again every ten seconds.
	Conflict RegistrationState = "conflict"
	// Leaving is one that is being deregistered, the drain delay included.
	Leaving RegistrationState = "leaving"
	// Deregistered is the last that a status callback hears.
	Deregistered RegistrationState = "deregistered"
)

// settled reports whether etcd agreed.
func (s RegistrationState) settled() bool {
	return s == Registered || s == Draining || s == Hidden
}

// RegistryStatus is what a [Registry] is doing, for tools and metrics.
type RegistryStatus struct {
	Prefix string `json:"prefix"`
	// Drained is what Drain and Undrain set.
	Drained bool `json:"drained"`
	// Registrations are ordered by service, network and address.
	Registrations []RegistrationStatus `json:"registrations"`
}

// RegistrationStatus is the status of one provider: one service at one address.
type RegistrationStatus struct {
	Service string `json:"service"`
	Network string `json:"network"`
	// Address is the advertised one, Key its place in etcd.
	Address string            `json:"address"`
	Key     string            `json:"key"`
	State   RegistrationState `json:"state"`
	// Since is when the state began.
	Since time.Time `json:"since"`
	// Weight is the wanted one; unless the state is Retrying or Conflict, etcd
	// has it.
	Weight int `json:"weight"`
	// Lease is the ID of the present lease as etcdctl shows it, in hexadecimal;
	// empty before the first one.
	Lease string `json:"lease,omitempty"`
	// TTLLeft is how long the lease lives if it is not renewed from now on,
	// counted from etcd's last answer; in JSON in nanoseconds.
	TTLLeft time.Duration `json:"ttl_left_ns"`
	// LastError is the text of the last failure, also after its end.
	LastError string `json:"last_error,omitempty"`
	// LastErrorAt is when that was.
	LastErrorAt time.Time `json:"last_error_at,omitzero"`
}

// Status tells what the registry is doing. It asks nobody and is cheap enough
// to be called for every scrape of a metric.
func (r *Registry) Status() RegistryStatus {
	r.mu.Lock()
	s := RegistryStatus{Prefix: r.cfg.keys.prefix, Drained: r.drained, Registrations: []RegistrationStatus{}}
	all := make([]*registration, 0, len(r.regs)+len(r.leaving))
	for _, g := range r.regs {
		all = append(all, g)
	}
	for g := range r.leaving {
		all = append(all, g)
	}
	r.mu.Unlock()
	for _, g := range all {
		s.Registrations = append(s.Registrations, g.status())
	}
	slices.SortFunc(s.Registrations, func(a, b RegistrationStatus) int {
		return cmp.Or(cmp.Compare(a.Service, b.Service), cmp.Compare(a.Network, b.Network), cmp.Compare(a.Address, b.Address))
	})
	return s
}
