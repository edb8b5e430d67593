// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package loadbalance_test

import (
	"context"
	"fmt"
	"log"

	"github.com/cloudwego/kitex/client"
	kdiscovery "github.com/cloudwego/kitex/pkg/discovery"

	"github.com/fairway-rpc/fairway/idl/kitex_gen/fairway/echo"
	"github.com/fairway-rpc/fairway/idl/kitex_gen/fairway/echo/echoservice"
	"github.com/fairway-rpc/fairway/loadbalance"
)

// Weights 5, 1 and 1 in nginx's order.
func ExampleNew() {
	lb, err := loadbalance.New(loadbalance.SmoothWRR)
	if err != nil {
		log.Fatal(err)
	}
	res := kdiscovery.Result{Cacheable: true, CacheKey: "echo", Instances: []kdiscovery.Instance{
		kdiscovery.NewInstance("tcp", "a:80", 5, nil),
		kdiscovery.NewInstance("tcp", "b:80", 1, nil),
		kdiscovery.NewInstance("tcp", "c:80", 1, nil),
	}}
	for range 7 {
		fmt.Print(lb.GetPicker(res).Next(context.Background(), nil).Address(), " ")
	}
	// Output: a:80 a:80 b:80 a:80 c:80 a:80 a:80
}

// The same message goes to the same instance, whichever process sends it.
func ExampleWithKey() {
	lb, err := loadbalance.New(loadbalance.ConsistentHash, loadbalance.WithKey(func(_ context.Context, request any) string {
		args, ok := request.(interface{ GetFirstArgument() any })
		if !ok { // a stream
			return ""
		}
		return args.GetFirstArgument().(*echo.Request).Message
	}))
	if err != nil {
		log.Fatal(err)
	}
	_, err = echoservice.NewClient("echo", client.WithHostPorts("10.0.0.1:8888", "10.0.0.2:8888"), client.WithLoadBalancer(lb))
	fmt.Println(lb.Policy(), err)
	// Output: consistent-hash <nil>
}

// Ten selections of each form of round robin, with and without weights.
func ExampleSelector() {
	for _, policy := range []string{loadbalance.RoundRobin, loadbalance.SmoothWRR} {
		s, err := loadbalance.NewSelector[string](policy)
		if err != nil {
			log.Fatal(err)
		}
		for _, item := range []struct {
			id     string
			weight int
		}{{"a", 3}, {"b", 1}, {"c", 1}} {
			if err := s.Add(item.id, "server "+item.id, item.weight); err != nil {
				log.Fatal(err)
			}
		}
		fmt.Print(policy, ":")
		for range 10 {
			server, done, err := s.Select("")
			if err != nil {
				log.Fatal(err)
			}
			fmt.Print(" ", server[len("server "):])
			done.End()
		}
		fmt.Println()
	}
	// Output:
	// round-robin: a b c a b c a b c a
	// smooth-wrr: a b a c a a b a c a
}
