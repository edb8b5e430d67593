// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package discovery

import (
	"errors"
	"fmt"
	"io/fs"
	"time"
)

// diskWait is how long a caller waits for the disk, which usually has answered
// long before it is asked: it is read when a feed starts.
const diskWait = 250 * time.Millisecond

// diskRead reads a disk copy once, away from everybody: a disk may hang.
type diskRead struct {
	file  string
	done  chan struct{}
	saved *savedService
	err   error
}

// newDiskRead begins to read; it returns nil if nothing is kept on disk.
func newDiskRead(disk *diskCopy, service string) *diskRead {
	if disk == nil {
		return nil
	}
	d := &diskRead{file: disk.file(service), done: make(chan struct{})}
	go func() {
		defer close(d.done)
		d.saved, d.err = disk.load(service)
	}()
	return d
}

// result waits for the disk, though not for long.
func (d *diskRead) result() (*savedService, error) {
	timer := time.NewTimer(diskWait)
	defer timer.Stop()
	select {
	case <-d.done:
		return d.saved, d.err
	case <-timer.C:
		return nil, fmt.Errorf("%s: no answer from the disk within %v", d.file, diskWait)
	}
}

// useDisk publishes the disk copy, unless something has been published before.
func (f *feed) useDisk() {
	if f.disk == nil || f.published.Load() != nil {
		return
	}
	saved, err := f.disk.result()
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	f.mu.Lock()
	defer f.unlock()
	if err == nil && f.published.Load() == nil {
		err = f.restore(saved)
	}
	if _, first := f.skipped.Allow("disk copy"); err != nil && first {
		f.later(func() {
			f.cfg.log.Warn("disk copy ignored", "service", f.service, "file", f.disk.file, "error", err)
		})
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
	f.entries, f.source, f.known = list, SourceDisk, saved.Known
	f.prove(saved.ProvedAt)
	f.publish()
	f.later(func() {
		f.cfg.log.Warn("etcd unreachable at start; serving the disk copy", "service", f.service,
			"instances", len(list), "age", age, "revision", saved.Revision)
	})
	return nil
}

// unsaved reports whether the disk copy lacks a change or a later proof.
func (f *feed) unsaved() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return !f.proved.Equal(f.saved)
}

// snapshotForDisk is what the disk copy of the present state says; false while
// that state is not etcd's own.
func (f *feed) snapshotForDisk() (*savedService, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.source != SourceEtcd || f.published.Load() == nil {
		return nil, false
	}
	f.saved = f.proved
	s := &savedService{
		Service:   f.service,
		Prefix:    f.cfg.keys.prefix,
		ClusterID: clusterID(f.pos.cluster),
		Revision:  f.pos.revision,
		Known:     f.known,
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
