// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !windows

package main_test

import (
	"bytes"
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/cloudwego/kitex/client"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/fairway-rpc/fairway/discovery"
	"github.com/fairway-rpc/fairway/idl/kitex_gen/fairway/echo"
	"github.com/fairway-rpc/fairway/idl/kitex_gen/fairway/echo/echoservice"
	"github.com/fairway-rpc/fairway/internal/etcdtest"
	"github.com/fairway-rpc/fairway/loadbalance"
	"github.com/fairway-rpc/fairway/middleware"
)

// binary is the program under test, a process of its own that gets real signals.
var binary string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "fairway-provider-")
	if err != nil {
		panic(err)
	}
	binary = filepath.Join(dir, "provider")
	build := exec.Command("go", "build", "-o", binary, ".")
	build.Stderr = os.Stderr
	code := 1
	if build.Run() == nil {
		code = m.Run()
	}
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

// process is a running provider.
type process struct {
	cmd     *exec.Cmd
	output  *bytes.Buffer
	address string
	ended   chan error
}

func start(t *testing.T, etcd string, args ...string) *process {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	_ = listener.Close()
	p := &process{output: &bytes.Buffer{}, address: address, ended: make(chan error, 1)}
	p.cmd = exec.Command(binary, append([]string{"-etcd", etcd, "-listen", address}, args...)...)
	p.cmd.Stdout, p.cmd.Stderr = p.output, p.output
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { p.ended <- p.cmd.Wait() }()
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill()
		if t.Failed() {
			t.Logf("provider %s:\n%s", address, p.output)
		}
	})
	return p
}

// terminate sends SIGTERM and expects a clean end.
func (p *process) terminate(t *testing.T) {
	t.Helper()
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	timeout := time.NewTimer(20 * time.Second)
	defer timeout.Stop()
	select {
	case err := <-p.ended:
		p.ended <- err
		if err != nil || strings.Contains(p.output.String(), "panic") {
			t.Errorf("the provider ended with %v", err)
		}
	case <-timeout.C:
		t.Error("the provider has not ended 20 s after SIGTERM")
	}
}

func (p *process) listens() bool {
	conn, err := net.Dial("tcp", p.address)
	if err != nil {
		return false
	}
	_ = conn.Close()
	return true
}

func keys(t *testing.T, cli *clientv3.Client) int {
	t.Helper()
	resp, err := cli.Get(t.Context(), "fairway/", clientv3.WithPrefix(), clientv3.WithCountOnly())
	if err != nil {
		t.Fatal(err)
	}
	return int(resp.Count)
}

// TestSIGTERMUnderLoadFailsNoCall: 32 callers of a 20 ms method, two providers,
// one of which is stopped.
func TestSIGTERMUnderLoadFailsNoCall(t *testing.T) {
	etcd := etcdtest.Start(t)
	cli := etcd.Client(t)
	leaving, staying := start(t, etcd.Endpoint()), start(t, etcd.Endpoint())
	waitFor(t, "both are registered", func() bool { return keys(t, cli) == 2 })
	res, err := discovery.NewResolver(cli, discovery.WithoutSnapshotDir())
	if err != nil {
		t.Fatal(err)
	}
	defer res.Close()
	lb, err := loadbalance.New(loadbalance.SmoothWRR)
	if err != nil {
		t.Fatal(err)
	}
	caller, err := echoservice.NewClient("echo", client.WithSuite(middleware.NewClientSuite(res, lb)))
	if err != nil {
		t.Fatal(err)
	}
	var stop atomic.Bool
	var calls atomic.Int64
	var callers sync.WaitGroup
	for range 32 {
		callers.Go(func() {
			for !stop.Load() {
				if _, err := caller.Echo(context.Background(), &echo.Request{DelayMs: 20}); err != nil {
					t.Errorf("call failed: %v", err)
				}
				calls.Add(1)
			}
		})
	}
	waitFor(t, "calls run", func() bool { return calls.Load() > 300 })
	leaving.terminate(t)
	before := calls.Load()
	waitFor(t, "calls go on", func() bool { return calls.Load() > before+300 })
	stop.Store(true)
	callers.Wait()
	if n := keys(t, cli); n != 1 {
		t.Errorf("%d keys after one of two providers has ended", n)
	}
	staying.terminate(t)
	if n := keys(t, cli); n != 0 {
		t.Errorf("%d keys left", n)
	}
}

// TestSIGTERMBeforeRegistration: Kitex registers a second after the start.
func TestSIGTERMBeforeRegistration(t *testing.T) {
	etcd := etcdtest.Start(t)
	p := start(t, etcd.Endpoint())
	waitFor(t, "it listens", p.listens)
	p.terminate(t)
	if n := keys(t, etcd.Client(t)); n != 0 {
		t.Errorf("%d keys left", n)
	}
}

// TestStartWithEtcdDown: the provider serves all the same, and registers when
// etcd comes.
func TestStartWithEtcdDown(t *testing.T) {
	etcd := etcdtest.New(t)
	p := start(t, etcd.Endpoint(), "-weight", "7")
	waitFor(t, "it serves without etcd", p.listens)
	etcd.Restart()
	cli := etcd.Client(t)
	waitFor(t, "it registers when etcd comes", func() bool { return keys(t, cli) == 1 })
	p.terminate(t)
}

func TestBadInputIsReported(t *testing.T) {
	for name, args := range map[string][]string{
		"endpoint": {"-etcd", "nowhere"},
		"weight":   {"-weight", "-1"},
		"service":  {"-service", "a/b"},
		"address":  {"-listen", "x"},
	} {
		output, err := exec.Command(binary, args...).CombinedOutput()
		if err == nil || strings.Contains(string(output), "goroutine ") {
			t.Errorf("%s: ended with %v and\n%s", name, err, output)
		}
	}
}

func waitFor(t *testing.T, what string, ok func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("not within 20s: %s", what)
		}
	}
}
