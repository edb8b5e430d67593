// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package faulttest

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	kregistry "github.com/cloudwego/kitex/pkg/registry"
	"github.com/cloudwego/kitex/pkg/utils"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/fairway-rpc/fairway/discovery"
)

// A gauge is a process of its own, so that what it uses can be measured, with a
// provider and a consumer on one client. It takes commands on its standard input
// and answers each with one line.
const (
	gaugeEtcd     = "FAIRWAY_FAULTTEST_GAUGE"
	gaugeUser     = "FAIRWAY_FAULTTEST_USER"
	gaugePassword = "FAIRWAY_FAULTTEST_PASSWORD"
)

func isGauge() bool { return os.Getenv(gaugeEtcd) != "" }

// usage is the answer to each command.
type usage struct {
	Address    string // the provider's
	Instances  []string
	Suspects   int
	State      discovery.FeedState
	Lines      int64 // of the log, all in all
	Processor  time.Duration
	Goroutines int
	Heap       uint64
}

type gaugeProcess struct {
	address  string
	registry *discovery.Registry
	resolver *discovery.Resolver
	cli      *clientv3.Client
	lines    atomic.Int64
}

func runGauge() int {
	g := &gaugeProcess{}
	if err := g.start(); err != nil {
		fmt.Println("FAILED", err)
		return 1
	}
	fmt.Println("READY")
	commands := bufio.NewScanner(os.Stdin)
	for commands.Scan() {
		if err := g.obey(commands.Text()); err != nil {
			fmt.Println("FAILED", err)
			return 1
		}
	}
	return 0
}

// Write counts the lines of every logger and passes them on.
func (g *gaugeProcess) Write(p []byte) (int, error) {
	g.lines.Add(1)
	return os.Stderr.Write(p)
}

func (g *gaugeProcess) start() (err error) {
	log := slog.New(slog.NewTextHandler(g, nil))
	g.cli, err = discovery.Dial(discovery.EtcdConfig{
		Endpoints: []string{os.Getenv(gaugeEtcd)},
		Username:  os.Getenv(gaugeUser),
		Password:  os.Getenv(gaugePassword),
		Logger:    log,
	})
	if err != nil {
		return err
	}
	if g.registry, err = discovery.NewRegistry(g.cli, discovery.WithLogger(log)); err != nil {
		return err
	}
	if g.resolver, err = discovery.NewResolver(g.cli, discovery.WithLogger(log), discovery.WithoutSnapshotDir()); err != nil {
		return err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	g.address = listener.Addr().String()
	return g.registry.Register(&kregistry.Info{ServiceName: service, Addr: utils.NewNetAddr("tcp", g.address)})
}

func (g *gaugeProcess) obey(command string) error {
	switch command {
	case "subscribe":
		if err := g.subscribe(); err != nil {
			return err
		}
	case "balance":
		if err := g.balance(); err != nil {
			return err
		}
	case "collect":
		runtime.GC()
		runtime.GC()
	case "look":
	default:
		return fmt.Errorf("unknown command %q", command)
	}
	return json.NewEncoder(os.Stdout).Encode(g.usage())
}

// subscribe subscribes and unsubscribes a thousand times, with ten at a time.
func (g *gaugeProcess) subscribe() error {
	for range 100 {
		var cancels []func()
		called := make(chan struct{}, 10)
		for range 10 {
			cancels = append(cancels, g.resolver.Subscribe(service, func(*discovery.Snapshot) {
				select {
				case called <- struct{}{}:
				default:
				}
			}))
		}
		for range cancels {
			<-called
		}
		for _, cancel := range cancels {
			cancel()
		}
	}
	return nil
}

func (g *gaugeProcess) usage() usage {
	u := usage{Address: g.address, Lines: g.lines.Load(), Processor: processorTime(), Goroutines: runtime.NumGoroutine()}
	_, _ = g.resolver.Resolve(g.cli.Ctx(), service)
	if s, ok := g.resolver.Snapshot(service); ok {
		u.Suspects, u.State = s.Suspects, s.State
		for _, i := range s.Instances {
			u.Instances = append(u.Instances, i.Address().String())
		}
	}
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	u.Heap = memory.HeapAlloc
	return u
}

// gauge is the test's end of such a process.
type gauge struct {
	t       testing.TB
	stdin   io.WriteCloser
	answers *bufio.Reader
}

func startGauge(t testing.TB, cfg discovery.EtcdConfig) *gauge {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^$")
	cmd.Env = append(os.Environ(), gaugeEtcd+"="+cfg.Endpoints[0], gaugeUser+"="+cfg.Username, gaugePassword+"="+cfg.Password)
	stderr := &testWriter{t: t}
	cmd.Stderr = stderr
	t.Cleanup(stderr.close)
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
		_ = stdin.Close()
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	g := &gauge{t: t, stdin: stdin, answers: bufio.NewReader(stdout)}
	if line := g.line(); line != "READY" {
		t.Fatalf("the process said %q", line)
	}
	return g
}

func (g *gauge) line() string {
	g.t.Helper()
	line, err := g.answers.ReadString('\n')
	if err != nil {
		g.t.Fatalf("the process said %q: %v", line, err)
	}
	return strings.TrimSpace(line)
}

// does has the process obey a command.
func (g *gauge) does(command string) (u usage) {
	g.t.Helper()
	if _, err := fmt.Fprintln(g.stdin, command); err != nil {
		g.t.Fatal(err)
	}
	line := g.line()
	if err := json.Unmarshal([]byte(line), &u); err != nil {
		g.t.Fatalf("the process said %q: %v", line, err)
	}
	return u
}
