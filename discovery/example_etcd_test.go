// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package discovery_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"testing"

	"github.com/fairway-rpc/fairway/internal/etcdtest"
)

// startEtcd runs an etcd for an example, which has no testing.TB.
func startEtcd() (endpoint string, stop func()) {
	tb := &exampleTB{}
	return etcdtest.Start(tb).Endpoint(), tb.end
}

// exampleTB is what etcdtest needs of a test.
type exampleTB struct {
	testing.TB
	cleanups []func()
}

func (*exampleTB) Helper()                           {}
func (*exampleTB) Failed() bool                      { return false }
func (*exampleTB) Log(args ...any)                   { fmt.Fprintln(os.Stderr, args...) }
func (*exampleTB) Fatal(args ...any)                 { panic(fmt.Sprint(args...)) }
func (*exampleTB) Fatalf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }
func (*exampleTB) Context() context.Context          { return context.Background() }
func (tb *exampleTB) Cleanup(f func())               { tb.cleanups = append(tb.cleanups, f) }

func (tb *exampleTB) TempDir() string {
	dir, err := os.MkdirTemp("", "fairway-example-*")
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

func (tb *exampleTB) end() {
	for _, f := range slices.Backward(tb.cleanups) {
		f()
	}
}
