// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package discovery_test

import (
	"fmt"

	"github.com/cloudwego/kitex/client"

	"github.com/fairway-rpc/fairway/discovery"
	"github.com/fairway-rpc/fairway/idl/kitex_gen/fairway/echo/echoservice"
)

// A list that the program keeps itself, from a file or another source.
func ExampleStatic() {
	res := discovery.NewStatic()
	defer res.Close()
	for _, address := range []string{"10.0.0.1:8888", "10.0.0.2:8888", "/run/echo.sock"} {
		if err := res.Add(address, 10); err != nil {
			fmt.Println(err)
		}
	}
	// Add client.WithLoadBalancer for a policy other than Kitex's default.
	if _, err := echoservice.NewClient("echo", client.WithResolver(res)); err != nil {
		fmt.Println(err)
	}
	_ = res.SetWeight("10.0.0.2:8888", 0) // no more calls
	_ = res.Remove("/run/echo.sock")
	fmt.Println(res.List())
	fmt.Println(res.Add("10.0.0.1:8888", 10))
	// Output:
	// [{10.0.0.1:8888 10} {10.0.0.2:8888 0}]
	// fairway: invalid configuration: Add: duplicate address: "10.0.0.1:8888" is listed; change it with SetWeight
}
