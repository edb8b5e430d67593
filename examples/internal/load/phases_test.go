// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package load_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairway-rpc/fairway/examples/internal/load"
)

func TestCallsBelongToThePhaseInWhichTheyBegan(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		phases := load.NewPhases()
		first := phases.Now()
		go phases.Do(t.Context(), func(context.Context) error {
			time.Sleep(time.Second)
			return errors.New("broken")
		})
		synctest.Wait()
		second := phases.Next()
		phases.Do(t.Context(), func(context.Context) error { return nil })
		if n := first.Read().Calls; n != 0 {
			t.Errorf("%d calls have ended while one is under way", n)
		}
		if got := first.Whole(); got.Calls != 1 || got.Failed != 1 {
			t.Errorf("the first phase has %d calls, %d failed, want its one that failed later", got.Calls, got.Failed)
		}
		if got := second.Read(); got.Calls != 1 || got.Failed != 0 || phases.Now() != second {
			t.Errorf("the second phase has %d calls, %d failed, want the one that began in it", got.Calls, got.Failed)
		}
	})
}

func TestPhasesLoseNoCall(t *testing.T) {
	const callers, each = 8, 500
	phases := load.NewPhases()
	all := []*load.Phase{phases.Now()}
	var calling sync.WaitGroup
	for range callers {
		calling.Go(func() {
			for range each {
				phases.Do(t.Context(), func(context.Context) error { return nil })
			}
		})
	}
	for range 100 {
		all = append(all, phases.Next())
	}
	calling.Wait()
	sum := uint64(0)
	for _, phase := range all {
		sum += phase.Whole().Calls
	}
	if sum != callers*each {
		t.Errorf("the phases have %d calls in all, want %d", sum, callers*each)
	}
}
