// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package middleware_test

import (
	"log"

	"github.com/cloudwego/kitex/client"
	kloadbalance "github.com/cloudwego/kitex/pkg/loadbalance"
	"github.com/cloudwego/kitex/server"

	"github.com/fairway-rpc/fairway/discovery"
	"github.com/fairway-rpc/fairway/idl/kitex_gen/fairway/echo/echoservice"
	"github.com/fairway-rpc/fairway/internal/echotest"
	"github.com/fairway-rpc/fairway/loadbalance"
	"github.com/fairway-rpc/fairway/middleware"
)

func ExampleNewServerSuite() {
	etcd, err := discovery.Dial(discovery.EtcdConfig{Endpoints: []string{"127.0.0.1:2379"}})
	if err != nil {
		log.Fatal(err)
	}
	reg, err := discovery.NewRegistry(etcd)
	if err != nil {
		log.Fatal(err)
	}
	svr := echoservice.NewServer(&echotest.Handler{}, server.WithSuite(middleware.NewServerSuite(reg, "echo",
		middleware.WithWeight(20), middleware.WithTags(map[string]string{"zone": "a"}))))
	if err := svr.Run(); err != nil {
		log.Fatal(err)
	}
}

func ExampleNewClientSuite() {
	etcd, err := discovery.Dial(discovery.EtcdConfig{Endpoints: []string{"127.0.0.1:2379"}})
	if err != nil {
		log.Fatal(err)
	}
	res, err := discovery.NewResolver(etcd)
	if err != nil {
		log.Fatal(err)
	}
	lb, err := loadbalance.New(loadbalance.LeastActive)
	if err != nil {
		log.Fatal(err)
	}
	if _, err := echoservice.NewClient("echo", client.WithSuite(middleware.NewClientSuite(res, lb))); err != nil {
		log.Fatal(err)
	}
}

// The pick span around a balancer of Kitex's own.
func ExampleTracePicks() {
	traced := middleware.TracePicks(kloadbalance.NewWeightedRoundRobinBalancer())
	if _, err := echoservice.NewClient("echo", client.WithHostPorts("10.0.0.1:8888"), client.WithLoadBalancer(traced)); err != nil {
		log.Fatal(err)
	}
}
