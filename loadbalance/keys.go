// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package loadbalance

import (
	"context"

	"github.com/bytedance/gopkg/cloud/metainfo"
	"github.com/cloudwego/kitex/pkg/rpcinfo"
)

// KeyField makes a key function for [WithKey] of a getter of the request, which
// is the first argument of a unary call of the IDL:
//
//	loadbalance.WithKey(loadbalance.KeyField((*echo.Request).GetUser))
//
// Calls whose request is of another type, and streams, have no key.
func KeyField[T any](get func(request T) string) func(ctx context.Context, request any) string {
	return func(_ context.Context, request any) string {
		args, ok := request.(interface{ GetFirstArgument() any })
		if !ok {
			return ""
		}
		first, ok := args.GetFirstArgument().(T)
		if !ok {
			return ""
		}
		return get(first)
	}
}

// KeyMetainfo makes a key function for [WithKey] of a value that travels with the
// call (gopkg's metainfo), a persistent one or one for this hop.
func KeyMetainfo(name string) func(ctx context.Context, request any) string {
	return func(ctx context.Context, _ any) string {
		if value, ok := metainfo.GetValue(ctx, name); ok {
			return value
		}
		value, _ := metainfo.GetPersistentValue(ctx, name)
		return value
	}
}

// KeyMethod is a key function for [WithKey]: the name of the method.
func KeyMethod(ctx context.Context, _ any) string {
	ri := rpcinfo.GetRPCInfo(ctx)
	if ri == nil || ri.Invocation() == nil {
		return ""
	}
	return ri.Invocation().MethodName()
}

type callerKey struct{}

// KeepCaller keeps the address of who is calling this server, its host without
// the port, for the calls that are made with the context that it returns, where
// [KeyCaller] finds it. A handler or a server's middleware uses it on the context
// that it was given.
func KeepCaller(ctx context.Context) context.Context {
	ri := rpcinfo.GetRPCInfo(ctx)
	if ri == nil || ri.From() == nil || ri.From().Address() == nil {
		return ctx
	}
	return context.WithValue(ctx, callerKey{}, hostOf(ri.From().Address().String()))
}

// KeyCaller is a key function for [WithKey]: the address of the original caller,
// which [KeepCaller] has kept.
func KeyCaller(ctx context.Context, _ any) string {
	host, _ := ctx.Value(callerKey{}).(string)
	return host
}
