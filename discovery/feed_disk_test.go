// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package discovery

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/fairway-rpc/fairway/internal/etcdtest"
)

func TestHungDiskHoldsUpTheFirstCallersOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &diskRead{file: "f", until: time.Now().Add(diskWait), done: make(chan struct{})}
		for n, want := range []time.Duration{diskWait, 0, 0} {
			began := time.Now()
			if _, err := d.result(); err == nil {
				t.Error("no error although the disk hangs")
			}
			if took := time.Since(began); took != want {
				t.Errorf("caller %d waited %v, want %v", n, took, want)
			}
		}
		d.saved = &savedService{Service: "late"}
		close(d.done)
		if saved, err := d.result(); err != nil || saved.Service != "late" {
			t.Errorf("after the disk has answered: %v, %v", saved, err)
		}
	})
}

// shortWatcher ends each watch of instances as soon as etcd has confirmed it.
type shortWatcher struct{ clientv3.Watcher }

func (w shortWatcher) Watch(ctx context.Context, key string, opts ...clientv3.OpOption) clientv3.WatchChan {
	if strings.Contains(key, "_rules") {
		return w.Watcher.Watch(ctx, key, opts...)
	}
	ch := make(chan clientv3.WatchResponse, 1)
	ch <- clientv3.WatchResponse{Created: true}
	close(ch)
	return ch
}

func TestWatchesThatEndAtOnceAreOpenedEverMoreSlowly(t *testing.T) {
	t.Parallel()
	cli := etcdtest.Start(t).Client(t)
	cli.Watcher = shortWatcher{cli.Watcher}
	r := testResolver(t, cli)
	ended := func() int64 {
		_ = addresses(t, r, "echo")
		return r.Status().Services[0].Relists[causeEnded]
	}
	began := time.Now()
	waitFor(t, "a few watches have ended", func() bool { return ended() > 0 && time.Since(began) > 5*time.Second })
	// Half a second, one, two, four, five ...: the sum of twelve waits is 24 s on
	// average.
	if n := ended(); n > 12 {
		t.Errorf("%d watches in %v", n, time.Since(began))
	}
}
