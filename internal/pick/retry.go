// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package pick

import (
	"context"

	kdiscovery "github.com/cloudwego/kitex/pkg/discovery"
	"github.com/cloudwego/kitex/pkg/rpcinfo"
	"github.com/cloudwego/kitex/pkg/rpcinfo/remoteinfo"
)

// RetryOf returns Kitex's number of the retry that ctx belongs to, "" for a
// first attempt.
func RetryOf(ctx context.Context) string {
	ri := rpcinfo.GetRPCInfo(ctx)
	if ri == nil || ri.To() == nil {
		return ""
	}
	return CallTag(ri.To(), Failed(ri.To()), rpcinfo.RetryTag)
}

// Failed returns the instance that this attempt has just failed to reach: Kitex
// leaves it in place when it picks again. It is nil for a first pick.
func Failed(to rpcinfo.EndpointInfo) kdiscovery.Instance {
	remote := remoteinfo.AsRemoteInfo(to)
	if remote == nil {
		return nil
	}
	return remote.GetInstance()
}

// CallTag returns a tag of the call, of which failed is [Failed]. Kitex looks
// into the instance's tags first, which come from the registry and must not pass
// for Kitex's own.
func CallTag(to rpcinfo.EndpointInfo, failed kdiscovery.Instance, key string) string {
	if failed != nil {
		if _, shadowed := failed.Tag(key); shadowed {
			return ""
		}
	}
	value, _ := to.Tag(key)
	return value
}
