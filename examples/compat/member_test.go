// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package compat

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"

	kdiscovery "github.com/cloudwego/kitex/pkg/discovery"
	"github.com/cloudwego/kitex/pkg/registry"
	"github.com/cloudwego/kitex/pkg/rpcinfo"
	"github.com/cloudwego/kitex/server"
	registryetcd "github.com/kitex-contrib/registry-etcd"

	"github.com/fairway-rpc/fairway/discovery"
	"github.com/fairway-rpc/fairway/examples/internal/echohandler"
	"github.com/fairway-rpc/fairway/idl/kitex_gen/fairway/echo/echoservice"
	"github.com/fairway-rpc/fairway/middleware"
)

const (
	service = "echo"
	prefix  = "kitex/registry-etcd" // registry-etcd's default
)

// Role is what a member of the fleet does.
type Role string

const (
	provider Role = "provider" // serves until it is stopped; prints its address
	consumer Role = "consumer" // calls until it is stopped; prints tallies
	resolver Role = "resolver" // prints what registry-etcd's resolver answers, once
)

// Library is what a member finds the others with.
type Library string

const (
	fairway      Library = "fairway"
	registryEtcd Library = "registry-etcd"
)

var libraries = []Library{fairway, registryEtcd}

// other is the library on the other side of a mixed fleet.
func (l Library) other() Library {
	if l == fairway {
		return registryEtcd
	}
	return fairway
}

// member is the configuration of a process of the fleet.
type member struct {
	Role    Role
	Library Library
	Etcd    string            // host:port
	Listen  string            // a provider's; empty for any port
	Weight  *int              // a provider's; nil for the library's default
	Tags    map[string]string // a provider's
}

// runMember is a member's main.
func runMember(config string) error {
	var m member
	if err := json.Unmarshal([]byte(config), &m); err != nil {
		return err
	}
	switch m.Role {
	case provider:
		return m.provide()
	case consumer:
		return m.consume()
	case resolver:
		return m.resolve()
	default:
		return fmt.Errorf("unknown role %q", m.Role)
	}
}

// emit prints one line for the test.
func emit(value any) error { return json.NewEncoder(os.Stdout).Encode(value) }

// stopped is closed when the test wants the member to stop, or is gone.
func stopped() <-chan struct{} {
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = io.Copy(io.Discard, os.Stdin)
	}()
	return done
}

// provide runs a Kitex server as an application does.
func (m member) provide() error {
	if m.Listen == "" {
		m.Listen = "127.0.0.1:0"
	}
	listener, err := net.Listen("tcp", m.Listen)
	if err != nil {
		return err
	}
	registering, err := m.registering()
	if err != nil {
		return err
	}
	address := listener.Addr().String()
	svr := echoservice.NewServer(&echohandler.Handler{Instance: address}, append(registering,
		server.WithListener(listener),
		server.WithExitSignal(func() <-chan error {
			exit := make(chan error, 1)
			go func() {
				<-stopped()
				exit <- nil
			}()
			return exit
		}))...)
	if err := emit(address); err != nil {
		return err
	}
	return svr.Run()
}

// registering is what docs/migration.md changes in a provider.
func (m member) registering() ([]server.Option, error) {
	if m.Library == registryEtcd {
		reg, err := registryetcd.NewEtcdRegistry([]string{m.Etcd})
		if err != nil {
			return nil, err
		}
		info := &registry.Info{Tags: m.Tags}
		if m.Weight != nil {
			info.Weight = *m.Weight
		}
		return []server.Option{
			server.WithServerBasicInfo(&rpcinfo.EndpointBasicInfo{ServiceName: service}),
			server.WithRegistry(reg),
			server.WithRegistryInfo(info),
		}, nil
	}
	cli, err := discovery.Dial(discovery.EtcdConfig{Endpoints: []string{m.Etcd}})
	if err != nil {
		return nil, err
	}
	reg, err := discovery.NewRegistry(cli, discovery.WithPrefix(prefix))
	if err != nil {
		return nil, err
	}
	info := []middleware.ServerOption{middleware.WithTags(m.Tags)}
	if m.Weight != nil {
		info = append(info, middleware.WithWeight(*m.Weight))
	}
	return []server.Option{server.WithSuite(middleware.NewServerSuite(reg, service, info...))}, nil
}

// found is an instance as registry-etcd's resolver hands it to Kitex.
type found struct {
	Network, Address string
	Weight           int
	Tags             map[string]string
}

// resolve asks registry-etcd's resolver. Fairway's is asked by the tests
// themselves; this one never closes its client.
func (m member) resolve() error {
	res, err := registryetcd.NewEtcdResolver([]string{m.Etcd})
	if err != nil {
		return err
	}
	result, err := res.Resolve(context.Background(), service)
	if err != nil {
		return err
	}
	all := make([]found, 0, len(result.Instances))
	for _, i := range result.Instances {
		all = append(all, foundOf(i))
	}
	return emit(all)
}

func foundOf(i kdiscovery.Instance) found {
	f := found{Network: i.Address().Network(), Address: i.Address().String(), Weight: i.Weight()}
	if tagged, ok := i.(interface{ Tags() map[string]string }); ok {
		f.Tags = tagged.Tags()
	}
	return f
}
