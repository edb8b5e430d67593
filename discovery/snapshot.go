// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package discovery

import "time"

// FeedState tells how far a snapshot can be trusted.
type FeedState string

// The states of a feed.
const (
	// FeedStarting: no list has succeeded yet; instances, if any, are from disk.
	FeedStarting FeedState = "starting"
	// FeedLive: listed, and the watch delivers each change.
	FeedLive FeedState = "live"
	// FeedStale: the watch or the connection has been broken for 5 s, or nothing
	// has proved it alive for 15 s. The last known instances are served.
	FeedStale FeedState = "stale"
)

// String implements fmt.Stringer.
func (s FeedState) String() string { return string(s) }

// Source tells where a snapshot's instances came from.
type Source string

// The sources of a snapshot.
const (
	SourceEtcd Source = "etcd"
	SourceDisk Source = "disk"
)

// String implements fmt.Stringer.
func (s Source) String() string { return string(s) }

// Snapshot is the state of one service at one revision of etcd. It is
// immutable: do not change its slice.
type Snapshot struct {
	Service string
	// Instances are ordered by key and include those that do not serve.
	Instances []*Instance
	// Revision is the latest of etcd's revisions that the snapshot takes account of.
	Revision int64
	// ClusterID is the etcd cluster's own ID.
	ClusterID uint64
	// ProvedAt is when etcd last proved the snapshot to be current.
	ProvedAt time.Time
	State    FeedState
	Source   Source
	// Suspects is the number of instances that vanished from etcd without a word
	// and are held by the guard.
	Suspects int
	// Skipped is the number of keys whose records or rules cannot be used.
	Skipped int
}
