// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package demo

import (
	"fmt"
	"strings"
	"time"

	"github.com/fairway-rpc/fairway/discovery"
	"github.com/fairway-rpc/fairway/examples/internal/cluster"
	"github.com/fairway-rpc/fairway/examples/internal/load"
	"github.com/fairway-rpc/fairway/examples/internal/share"
	"github.com/fairway-rpc/fairway/examples/internal/table"
)

// shown is what the shares in the live table are taken from: long enough to be
// near the weights, short enough to follow a change.
const shown = 5 * time.Second

// shownErrors is how many errors stand below the table.
const shownErrors = 3

// window remembers the tallies of the last seconds. It begins anew when the
// instances or their weights change, so that what was before does not blur the
// shares.
type window struct {
	listed  string
	samples []sample
}

type sample struct {
	at    time.Time
	tally load.Tally
}

// add returns what was counted in the window up to now, and in how long.
func (w *window) add(now time.Time, tally load.Tally, listed string) (load.Tally, time.Duration) {
	if listed != w.listed && len(w.samples) > 0 {
		w.samples = w.samples[len(w.samples)-1:]
	}
	w.listed = listed
	w.samples = append(w.samples, sample{now, tally})
	for len(w.samples) > 2 && now.Sub(w.samples[1].at) >= shown {
		w.samples = w.samples[1:]
	}
	first := w.samples[0]
	return tally.Since(first.tally), now.Sub(first.at)
}

// listedBy tells one list of instances from another.
func listedBy(snapshot *discovery.Snapshot) string {
	var b strings.Builder
	for _, i := range snapshot.Instances {
		fmt.Fprintf(&b, "%s %d,", i.Address(), i.Weight())
	}
	return b.String()
}

// snapshot is the consumer's, which is there once calls have begun.
func (s *session) snapshot() *discovery.Snapshot {
	if snapshot, ok := s.resolver.Snapshot(service); ok {
		return snapshot
	}
	return &discovery.Snapshot{}
}

// rows are one for each provider, in their order, whether it is listed or not.
func (s *session) rows(snapshot *discovery.Snapshot, tally load.Tally) []share.Row {
	byAddress := make(map[string]share.Row)
	for _, row := range share.Of(snapshot.Instances, tally) {
		byAddress[row.Address] = row
	}
	rows := make([]share.Row, len(s.providers))
	for i, p := range s.providers {
		rows[i] = byAddress[p.Address]
		rows[i].Address, rows[i].Weight = p.Address, p.Weight
		rows[i].InFlight = tally.Instances[p.Address].InFlight
	}
	return rows
}

// view is what the table shows of the calls in part, which were counted in span.
func (s *session) view(snapshot *discovery.Snapshot, part load.Tally, span time.Duration) table.View {
	v := table.View{
		Policy: s.cfg.Policy,
		Span:   span,
		QPS:    rate(part.Calls, span),
		Feed: table.Feed{
			State: snapshot.State.String(), Source: snapshot.Source.String(),
			Age: time.Since(snapshot.ProvedAt), Revision: snapshot.Revision,
		},
		Etcd:   etcdState(s.etcd),
		Errors: part.Errors[:min(len(part.Errors), shownErrors)],
	}
	for i, row := range s.rows(snapshot, part) {
		v.Rows = append(v.Rows, table.Row{
			Number: i + 1, Address: row.Address, Weight: row.Weight,
			Expected: row.Expected, Actual: row.Actual,
			QPS: rate(row.Calls, span), InFlight: row.InFlight,
			State: providerState(s.providers[i], row.Listed),
		})
	}
	return v
}

func rate(calls uint64, span time.Duration) float64 {
	if span <= 0 {
		return 0
	}
	return float64(calls) / span.Seconds()
}

func etcdState(e *cluster.Etcd) table.Service {
	if e.Running() {
		return table.Service{Name: e.Endpoint(), State: "running", Up: true}
	}
	return table.Service{Name: e.Endpoint(), State: "stopped"}
}

// providerState is "starting" between a server's start and its registration.
func providerState(p *cluster.Provider, listed bool) table.Service {
	state := p.State()
	if state == cluster.Running && !listed {
		return table.Service{State: "starting"}
	}
	return table.Service{State: string(state), Up: state == cluster.Running}
}
