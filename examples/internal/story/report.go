// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package story

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/fairway-rpc/fairway/discovery"
)

// Report is the story for programs: one line of JSON.
type Report struct {
	// TTLMS is the lease's time to live.
	TTLMS  int64  `json:"ttl_ms"`
	Steps  []Step `json:"steps"`
	TookMS int64  `json:"took_ms"`
	count
}

// Step is one event: what was counted from the end of the event before to its
// own, and what it showed.
type Step struct {
	Name string `json:"name"`
	count
	TookMS int64 `json:"took_ms"`
	Finding
}

// Finding is what a step showed; what does not apply is absent.
type Finding struct {
	// SeenMS is how long it took until the consumer knew of the event.
	SeenMS float64 `json:"seen_ms,omitempty"`
	// AgeMS is the age of the consumer's copy while etcd was down.
	AgeMS int64 `json:"age_ms,omitempty"`
	// DrainedCalls are those that went to a provider after the consumer knew of
	// its drain.
	DrainedCalls *uint64 `json:"drained_calls,omitempty"`
	// Shares are those after the event.
	Shares   []Share   `json:"shares,omitempty"`
	Registry *Registry `json:"registry,omitempty"`
	// Shows says it to a person.
	Shows string `json:"shows,omitempty"`
}

// Registry is what became of etcd's data, as the consumer saw it.
type Registry struct {
	Before          int64  `json:"revision_before"`
	Revision        int64  `json:"revision"`
	ClusterIDBefore string `json:"cluster_id_before,omitempty"`
	ClusterID       string `json:"cluster_id,omitempty"`
	// Held suspects vanished from etcd and were called on; Returned of them have
	// registered again.
	Held     int64 `json:"suspects_held"`
	Returned int64 `json:"suspects_returned"`
}

// registryOf compares what the consumer saw before and after.
func registryOf(before, after discovery.ServiceStatus) Registry {
	return Registry{
		Before: before.Revision, Revision: after.Revision, ClusterIDBefore: before.ClusterID, ClusterID: after.ClusterID,
		Held: after.GuardHeld - before.GuardHeld, Returned: after.GuardReturned - before.GuardReturned,
	}
}

func newReport() *Report { return &Report{TTLMS: ttl.Milliseconds(), Steps: []Step{}} }

func (r *Report) add(s Step) {
	r.Steps = append(r.Steps, s)
	r.count.add(s.count)
}

// failed is an error if calls have failed, with the steps and some causes.
func (r *Report) failed(causes []string) error {
	if r.Failed == 0 {
		return nil
	}
	var where []string
	for _, s := range r.Steps {
		if s.Failed > 0 {
			where = append(where, fmt.Sprintf("%d in step %q", s.Failed, s.Name))
		}
	}
	slices.Sort(causes)
	return fmt.Errorf("%d %w: %s: %q", r.Failed, ErrCallsFailed, strings.Join(where, ", "), slices.Compact(causes))
}

// Write writes the report as one line.
func (r *Report) Write(w io.Writer) error {
	line, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	_, err = fmt.Fprintf(w, "%s\n", line)
	return err
}
