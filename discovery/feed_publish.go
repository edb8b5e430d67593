// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package discovery

import (
	"sync"
	"time"

	kdiscovery "github.com/cloudwego/kitex/pkg/discovery"

	"github.com/fairway-rpc/fairway/internal/live"
)

// published is one snapshot with the list that Kitex's own balancers get.
type published struct {
	snapshot *Snapshot
	serving  func() []kdiscovery.Instance // Kitex asks for few of the snapshots
	known    bool
}

// servingOf leaves out who must get no calls.
func servingOf(instances []*Instance) []kdiscovery.Instance {
	serving := make([]kdiscovery.Instance, 0, len(instances))
	for _, i := range instances {
		if i.Weight() > 0 {
			serving = append(serving, i)
		}
	}
	return serving
}

// publish makes the present state visible to readers. Callers hold f.mu.
func (f *feed) publish() {
	instances := f.present()
	f.known = f.known || len(instances) > 0
	p := &published{
		snapshot: &Snapshot{
			Service:   f.service,
			Instances: instances,
			Revision:  f.revision(),
			ClusterID: f.instances.pos.cluster,
			ProvedAt:  f.proved,
			State:     f.state,
			Source:    f.source,
			Suspects:  f.guard.len(),
			Skipped:   f.skippedKeys(),
		},
		known:   f.known,
		serving: sync.OnceValue(func() []kdiscovery.Instance { return servingOf(instances) }),
	}
	f.view.Publish(f.liveSet(p.snapshot)) // first: who gets a result picks from the view
	f.followed = f.followed || f.listed
	f.ages.forget(instances, time.Now())
	f.published.Store(p)
	f.subs.notify()
	f.answerable()
}

// present is who is there: the registered instances and the suspects, ordered
// by key, with the rules applied. Callers hold f.mu.
func (f *feed) present() []*Instance {
	all := f.instances.entries
	if f.guard.len() > 0 {
		all = all.among(f.guard.all())
	}
	return f.ruleSet.apply(all.instances())
}

// skippedKeys counts the records and rules that cannot be used. Callers hold
// f.mu.
func (f *feed) skippedKeys() int {
	return f.instances.entries.unreadable() + f.rules.entries.unreadable()
}

// current is the published snapshot with what has been proved since.
func (f *feed) current() *Snapshot {
	p := f.published.Load()
	if p == nil {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	s := *f.published.Load().snapshot
	s.Revision, s.ProvedAt = f.revision(), f.proved
	return &s
}

// liveSet is the snapshot as balancers read it. Callers hold f.mu.
func (f *feed) liveSet(s *Snapshot) *live.Set {
	return &live.Set{
		Nodes:    f.liveNodes(s),
		Revision: s.Revision,
		Stale:    s.State != FeedLive,
		Source:   s.Source.String(),
		Suspects: s.Suspects,
	}
}

// liveNodes goes by what was published before where an instance is still the
// same: most changes are of one in many. With suspects it looks at each, since
// these come and go without a change of the instance.
func (f *feed) liveNodes(s *Snapshot) []*live.Node {
	nodes := make([]*live.Node, len(s.Instances))
	var before []*Instance
	if p := f.published.Load(); p != nil && p.snapshot.Suspects == 0 && s.Suspects == 0 {
		before = p.snapshot.Instances
		copy(nodes, f.view.Load().Nodes)
	}
	for n, i := range s.Instances {
		if n >= len(before) || before[n] != i {
			nodes[n] = f.liveNode(i)
		}
	}
	return nodes
}

func (f *feed) liveNode(i *Instance) *live.Node {
	node := &live.Node{
		Instance: i,
		Address:  i.addr.String(),
		Weight:   i.BaseWeight(),
		Serving:  i.state == StateServing,
	}
	if s := f.guard.at(i.addr); s != nil {
		node.Suspect = s.calls
	}
	if i.warmUp > 0 {
		node.WarmUp = &live.WarmUp{Born: f.ages.bornAt(i, time.Now(), !f.followed), Takes: i.warmUp}
	}
	return node
}
