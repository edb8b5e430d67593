// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package discovery

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/namespace"

	"github.com/fairway-rpc/fairway/internal/etcdtest"
)

func testRules(t *testing.T, cli *clientv3.Client, opts ...RuleOption) *Rules {
	t.Helper()
	rules, err := NewRules(cli, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return rules
}

func putRule(t *testing.T, rules *Rules, service, address string, r Rule) int64 {
	t.Helper()
	revision, err := rules.Put(t.Context(), service, address, r)
	if err != nil {
		t.Fatal(err)
	}
	return revision
}

func listRules(t *testing.T, rules *Rules, service string) []ListedRule {
	t.Helper()
	list, err := rules.List(t.Context(), service)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func TestRuleIsPutReplacedAndDeleted(t *testing.T) {
	t.Parallel()
	s := etcdtest.Start(t)
	cli := s.Client(t)
	rules := testRules(t, cli, WithPrefix("team/a/"))
	for _, service := range []string{"echo", "a.b", "a:b", "a@b"} {
		for address, segment := range map[string]string{
			AllAddresses: "*", "10.0.0.1:8888": "10.0.0.1:8888", "host.example:80": "host.example:80",
			"[::1]:8888": "%5B::1%5D:8888", "/run/echo.sock": "%2Frun%2Fecho.sock", "@echo": "@echo",
		} {
			t.Run(service+" "+address, func(t *testing.T) {
				want := ListedRule{
					Service: service, Address: address, Key: "team/a/_rules/" + service + "/" + segment,
					Rule: Rule{
						Weight: new(0), State: StateDraining, Tags: map[string]*string{"zone": new("b"), "old": nil},
						Reason: "disk <full>", By: "ann", Until: time.Now().Add(time.Hour).UTC(),
					},
				}
				want.Rule.Revision = putRule(t, rules, service, address, want.Rule)
				checkListed(t, rules, service, want)
				if lease := leaseOf(t, cli, want.Key); lease != 0 {
					t.Errorf("the rule is under lease %x and would vanish", lease)
				}
				want.Rule = Rule{Weight: new(7), Revision: want.Rule.Revision}
				want.Rule.Revision = putRule(t, rules, service, address, want.Rule)
				checkListed(t, rules, service, want)
				if err := rules.Delete(t.Context(), service, address, want.Rule.Revision); err != nil {
					t.Fatal(err)
				}
				checkListed(t, rules, service)
				if err := rules.Delete(t.Context(), service, address, 0); err != nil {
					t.Errorf("there is none, as asked for: %v", err)
				}
			})
		}
	}
	if n := keyCount(t, cli, ""); n != 0 {
		t.Errorf("%d keys are left", n)
	}
}

func checkListed(t *testing.T, rules *Rules, service string, want ...ListedRule) {
	t.Helper()
	for _, of := range []string{service, ""} {
		if diff := cmp.Diff(want, listRules(t, rules, of)); diff != "" {
			t.Errorf("list of %q: %s", of, diff)
		}
	}
}

func leaseOf(t *testing.T, cli *clientv3.Client, key string) int64 {
	t.Helper()
	resp, err := cli.Get(t.Context(), key)
	if err != nil || len(resp.Kvs) != 1 {
		t.Fatalf("%s: %v, %v", key, resp, err)
	}
	return resp.Kvs[0].Lease
}

func TestRuleConflicts(t *testing.T) {
	t.Parallel()
	s := etcdtest.Start(t)
	cli := s.Client(t)
	rules := testRules(t, cli)
	const address = "10.0.0.1:8888"
	old := putRule(t, rules, "echo", address, Rule{Weight: new(1), By: "ann"})
	won := Rule{Weight: new(2), By: "bob", Reason: "too hot", Revision: old}
	won.Revision = putRule(t, rules, "echo", address, won)
	gone := putRule(t, rules, "echo", "gone:1", Rule{Weight: new(1)})
	if err := rules.Delete(t.Context(), "echo", "gone:1", gone); err != nil {
		t.Fatal(err)
	}
	broken := put(t, cli, "fairway/_rules/echo/broken:1", `{"weight":"much"}`)
	before := listRules(t, rules, "")

	tests := []struct {
		name     string
		address  string
		expected int64
		actual   int64
		current  *Rule
		says     []string
	}{
		{"there is one already", address, 0, won.Revision, &won, []string{"exists already", `by "bob"`, `"too hot"`, fmt.Sprint(won.Revision)}},
		{"it has changed", address, old, won.Revision, &won, []string{"was changed", `by "bob"`, `"too hot"`, fmt.Sprint(old), fmt.Sprint(won.Revision)}},
		{"it was deleted", "gone:1", gone, 0, nil, []string{"is gone", "revision 0"}},
		{"there never was one", "never:1", old, 0, nil, []string{"is gone"}},
		{"it cannot be read", "broken:1", 0, broken, nil, []string{"cannot be read", fmt.Sprint(broken)}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := rules.Put(t.Context(), "echo", tt.address, Rule{Weight: new(9), By: "eve", Revision: tt.expected})
			for doing, err := range map[string]error{"put": err, "delete": rules.Delete(t.Context(), "echo", tt.address, tt.expected)} {
				var got *RuleConflictError
				if !errors.As(err, &got) {
					t.Fatalf("%s: got %v, want a conflict", doing, err)
				}
				want := &RuleConflictError{Service: "echo", Address: tt.address, Expected: tt.expected, Actual: tt.actual, Current: tt.current}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("%s: %s", doing, diff)
				}
				for _, part := range append(tt.says, `"echo"`, tt.address, "list the rules") {
					if !strings.Contains(err.Error(), part) {
						t.Errorf("%s: %q does not say %s", doing, err, part)
					}
				}
			}
		})
	}
	if diff := cmp.Diff(before, listRules(t, rules, ""), equalErrors()); diff != "" {
		t.Errorf("a refused change has changed something: %s", diff)
	}
	if err := rules.Delete(t.Context(), "echo", "broken:1", broken); err != nil {
		t.Errorf("a rule that cannot be read cannot be deleted: %v", err)
	}
}

func equalErrors() cmp.Option {
	return cmp.Comparer(func(a, b error) bool { return fmt.Sprint(a) == fmt.Sprint(b) })
}

// TestNoChangeIsLost: operators who read, change and write again, all at once.
func TestNoChangeIsLost(t *testing.T) {
	t.Parallel()
	const operators, changes = 5, 10
	s := etcdtest.Start(t)
	rules := testRules(t, s.Client(t))
	var all sync.WaitGroup
	for range operators {
		all.Go(func() {
			for range changes {
				if err := addOne(t.Context(), rules); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if list := listRules(t, rules, "echo"); len(list) != 1 || *list[0].Rule.Weight != operators*changes {
		t.Errorf("%d changes by 1 made %v", operators*changes, list)
	}
}

// addOne starts from what the last conflict told.
func addOne(ctx context.Context, rules *Rules) error {
	r := Rule{Weight: new(1)}
	for {
		_, err := rules.Put(ctx, "echo", AllAddresses, r)
		var conflict *RuleConflictError
		if !errors.As(err, &conflict) {
			return err
		}
		r = *conflict.Current
		*r.Weight++
	}
}

func TestRulesAreListedInOrder(t *testing.T) {
	t.Parallel()
	s := etcdtest.Start(t)
	cli := s.Client(t)
	rules := testRules(t, cli)
	for key, value := range map[string]string{
		"echo/[::1]:1":       `{"weight":1}`, // not as Put writes it
		"echo/%5B::1%5D:1":   `{"weight":1}`,
		"echo/*":             `{"state":"disabled"}`,
		"echo/a:1":           `{"weight":-1}`,
		"echo/a:2":           `{"until":"2001-01-01T00:00:00Z","weight":1}`,
		"echo2/a:1":          `{"weight":1}`,
		"echo.x/*":           `{"weight":1}`,
		"echo/below/10.0:80": `{"weight":1}`,
	} {
		put(t, cli, "fairway/_rules/"+key, value)
	}
	put(t, cli, "fairway/echo/a:1", `{"address":"a:1"}`)

	echo := []string{"echo *", "echo [::1]:1", "echo a:1 unreadable", "echo a:2", "echo  unreadable", "echo  unreadable"}
	all := slices.Concat(echo, []string{"echo.x *", "echo2 a:1"})
	for service, want := range map[string][]string{"echo": echo, "": all, "ech": nil, "none": nil} {
		var got []string
		for _, l := range listRules(t, rules, service) {
			line := l.Service + " " + l.Address
			if l.Rule.Revision == 0 || l.Key == "" {
				t.Errorf("%v does not tell its revision and key", l)
			}
			if l.Err != nil {
				line += " unreadable"
				if !errors.Is(l.Err, ErrInvalidRecord) {
					t.Errorf("%s: %v does not wrap ErrInvalidRecord", line, l.Err)
				}
			}
			got = append(got, line)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("list of %q: %s", service, diff)
		}
	}
}

func TestLongListOfRules(t *testing.T) {
	t.Parallel()
	const pages, perTxn = 2, 100
	s := etcdtest.Start(t)
	cli := s.Client(t)
	rules := testRules(t, cli)
	want := pages*pageSize + perTxn
	for at := 0; at < want; at += perTxn {
		ops := make([]clientv3.Op, perTxn)
		for i := range ops {
			ops[i] = clientv3.OpPut(rules.keys.rule("echo", fmt.Sprintf("a:%d", at+i+1)), `{"weight":1}`)
		}
		if _, err := cli.Txn(t.Context()).Then(ops...).Commit(); err != nil {
			t.Fatal(err)
		}
	}
	seen := make(map[string]bool)
	for _, l := range listRules(t, rules, "echo") {
		seen[l.Address] = l.Err == nil
	}
	if len(seen) != want {
		t.Errorf("%d rules listed of %d", len(seen), want)
	}
}

// everyRequest asks etcd in each way, all at once.
func everyRequest(ctx context.Context, rules *Rules) map[string]error {
	var (
		all                  sync.WaitGroup
		putErr, listErr, del error
	)
	all.Go(func() { _, putErr = rules.Put(ctx, "echo", "a:1", Rule{Weight: new(1)}) })
	all.Go(func() { _, listErr = rules.List(ctx, "echo") })
	all.Go(func() { del = rules.Delete(ctx, "echo", "b:1", 0) })
	all.Wait()
	return map[string]error{"put": putErr, "list": listErr, "delete": del}
}

func TestRulesWithoutEtcd(t *testing.T) {
	t.Parallel()
	frozen := etcdtest.Start(t)
	cli := frozen.Client(t)
	rules := testRules(t, cli)
	listRules(t, rules, "echo") // connected
	frozen.Freeze()
	t.Cleanup(frozen.Thaw)
	for name, rules := range map[string]*Rules{"frozen": rules, "down": testRules(t, dialTest(t, deadEndpoint(t)))} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			within(t, requestTimeout+time.Second, func() {
				for doing, err := range everyRequest(t.Context(), rules) {
					if !errors.Is(err, ErrRegistryUnavailable) {
						t.Errorf("%s: got %v, want ErrRegistryUnavailable", doing, err)
					}
				}
			})
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
			defer cancel()
			within(t, time.Second, func() {
				for doing, err := range everyRequest(ctx, rules) {
					if !errors.Is(err, ErrRegistryUnavailable) {
						t.Errorf("%s with a deadline: got %v, want ErrRegistryUnavailable", doing, err)
					}
				}
			})
			cancelled, cancel := context.WithCancel(t.Context())
			cancel()
			for doing, err := range everyRequest(cancelled, rules) {
				if !errors.Is(err, context.Canceled) || errors.Is(err, ErrRegistryUnavailable) {
					t.Errorf("%s that nobody waits for: got %v, want context.Canceled", doing, err)
				}
			}
		})
	}
}

func within(t *testing.T, limit time.Duration, f func()) {
	t.Helper()
	begin := time.Now()
	f()
	if took := time.Since(begin); took > limit {
		t.Errorf("took %v, more than %v", took, limit)
	}
}

func TestRulesThatEtcdRefuses(t *testing.T) {
	t.Parallel()
	s := etcdtest.Start(t)
	root := s.Client(t)
	if _, err := root.UserAdd(t.Context(), "guest", "guest"); err != nil {
		t.Fatal(err)
	}
	enableAuth(t, root)
	cli, err := Dial(EtcdConfig{Endpoints: []string{s.Endpoint()}, Username: "guest", Password: "guest", Logger: testLog(t)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cli.Close() })
	for doing, err := range everyRequest(t.Context(), testRules(t, cli)) {
		if err == nil || errors.Is(err, ErrRegistryUnavailable) || !strings.Contains(err.Error(), "permission denied") {
			t.Errorf("%s: got %v, want etcd's refusal", doing, err)
		}
	}
}

func TestRulesInANamespace(t *testing.T) {
	t.Parallel()
	s := etcdtest.Start(t)
	inside := s.Client(t)
	inside.KV = namespace.NewKV(inside.KV, "team/")
	rules := testRules(t, inside)
	revision := putRule(t, rules, "echo", "a:1", Rule{Weight: new(1)})
	if n := keyCount(t, s.Client(t), "team/fairway/_rules/echo/a:1"); n != 1 {
		t.Errorf("%d keys in the namespace, want 1", n)
	}
	checkListed(t, rules, "echo", ListedRule{
		Service: "echo", Address: "a:1", Key: "fairway/_rules/echo/a:1", Rule: Rule{Weight: new(1), Revision: revision},
	})
	var conflict *RuleConflictError
	if _, err := rules.Put(t.Context(), "echo", "a:1", Rule{Weight: new(2)}); !errors.As(err, &conflict) || conflict.Actual != revision {
		t.Errorf("got %v, want a conflict with revision %d", err, revision)
	}
	if err := rules.Delete(t.Context(), "echo", "a:1", revision); err != nil {
		t.Error(err)
	}
}
