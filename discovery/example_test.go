// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package discovery_test

import (
	"context"
	"fmt"
	"time"

	"github.com/fairway-rpc/fairway/discovery"
)

// A provider that warms its cache before it takes calls, and then asks for
// twice its usual share.
func ExampleRegistry_Drain() {
	etcd, err := discovery.Dial(discovery.EtcdConfig{Endpoints: []string{"localhost:2379"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer etcd.Close()
	reg, err := discovery.NewRegistry(etcd)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer reg.Close()

	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	// Before Register too: the server registers as draining.
	if err := reg.Drain(ctx); err != nil {
		fmt.Println(err)
	}
	// ... server.NewServer(handler, server.WithRegistry(reg), ...), warm up ...
	if err := reg.SetWeight(ctx, "echo", 20); err != nil {
		fmt.Println(err) // etcd is not there; it gets the weight when it is
	}
	if err := reg.Undrain(ctx); err != nil {
		fmt.Println(err)
	}
	fmt.Println(reg.Status().Drained)
	// Output: false
}

// The weight follows what the machine has to spare.
func ExampleWithWeightSource() {
	etcd, err := discovery.Dial(discovery.EtcdConfig{Endpoints: []string{"localhost:2379"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer etcd.Close()
	idleCPUs := func() int { return 4 } // measure it
	reg, err := discovery.NewRegistry(etcd,
		discovery.WithWeightSource(func() int { return 10 * idleCPUs() }),
		discovery.WithStatusCallback(func(s discovery.RegistrationStatus) { fmt.Println(s.Service, s.State) }))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer reg.Close()
	fmt.Println(reg)
	// Output: fairway-registry-fairway
}
