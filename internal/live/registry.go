// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package live

import "sync"

// views maps Kitex's cache keys, "<resolver name>:<service>", to *View.
// It is process-wide since Kitex hands a balancer nothing but the key;
// resolver names are unique in a process.
var views sync.Map

// Key is the cache key under which Kitex asks a balancer for a picker, given
// the resolver's name and the CacheKey of its Result.
func Key(resolver, service string) string { return resolver + ":" + service }

// Enter makes v findable under key.
func Enter(key string, v *View) { views.Store(key, v) }

// Leave removes v; whoever holds it keeps its last set.
func Leave(key string, v *View) { views.CompareAndDelete(key, v) }

// Find returns the view under key, or nil.
func Find(key string) *View {
	v, ok := views.Load(key)
	if !ok {
		return nil
	}
	return v.(*View)
}
