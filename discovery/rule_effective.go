// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package discovery

import (
	"slices"
	"strings"
)

// effective is the instance as the rules make it: the record, then the rule
// for all addresses, then its own. Either rule may be nil; an expired one must
// not be given. It returns base itself where the rules change nothing.
func effective(base *Instance, star, own *Rule) *Instance {
	if star == nil && own == nil {
		return base
	}
	i := *base
	i.override(star)
	i.override(own)
	if i.weight == base.weight && i.state == base.state && slices.Equal(i.tags, base.tags) {
		return base
	}
	return &i
}

// override changes a copy that nobody has seen yet.
func (i *Instance) override(r *Rule) {
	if r == nil {
		return
	}
	if r.Weight != nil {
		i.weight = *r.Weight
	}
	if r.State != "" && i.state != StateLeaving {
		i.state = r.State
	}
	if len(r.Tags) > 0 {
		i.tags = mergeTags(i.tags, r.Tags)
	}
}

// mergeTags makes a new list, ordered by key.
func mergeTags(tags []tag, by map[string]*string) []tag {
	merged := make([]tag, 0, len(tags)+len(by))
	for _, t := range tags {
		if _, overridden := by[t.key]; !overridden {
			merged = append(merged, t)
		}
	}
	for key, value := range by {
		if value != nil {
			merged = append(merged, tag{key, *value})
		}
	}
	slices.SortFunc(merged, func(a, b tag) int { return strings.Compare(a.key, b.key) })
	return merged
}
