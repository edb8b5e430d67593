// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package discovery

import (
	"fmt"
	"testing"
	"time"

	"github.com/cloudwego/kitex/pkg/utils"
)

func startedInstance(address string, started time.Time) *Instance {
	return &Instance{addr: utils.NewNetAddr("tcp", address), startedAt: started, warmUp: time.Minute}
}

func TestAgesBeginWhereTheySay(t *testing.T) {
	now := time.Now()
	for name, c := range map[string]struct {
		started    time.Time
		seenBefore bool
		want       time.Time
	}{
		"new":                                    {now.Add(-time.Hour), false, now},
		"new, by a clock that is ahead":          {now.Add(time.Hour), false, now},
		"there before":                           {now.Add(-40 * time.Second), true, now.Add(-40 * time.Second)},
		"there before, by a clock that is ahead": {now.Add(time.Hour), true, now},
		"there before, it does not say":          {time.Time{}, true, now},
	} {
		if got := (ages{}).bornAt(startedInstance("a:1", c.started), now, c.seenBefore); !got.Equal(c.want) {
			t.Errorf("%s: ages from %v, want %v", name, got.Sub(now), c.want.Sub(now))
		}
	}
}

// TestComingBackIsNotBeingNew, but another start is.
func TestComingBackIsNotBeingNew(t *testing.T) {
	a, now := ages{}, time.Now()
	started := now.Add(-time.Second)
	born := a.bornAt(startedInstance("a:1", started), now, false)
	later := now.Add(10 * time.Minute)
	a.forget(nil, later)
	if got := a.bornAt(startedInstance("a:1", started), later, false); !got.Equal(born) {
		t.Errorf("back after ten minutes it is %v old", later.Sub(got))
	}
	if got := a.bornAt(startedInstance("a:1", later), later, false); !got.Equal(later) {
		t.Errorf("started again it is %v old", later.Sub(got))
	}
	if got := a.bornAt(startedInstance("b:1", started), later, false); !got.Equal(later) {
		t.Errorf("at another address it is %v old", later.Sub(got))
	}
}

// TestAgesAreForgotten: instances come and go for ever.
func TestAgesAreForgotten(t *testing.T) {
	a, now := ages{}, time.Now()
	stays := startedInstance("stays:1", now)
	born := a.bornAt(stays, now, false)
	for n := range 10_000 {
		now = now.Add(time.Minute)
		a.bornAt(startedInstance(fmt.Sprintf("a%d:1", n), now), now, false)
		a.forget([]*Instance{stays}, now)
		if len(a) > 200 {
			t.Fatalf("%d are remembered after %d", len(a), n+1)
		}
	}
	if got := a.bornAt(stays, now, false); !got.Equal(born) {
		t.Error("who stays was forgotten")
	}
}
