// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package discovery

import (
	"context"
	"fmt"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/fairway-rpc/fairway/internal/fault"
)

// maxRuleSize bounds a rule with its key: each consumer of the service holds it.
const maxRuleSize = 64 << 10

// Rules reads and writes the operator's rules. It keeps no state and runs
// nothing in the background, so that there is nothing to close.
//
// Writing is under optimistic locking: whoever writes says at which revision
// the rule was read that is to be replaced, and nobody's change gets lost.
//
// Each request to etcd ends with the caller's context, and after three seconds
// at the latest. Errors wrap [ErrInvalidConfig] for a bad argument, with which
// etcd is not asked at all, and [ErrRegistryUnavailable] where etcd does not
// answer: then a change may or may not have been made, and List tells. What
// etcd itself refuses, such as a user without the permission, wraps neither.
type Rules struct {
	cli  *clientv3.Client
	keys keyspace
}

// NewRules makes rules on a client that it borrows and never closes. It
// returns at once, whether or not etcd can be reached. Of the options,
// [WithPrefix] matters; rules log nothing. Errors wrap [ErrInvalidConfig].
func NewRules(cli *clientv3.Client, opts ...RuleOption) (*Rules, error) {
	if err := checkClient("NewRules", cli, ruling); err != nil {
		return nil, err
	}
	cfg, err := newRulesConfig(opts)
	if err != nil {
		return nil, err
	}
	return &Rules{cli: cli, keys: cfg.keys}, nil
}

// Put makes r the rule of the service's instance at the address, which is
// written as in the instance's record: host:port, or the path of a Unix
// socket; [AllAddresses] is for all of them. There need be no such instance.
//
// The rule replaces the one of r.Revision as a whole; 0 means that there must
// be none. It returns the revision of the new rule, with which the next Put or
// Delete can follow. If somebody else was faster, nothing is written and the
// error is a [*RuleConflictError].
//
// A rule that overrides nothing, is over 64 KiB, or ends in the past is refused.
func (s *Rules) Put(ctx context.Context, service, address string, r Rule) (revision int64, err error) {
	if err := checkRuleArguments(service, address, r.Revision); err != nil {
		return 0, err
	}
	key := s.keys.rule(service, address)
	value, err := r.forPut(key)
	if err != nil {
		return 0, err
	}
	return s.commit(ctx, service, address, r.Revision, clientv3.OpPut(key, string(value)))
}

// Delete removes the rule that was read at the revision. If it is not there
// any more, or another one is, nothing is deleted and the error is a
// [*RuleConflictError]. With revision 0 it only makes sure that there is none.
func (s *Rules) Delete(ctx context.Context, service, address string, revision int64) error {
	if err := checkRuleArguments(service, address, revision); err != nil {
		return err
	}
	_, err := s.commit(ctx, service, address, revision, clientv3.OpDelete(s.keys.rule(service, address)))
	return err
}

func checkRuleArguments(service, address string, revision int64) error {
	if err := CheckServiceName(service); err != nil {
		return err
	}
	if err := checkRuleAddress(address); err != nil {
		return fault.Invalid("rule's address", "%w; give host:port or a socket's path as in the instance's record, or %q for all instances", err, AllAddresses)
	}
	if revision < 0 {
		return fault.Invalid("rule's revision", "%d is negative; give the one that List or Put told, or 0 where there is no rule yet", revision)
	}
	return nil
}

// forPut renders a rule that is to be written under key.
func (r *Rule) forPut(key string) ([]byte, error) {
	if r.empty() {
		return nil, fault.Invalid("rule", "it sets no weight, state or tag; delete the rule instead")
	}
	if r.expired(time.Now()) {
		return nil, fault.Invalid("rule", "until %s is in the past", r.Until.Format(time.RFC3339))
	}
	value, err := r.encode()
	if err == nil && len(key)+len(value) > maxRuleSize {
		return nil, fault.Invalid("rule", "with its key it has %d bytes, over the limit of %d; shorten its reason or tags", len(key)+len(value), maxRuleSize)
	}
	return value, err
}

// commit makes the change if the rule is still the one of that revision.
func (s *Rules) commit(ctx context.Context, service, address string, expected int64, change clientv3.Op) (int64, error) {
	key := s.keys.rule(service, address)
	bounded, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	resp, err := s.cli.Txn(bounded).
		If(clientv3.Compare(clientv3.ModRevision(key), "=", expected)).
		Then(change).
		Else(clientv3.OpGet(key)).
		Commit()
	if err != nil {
		return 0, requestError(ctx, fmt.Sprintf("write the rule of %q, %s", service, address), err)
	}
	if resp.Succeeded {
		return resp.Header.GetRevision(), nil
	}
	conflict := &RuleConflictError{Service: service, Address: address, Expected: expected}
	for _, kv := range resp.Responses[0].GetResponseRange().GetKvs() {
		conflict.found(kv)
	}
	return 0, conflict
}

// readRule reads a key's value; its revision is known in any case.
func readRule(kv *mvccpb.KeyValue) (Rule, error) {
	r, err := decodeRule(kv.Value)
	if err != nil {
		r = &Rule{}
	}
	r.Revision = kv.ModRevision
	return *r, err
}
