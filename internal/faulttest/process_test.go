// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package faulttest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/cloudwego/kitex/pkg/remote/trans/gonet"
	"github.com/cloudwego/kitex/server"

	"github.com/fairway-rpc/fairway/discovery"
	"github.com/fairway-rpc/fairway/idl/kitex_gen/fairway/echo/echoservice"
	"github.com/fairway-rpc/fairway/internal/echotest"
	"github.com/fairway-rpc/fairway/middleware"
)

// The environment of a provider in a process of its own.
const (
	providerEtcd    = "FAIRWAY_FAULTTEST_ETCD"
	providerTTL     = "FAIRWAY_FAULTTEST_TTL"
	providerAddress = "FAIRWAY_FAULTTEST_ADDRESS"
)

func isProvider() bool { return os.Getenv(providerEtcd) != "" }

// runProvider serves until SIGTERM, or until the test process is gone, which
// closes the standard input.
func runProvider() int {
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(3)
	}()
	if err := serve(); err != nil {
		fmt.Println("FAILED", err)
		return 1
	}
	return 0
}

func serve() error {
	ttl, err := time.ParseDuration(os.Getenv(providerTTL))
	if err != nil {
		return err
	}
	cli, err := discovery.Dial(discovery.EtcdConfig{Endpoints: []string{os.Getenv(providerEtcd)}})
	if err != nil {
		return err
	}
	defer cli.Close()
	reg, err := discovery.NewRegistry(cli, discovery.WithTTL(ttl), discovery.WithDrainDelay(time.Second/2))
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", os.Getenv(providerAddress))
	if err != nil {
		return err
	}
	address := listener.Addr().String()
	svr := echoservice.NewServer(&echotest.Handler{Instance: address},
		server.WithListener(listener),
		server.WithTransServerFactory(gonet.NewTransServerFactory()),
		server.WithTransHandlerFactory(gonet.NewSvrTransHandlerFactory()),
		server.WithExitWaitTime(time.Second/4),
		server.WithSuite(middleware.NewServerSuite(reg, service)))
	fmt.Println("SERVING", address)
	if err := svr.Run(); !errors.Is(err, context.DeadlineExceeded) { // Kitex waits for connections, and callers keep theirs
		return err
	}
	return nil
}

// process is a provider in a process of its own.
type process struct {
	*os.Process

	t       testing.TB
	address string
}

// startProcess starts one at address, "127.0.0.1:0" for any port.
func startProcess(t testing.TB, endpoint, address string, ttl time.Duration) *process {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^$")
	cmd.Env = append(os.Environ(), providerEtcd+"="+endpoint, providerTTL+"="+ttl.String(), providerAddress+"="+address)
	cmd.Stderr = &testWriter{t: t}
	t.Cleanup(cmd.Stderr.(*testWriter).close)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // also a stopped one
		_ = stdin.Close()
		_ = cmd.Wait()
	})
	line, err := bufio.NewReader(stdout).ReadString('\n')
	got, ok := strings.CutPrefix(strings.TrimSpace(line), "SERVING ")
	if !ok {
		t.Fatalf("the provider said %q, %v", line, err)
	}
	return &process{Process: cmd.Process, t: t, address: got}
}

// ends waits for the end of a process that was told to, and for a good one.
func (p *process) ends() {
	p.t.Helper()
	state, err := p.Wait()
	if err != nil || !state.Success() {
		p.t.Errorf("the provider at %s ended with %v, %v", p.address, state, err)
	}
}
