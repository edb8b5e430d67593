// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package middleware

import (
	"context"
	"errors"
	"io"
	"net"

	"github.com/cloudwego/gopkg/protocol/thrift"
	"github.com/cloudwego/kitex/pkg/kerrors"
	"github.com/cloudwego/kitex/pkg/remote"
	"github.com/cloudwego/kitex/pkg/remote/trans/netpollmux"
	"github.com/cloudwego/kitex/pkg/remote/trans/nphttp2/codes"
	"github.com/cloudwego/kitex/pkg/remote/trans/nphttp2/status"
	"github.com/cloudwego/kitex/pkg/rpcinfo"

	"github.com/fairway-rpc/fairway/internal/lack"
	"github.com/fairway-rpc/fairway/internal/pick"
)

// outcomeOf tells what the end of an attempt says about the instance. It goes
// by the errors of Kitex's transports, as they come up to an instance
// middleware, and blames the instance only for what it knows: an error that it
// cannot place, such as one of encoding, says nothing. Nor does one without the
// mark of Kitex's transports, such as that of a middleware further down which
// has failed to get a token from elsewhere.
//
// A deadline that passes without an answer counts as a time-out, also if the
// caller has set it; a call that the caller has cancelled says nothing.
func outcomeOf(ctx context.Context, call rpcinfo.RPCInfo, err error) pick.Outcome {
	mode := modeOf(call)
	switch {
	case err == nil && mode == rpcinfo.Oneway:
		return pick.Sent
	case err == nil: // a business error is a result, too
		return pick.Answered
	case isOurs(err):
		return pick.Unknown
	}
	if !isMarked(err) {
		return answerOf(err)
	}
	o := failureOf(err)
	if o != pick.Unknown || errors.Is(ctx.Err(), context.Canceled) {
		return o
	}
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded): // the multiplexed transport says so in words only
		return pick.TimedOut
	case mode == rpcinfo.Streaming && errors.Is(err, kerrors.ErrStreamingProtocol): // TTHeader streams have errors of their own
		return pick.Broken
	}
	return pick.Unknown
}

// isMarked reports whether an error comes from a transport: Kitex marks what
// does, unless an error handler of the client's takes the mark away.
func isMarked(err error) bool {
	return errors.Is(err, kerrors.ErrRemoteOrNetwork) || errors.Is(err, kerrors.ErrGetConnection) || errors.Is(err, kerrors.ErrRPCTimeout)
}

// modeOf tells unary calls from one-way calls and streams.
func modeOf(call rpcinfo.RPCInfo) rpcinfo.InteractionMode {
	if call == nil || call.Config() == nil {
		return rpcinfo.PingPong
	}
	return call.Config().InteractionMode()
}

// isOurs reports whether the attempt was ended on this side.
func isOurs(err error) bool {
	for _, ours := range []error{
		kerrors.ErrCircuitBreak, kerrors.ErrOverlimit, kerrors.ErrACL, kerrors.ErrCanceledByBusiness, kerrors.ErrStreamingCanceled,
		kerrors.ErrNoDestAddress, context.Canceled,
	} {
		if errors.Is(err, ours) {
			return true
		}
	}
	return codeOf(err) == codes.Canceled || isOurLack(err)
}

// isOurLack reports whether this process lacks what a connection takes. Kitex's
// pool of short connections keeps no more of the cause than its text.
func isOurLack(err error) bool {
	return lack.Is(err) || errors.Is(err, kerrors.ErrGetConnection) && lack.Says(err)
}

// failureOf places an error that came up from the transport.
func failureOf(err error) pick.Outcome {
	switch {
	case errors.Is(err, kerrors.ErrRPCTimeout):
		return pick.TimedOut
	case isNoConnection(err):
		return pick.NoConnection
	case isTimeout(err):
		return pick.TimedOut
	case isBroken(err):
		return pick.Broken
	}
	return answerOf(err)
}

// isNoConnection knows connections that were not got. The gRPC transport counts
// the opening of a stream as one, which may fail on this side: for headers too
// large, or a client that has been closed.
func isNoConnection(err error) bool {
	if errors.Is(err, kerrors.ErrGetConnection) {
		code := codeOf(err)
		return code == codes.OK || code == codes.Unavailable
	}
	var dial *net.OpError
	return errors.As(err, &dial) && dial.Op == "dial"
}

// isTimeout is for the transport of Go's network package, whose time-outs do
// not become Kitex's.
func isTimeout(err error) bool {
	var timeout net.Error
	return errors.As(err, &timeout) && timeout.Timeout()
}

// isBroken knows the ends of connections: those of Go, which netpoll's are
// made of, and of the multiplexed and the gRPC transport. A server may send
// Unavailable itself; Kitex has no other word for a broken connection.
func isBroken(err error) bool {
	var network net.Error // also a system call's
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) ||
		errors.Is(err, netpollmux.ErrConnClosed) || errors.As(err, &network) || codeOf(err) == codes.Unavailable
}

// answerOf knows the errors that an instance answers with. DeadlineExceeded is
// none of them: an instance that passes on what it was told by another says it
// like a deadline of the caller's own, of which the context tells.
func answerOf(err error) pick.Outcome {
	var transmitted *remote.TransError
	var exception *thrift.ApplicationException
	if errors.As(err, &transmitted) || errors.As(err, &exception) {
		return pick.Answered
	}
	code := codeOf(err)
	switch {
	case code == codes.OK, code == codes.DeadlineExceeded, code == codes.Unavailable,
		code == codes.Internal,                   // which is also Kitex's own for what it cannot read
		errors.Is(err, kerrors.ErrGetConnection): // of a stream that was not opened
		return pick.Unknown
	}
	return pick.Answered
}

// codeOf is the gRPC status of an error, OK for all others.
func codeOf(err error) codes.Code {
	var s *status.Error
	if !errors.As(err, &s) {
		return codes.OK
	}
	return s.GRPCStatus().Code()
}
