// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

// Package echohandler implements the Echo service of idl/echo.thrift: the part
// that a real provider would have of its own.
package echohandler

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/cloudwego/kitex/pkg/kerrors"

	"github.com/fairway-rpc/fairway/idl/kitex_gen/fairway/echo"
)

var _ echo.EchoService = (*Handler)(nil)

// businessCode is the status of a call that asks for a business failure.
const businessCode = 1

var errRequested = errors.New("the request asked for a failure")

// Handler answers each request with its message, after the delay and with the
// failure that the request asks for. It is safe for concurrent use.
type Handler struct {
	// Instance is what responses name as who answered.
	Instance string
}

// Echo implements the unary method.
func (h *Handler) Echo(ctx context.Context, request *echo.Request) (*echo.Response, error) {
	if err := pause(ctx, request.DelayMs); err != nil {
		return nil, err
	}
	switch request.Failure {
	case echo.Failure_BUSINESS:
		return nil, kerrors.NewBizStatusError(businessCode, errRequested.Error())
	case echo.Failure_REMOTE:
		return nil, errRequested
	default:
		return &echo.Response{Message: request.Message, Instance: h.Instance}, nil
	}
}

// Notify implements the method without an answer.
func (h *Handler) Notify(ctx context.Context, request *echo.Request) error {
	_, err := h.Echo(ctx, request)
	return err
}

// Collect answers a stream of requests with the last one's message.
func (h *Handler) Collect(ctx context.Context, stream echo.EchoService_CollectServer) error {
	last := &echo.Response{Instance: h.Instance}
	for {
		request, err := stream.Recv(ctx)
		if errors.Is(err, io.EOF) {
			return stream.SendAndClose(ctx, last)
		}
		if err != nil {
			return err
		}
		if last, err = h.Echo(ctx, request); err != nil {
			return err
		}
	}
}

// repeats is how many responses Repeat sends.
const repeats = 3

// Repeat answers one request with a few responses.
func (h *Handler) Repeat(ctx context.Context, request *echo.Request, stream echo.EchoService_RepeatServer) error {
	for range repeats {
		response, err := h.Echo(ctx, request)
		if err != nil {
			return err
		}
		if err := stream.Send(ctx, response); err != nil {
			return err
		}
	}
	return nil
}

// Chat answers each request of a stream.
func (h *Handler) Chat(ctx context.Context, stream echo.EchoService_ChatServer) error {
	for {
		request, err := stream.Recv(ctx)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		response, err := h.Echo(ctx, request)
		if err != nil {
			return err
		}
		if err := stream.Send(ctx, response); err != nil {
			return err
		}
	}
}

func pause(ctx context.Context, milliseconds int32) error {
	if milliseconds <= 0 {
		return nil
	}
	timer := time.NewTimer(time.Duration(milliseconds) * time.Millisecond)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
