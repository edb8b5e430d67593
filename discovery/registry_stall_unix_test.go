// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !windows

package discovery

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/fairway-rpc/fairway/internal/etcdtest"
)

const stallVar = "FAIRWAY_TEST_STALLED_PROVIDER"

// TestStalledProcessComesBack: a provider that was stopped for three times its
// lease is registered again within two seconds of going on.
func TestStalledProcessComesBack(t *testing.T) {
	t.Parallel()
	s := etcdtest.Start(t)
	cli := s.Client(t)
	const ttl = 2 * time.Second
	provider := exec.Command(os.Args[0], "-test.run=^TestHelperProvider$")
	provider.Env = append(os.Environ(), stallVar+"="+s.Endpoint())
	stdin, err := provider.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := provider.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = provider.Process.Kill()
		_ = stdin.Close()
		_ = provider.Wait()
	})
	waitFor(t, "the provider registers", func() bool { return keyRecord(t, cli, echo1) != nil })
	if err := provider.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	stopped := time.Now()
	waitFor(t, "three times the lease passes", func() bool { return time.Since(stopped) > 3*ttl })
	if rec := keyRecord(t, cli, echo1); rec != nil {
		t.Fatal("the key has outlived its lease")
	}
	if err := provider.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	waitWithin(t, 2*time.Second, "it is registered again", func() bool { return keyRecord(t, cli, echo1) != nil })
}

// TestHelperProvider does nothing, except in the process that the test above
// starts: there it is a provider until its standard input ends.
func TestHelperProvider(t *testing.T) {
	endpoint := os.Getenv(stallVar)
	if endpoint == "" {
		return
	}
	r := testRegistry(t, dialTest(t, endpoint), WithTTL(2*time.Second))
	if err := r.Register(infoOf("echo", echo1, 1)); err != nil {
		fmt.Println(err)
		return
	}
	_, _ = io.Copy(io.Discard, os.Stdin)
}
