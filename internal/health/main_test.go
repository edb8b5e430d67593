// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package health

import (
	"testing"

	"github.com/fairway-rpc/fairway/internal/leaktest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }
