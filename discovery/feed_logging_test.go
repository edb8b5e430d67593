// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package discovery

import (
	"context"
	"encoding/json"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// asking is a log handler that asks the resolver, as one that adds a service's
// state to each line does.
type asking struct {
	slog.Handler

	resolver *Resolver
	lines    chan string
}

func (a *asking) Handle(ctx context.Context, r slog.Record) error {
	if a.resolver != nil {
		_ = a.resolver.Status()
		_, _ = a.resolver.Snapshot("echo")
	}
	select {
	case a.lines <- r.Message:
	default:
	}
	return a.Handler.Handle(ctx, r)
}

// TestLogMayAskTheResolver about what it is told of: nothing is logged under a
// lock, not even what is wrong with a disk copy.
func TestLogMayAskTheResolver(t *testing.T) {
	t.Parallel()
	d := testDisk(t, "c1", "fairway")
	s := testSaved()
	s.Suspects = []savedSuspect{{
		savedRecord: savedRecord{Key: "fairway/echo/b:1", ModRevision: 41, Value: json.RawMessage(`{"address":7}`)},
		VanishedAt:  time.Now(),
	}}
	if err := d.save(s); err != nil {
		t.Fatal(err)
	}
	handler := &asking{Handler: testLog(t).Handler(), lines: make(chan string, 100)}
	r := testResolver(t, dialTest(t, deadEndpoint(t)), WithSnapshotDir(filepath.Dir(filepath.Dir(d.dir))), WithCluster("c1"),
		WithLogger(slog.New(handler)), WithResolveTimeout(10*time.Millisecond))
	handler.resolver = r
	res, err := r.Resolve(t.Context(), "echo")
	if err != nil || len(res.Instances) != 1 {
		t.Fatalf("resolved %v, %v; want the disk copy's instance", res.Instances, err)
	}
	waitFor(t, "the unreadable suspect is logged", func() bool {
		select {
		case line := <-handler.lines:
			return strings.Contains(line, "record skipped")
		default:
			return false
		}
	})
}
