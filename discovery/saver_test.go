// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package discovery

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"testing"
	"testing/synctest"
	"time"
)

// savable is a feed that nobody runs, with a state that can be saved.
func savable(service string) *feed {
	cfg := &resolverConfig{}
	cfg.keys = keyspace{prefix: "fairway"}
	f := &feed{service: service, cfg: cfg, source: SourceEtcd, guard: newCustody(Guard{})}
	f.published.Store(&published{snapshot: &Snapshot{Service: service}})
	changed(f)
	return f
}

// changed gives the feed another revision and proof.
func changed(f *feed) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.instances.pos.revision++
	f.proved = time.Now()
}

// savedRevision is what the disk holds; 0 if nothing.
func savedRevision(d *diskCopy, service string) int64 {
	s, err := d.load(service)
	if err != nil {
		return 0
	}
	return s.Revision
}

// runSaver runs during, in fake time, beside a saver that writes into d, and
// what comes afterwards when the saver has ended.
func runSaver(t *testing.T, d *diskCopy, during func(s *saver), afterwards ...func(s *saver)) *lines {
	t.Helper()
	log := &lines{}
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		s := newSaver(d, slog.New(slog.NewTextHandler(log, nil)))
		go s.run(ctx)
		during(s)
		cancel()
		<-s.done
		for _, f := range afterwards {
			f(s)
		}
	})
	return log
}

func TestCalmChangeIsOnDiskWithinHalfASecond(t *testing.T) {
	d := testDisk(t, "c1", "fairway")
	log := runSaver(t, d, func(s *saver) {
		f := savable("echo")
		for n := int64(1); n <= 3; n++ {
			s.schedule(f)
			time.Sleep(saveCalm)
			synctest.Wait()
			if got := savedRevision(d, "echo"); got != n {
				t.Errorf("change %d: the disk holds %d after %v", n, got, saveCalm)
			}
			time.Sleep(time.Minute)
			changed(f)
		}
	})
	if len(log.all) != 0 {
		t.Errorf("log: %v", log.all)
	}
}

// TestChurnStarvesNoSave has a change each tenth of a second for a minute.
func TestChurnStarvesNoSave(t *testing.T) {
	d := testDisk(t, "c1", "fairway")
	runSaver(t, d, func(s *saver) {
		f := savable("echo")
		writes, last, oldest := 0, int64(0), int64(0)
		for range 600 {
			s.schedule(f)
			time.Sleep(100 * time.Millisecond)
			synctest.Wait()
			if now := savedRevision(d, "echo"); now != last {
				last = now
				writes++
			}
			oldest = max(oldest, f.instances.pos.revision-last)
			changed(f)
		}
		if behind := time.Duration(oldest) * 100 * time.Millisecond; behind > saveBusy+saveCalm {
			t.Errorf("the disk was %v behind, more than %v", behind, saveBusy)
		}
		if writes < 11 || writes > 14 {
			t.Errorf("%d writes in a minute, want one every %v", writes, saveBusy)
		}
		time.Sleep(saveBusy)
		synctest.Wait()
		if got := savedRevision(d, "echo"); got != f.instances.pos.revision {
			t.Errorf("the last change saved is %d of %d", got, f.instances.pos.revision)
		}
	})
}

func TestManyServicesAreAllSaved(t *testing.T) {
	d := testDisk(t, "c1", "fairway")
	runSaver(t, d, func(s *saver) {
		for i := range 50 {
			s.schedule(savable(fmt.Sprint("echo", i)))
		}
		time.Sleep(saveCalm)
		synctest.Wait()
		for i := range 50 {
			if savedRevision(d, fmt.Sprint("echo", i)) == 0 {
				t.Errorf("service %d is not on disk", i)
			}
		}
	})
}

// TestFailureIsReportedOnceAndEnds has a file where the folder should be.
func TestFailureIsReportedOnceAndEnds(t *testing.T) {
	d := testDisk(t, "c1", "fairway")
	block := func() {
		if err := os.RemoveAll(d.dir); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(d.dir, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	block()
	log := runSaver(t, d, func(s *saver) {
		f, other := savable("echo"), savable("other")
		for range 2 { // two rows of failures
			for range 20 {
				s.schedule(f)
				time.Sleep(saveBusy)
				changed(f)
			}
			if err := os.Remove(d.dir); err != nil {
				t.Fatal(err)
			}
			time.Sleep(saveBusy)
			synctest.Wait()
			if got, want := savedRevision(d, "echo"), f.instances.pos.revision; got != want {
				t.Errorf("the disk holds %d, want %d without another change", got, want)
			}
			s.schedule(other)
			time.Sleep(time.Hour)
			block()
			changed(f)
		}
	})
	if failed, again := log.count("disk copy not written"), log.count("disk copy written again"); failed != 2 || again != 2 || len(log.all) != 4 {
		t.Errorf("%d failures and %d ends of them reported, want 2 and 2: %v", failed, again, log.all)
	}
}

func TestEndedFeedIsSavedAndForgotten(t *testing.T) {
	t.Run("while the saver runs", func(t *testing.T) {
		d := testDisk(t, "c1", "fairway")
		runSaver(t, d, func(s *saver) {
			f := savable("echo")
			s.schedule(f)
			time.Sleep(time.Minute)
			changed(f)
			s.forget(f)
			synctest.Wait()
			if got := savedRevision(d, "echo"); got != 2 {
				t.Errorf("the disk holds %d, want the last state", got)
			}
			s.forget(savable("unseen"))
			calm := savable("calm")
			s.schedule(calm)
			time.Sleep(time.Minute)
			s.forget(calm)
			synctest.Wait()
			if len(s.feeds) != 0 {
				t.Errorf("%d feeds are kept", len(s.feeds))
			}
		})
	})
	t.Run("after it", func(t *testing.T) {
		d := testDisk(t, "c1", "fairway")
		f := savable("echo")
		runSaver(t, d, func(s *saver) {
			s.schedule(f)
		}, func(s *saver) {
			changed(f)
			s.forget(f)
			if got := savedRevision(d, "echo"); got != 2 || len(s.feeds) != 0 {
				t.Errorf("the disk holds %d, %d feeds are kept; want the last state and none", got, len(s.feeds))
			}
		})
	})
}

func TestStateThatIsNotFromEtcdIsNotSaved(t *testing.T) {
	d := testDisk(t, "c1", "fairway")
	runSaver(t, d, func(s *saver) {
		f := savable("echo")
		f.source = SourceDisk
		s.schedule(f)
		time.Sleep(time.Minute)
		s.forget(f)
		synctest.Wait()
		if savedRevision(d, "echo") != 0 {
			t.Error("saved as if etcd had proved it")
		}
	})
}

// TestFailedSaveIsTriedOnceMoreAtTheEnd: the disk may be back.
func TestFailedSaveIsTriedOnceMoreAtTheEnd(t *testing.T) {
	d := testDisk(t, "c1", "fairway")
	if err := os.RemoveAll(d.dir); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(d.dir, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	f := savable("echo")
	runSaver(t, d, func(s *saver) {
		s.schedule(f)
		time.Sleep(saveCalm)
		synctest.Wait()
	}, func(s *saver) {
		if err := os.Remove(d.dir); err != nil {
			t.Error(err)
		}
		s.forget(f)
	})
	if got := savedRevision(d, "echo"); got != 1 {
		t.Errorf("the disk holds %d, want the last state", got)
	}
}
