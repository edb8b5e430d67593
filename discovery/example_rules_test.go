// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package discovery_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/fairway-rpc/fairway/discovery"
)

// An operator drains one instance for an hour; a second one, who has not seen
// it, is told and changes nothing.
func ExampleNewRules() {
	endpoint, stop := startEtcd()
	defer stop()
	etcd, err := discovery.Dial(discovery.EtcdConfig{Endpoints: []string{endpoint}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer etcd.Close()
	rules, err := discovery.NewRules(etcd)
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	revision, err := rules.Put(ctx, "echo", "10.0.0.1:8888", discovery.Rule{
		State:  discovery.StateDraining,
		Reason: "new disk",
		By:     "ann",
		Until:  time.Now().Add(time.Hour),
	})
	fmt.Println("ann:", err)

	_, err = rules.Put(ctx, "echo", "10.0.0.1:8888", discovery.Rule{Weight: new(5), By: "bob"})
	if conflict, ok := errors.AsType[*discovery.RuleConflictError](err); ok && conflict.Current != nil {
		fmt.Println("bob: it is", conflict.Current.State, "by", conflict.Current.By, "for a", conflict.Current.Reason)
	}

	err = rules.Delete(ctx, "echo", "10.0.0.1:8888", revision)
	fmt.Println("ann:", err)
	// Output:
	// ann: <nil>
	// bob: it is draining by ann for a new disk
	// ann: <nil>
}
