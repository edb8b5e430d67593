// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package discovery

import (
	"errors"
	"fmt"
	"io/fs"
	"time"
)

// useDisk publishes the disk copy, unless etcd has already been listed or the
// copy was looked for before.
func (f *feed) useDisk() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.disk == nil || f.diskRead || f.published.Load() != nil {
		return
	}
	f.diskRead = true
	saved, err := f.disk.load(f.service)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	if err == nil {
		err = f.restore(saved)
	}
	if err != nil {
		f.cfg.log.Warn("disk copy ignored", "service", f.service, "file", f.disk.file(f.service), "error", err)
	}
}

// restore makes a disk copy the present state. Callers hold f.mu.
func (f *feed) restore(saved *savedService) error {
	age := time.Since(saved.ProvedAt).Round(time.Second)
	if limit := f.cfg.maxSnapshotAge; limit > 0 && age > limit {
		return fmt.Errorf("its age of %v is over the limit of %v (WithMaxSnapshotAge)", age, limit)
	}
	list := make(entries, 0, len(saved.Records))
	for _, r := range saved.Records {
		decoded, err := decodeRecord(r.Value)
		if err != nil {
			return fmt.Errorf("key %q: %w", r.Key, err)
		}
		list = append(list, entry{key: r.Key, modified: r.ModRevision, value: r.Value, instance: newInstance(decoded)})
	}
	f.pos = position{revision: saved.Revision, cluster: uint64(saved.ClusterID)}
	f.entries, f.source, f.known, f.proved = list, SourceDisk, true, saved.ProvedAt
	f.view.Prove(f.proved)
	f.publish()
	f.cfg.log.Warn("etcd unreachable at start; serving the disk copy", "service", f.service,
		"instances", len(list), "age", age, "revision", saved.Revision)
	return nil
}

// saved is what the disk copy of the present state says; false while that
// state is not etcd's own.
func (f *feed) saved() (*savedService, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.source != SourceEtcd || f.published.Load() == nil {
		return nil, false
	}
	s := &savedService{
		Service:   f.service,
		Prefix:    f.cfg.keys.prefix,
		ClusterID: clusterID(f.pos.cluster),
		Revision:  f.pos.revision,
		ProvedAt:  f.proved,
		Records:   make([]savedRecord, 0, len(f.entries)),
	}
	for _, e := range f.entries {
		if e.instance != nil {
			s.Records = append(s.Records, savedRecord{Key: e.key, ModRevision: e.modified, Value: e.value})
		}
	}
	return s, true
}
