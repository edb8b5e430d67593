// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package echohandler_test

import (
	"context"
	"errors"
	"io"
	"net"
	"testing"
	"time"

	"github.com/cloudwego/kitex/client"
	"github.com/cloudwego/kitex/pkg/kerrors"
	"github.com/cloudwego/kitex/pkg/transmeta"
	"github.com/cloudwego/kitex/server"
	"github.com/cloudwego/kitex/transport"

	"github.com/fairway-rpc/fairway/examples/internal/echohandler"
	"github.com/fairway-rpc/fairway/idl/kitex_gen/fairway/echo"
	"github.com/fairway-rpc/fairway/idl/kitex_gen/fairway/echo/echoservice"
)

func dial(t *testing.T) echoservice.Client {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	exit, ended := make(chan error, 1), make(chan error, 1)
	s := echoservice.NewServer(&echohandler.Handler{Instance: "here"},
		server.WithListener(listener),
		server.WithMetaHandler(transmeta.ServerTTHeaderHandler), // carries business errors
		server.WithExitWaitTime(100*time.Millisecond),
		server.WithExitSignal(func() <-chan error { return exit }))
	go func() { ended <- s.Run() }()
	t.Cleanup(func() {
		exit <- nil
		if err := <-ended; err != nil && !errors.Is(err, context.DeadlineExceeded) { // streams' connections stay open
			t.Error(err)
		}
	})
	cli, err := echoservice.NewClient("echo", client.WithHostPorts(listener.Addr().String()),
		client.WithTransportProtocol(transport.TTHeader), client.WithMetaHandler(transmeta.ClientTTHeaderHandler))
	if err != nil {
		t.Fatal(err)
	}
	return cli
}

func TestUnary(t *testing.T) {
	cli := dial(t)
	began := time.Now()
	r, err := cli.Echo(t.Context(), &echo.Request{Message: "hello", DelayMs: 50})
	if err != nil || r.Message != "hello" || r.Instance != "here" {
		t.Errorf("got %v, %v", r, err)
	}
	if took := time.Since(began); took < 50*time.Millisecond {
		t.Errorf("a call that was to take 50 ms took %v", took)
	}
	_, err = cli.Echo(t.Context(), &echo.Request{Failure: echo.Failure_BUSINESS})
	if _, business := kerrors.FromBizStatusError(err); !business {
		t.Errorf("got %v, want a business error", err)
	}
	_, err = cli.Echo(t.Context(), &echo.Request{Failure: echo.Failure_REMOTE})
	if !errors.Is(err, kerrors.ErrRemoteOrNetwork) {
		t.Errorf("got %v, want a remote error", err)
	}
	if err := cli.Notify(t.Context(), &echo.Request{Message: "hello"}); err != nil {
		t.Error(err)
	}
}

func TestStreams(t *testing.T) {
	cli := dial(t)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()

	collect, err := cli.Collect(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for _, message := range []string{"first", "last"} {
		if err := collect.Send(ctx, &echo.Request{Message: message}); err != nil {
			t.Fatal(err)
		}
	}
	if r, err := collect.CloseAndRecv(ctx); err != nil || r.Message != "last" {
		t.Errorf("Collect: got %v, %v", r, err)
	}

	repeat, err := cli.Repeat(ctx, &echo.Request{Message: "again"})
	if err != nil {
		t.Fatal(err)
	}
	responses := 0
	for {
		r, err := repeat.Recv(ctx)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil || r.Message != "again" {
			t.Fatalf("Repeat: got %v, %v", r, err)
		}
		responses++
	}
	if responses != 3 {
		t.Errorf("Repeat: %d responses, want 3", responses)
	}

	chat, err := cli.Chat(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for _, message := range []string{"how", "why"} {
		if err := chat.Send(ctx, &echo.Request{Message: message}); err != nil {
			t.Fatal(err)
		}
		if r, err := chat.Recv(ctx); err != nil || r.Message != message {
			t.Errorf("Chat: got %v, %v", r, err)
		}
	}
	if err := chat.CloseSend(ctx); err != nil {
		t.Fatal(err)
	}
	if _, err := chat.Recv(ctx); !errors.Is(err, io.EOF) {
		t.Errorf("Chat: got %v at its end, want io.EOF", err)
	}
}
