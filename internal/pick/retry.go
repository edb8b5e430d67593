// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package pick

import (
	"context"

	"github.com/cloudwego/kitex/pkg/rpcinfo"
)

// RetryOf returns Kitex's number of the retry that ctx belongs to, "" for a
// first attempt.
func RetryOf(ctx context.Context) string {
	ri := rpcinfo.GetRPCInfo(ctx)
	if ri == nil || ri.To() == nil {
		return ""
	}
	retry, _ := ri.To().Tag(rpcinfo.RetryTag)
	return retry
}
