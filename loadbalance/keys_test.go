// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package loadbalance

import (
	"context"
	"fmt"
	"net"
	"testing"

	"github.com/bytedance/gopkg/cloud/metainfo"
	"github.com/cloudwego/kitex/pkg/rpcinfo"
)

// args are the generated arguments of a unary call.
type args struct{ first any }

func (a args) GetFirstArgument() any { return a.first }

type userRequest struct{ user string }

func (r *userRequest) GetUser() string { return r.user }

func TestKeys(t *testing.T) {
	ctx := context.Background()
	from := func(address net.Addr) context.Context {
		return rpcinfo.NewCtxWithRPCInfo(ctx, rpcinfo.NewRPCInfo(rpcinfo.NewEndpointInfo("who", "", address, nil), nil, nil, nil, nil))
	}
	field := KeyField((*userRequest).GetUser)
	for name, c := range map[string]struct{ got, want string }{
		"field":                   {field(ctx, args{&userRequest{"ann"}}), "ann"},
		"field of a stream":       {field(ctx, nil), ""},
		"field of another type":   {field(ctx, args{"x"}), ""},
		"metainfo":                {KeyMetainfo("user")(metainfo.WithValue(ctx, "user", "bob"), nil), "bob"},
		"persistent metainfo":     {KeyMetainfo("user")(metainfo.WithPersistentValue(ctx, "user", "eve"), nil), "eve"},
		"no metainfo":             {KeyMetainfo("user")(ctx, nil), ""},
		"method":                  {KeyMethod(ofMethod(ctx, "Get"), nil), "Get"},
		"no method":               {KeyMethod(ctx, nil), ""},
		"caller":                  {KeyCaller(KeepCaller(from(&net.TCPAddr{IP: net.IPv4(10, 0, 0, 7), Port: 4711})), nil), "10.0.0.7"},
		"caller over IPv6":        {KeyCaller(KeepCaller(from(&net.TCPAddr{IP: net.IPv6loopback, Port: 1})), nil), "::1"},
		"caller over a socket":    {KeyCaller(KeepCaller(from(&net.UnixAddr{Net: "unix", Name: "/run/a.sock"})), nil), "/run/a.sock"},
		"caller that is not kept": {KeyCaller(from(&net.TCPAddr{IP: net.IPv4(10, 0, 0, 7)}), nil), ""},
		"nobody called":           {KeyCaller(KeepCaller(ctx), nil), ""},
	} {
		if c.got != c.want {
			t.Errorf("%s: key %q, want %q", name, c.got, c.want)
		}
	}
}

// TestCallsWithoutAKey are errors, or spread if that is wanted; never do they all
// go to one instance.
func TestCallsWithoutAKey(t *testing.T) {
	res := result("r", 10, 10, 10)
	for _, policy := range []string{ConsistentHash, BoundedHash} {
		if got := call(t.Context(), mustNew(t, policy), res); got != "" {
			t.Errorf("%s: a call without a key went to %s", policy, got)
		}
		b := mustNew(t, policy, WithOptionalKey())
		counts := map[string]int{}
		for range 3000 {
			counts[call(t.Context(), b, res)]++
		}
		for i := range 3 {
			if n := counts[fmt.Sprintf("i%d:80", i)]; n < 500 {
				t.Errorf("%s: calls without a key are spread as %v", policy, counts)
			}
		}
		ctx := withKey(t.Context(), "k")
		if first, second := call(ctx, b, res), call(ctx, b, res); first != second {
			t.Errorf("%s: a key has the instances %s and %s", policy, first, second)
		}
	}
}
