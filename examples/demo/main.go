// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

// The demo shows Fairway at work: an embedded etcd, three providers of the
// weights 5, 3 and 2, and a consumer under load, with a live table of where the
// calls go. It needs nothing but Go:
//
//	go -C examples run ./demo
//
// With -story it shows what happens to services and to etcd instead, one event
// after the other, and what the calls notice.
package main

import (
	"os"

	"github.com/fairway-rpc/fairway/examples/internal/demo"
)

func main() {
	os.Exit(demo.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
