// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package discovery

import (
	"errors"
	"time"
)

// compare tells the guard how the entries differ from those before. Callers
// hold f.mu.
func (f *feed) compare(before entries) {
	for _, old := range before {
		if at, found := f.instances.entries.find(old.key); !found || f.instances.entries[at].instance == nil {
			f.gone(old)
		}
	}
	f.registeredAgain(f.instances.entries.instances())
	f.judge(time.Now())
}

// baseline is the disk copy if the first list is to be compared with it: nil
// for any later list, and while there is none.
func (f *feed) baseline() *diskState {
	if f.disk == nil || f.listed {
		return nil
	}
	saved, err := f.disk.result()
	if err == nil {
		var c *diskState
		if c, err = f.read(saved); err == nil {
			return c
		}
	}
	if !errors.Is(err, ErrInvalidSnapshot) { // a disk that fails is told of when it is needed, or written to
		return nil
	}
	f.mu.Lock()
	defer f.unlock()
	f.ignoreDisk(err)
	return nil
}

// beforeFirst makes the disk copy what the first list is compared with: an etcd
// that was wiped must not empty a consumer that has just been started. An old
// copy is no baseline, unless etcd is older still. Callers hold f.mu.
func (f *feed) beforeFirst(l listing, saved *diskState) {
	if f.listed {
		return
	}
	f.listed = true
	if saved == nil || !f.trusts(l, saved) {
		f.instances.entries = nil
		return
	}
	if f.published.Load() == nil {
		f.load(saved)
	}
}

// trusts reports whether the guard may compare a list with a disk copy.
func (f *feed) trusts(l listing, saved *diskState) bool {
	young := time.Since(saved.ProvedAt) < f.cfg.guard.HoldTime
	return !f.cfg.guard.Off && f.checkAge(saved.savedService) == nil && (young || l.revision < saved.Revision)
}
