// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package discovery

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// ResolverStatus is what a resolver does at one moment.
type ResolverStatus struct {
	// Name is [Resolver.Name].
	Name    string `json:"name"`
	Cluster string `json:"cluster"`
	Prefix  string `json:"prefix"`
	// Services are ordered by name.
	Services []ServiceStatus `json:"services"`
}

// ServiceStatus is how a resolver follows one service.
type ServiceStatus struct {
	Service string    `json:"service"`
	State   FeedState `json:"state"`
	Source  Source    `json:"source"`
	// Revision is the latest of etcd's revisions that is taken account of, and
	// ClusterID etcd's own, in hexadecimal as etcdctl shows it.
	Revision  int64  `json:"revision"`
	ClusterID string `json:"cluster_id"`
	// ProvedAt is when etcd last proved the instances to be current; zero if it
	// never did.
	ProvedAt time.Time `json:"proved_at,omitzero"`
	// Instances includes the Suspects, which the guard holds.
	Instances int `json:"instances"`
	Suspects  int `json:"suspects"`
	// Skipped keys have records or rules that cannot be used.
	Skipped int `json:"skipped"`
	Rules   int `json:"rules"`
	// Relists counts the watches that ended and the lists that failed, by the
	// cause. Each is followed by a list.
	Relists map[string]int64 `json:"relists,omitempty"`
	// GuardHeld counts the suspects since the feed began, without those that a
	// disk copy brought; GuardReturned and GuardDropped what became of all.
	GuardHeld     int64            `json:"guard_held"`
	GuardReturned int64            `json:"guard_returned"`
	GuardDropped  map[string]int64 `json:"guard_dropped,omitempty"`
	// LastError is why etcd could not be followed, until it is again.
	LastError string `json:"last_error,omitempty"`
}

// Age is the time since etcd proved the instances to be current; 0 if it never
// did.
func (s *ServiceStatus) Age(now time.Time) time.Duration {
	if s.ProvedAt.IsZero() {
		return 0
	}
	return max(0, now.Sub(s.ProvedAt))
}

// Status tells of all services that are followed.
func (r *Resolver) Status() ResolverStatus {
	s := ResolverStatus{Name: r.name, Cluster: r.cfg.cluster, Prefix: r.cfg.keys.prefix}
	for _, f := range r.all() {
		s.Services = append(s.Services, f.status())
	}
	slices.SortFunc(s.Services, func(a, b ServiceStatus) int { return cmp.Compare(a.Service, b.Service) })
	return s
}

func (f *feed) status() ServiceStatus {
	f.mu.Lock()
	defer f.mu.Unlock()
	s := ServiceStatus{
		Service:       f.service,
		State:         f.state,
		Source:        f.source,
		Revision:      f.revision(),
		ClusterID:     strconv.FormatUint(f.instances.pos.cluster, 16),
		ProvedAt:      f.proved,
		Suspects:      f.guard.len(),
		Skipped:       f.skippedKeys(),
		Rules:         len(f.ruleSet.own),
		Relists:       maps.Clone(f.relists),
		GuardHeld:     f.guard.held,
		GuardReturned: f.guard.returned,
		GuardDropped:  maps.Clone(f.guard.dropped),
	}
	if p := f.published.Load(); p != nil {
		s.Instances = len(p.snapshot.Instances)
	}
	if f.lastErr != nil {
		s.LastError = f.lastErr.Error()
	}
	return s
}

// Services returns the names of all services that have a key in etcd, in order.
// It asks etcd once for each of them. Keys further below, such as those of a
// registry whose prefix begins with this one's, are no service's. Errors wrap
// [ErrRegistryUnavailable].
func (r *Resolver) Services(ctx context.Context) ([]string, error) {
	var names []string
	prefix := r.cfg.keys.prefix + "/"
	end := clientv3.GetPrefixRangeEnd(prefix)
	for start := prefix; ; {
		resp, err := get(ctx, r.cli, start, clientv3.WithRange(end), clientv3.WithLimit(1), clientv3.WithKeysOnly())
		if err != nil {
			return nil, servicesError(prefix, err)
		}
		if len(resp.Kvs) == 0 {
			slices.Sort(names) // keys are in another order: "a.b/" comes before "a/"
			return names, nil
		}
		key := string(resp.Kvs[0].Key)
		name, place, below := strings.Cut(strings.TrimPrefix(key, prefix), "/")
		if !below {
			start = key + "\x00"
			continue
		}
		start = clientv3.GetPrefixRangeEnd(r.cfg.keys.service(name)) // past the service's last key
		if CheckServiceName(name) != nil {
			continue
		}
		has, err := isPlace(place), error(nil)
		if !has {
			has, err = r.hasPlaces(ctx, name)
		}
		if err != nil {
			return nil, servicesError(prefix, err)
		}
		if has {
			names = append(names, name)
		}
	}
}

// isPlace reports whether what follows a service's name in a key is of the
// service itself: an address, in which slashes are escaped, or the path of a Unix
// socket of an old provider.
func isPlace(place string) bool {
	return !strings.Contains(place, "/") || strings.HasPrefix(place, "/")
}

// hasPlaces looks through all keys below a service's name.
func (r *Resolver) hasPlaces(ctx context.Context, name string) (has bool, err error) {
	prefix := r.cfg.keys.service(name)
	_, err = pages(ctx, r.cli, prefix, 0, func(kv *mvccpb.KeyValue) {
		has = has || isPlace(strings.TrimPrefix(string(kv.Key), prefix))
	}, clientv3.WithKeysOnly())
	return has, err
}

func servicesError(prefix string, err error) error {
	return fmt.Errorf("%w: list the services under %q: %w", ErrRegistryUnavailable, prefix, err)
}
