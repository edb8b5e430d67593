// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package discovery

import (
	"context"
	"fmt"
	"time"
)

// listing is a service at one revision: its instances and its rules.
type listing struct {
	position

	instances entries
	rules     entries
}

// list reads the instances, and then the rules at the same revision.
func (f *feed) list(ctx context.Context) (listing, error) {
	pos, instances, err := f.instances.list(ctx, f.cli, 0)
	if err != nil {
		return listing{}, err
	}
	at, rules, err := f.rules.list(ctx, f.cli, pos.revision)
	switch {
	case err != nil:
		return listing{}, fmt.Errorf("rules under %s: %w", f.rules.prefix, err)
	case at.behind(pos):
		return listing{}, fmt.Errorf("%w: rules from another store than the instances", errDiverged)
	}
	return listing{position: pos, instances: instances, rules: rules}, nil
}

// adopt replaces everything known by a list. Whoever is missing in it has
// vanished or left while nobody watched, which the guard judges.
func (f *feed) adopt(l listing) {
	saved := f.baseline()
	f.mu.Lock()
	defer f.unlock()
	f.beforeFirst(l, saved)
	before := f.instances.entries
	f.instances.pos, f.instances.entries = l.position, l.instances
	f.rules.pos, f.rules.entries = l.position, l.rules
	f.source, f.lastErr = SourceEtcd, nil
	f.prove(time.Now())
	if f.state == FeedStarting {
		f.broken = f.proved // the watch is about to begin
		f.become(FeedLive)
	}
	f.compare(before)
	f.readRules()
	f.publish()
	f.save()
}
