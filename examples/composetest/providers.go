// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
)

// provider is a provider service and what its container says of itself.
type provider struct {
	service string
	address string
	weight  int
}

// provider reads the weight and the address from the running container, so
// that neither the consumer's log nor etcd has to be believed.
func (s *scenario) provider(ctx context.Context, service string) (provider, error) {
	c, err := s.inspect(ctx, service)
	if err != nil {
		return provider{}, err
	}
	weight, err := strconv.Atoi(c.variable("FAIRWAY_WEIGHT"))
	if err != nil {
		return provider{}, fmt.Errorf("%s: FAIRWAY_WEIGHT: %w", service, err)
	}
	_, port, err := net.SplitHostPort(c.variable("FAIRWAY_LISTEN"))
	if err != nil {
		return provider{}, fmt.Errorf("%s: FAIRWAY_LISTEN: %w", service, err)
	}
	return provider{service: service, address: net.JoinHostPort(c.ip(), port), weight: weight}, nil
}

func weightsOf(providers []provider) map[string]int {
	weights := make(map[string]int, len(providers))
	for _, p := range providers {
		weights[p.address] = p.weight
	}
	return weights
}

// registered asks etcd whether exactly these providers have a key under a lease.
func (s *scenario) registered(ctx context.Context, providers []provider) error {
	text, err := s.do(ctx, "exec", "-T", etcdService, "etcdctl", "get", "--prefix", "", "-w", "json")
	if err != nil {
		return unmet(err.Error()) // etcd may still be starting
	}
	found, err := parseKeys(text)
	if err != nil {
		return err
	}
	return checkKeys(found, providers)
}

// key is a key in etcd with its lease.
type key struct {
	name  string
	lease int64
}

// parseKeys reads what etcdctl prints with -w json.
func parseKeys(text string) ([]key, error) {
	var answer struct {
		Kvs []struct {
			Key   []byte
			Lease int64
		}
	}
	if err := json.Unmarshal([]byte(text), &answer); err != nil {
		return nil, fmt.Errorf("etcdctl's answer %q: %w", text, err)
	}
	var keys []key
	for _, kv := range answer.Kvs {
		keys = append(keys, key{name: string(kv.Key), lease: kv.Lease})
	}
	return keys, nil
}

// checkKeys wants one leased instance key for each provider and no other.
// Segments that start with _ hold rules and consumers, not instances.
func checkKeys(keys []key, providers []provider) error {
	keys = slices.DeleteFunc(slices.Clone(keys), func(k key) bool { return strings.Contains(k.name, "/_") })
	var missing []error
	for _, p := range providers {
		at := slices.IndexFunc(keys, func(k key) bool { return strings.HasSuffix(k.name, "/"+p.address) })
		switch {
		case at < 0:
			missing = append(missing, fmt.Errorf("no key for %s at %s", p.service, p.address))
		case keys[at].lease == 0:
			return fmt.Errorf("key %s has no lease", keys[at].name)
		}
	}
	if err := errors.Join(missing...); err != nil {
		return unmet(err.Error())
	}
	if len(keys) != len(providers) {
		return unmet(fmt.Sprintf("%d instance keys, want %d: %v", len(keys), len(providers), keys))
	}
	return nil
}
