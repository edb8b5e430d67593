// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package echotest

import (
	"context"
	"errors"
	"io"
	"sync/atomic"
	"time"

	"github.com/cloudwego/kitex/pkg/kerrors"

	"github.com/fairway-rpc/fairway/idl/kitex_gen/fairway/echo"
)

var _ echo.EchoService = (*Handler)(nil)

// ErrRemote is what the handler returns on echo.Failure_REMOTE.
var ErrRemote = errors.New("failure on request")

// BusinessCode is the status of echo.Failure_BUSINESS.
const BusinessCode = 4711

// Handler answers with what it was sent and with its instance's name.
type Handler struct {
	Instance string
	calls    atomic.Int64
}

// Calls is how many calls and streams have begun.
func (h *Handler) Calls() int64 { return h.calls.Load() }

// Echo implements the service.
func (h *Handler) Echo(ctx context.Context, request *echo.Request) (*echo.Response, error) {
	h.calls.Add(1)
	return h.answer(ctx, request)
}

// Notify implements the service.
func (h *Handler) Notify(ctx context.Context, request *echo.Request) error {
	h.calls.Add(1)
	_, err := h.answer(ctx, request)
	return err
}

func (h *Handler) answer(ctx context.Context, request *echo.Request) (*echo.Response, error) {
	if request.DelayMs > 0 {
		timer := time.NewTimer(time.Duration(request.DelayMs) * time.Millisecond)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	switch request.Failure {
	case echo.Failure_BUSINESS:
		return nil, kerrors.NewBizStatusError(BusinessCode, "failure on request")
	case echo.Failure_REMOTE:
		return nil, ErrRemote
	case echo.Failure_NONE:
	}
	return &echo.Response{Message: request.Message, Instance: h.Instance}, nil
}

// Collect implements the service: it answers when the caller has sent all.
func (h *Handler) Collect(ctx context.Context, stream echo.EchoService_CollectServer) error {
	h.calls.Add(1)
	all := ""
	for {
		request, err := stream.Recv(ctx)
		if errors.Is(err, io.EOF) {
			return stream.SendAndClose(ctx, &echo.Response{Message: all, Instance: h.Instance})
		}
		if err != nil {
			return err
		}
		all += request.Message
	}
}

// Repeat implements the service: it answers once for each byte of the message.
func (h *Handler) Repeat(ctx context.Context, request *echo.Request, stream echo.EchoService_RepeatServer) error {
	h.calls.Add(1)
	for range len(request.Message) {
		response, err := h.answer(ctx, request)
		if err != nil {
			return err
		}
		if err := stream.Send(ctx, response); err != nil {
			return err
		}
	}
	return nil
}

// Chat implements the service.
func (h *Handler) Chat(ctx context.Context, stream echo.EchoService_ChatServer) error {
	h.calls.Add(1)
	for {
		request, err := stream.Recv(ctx)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		response, err := h.answer(ctx, request)
		if err != nil {
			return err
		}
		if err := stream.Send(ctx, response); err != nil {
			return err
		}
	}
}
