// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package live

import (
	"testing"
	"time"
)

func TestWatchersAreToldUntilTheyCancel(t *testing.T) {
	v := &View{}
	told := 0
	cancel := v.OnChange(func() { told++ })
	v.Publish(&Set{Revision: 1})
	v.Publish(&Set{Revision: 2})
	cancel()
	v.Publish(&Set{Revision: 3})
	if told != 2 || v.Load().Revision != 3 {
		t.Errorf("told %d times, revision %d", told, v.Load().Revision)
	}
}

// TestSettleWaitsForThoseWhoCanBeWaitedFor: without the view's lock, since what
// they do to catch up may need it.
func TestSettleWaitsForThoseWhoCanBeWaitedFor(t *testing.T) {
	v := &View{}
	var inEffect *Set
	v.OnChange(func() {})
	var cancel func()
	cancel = v.Watch(func() {}, func() {
		inEffect = v.Load()
		cancel()
	})
	v.Publish(&Set{Revision: 1})
	v.Settle()
	if inEffect == nil || inEffect.Revision != 1 {
		t.Errorf("%+v is in effect", inEffect)
	}
	v.Publish(&Set{Revision: 2})
	v.Settle()
	if inEffect.Revision != 1 {
		t.Error("waited for a watcher that has gone")
	}
}

func TestCloseIsTheLastWord(t *testing.T) {
	v := &View{}
	closed := false
	v.OnChange(func() { closed = v.Closed() })
	v.Close()
	if !closed {
		t.Error("the watcher was not told of the end")
	}
}

func TestAge(t *testing.T) {
	v := &View{}
	now := time.Now()
	if got := v.Age(now); got >= 0 {
		t.Errorf("never proved, but of age %v", got)
	}
	v.Prove(now.Add(-time.Minute))
	if got := v.Age(now).Round(time.Second); got != time.Minute {
		t.Errorf("age %v, want a minute", got)
	}
}

func TestLeaveRemovesOnlyItsOwnView(t *testing.T) {
	old, successor := &View{}, &View{}
	key := Key("resolver", t.Name())
	Enter(key, old)
	Enter(key, successor)
	Leave(key, old)
	if Find(key) != successor {
		t.Error("the successor is gone")
	}
	Leave(key, successor)
	if Find(key) != nil {
		t.Error("the view is still there")
	}
}
