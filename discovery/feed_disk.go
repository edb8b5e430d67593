// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package discovery

import (
	"errors"
	"fmt"
	"io/fs"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
)

// diskWait is how long a caller waits for the disk, which usually has answered
// long before it is asked: it is read when a feed starts.
const diskWait = 250 * time.Millisecond

// diskRead reads a disk copy once, away from everybody: a disk may hang.
type diskRead struct {
	file  string
	until time.Time // when nobody waits for it any more
	done  chan struct{}
	saved *savedService
	err   error
}

// newDiskRead begins to read; it returns nil if nothing is kept on disk.
func newDiskRead(disk *diskCopy, service string) *diskRead {
	if disk == nil {
		return nil
	}
	d := &diskRead{file: disk.file(service), until: time.Now().Add(diskWait), done: make(chan struct{})}
	go func() {
		defer close(d.done)
		d.saved, d.err = disk.load(service)
	}()
	return d
}

// join waits for the disk once more when the feed has ended, though not long: a
// disk that hangs must not keep anybody from ending.
func (d *diskRead) join() {
	if d == nil {
		return
	}
	timer := time.NewTimer(diskWait)
	defer timer.Stop()
	select {
	case <-d.done:
	case <-timer.C:
	}
}

// result waits for the disk, though not for long, and all callers together no
// longer than one.
func (d *diskRead) result() (*savedService, error) {
	timer := time.NewTimer(max(0, time.Until(d.until)))
	defer timer.Stop()
	select {
	case <-d.done:
		return d.saved, d.err
	case <-timer.C:
	}
	select {
	case <-d.done: // both at once
		return d.saved, d.err
	default:
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
	var c *diskState
	if err == nil {
		c, err = f.read(saved)
	}
	f.mu.Lock()
	defer f.unlock()
	if f.ended || f.published.Load() != nil {
		return
	}
	if err == nil {
		err = f.restore(c)
	}
	if err != nil {
		f.ignoreDisk(err)
	}
}

// ignoreDisk tells once that the disk copy is of no use. Callers hold f.mu.
func (f *feed) ignoreDisk(err error) {
	if _, first := f.skipped.Allow("disk copy"); first {
		f.later(func() {
			f.cfg.log.Warn("disk copy ignored", "service", f.service, "file", f.disk.file, "error", err)
		})
	}
}

// restore makes a disk copy the present state. Callers hold f.mu.
func (f *feed) restore(saved *diskState) error {
	if err := f.checkAge(saved.savedService); err != nil {
		return err
	}
	f.load(saved)
	f.source = SourceDisk
	f.prove(saved.ProvedAt)
	f.publish()
	n, age := len(f.published.Load().snapshot.Instances), time.Since(saved.ProvedAt).Round(time.Second)
	f.later(func() {
		f.cfg.log.Warn("etcd unreachable at start; serving the disk copy", "service", f.service,
			"instances", n, "age", age, "revision", saved.Revision)
	})
	return nil
}

func (f *feed) checkAge(saved *savedService) error {
	age := time.Since(saved.ProvedAt).Round(time.Second)
	if limit := f.cfg.maxSnapshotAge; limit > 0 && age > limit {
		return fmt.Errorf("its age of %v is over the limit of %v (WithMaxSnapshotAge)", age, limit)
	}
	return nil
}

// diskState is a disk copy with its records read.
type diskState struct {
	*savedService

	instances, rules entries
	suspects         []formerSuspect
}

// formerSuspect is whom the guard held when the copy was written.
type formerSuspect struct {
	*suspect

	since time.Time
}

// read reads the records of a disk copy. Callers do not hold f.mu: a record that
// cannot be read is logged.
func (f *feed) read(saved *savedService) (c *diskState, err error) {
	c = &diskState{savedService: saved}
	if c.instances, err = restored(saved.Records, f.instances.decode); err != nil {
		return nil, err
	}
	if c.rules, err = restored(saved.Rules, f.rules.decode); err != nil {
		return nil, err
	}
	for _, one := range saved.Suspects {
		e := f.instances.decode(&mvccpb.KeyValue{Key: []byte(one.Key), ModRevision: one.ModRevision, Value: one.Value})
		if e.instance != nil {
			c.suspects = append(c.suspects, formerSuspect{newSuspect(e), one.VanishedAt})
		}
	}
	return c, nil
}

// load takes the disk copy in without offering it yet: its instances, its rules
// and whom the guard held. Callers hold f.mu.
func (f *feed) load(c *diskState) {
	pos := position{revision: c.Revision, cluster: uint64(c.ClusterID)}
	f.instances.pos, f.instances.entries = pos, c.instances
	f.rules.pos, f.rules.entries = pos, c.rules
	f.known = c.Known
	f.readRules()
	f.guard.ledger.Judge(time.Now(), f.registered())
	f.holdAgain(c.suspects)
}

// restored decodes what was saved. One bad record makes the whole copy unusable:
// only readable ones are ever saved.
func restored(records []savedRecord, decode func(*mvccpb.KeyValue) entry) (entries, error) {
	list := make(entries, 0, len(records))
	for _, r := range records {
		e := decode(&mvccpb.KeyValue{Key: []byte(r.Key), ModRevision: r.ModRevision, Value: r.Value})
		if !e.readable() {
			return nil, fmt.Errorf("%w: the record of key %q", ErrInvalidSnapshot, r.Key)
		}
		list = append(list, e)
	}
	return list, nil
}

// holdAgain takes up whom the guard held when the copy was written. Callers
// hold f.mu.
func (f *feed) holdAgain(former []formerSuspect) {
	if f.cfg.guard.Off {
		return
	}
	now := time.Now()
	var held []*suspect
	for _, one := range former {
		if f.guard.again(now, one.suspect, one.since) {
			f.hold(one.suspect)
			held = append(held, one.suspect)
		}
	}
	f.later(func() { f.resolver.claimed(f, held) })
}

// unsaved reports whether the disk copy lacks a change or a later proof.
func (f *feed) unsaved() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.dirty || !f.proved.Equal(f.saved)
}

// snapshotForDisk is what the disk copy of the present state says; false while
// that state is not etcd's own.
func (f *feed) snapshotForDisk() (*savedService, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.source != SourceEtcd || f.published.Load() == nil {
		return nil, false
	}
	f.saved, f.dirty = f.proved, false
	s := &savedService{
		Service:   f.service,
		Prefix:    f.cfg.keys.prefix,
		ClusterID: clusterID(f.instances.pos.cluster),
		Revision:  f.revision(),
		Known:     f.known,
		ProvedAt:  f.proved,
		Records:   f.instances.saved(),
		Rules:     f.rules.saved(),
	}
	for _, one := range f.guard.ledger.Suspects() {
		e := one.Value.entry
		s.Suspects = append(s.Suspects, savedSuspect{savedRecord: e.saved(), VanishedAt: one.Since})
	}
	return s, true
}

// saved is the readable entries as a disk copy has them.
func (s *span) saved() []savedRecord {
	records := make([]savedRecord, 0, len(s.entries))
	for i := range s.entries {
		if e := &s.entries[i]; e.readable() {
			records = append(records, e.saved())
		}
	}
	return records
}

func (e *entry) saved() savedRecord {
	return savedRecord{Key: e.key, ModRevision: e.modified, Value: e.value}
}
