// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package discovery

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/fairway-rpc/fairway/internal/fault"
)

const (
	// AllAddresses stands for every instance of a service, where a rule's
	// address is asked for.
	AllAddresses = "*"

	// StateDisabled is set by rules only. Like a draining instance, a disabled
	// one gets no new calls; it is not used either where none is left that serves.
	StateDisabled InstanceState = "disabled"
)

// Rule is what an operator overrides of one instance, or of all instances of a
// service, without touching the records that the providers keep up. It holds
// until it is deleted or expires, also for instances that come later.
//
// What a rule leaves out stays as it is. The rule for all addresses is applied
// to the record first, then the instance's own. A provider's restart ends no
// rule.
type Rule struct {
	// Weight replaces the weight, from 0 to 2^31-1; 0 means no calls at all,
	// nil leaves it.
	Weight *int `json:"weight,omitempty"`
	// State replaces the state: [StateServing], [StateDraining] or
	// [StateDisabled]; "" leaves it. An instance that is leaving stays so,
	// since it is about to end.
	State InstanceState `json:"state,omitempty"`
	// Tags are merged into the instance's; nil removes a tag.
	Tags map[string]*string `json:"tags,omitempty"`
	// Reason and By tell others why, and who set the rule.
	Reason string `json:"reason,omitempty"`
	By     string `json:"by,omitempty"`
	// Until is when the rule ends, by each consumer's own clock; zero means
	// that it does not end by itself.
	Until time.Time `json:"until,omitzero"`
	// Revision is etcd's revision at which the rule was last written. For
	// [Rules.Put] it says what the new rule replaces; 0 means that there must
	// be none.
	Revision int64 `json:"-"`
}

// decodeRule parses and validates the value of a rule's key. Its errors wrap
// ErrInvalidRecord. Unknown fields are ignored.
func decodeRule(value []byte) (*Rule, error) {
	var r *Rule
	err := json.Unmarshal(value, &r)
	if err == nil {
		err = r.validate()
	}
	if err != nil {
		return nil, fmt.Errorf("%w: rule: %w", ErrInvalidRecord, err)
	}
	return r, nil
}

// encode renders the rule, refusing one that a consumer would refuse.
func (r *Rule) encode() ([]byte, error) {
	if err := r.validate(); err != nil {
		return nil, fault.Invalid("rule", "%w", err)
	}
	value, err := json.Marshal(r)
	if err != nil {
		return nil, fault.Invalid("rule", "%w", err)
	}
	return value, nil
}

func (r *Rule) validate() error {
	if r == nil {
		return errors.New("it is null")
	}
	switch r.State {
	case "", StateServing, StateDraining, StateDisabled:
	default:
		return fmt.Errorf("state %q is none of %s, %s, %s", r.State, StateServing, StateDraining, StateDisabled)
	}
	if r.Weight == nil {
		return nil
	}
	return checkWeight(int64(*r.Weight))
}

// empty reports whether the rule overrides nothing.
func (r *Rule) empty() bool { return r.Weight == nil && r.State == "" && len(r.Tags) == 0 }

// expired reports whether the rule has ended by now.
func (r *Rule) expired(now time.Time) bool { return !r.Until.IsZero() && !now.Before(r.Until) }

// checkRuleAddress accepts the star and what can stand in an instance's record.
// Sockets are told from mistyped hosts by their slash, or the "@" of Linux's
// abstract ones.
func checkRuleAddress(address string) error {
	switch {
	case address == AllAddresses:
		return nil
	case strings.Contains(address, "/"), strings.HasPrefix(address, "@"):
		return checkAddress("unix", address)
	}
	return checkAddress("tcp", address)
}
