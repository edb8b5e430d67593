// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package loadbalance

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
)

// ServiceState is what a balancer knows of one service at a moment.
type ServiceState struct {
	// Key is the name of the resolver and what that resolves, as Kitex joins them.
	Key    string
	Policy string
	// Instances are in the resolver's order.
	Instances []InstanceState
}

// InstanceState is what a balancer knows of an instance.
type InstanceState struct {
	Address string
	// Weight is the configured one.
	Weight int
	// Effective is the weight that counts now: less than Weight while the instance
	// warms up, and 0 if it gets no calls.
	Effective float64
	// Serving is false for an instance that gets no calls: it is drained, or of
	// weight 0.
	Serving bool
	// Aside tells that no connection was got, so that calls avoid it for a while.
	Aside bool
	// Ejected is why it is ejected now, "" if it is not: consecutive_failures,
	// failure_share, success_rate or latency.
	Ejected string
	// Unhealthy tells that health checks say so.
	Unhealthy bool
	// Suspect tells that it is kept on suspicion of the registry only.
	Suspect bool
	// Share is its part of the weight of all that get calls now, between 0 and 1:
	// the part of the calls that a policy which goes by weight gives it in the
	// long run.
	Share float64
	// InFlight is the number of calls under way that are counted: all of them
	// with the suite of package middleware, and those that were picked by a
	// policy that counts without it.
	InFlight int64
}

// State tells the present state of every service in use, by key. It is meant for
// people and tools: it takes O(n) and makes picks wait for nothing.
func (b *Balancer) State() []ServiceState {
	var all []ServiceState
	if b.methods != nil {
		for _, inner := range b.methods.all() {
			all = append(all, inner.State()...)
		}
	} else {
		b.core.services.Range(func(_, s any) bool {
			all = append(all, s.(*service).state())
			return true
		})
	}
	slices.SortFunc(all, func(a, b ServiceState) int {
		return cmp.Or(strings.Compare(a.Key, b.Key), strings.Compare(a.Policy, b.Policy))
	})
	return all
}

func (s *service) state() ServiceState {
	state := ServiceState{Key: s.key, Policy: s.core.policy.name}
	t := s.table.Load()
	if t == nil {
		return state
	}
	weigh := s.core.policy.weigh()
	total := uint64(0)
	for _, c := range t.list {
		total += weigh(c)
	}
	for _, c := range t.list {
		state.Instances = append(state.Instances, InstanceState{
			Address:   c.address,
			Weight:    int(c.weight),
			Effective: c.effective(),
			Serving:   c.serving,
			Aside:     c.node.aside.Load() != nil,
			Ejected:   c.node.ejectedFor(),
			Unhealthy: c.node.ill.Load(),
			Suspect:   c.node.suspect.Load() != nil,
			Share:     float64(weigh(c)) / float64(max(total, 1)),
			InFlight:  c.node.active(),
		})
	}
	return state
}

// String prints the state as a table.
func (s ServiceState) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s by %s\n", s.Key, s.Policy)
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(w, "ADDRESS\tWEIGHT\tEFFECTIVE\tSHARE\tIN FLIGHT\tSTATE")
	for _, i := range s.Instances {
		_, _ = fmt.Fprintf(w, "%s\t%d\t%.4g\t%.1f %%\t%d\t%s\n", i.Address, i.Weight, i.Effective, 100*i.Share, i.InFlight, i.words())
	}
	_ = w.Flush() // into a Builder, which never fails
	return b.String()
}

func (i InstanceState) words() string {
	words := []string{"serving"}
	if !i.Serving {
		words[0] = "drained"
	}
	if i.Aside {
		words = append(words, "aside")
	}
	if i.Ejected != "" {
		words = append(words, "ejected for "+i.Ejected)
	}
	if i.Unhealthy {
		words = append(words, "unhealthy")
	}
	if i.Suspect {
		words = append(words, "suspect")
	}
	return strings.Join(words, ", ")
}
