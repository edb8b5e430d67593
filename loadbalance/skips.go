// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package loadbalance

import (
	"math/bits"
	"slices"

	"github.com/cloudwego/kitex/pkg/rpcinfo"

	"github.com/fairway-rpc/fairway/internal/pick"
)

// skips are the nodes that a pick passes over: those that a retry has just seen
// fail, and on demand those that are aside.
type skips struct {
	nodes []*node
	aside bool
}

func (s *skips) has(c *candidate) bool {
	return s != nil && (s.aside && c.node.avoided() || slices.Contains(s.nodes, c.node))
}

func (s *skips) add(c *candidate) {
	if c != nil && c.serving && !slices.Contains(s.nodes, c.node) {
		s.nodes = append(s.nodes, c.node)
	}
}

// triedKey is where an attempt keeps the nodes that it has tried, in the extras
// of Kitex's Invocation, which live exactly as long.
const triedKey = "fairway_tried"

// skipsOf finds whom a pick should avoid: what this attempt has tried already
// (Kitex picks again when it gets no connection), and whom the attempt before
// went to (Kitex's retry policies). It is nil for a first pick, and when
// nobody else is left.
//
// Without an instance middleware, that is without an attempt, this is where a
// failure to get a connection shows: there is nothing else for which Kitex picks
// again, but for a circuit breaker, which has seen such failures itself.
func (t *table) skipsOf(info rpcinfo.RPCInfo, attempt *pick.Attempt) *skips {
	to := info.To()
	if to == nil {
		return nil
	}
	failed := pick.Failed(to)
	prev := pick.CallTag(to, failed, rpcinfo.RetryPrevInstTag)
	if failed == nil && prev == "" {
		return nil
	}
	s := &skips{}
	if failed != nil && failed.Address() != nil {
		address := failed.Address().String()
		if c := t.at(address); c != nil && attempt == nil {
			c.node.failed(pick.NoConnection, true)
		}
		for _, address := range tried(info.Invocation(), address) {
			s.add(t.at(address))
		}
	}
	s.add(t.at(prev))
	if len(s.nodes) == 0 || len(s.nodes) >= t.tally.serving {
		return nil
	}
	return s
}

// tried adds the address that has just failed to those that failed before in
// this attempt, and returns them all.
func tried(call rpcinfo.Invocation, failed string) []string {
	if call == nil {
		return []string{failed}
	}
	before, _ := call.Extra(triedKey).([]string)
	all := append(slices.Clone(before), failed)
	if setter, ok := call.(rpcinfo.InvocationSetter); ok {
		setter.SetExtra(triedKey, all)
	}
	return all
}

// leftover draws by weight among those who are not skipped. It is for retries,
// so it may look at each.
func leftover(list []*candidate, skip *skips, r uint64, weight func(*candidate) uint64) *candidate {
	total := uint64(0)
	for _, c := range list {
		if !skip.has(c) {
			total += weight(c)
		}
	}
	at, _ := bits.Mul64(r, total)
	for _, c := range list {
		if skip.has(c) {
			continue
		}
		if at < weight(c) {
			return c
		}
		at -= weight(c)
	}
	return nil
}
