// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package story

import (
	"os"
	"testing"

	"github.com/fairway-rpc/fairway/examples/internal/cluster"
	"github.com/fairway-rpc/fairway/internal/leaktest"
)

func TestMain(m *testing.M) {
	if status, ran := cluster.RunProcess(); ran {
		os.Exit(status)
	}
	leaktest.Main(m)
}
