// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package discovery

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"go.etcd.io/etcd/api/v3/mvccpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"google.golang.org/grpc/codes"
)

// RuleConflictError means that a rule is not the one that was to be replaced
// or deleted: somebody else was faster. Nothing was changed.
type RuleConflictError struct {
	Service, Address string
	// Expected is the revision that was given; 0 means that there was to be no rule.
	Expected int64
	// Actual is the revision of the rule in etcd; 0 means that there is none.
	Actual int64
	// Current is the rule in etcd, with its revision: who won, and why. It is
	// nil if there is none, or if it cannot be read, which Actual tells apart.
	Current *Rule
}

// found notes what stands in etcd.
func (e *RuleConflictError) found(kv *mvccpb.KeyValue) {
	e.Actual = kv.ModRevision
	if r, err := readRule(kv); err == nil {
		e.Current = &r
	}
}

// Error says who won and what to do.
func (e *RuleConflictError) Error() string {
	which := fmt.Sprintf("fairway: the rule of %q, %s", e.Service, e.Address)
	switch {
	case e.Actual == 0:
		return fmt.Sprintf("%s is gone: it was at revision %d when it was read; list the rules again, and use revision 0 to set a new one", which, e.Expected)
	case e.Expected == 0:
		return fmt.Sprintf("%s exists already%s; list the rules, and use its revision %d to replace or delete it", which, e.winner(), e.Actual)
	}
	return fmt.Sprintf("%s was changed%s after revision %d was read; list the rules again, and use its revision %d to replace or delete it",
		which, e.winner(), e.Expected, e.Actual)
}

func (e *RuleConflictError) winner() string {
	if e.Current == nil {
		return " and cannot be read"
	}
	var s strings.Builder
	if e.Current.By != "" {
		fmt.Fprintf(&s, " by %q", e.Current.By)
	}
	if e.Current.Reason != "" {
		fmt.Fprintf(&s, " (reason: %q)", e.Current.Reason)
	}
	return s.String()
}

// requestError tells an etcd that does not answer from a caller that does not
// want to know any more, and from a refusal, which no retry would change.
func requestError(ctx context.Context, doing string, err error) error {
	if errors.Is(ctx.Err(), context.Canceled) || refused(err) {
		return fmt.Errorf("fairway: %s: %w", doing, err)
	}
	return fmt.Errorf("%w: %s: %w", ErrRegistryUnavailable, doing, err)
}

func refused(err error) bool {
	var answer rpctypes.EtcdError
	if !errors.As(rpctypes.Error(err), &answer) {
		return false
	}
	switch answer.Code() {
	case codes.Unavailable, codes.DeadlineExceeded, codes.Canceled:
		return false
	default:
		return true
	}
}
