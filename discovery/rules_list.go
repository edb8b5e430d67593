// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package discovery

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"go.etcd.io/etcd/api/v3/mvccpb"
)

// ListedRule is one rule with its place.
type ListedRule struct {
	Service string
	// Address is as in the instances' records, or [AllAddresses].
	Address string
	// Key is the rule's key in etcd.
	Key string
	// Rule is what is written there, also once it has expired. If Err is set, it
	// has nothing but the revision.
	Rule Rule
	// Err tells why consumers ignore what is written there; it wraps
	// [ErrInvalidRecord]. With an Address the rule can be replaced or deleted
	// as any other. Without one the key is not one of ours, and is removed
	// with etcd's own tools.
	Err error
}

// List reads the rules of a service, or with "" of all services, as they were
// at one moment. They are ordered by service and address, the rule for all
// addresses first. A rule that cannot be used is listed with its error.
func (s *Rules) List(ctx context.Context, service string) ([]ListedRule, error) {
	prefix := s.keys.allRules()
	if service != "" {
		if err := CheckServiceName(service); err != nil {
			return nil, err
		}
		prefix = s.keys.rules(service)
	}
	var list []ListedRule
	_, err := pages(ctx, s.cli, prefix, 0, func(kv *mvccpb.KeyValue) { list = append(list, s.listed(kv)) })
	if err != nil {
		return nil, requestError(ctx, fmt.Sprintf("list the rules under %q", prefix), err)
	}
	slices.SortFunc(list, func(a, b ListedRule) int {
		return cmp.Or(cmp.Compare(a.Service, b.Service), cmp.Compare(a.order(), b.order()))
	})
	return list, nil
}

func (s *Rules) listed(kv *mvccpb.KeyValue) ListedRule {
	l := ListedRule{Key: string(kv.Key)}
	l.Service, l.Address, l.Err = s.keys.ruleAddress(l.Key)
	rule, err := readRule(kv)
	if l.Err == nil {
		l.Err = err
	}
	if l.Err != nil {
		rule = Rule{Revision: kv.ModRevision}
	}
	l.Rule = rule
	return l
}

// order is what rules of one service are sorted by: the star, which escaped
// keys of sockets and IPv6 addresses would come before, addresses, and last
// what is about no address.
func (l *ListedRule) order() string {
	switch {
	case l.Address == AllAddresses:
		return "0"
	case l.Address != "":
		return "1" + l.Address
	}
	return "2" + l.Key
}
