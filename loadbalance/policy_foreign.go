// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package loadbalance

// foreign carries out a policy of an application's own.
type foreign struct {
	builder Builder
	config  *config
}

var _ counter = (*foreign)(nil)

func (e *foreign) build(list []*candidate, prev chooser) chooser {
	var before Chooser
	if p, ok := prev.(*foreignChooser); ok {
		before = p.chooser
	}
	candidates := make([]Candidate, len(list))
	for i, c := range list {
		candidates[i] = Candidate{Instance: c.instance, Weight: c.share(), node: c.node}
	}
	return &foreignChooser{engine: e, list: list, chooser: e.builder(candidates, before)}
}

type foreignChooser struct {
	engine  *foreign
	list    []*candidate
	chooser Chooser
}

// choose does not trust the policy: what it must not return is replaced.
func (f *foreignChooser) choose(hash uint64, skip *skips) *candidate {
	if f.engine.config.hash == nil {
		hash = f.engine.config.rand.Uint64()
	}
	var passOver func(int) bool
	if skip != nil {
		passOver = func(i int) bool { return skip.has(f.list[i]) }
	}
	var c *candidate
	if i := f.chooser.Choose(hash, passOver); i >= 0 && i < len(f.list) {
		c = f.list[i]
	}
	if c == nil || c.share() == 0 || skip.has(c) {
		c = leftover(f.list, skip, f.engine.config.rand.Uint64(), (*candidate).share)
	}
	if c != nil {
		c.node.inFlight.Add(1)
	}
	return c
}

// counted has nothing to do: the node's own count is all that is read.
func (e *foreign) counted(*node, int64) {}
