// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package discovery

import (
	kdiscovery "github.com/cloudwego/kitex/pkg/discovery"

	"github.com/fairway-rpc/fairway/internal/live"
)

// published is one snapshot with the list that Kitex's own balancers get.
type published struct {
	snapshot *Snapshot
	serving  []kdiscovery.Instance
	known    bool
}

// publish makes the present entries visible to readers. Callers hold f.mu.
func (f *feed) publish() {
	instances := f.entries.instances()
	f.known = f.known || len(instances) > 0
	p := &published{
		snapshot: &Snapshot{
			Service:   f.service,
			Instances: instances,
			Revision:  f.pos.revision,
			ClusterID: f.pos.cluster,
			ProvedAt:  f.proved,
			State:     f.state,
			Source:    f.source,
			Skipped:   f.entries.unreadable(),
		},
		known: f.known,
	}
	for _, i := range instances {
		if i.Weight() > 0 {
			p.serving = append(p.serving, i)
		}
	}
	f.view.Publish(liveSet(p.snapshot)) // first: who gets a result picks from the view
	f.published.Store(p)
	f.subs.notify()
	f.answerable()
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
	s.Revision, s.ProvedAt = f.pos.revision, f.proved
	return &s
}

func liveSet(s *Snapshot) *live.Set {
	set := &live.Set{
		Nodes:    make([]live.Node, len(s.Instances)),
		Revision: s.Revision,
		Stale:    s.State != FeedLive,
		Source:   s.Source.String(),
	}
	for n, i := range s.Instances {
		set.Nodes[n] = live.Node{
			Instance: i,
			Address:  i.addr.String(),
			Weight:   i.BaseWeight(),
			Serving:  i.state == StateServing,
		}
	}
	return set
}
