// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package compat

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fairway-rpc/fairway/internal/leaktest"
)

// memberVariable holds what a process of the fleet is told to be, in JSON.
const memberVariable = "COMPAT_MEMBER"

// TestMain is also main of the fleet's processes, which are runs of this binary.
func TestMain(m *testing.M) {
	if config := os.Getenv(memberVariable); config != "" {
		if err := runMember(config); err != nil {
			fmt.Fprintf(os.Stderr, "member: %v\n", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	flag.Parse()
	// The tests wait for timers of Kitex and of registry-etcd most of the time.
	if err := flag.Set("test.parallel", "8"); err != nil {
		panic(err)
	}
	leaktest.Main(m)
}

// process is a member of the fleet as its test sees it.
type process struct {
	cmd    *exec.Cmd
	stdin  io.Closer
	stderr bytes.Buffer
	line   atomic.Pointer[[]byte] // the last one that it has printed
	ended  chan struct{}
	err    error // what it ended with
}

// start runs a member until stop, kill or the end of the test.
func start(t *testing.T, m member, env ...string) *process {
	t.Helper()
	config, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	p := &process{cmd: exec.Command(os.Args[0]), ended: make(chan struct{})}
	p.cmd.Env = append(os.Environ(), append(env, memberVariable+"="+string(config))...)
	p.cmd.Stderr = &p.stderr
	if p.stdin, err = p.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	stdout, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go p.follow(stdout)
	t.Cleanup(func() {
		p.kill()
		if t.Failed() {
			t.Logf("%s of %s: ended with %v\n%s", m.Role, m.Library, p.err, p.stderr.String())
		}
	})
	return p
}

// follow keeps the last line of output and waits for the process.
func (p *process) follow(stdout io.Reader) {
	defer close(p.ended)
	decoder := json.NewDecoder(stdout)
	for {
		var line json.RawMessage
		if decoder.Decode(&line) != nil {
			break
		}
		p.line.Store((*[]byte)(&line))
	}
	p.err = p.cmd.Wait()
}

// printed decodes the last line of output and reports whether there is one.
func (p *process) printed(t *testing.T, into any) bool {
	t.Helper()
	line := p.line.Load()
	if line == nil {
		return false
	}
	if err := json.Unmarshal(*line, into); err != nil {
		t.Fatalf("a member has printed %s: %v", *line, err)
	}
	return true
}

// stop does what a signal does and expects a clean end. Members stop when their
// standard input ends, so that none outlives its test.
func (p *process) stop(t *testing.T) {
	t.Helper()
	_ = p.stdin.Close()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-p.ended:
		if p.err != nil {
			t.Errorf("a member has ended with %v\n%s", p.err, p.stderr.String())
		}
	case <-timer.C:
		t.Errorf("a member has not stopped within %v", patience)
	}
}

// kill ends the process without a chance to deregister.
func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	<-p.ended
}
