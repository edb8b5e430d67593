// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

// Package logging gives Fairway's packages one place for log output: by
// default Kitex's klog, through slog, with a limiter for lines that would
// otherwise repeat through a whole outage.
package logging
