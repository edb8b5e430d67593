// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package loadbalance

import (
	"math/bits"
	"slices"

	"github.com/cloudwego/kitex/pkg/rpcinfo"
	"github.com/cloudwego/kitex/pkg/rpcinfo/remoteinfo"

	"github.com/fairway-rpc/fairway/internal/pick"
)

// skips are the nodes that a retry passes over, since they have just failed.
type skips struct{ nodes []*node }

func (s *skips) has(c *candidate) bool {
	return s != nil && slices.Contains(s.nodes, c.node)
}

func (s *skips) add(c *candidate) {
	if c != nil && c.serving && !slices.Contains(s.nodes, c.node) {
		s.nodes = append(s.nodes, c.node)
	}
}

// skipsOf finds whom a pick should avoid: what this attempt has tried already
// (Kitex picks again when it gets no connection), and whom the attempt before
// went to (Kitex's retry policies). It is nil for a first pick, and when
// nobody else is left.
func (t *table) skipsOf(ri rpcinfo.RPCInfo, attempt *pick.Attempt) *skips {
	if ri == nil || ri.To() == nil {
		return nil
	}
	var failed, prev string
	if remote := remoteinfo.AsRemoteInfo(ri.To()); remote != nil {
		if instance := remote.GetInstance(); instance != nil && instance.Address() != nil {
			failed = instance.Address().String()
		}
	}
	prev, _ = ri.To().Tag(rpcinfo.RetryPrevInstTag)
	if failed == "" && prev == "" {
		return nil
	}
	s := &skips{}
	s.add(t.byAddress[failed])
	s.add(t.byAddress[prev])
	if attempt != nil {
		for _, tried := range attempt.Tried {
			if n, ok := tried.(*node); ok {
				s.add(t.byAddress[n.address])
			}
		}
	}
	if len(s.nodes) == 0 || len(s.nodes) >= t.servingCount {
		return nil
	}
	return s
}

// leftover draws by weight among those who serve and are not skipped. It is
// for retries, so it may look at each.
func leftover(list []*candidate, skip *skips, r uint64) *candidate {
	total := uint64(0)
	for _, c := range list {
		if c.serving && !skip.has(c) {
			total += c.weight
		}
	}
	at, _ := bits.Mul64(r, total)
	for _, c := range list {
		if !c.serving || skip.has(c) {
			continue
		}
		if at < c.weight {
			return c
		}
		at -= c.weight
	}
	return nil
}
