// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package middleware

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"syscall"
	"testing"
	"time"

	"github.com/cloudwego/gopkg/protocol/thrift"
	"github.com/cloudwego/kitex/client"
	"github.com/cloudwego/kitex/client/callopt"
	"github.com/cloudwego/kitex/pkg/connpool"
	"github.com/cloudwego/kitex/pkg/endpoint"
	"github.com/cloudwego/kitex/pkg/kerrors"
	"github.com/cloudwego/kitex/pkg/remote"
	"github.com/cloudwego/kitex/pkg/remote/trans/gonet"
	"github.com/cloudwego/kitex/pkg/remote/trans/nphttp2/codes"
	"github.com/cloudwego/kitex/pkg/remote/trans/nphttp2/status"
	"github.com/cloudwego/kitex/pkg/rpcinfo"
	"github.com/cloudwego/kitex/server"
	"github.com/cloudwego/netpoll"

	"github.com/fairway-rpc/fairway/idl/kitex_gen/fairway/echo"
	"github.com/fairway-rpc/fairway/idl/kitex_gen/fairway/echo/echoservice"
	"github.com/fairway-rpc/fairway/internal/echotest"
	"github.com/fairway-rpc/fairway/internal/pick"
)

func TestOutcomesOfErrors(t *testing.T) {
	remoteOr := kerrors.ErrRemoteOrNetwork.WithCause
	noConn := func(cause error) error { return remoteOr(kerrors.ErrGetConnection.WithCause(cause)) }
	refused := &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}
	for name, tt := range map[string]struct {
		err  error
		want pick.Outcome
	}{
		"none":                       {nil, pick.Answered},
		"refused":                    {noConn(refused), pick.NoConnection},
		"dial time-out":              {noConn(&net.OpError{Op: "dial", Err: netpoll.Exception(netpoll.ErrDialTimeout, "")}), pick.NoConnection},
		"refused, text only":         {noConn(errors.New("dial connection err: refused")), pick.NoConnection},
		"dial of a TTHeader stream":  {remoteOr(refused), pick.NoConnection},
		"out of files":               {noConn(&net.OpError{Op: "dial", Err: syscall.EMFILE}), pick.Unknown},
		"out of files, text only":    {noConn(fmt.Errorf("dial connection err: %s", syscall.EMFILE)), pick.Unknown}, //nolint:errorlint // as the pool does
		"out of memory":              {noConn(&net.OpError{Op: "dial", Err: syscall.ENOMEM}), pick.Unknown},
		"out of ports":               {noConn(&net.OpError{Op: "dial", Err: syscall.EADDRNOTAVAIL}), pick.Unknown},
		"cancelled before a stream":  {noConn(status.Err(codes.Canceled, "context canceled")), pick.Unknown},
		"headers too large":          {noConn(status.Err(codes.Internal, "header list size to send violates the maximum size")), pick.Unknown},
		"pool closed here":           {noConn(status.Err(codes.Aborted, "connection pool has been closed")), pick.Unknown},
		"connection that drains":     {noConn(status.Err(codes.Unavailable, "the connection is draining")), pick.NoConnection},
		"RPC time-out":               {remoteOr(kerrors.ErrRPCTimeout.WithCause(netpoll.ErrReadTimeout)), pick.TimedOut},
		"read deadline":              {remoteOr(&net.OpError{Op: "read", Err: errTimeout{}}), pick.TimedOut},
		"end of file":                {remoteOr(fmt.Errorf("default codec read failed: %w", io.EOF)), pick.Broken},
		"reset":                      {remoteOr(&net.OpError{Op: "read", Err: syscall.ECONNRESET}), pick.Broken},
		"netpoll's closed":           {remoteOr(netpoll.Exception(netpoll.ErrConnClosed, "when reading")), pick.Broken},
		"netpoll's end of file":      {remoteOr(netpoll.Exception(netpoll.ErrEOF, "")), pick.Broken},
		"broken within a message":    {remoteOr(remote.NewTransError(remote.ProtocolError, io.ErrUnexpectedEOF)), pick.Broken},
		"gRPC unavailable":           {remoteOr(status.Err(codes.Unavailable, "connection error")), pick.Broken},
		"gRPC deadline of another":   {remoteOr(status.Err(codes.DeadlineExceeded, "the database is slow")), pick.Unknown},
		"gRPC answer":                {remoteOr(status.Err(codes.NotFound, "no such thing")), pick.Answered},
		"exception":                  {remoteOr(remote.NewTransErrorWithMsg(remote.InternalError, "biz error: boom")), pick.Answered},
		"raw exception":              {remoteOr(thrift.NewApplicationException(6, "boom")), pick.Answered},
		"breaker":                    {kerrors.ErrInstanceCircuitBreak, pick.Unknown},
		"limit of our own":           {kerrors.ErrQPSOverLimit, pick.Unknown},
		"forbidden here":             {kerrors.ErrACL.WithCause(errors.New("no")), pick.Unknown},
		"cancelled":                  {remoteOr(context.Canceled), pick.Unknown},
		"encoding":                   {remoteOr(errors.New("empty methodName in thrift Marshal")), pick.Unknown},
		"a middleware's own failing": {errors.New("no token"), pick.Unknown},
		"a middleware's dial":        {fmt.Errorf("no token: %w", refused), pick.Unknown},
		"a middleware's request":     {&url.Error{Op: "Get", URL: "http://tokens", Err: refused}, pick.Unknown},
		"a middleware's time-out":    {fmt.Errorf("no token: %w", errTimeout{}), pick.Unknown},
		"a middleware's deadline":    {fmt.Errorf("no token: %w", context.DeadlineExceeded), pick.Unknown},
		"a middleware's end of file": {fmt.Errorf("no token: %w", io.ErrUnexpectedEOF), pick.Unknown},
	} {
		if got := outcomeOf(t.Context(), nil, tt.err); got != tt.want {
			t.Errorf("%s: %v, want %v (%v)", name, got, tt.want, tt.err)
		}
	}
}

type errTimeout struct{}

func (errTimeout) Error() string   { return "i/o timeout" }
func (errTimeout) Timeout() bool   { return true }
func (errTimeout) Temporary() bool { return true }

func TestOutcomesThatDependOnTheCall(t *testing.T) {
	late, cancel := context.WithTimeout(t.Context(), 0)
	defer cancel()
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	opaque := kerrors.ErrRemoteOrNetwork.WithCause(errors.New("recv wait timeout"))
	for name, tt := range map[string]struct {
		ctx  context.Context
		mode rpcinfo.InteractionMode
		err  error
		want pick.Outcome
	}{
		"one-way sent":                          {t.Context(), rpcinfo.Oneway, nil, pick.Sent},
		"one-way without a connection":          {t.Context(), rpcinfo.Oneway, kerrors.ErrGetConnection, pick.NoConnection},
		"stream opened":                         {t.Context(), rpcinfo.Streaming, nil, pick.Answered},
		"stream not opened":                     {t.Context(), rpcinfo.Streaming, kerrors.ErrRemoteOrNetwork.WithCause(kerrors.ErrStreamingProtocol), pick.Broken},
		"stream without a token":                {t.Context(), rpcinfo.Streaming, errors.New("no token"), pick.Unknown},
		"stream without metadata":               {t.Context(), rpcinfo.Streaming, kerrors.ErrRemoteOrNetwork.WithCause(errors.New("no metadata")), pick.Unknown},
		"deadline before a stream":              {late, rpcinfo.Streaming, kerrors.ErrGetConnection.WithCause(status.Err(codes.DeadlineExceeded, "context deadline exceeded")), pick.TimedOut},
		"gRPC time-out":                         {late, rpcinfo.PingPong, kerrors.ErrRemoteOrNetwork.WithCause(status.Err(codes.DeadlineExceeded, "context deadline exceeded")), pick.TimedOut},
		"a middleware's failing, late":          {late, rpcinfo.PingPong, errors.New("no token"), pick.Unknown},
		"stream cancelled":                      {gone, rpcinfo.Streaming, opaque, pick.Unknown},
		"multiplexed time-out":                  {late, rpcinfo.PingPong, opaque, pick.TimedOut},
		"multiplexed cancellation":              {gone, rpcinfo.PingPong, opaque, pick.Unknown},
		"no connection, though cancelled since": {gone, rpcinfo.PingPong, kerrors.ErrGetConnection, pick.NoConnection},
	} {
		config := rpcinfo.NewRPCConfig()
		if err := rpcinfo.AsMutableRPCConfig(config).SetInteractionMode(tt.mode); err != nil {
			t.Fatal(err)
		}
		call := rpcinfo.NewRPCInfo(nil, nil, nil, config, nil)
		if got := outcomeOf(tt.ctx, call, tt.err); got != tt.want {
			t.Errorf("%s: %v, want %v", name, got, tt.want)
		}
	}
}

// TestOutcomesOfRealTransports is what Kitex really returns.
func TestOutcomesOfRealTransports(t *testing.T) {
	for name, transport := range map[string][]client.Option{
		"netpoll":      nil,
		"netpoll long": {client.WithLongConnection(connpool.IdleConfig{MaxIdlePerAddress: 2, MaxIdleGlobal: 2, MaxIdleTimeout: time.Minute})},
		"gonet":        {client.WithDialer(gonet.NewDialer()), client.WithTransHandlerFactory(gonet.NewCliTransHandlerFactory())},
		"mux":          {client.WithMuxConnection(1)},
	} {
		t.Run(name, func(t *testing.T) {
			ended := make(chan pick.Outcome, 10)
			tell := func(next endpoint.Endpoint) endpoint.Endpoint {
				return func(ctx context.Context, request, response any) error {
					err := next(ctx, request, response)
					ended <- outcomeOf(ctx, rpcinfo.GetRPCInfo(ctx), err)
					return err
				}
			}
			var svr *echotest.Server
			if name == "mux" {
				svr = echotest.StartStreaming(t, server.WithMuxTransport())
			} else {
				svr = echotest.Start(t)
			}
			cli, err := echoservice.NewClient("echo", append(transport, client.WithInstanceMW(tell), client.WithHostPorts(svr.Address))...)
			if err != nil {
				t.Fatal(err)
			}
			expect := func(what string, want pick.Outcome, request *echo.Request, opts ...callopt.Option) {
				t.Helper()
				_, err := cli.Echo(t.Context(), request, opts...)
				if got := <-ended; got != want {
					t.Errorf("%s: %v, want %v (%v)", what, got, want, err)
				}
			}
			expect("answer", pick.Answered, &echo.Request{})
			expect("business error", pick.Answered, &echo.Request{Failure: echo.Failure_BUSINESS})
			expect("remote error", pick.Answered, &echo.Request{Failure: echo.Failure_REMOTE})
			expect("time-out", pick.TimedOut, &echo.Request{DelayMs: 100}, callopt.WithRPCTimeout(20*time.Millisecond))
			if err := cli.Notify(t.Context(), &echo.Request{}); err != nil || <-ended != pick.Sent {
				t.Errorf("one-way: %v", err)
			}
			expect("refused", pick.NoConnection, &echo.Request{}, callopt.WithHostPort("127.0.0.1:1"))
			expect("hangs up", pick.Broken, &echo.Request{}, callopt.WithHostPort(hangsUp(t)))
			if c, ok := cli.(interface{ Close() error }); ok {
				_ = c.Close()
			}
		})
	}
}

// hangsUp is the address of somebody who accepts connections and closes them
// when a request has come.
func hangsUp(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			_, _ = conn.Read(make([]byte, 1024))
			_ = conn.Close()
		}
	}()
	t.Cleanup(func() {
		_ = listener.Close()
		<-done
	})
	return listener.Addr().String()
}
