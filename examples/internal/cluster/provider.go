// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/cloudwego/kitex/pkg/remote/trans/gonet"
	"github.com/cloudwego/kitex/server"

	"github.com/fairway-rpc/fairway/discovery"
	"github.com/fairway-rpc/fairway/examples/internal/echohandler"
	"github.com/fairway-rpc/fairway/idl/kitex_gen/fairway/echo/echoservice"
	"github.com/fairway-rpc/fairway/middleware"
)

// ErrBusy means that something cannot be started, stopped or wiped at this
// moment.
var ErrBusy = errors.New("not possible now")

// ProviderState is what a provider is doing.
type ProviderState string

// The states in the order that a provider goes through them.
const (
	Stopped  ProviderState = "stopped"
	Running  ProviderState = "running"
	Stopping ProviderState = "stopping"
)

// exitWait is how long a server that stops waits for calls under way.
const exitWait = time.Second

// Provider is one Kitex server of the Echo service. Its methods are safe for
// concurrent use.
type Provider struct {
	// Address is where it listens, the same after a restart. Weight is what it
	// registers.
	Address string
	Weight  int

	registry *discovery.Registry
	service  string
	options  []server.Option

	mu    sync.Mutex
	state ProviderState
	exit  chan error    // what Kitex takes for the signal to stop
	ended chan struct{} // closed when Run has returned err
	err   error
}

// NewProvider takes a free loopback port and starts a server on it, which
// registers itself with the registry a second later, as Kitex has it.
func NewProvider(reg *discovery.Registry, service string, weight int, opts ...server.Option) (*Provider, error) {
	p := &Provider{Address: "127.0.0.1:0", Weight: weight, registry: reg, service: service, options: opts, state: Stopped}
	if err := p.Start(); err != nil {
		return nil, err
	}
	return p, nil
}

// State tells what the provider is doing.
func (p *Provider) State() ProviderState {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.state
}

// Start starts the server under its address. It returns an error that wraps
// ErrBusy if the provider runs or is about to stop.
func (p *Provider) Start() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.state != Stopped {
		return fmt.Errorf("start provider %s: %w: it is %s", p.Address, ErrBusy, p.state)
	}
	port, err := new(net.ListenConfig).Listen(context.Background(), "tcp", p.Address)
	if err != nil {
		return fmt.Errorf("start provider: %w", err)
	}
	listener := newTracked(port)
	if address := listener.Addr().String(); address != p.Address {
		p.Address = address // by the constructor, before anybody else can read it
	}
	p.exit, p.ended, p.state = make(chan error, 1), make(chan struct{}), Running
	go p.run(p.server(listener, p.exit), listener, p.ended)
	return nil
}

func (p *Provider) server(listener net.Listener, exit <-chan error) server.Server {
	return echoservice.NewServer(&echohandler.Handler{Instance: p.Address}, append([]server.Option{
		server.WithListener(listener),
		// Kitex's transport on Go's own network package. The default one closes a
		// listener's file descriptor twice (netpoll v0.7.2, listener.Close), and
		// with a consumer in the same process the second time may hit its connection.
		server.WithTransServerFactory(gonet.NewTransServerFactory()),
		server.WithTransHandlerFactory(gonet.NewSvrTransHandlerFactory()),
		server.WithExitWaitTime(exitWait),
		// The signals belong to the program, which has more than this server.
		server.WithExitSignal(func() <-chan error { return exit }),
		server.WithSuite(middleware.NewServerSuite(p.registry, p.service, middleware.WithWeight(p.Weight))),
	}, p.options...)...)
}

func (p *Provider) run(s server.Server, listener *tracked, ended chan<- struct{}) {
	err := s.Run()
	listener.closeConns()
	if errors.Is(err, context.DeadlineExceeded) {
		err = nil // this transport waits for connections, also idle ones, which clients keep open
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.err, p.state = err, Stopped
	close(ended)
}

// Stop deregisters the server, waits for the registry's drain delay and for
// calls under way, and ends it and its connections. It returns an error that wraps ErrBusy if the
// provider does not run.
func (p *Provider) Stop() error {
	p.mu.Lock()
	if p.state != Running {
		defer p.mu.Unlock()
		return fmt.Errorf("stop provider %s: %w: it is %s", p.Address, ErrBusy, p.state)
	}
	p.state = Stopping
	ended := p.ended
	p.exit <- nil
	p.mu.Unlock()
	<-ended
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.err
}
