// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package middleware

import (
	"maps"
	"sync"
	"sync/atomic"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

// measured is what one set of attributes is made for. Fields are "" where they do
// not apply.
type measured struct {
	service                 string
	pkg, idlService, method string
	errorType, peer, other  string
}

// set is the attributes as the instruments take them, with counts that are read
// when somebody collects: an instrument of the SDK's takes as long as a pick.
type set struct {
	record  []metric.RecordOption
	add     []metric.AddOption
	observe []metric.ObserveOption

	active atomic.Int64 // calls under way
	count  atomic.Int64
}

// maxSets bounds what is kept: nobody has so many methods, but names come from
// outside.
const maxSets = 4096

// sets keeps the attribute sets that were made. Looking one up takes no lock and
// allocates nothing.
type sets struct {
	made     atomic.Pointer[map[measured]*set]
	overflow *set // for what is too much
	mu       sync.Mutex
	of       func(measured) []attribute.KeyValue
}

func newSets(of func(measured) []attribute.KeyValue) *sets {
	option := metric.WithAttributes(attribute.Bool("otel.metric.overflow", true))
	s := &sets{of: of, overflow: &set{
		record: []metric.RecordOption{option}, add: []metric.AddOption{option}, observe: []metric.ObserveOption{option},
	}}
	s.made.Store(&map[measured]*set{})
	return s
}

// each calls f for every set that was made.
func (s *sets) each(f func(*set)) {
	for _, made := range *s.made.Load() {
		f(made)
	}
	f(s.overflow)
}

func (s *sets) get(m measured) *set {
	if found := (*s.made.Load())[m]; found != nil {
		return found
	}
	return s.add(m)
}

func (s *sets) add(m measured) *set {
	option := metric.WithAttributeSet(attribute.NewSet(s.of(m)...))
	made := &set{record: []metric.RecordOption{option}, add: []metric.AddOption{option}, observe: []metric.ObserveOption{option}}
	s.mu.Lock()
	defer s.mu.Unlock()
	before := *s.made.Load()
	if found := before[m]; found != nil {
		return found
	}
	if len(before) >= maxSets {
		return s.overflow
	}
	after := maps.Clone(before)
	after[m] = made
	s.made.Store(&after)
	return made
}

// labels tells the first instances apart.
type labels struct {
	known atomic.Pointer[map[string]struct{}]
	mu    sync.Mutex
	most  int
}

// otherInstance is the label of those that are too many.
const otherInstance = "other"

func newLabels(most int) *labels {
	l := &labels{most: most}
	l.known.Store(&map[string]struct{}{})
	return l
}

func (l *labels) of(address string) string {
	known := *l.known.Load()
	if _, ok := known[address]; ok {
		return address
	}
	if len(known) >= l.most {
		return otherInstance
	}
	return l.learn(address)
}

func (l *labels) learn(address string) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	known := *l.known.Load()
	if _, ok := known[address]; !ok && len(known) >= l.most {
		return otherInstance
	}
	after := maps.Clone(known)
	after[address] = struct{}{}
	l.known.Store(&after)
	return address
}
