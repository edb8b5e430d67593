// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package middleware

import (
	"context"
	"fmt"
	"time"

	"github.com/cloudwego/kitex/pkg/klog"
)

// asker asks from the first server of a registry to the last.
type asker struct {
	*readyRegistry

	stop    context.CancelFunc
	done    chan struct{}
	unready bool // what the registry was told; its own until it is done
}

// startAsking asks once, and then from a goroutine. What the one before has said
// stands.
func (r *readyRegistry) startAsking(before *asker) *asker {
	ctx, cancel := context.WithCancel(context.Background())
	a := &asker{readyRegistry: r, stop: cancel, done: make(chan struct{})}
	if before != nil {
		<-before.done
		a.unready = before.unready
	}
	a.ask(ctx)
	go a.run(ctx)
	return a
}

func (a *asker) run(ctx context.Context) {
	defer close(a.done)
	tick := time.NewTicker(a.every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			a.ask(ctx)
		}
	}
}

// ask tells the registry if the answer is another than the last.
func (a *asker) ask(ctx context.Context) {
	err := a.safely(ctx)
	if unready := err != nil; ctx.Err() != nil || unready == a.unready {
		return
	}
	a.unready = err != nil
	if err != nil {
		klog.Warnf("fairway: the provider of %v is not ready and drains: %v", a.services, err)
	} else {
		klog.Infof("fairway: the provider of %v is ready", a.services)
	}
	a.tell(ctx)
}

// safely turns a panic of the check into its error: it is not to take the process
// down from a goroutine that its author has never seen.
func (a *asker) safely(ctx context.Context) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the readiness check panicked: %v", p)
		}
	}()
	within, cancel := context.WithTimeout(ctx, a.every)
	defer cancel()
	return a.check(within)
}

func (a *asker) tell(ctx context.Context) {
	gone, cancel := context.WithCancel(ctx)
	cancel() // the wish stands; waiting for etcd would hold up the next question
	for _, service := range a.services {
		_ = a.reg.SetReady(gone, service, !a.unready)
	}
}
