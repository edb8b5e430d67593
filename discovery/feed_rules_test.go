// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package discovery

import (
	"fmt"
	"testing"
	"time"

	"github.com/fairway-rpc/fairway/internal/etcdtest"
)

// weights is what consumers see of a service, for comparison.
func weights(t *testing.T, r *Resolver) string {
	t.Helper()
	_, _ = r.Resolve(t.Context(), "echo")
	s, ok := r.Snapshot("echo")
	if !ok {
		return ""
	}
	text := ""
	for _, i := range s.Instances {
		text += fmt.Sprintf("%s=%d,%s ", i, i.Weight(), i.State())
	}
	return text
}

func TestRulesOverrideRecordsWhileTheyHold(t *testing.T) {
	t.Parallel()
	cli := etcdtest.Start(t).Client(t)
	put(t, cli, "fairway/echo/a:1", value("a:1", 1))
	put(t, cli, "fairway/_rules/echo/b:1", `{"state":"disabled"}`)
	r := testResolver(t, cli)
	expect := func(want string) {
		t.Helper()
		waitFor(t, "weights and states are "+want, func() bool { return weights(t, r) == want })
	}
	expect("a:1=1,serving ")
	put(t, cli, "fairway/echo/b:1", value("b:1", 2))
	expect("a:1=1,serving b:1=0,disabled ") // the rule was there first
	put(t, cli, "fairway/_rules/echo/*", `{"weight":7}`)
	expect("a:1=7,serving b:1=0,disabled ")
	put(t, cli, "fairway/_rules/echo/b:1", `{"weight":9}`)
	expect("a:1=7,serving b:1=9,serving ")
	put(t, cli, "fairway/_rules/echo/a:1", `{"weight":"many"}`) // unreadable: as if there were none
	put(t, cli, "fairway/_rules/echo2/a:1", `{"weight":3}`)     // another service's
	put(t, cli, "fairway/_rules/echo/b:1", `{"weight":9,"until":"`+time.Now().Add(2*time.Second).Format(time.RFC3339Nano)+`"}`)
	expect("a:1=7,serving b:1=7,serving ") // after its end
	if s := mustSnapshot(t, r, "echo"); s.Skipped != 1 {
		t.Errorf("%d keys skipped, want the unreadable rule", s.Skipped)
	}
	if _, err := cli.Delete(t.Context(), "fairway/_rules/echo/*"); err != nil {
		t.Fatal(err)
	}
	expect("a:1=1,serving b:1=2,serving ")
}

func TestRulesAreInTheDiskCopyAndEndInAnOutage(t *testing.T) {
	t.Parallel()
	s := etcdtest.Start(t)
	cli := s.Client(t)
	put(t, cli, "fairway/echo/a:1", value("a:1", 1))
	put(t, cli, "fairway/_rules/echo/a:1", `{"weight":7,"until":"`+time.Now().Add(6*time.Second).Format(time.RFC3339Nano)+`"}`)
	opts := []ResolverOption{WithSnapshotDir(t.TempDir()), WithCluster("test"), WithResolveTimeout(10 * time.Millisecond)}
	before := testResolver(t, cli, opts...)
	waitFor(t, "the rule is seen", func() bool { return weights(t, before) == "a:1=7,serving " })
	if err := before.Close(); err != nil {
		t.Fatal(err)
	}
	s.Kill()
	r := testResolver(t, dialTest(t, s.Endpoint()), opts...)
	waitFor(t, "the disk copy is served", func() bool { return weights(t, r) != "" })
	if got := weights(t, r); got != "a:1=7,serving " {
		t.Errorf("from disk: %q, want the rule applied", got)
	}
	waitFor(t, "the rule ends", func() bool { return weights(t, r) == "a:1=1,serving " })
}

func TestUnchangedInstancesStayTheSameObjectsUnderRules(t *testing.T) {
	t.Parallel()
	cli := etcdtest.Start(t).Client(t)
	put(t, cli, "fairway/echo/a:1", value("a:1", 1))
	put(t, cli, "fairway/_rules/echo/*", `{"weight":7}`)
	r := testResolver(t, cli)
	waitFor(t, "the rule is seen", func() bool { return weights(t, r) == "a:1=7,serving " })
	a := mustSnapshot(t, r, "echo").Instances[0]
	put(t, cli, "fairway/echo/b:1", value("b:1", 1))
	waitFor(t, "b is seen", func() bool { return len(mustSnapshot(t, r, "echo").Instances) == 2 })
	if mustSnapshot(t, r, "echo").Instances[0] != a {
		t.Error("a was made anew, so that balancers rebuild and Kitex calls it a change")
	}
}
