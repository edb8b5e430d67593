// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package faulttest

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/fairway-rpc/fairway/discovery"
	"github.com/fairway-rpc/fairway/internal/echotest"
	"github.com/fairway-rpc/fairway/internal/etcdtest"
	"github.com/fairway-rpc/fairway/loadbalance"
)

// TestKeyIsTakenAway by someone's hand, from one of several providers or from
// all, while they are called. Each time it is back with what SetWeight and
// SetTags have said last.
func TestKeyIsTakenAway(t *testing.T) {
	t.Parallel()
	w, registries := newTunedWorld(t, 3)
	cli := w.etcd.Client(t)
	losses := []struct {
		name string
		lose func(key string, kv *keyValue)
	}{
		{"deleted", func(key string, _ *keyValue) { _, _ = cli.Delete(t.Context(), key) }},
		{"lease revoked", func(_ string, kv *keyValue) { _, _ = cli.Revoke(t.Context(), kv.lease) }},
	}
	weight := 10
	for _, loss := range losses {
		for _, n := range []int{1, len(registries)} {
			weight++
			for _, reg := range registries {
				tags := map[string]string{"n": strconv.Itoa(weight)}
				if err := errors.Join(reg.SetWeight(t.Context(), service, weight), reg.SetTags(t.Context(), service, tags)); err != nil {
					t.Fatal(err)
				}
			}
			lost := make(map[string]int64)
			for _, p := range w.providers[:n] {
				key := keyOf(p)
				kv := getKey(t, cli, key)
				loss.lose(key, kv)
				lost[key] = kv.created
			}
			for key, created := range lost {
				waitWithin(t, time.Second, loss.name+", and "+key+" is back", func() bool {
					kv := getKey(t, cli, key)
					return kv != nil && kv.lease != 0 && kv.created > created && kv.Weight == weight && kv.Tags["n"] == strconv.Itoa(weight)
				})
			}
			w.load.goesOn(50)
		}
	}
	sees(t, w.resolver, 3, 0)
	w.load.noneFailed()
}

// newTunedWorld is newWorld with the registries at hand.
func newTunedWorld(t testing.TB, n int, opts ...discovery.RegistryOption) (*world, []*discovery.Registry) {
	t.Helper()
	w := &world{etcd: etcdtest.Start(t)}
	var registries []*discovery.Registry
	for range n {
		reg := registry(t, w.etcd.Endpoint(), opts...)
		registries = append(registries, reg)
		w.providers = append(w.providers, provider(t, reg))
	}
	w.resolver = resolver(t, w.etcd.Endpoint())
	sees(t, w.resolver, n, 0)
	w.load = startLoad(t, consumer(t, w.resolver, loadbalance.SmoothWRR))
	w.load.goesOn(50)
	return w, registries
}

func keyOf(p *echotest.Server) string { return "fairway/" + service + "/" + p.Address }

// keyValue is a provider's key.
type keyValue struct {
	Weight int               `json:"weight"`
	Tags   map[string]string `json:"tags"`

	lease                      clientv3.LeaseID
	created, modified, version int64
}

// getKey reads a provider's key; nil if it does not exist.
func getKey(t testing.TB, cli *clientv3.Client, key string) *keyValue {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	resp, err := cli.Get(ctx, key)
	if err != nil {
		t.Fatal(err)
	}
	if len(resp.Kvs) == 0 {
		return nil
	}
	found := resp.Kvs[0]
	kv := &keyValue{lease: clientv3.LeaseID(found.Lease), created: found.CreateRevision, modified: found.ModRevision, version: found.Version}
	if err := json.Unmarshal(found.Value, kv); err != nil {
		t.Fatal(err)
	}
	return kv
}
