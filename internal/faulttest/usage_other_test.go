// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !unix

package faulttest

import "time"

// processorTime is measured on Unix only.
func processorTime() time.Duration { return 0 }
