// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package middleware

import (
	"context"
	"sync/atomic"

	"github.com/cloudwego/kitex/client"
	"github.com/cloudwego/kitex/pkg/rpcinfo"

	"github.com/fairway-rpc/fairway/internal/pick"
)

// openStream is a stream from its creation to its end as the transport knows it.
// It travels in the context that the transport hands to the handlers of events.
type openStream struct {
	node  pick.Node
	after func() // when an opened one has ended; may be nil
	ended atomic.Bool
}

type openStreamKey struct{}

// end ends the count, once however many events tell of it.
func (s *openStream) end() {
	if !s.ended.Swap(true) {
		s.node.End()
	}
}

// finish is end for a stream that was opened.
func (s *openStream) finish() {
	if !s.ended.Swap(true) {
		s.node.End()
		if s.after != nil {
			s.after()
		}
	}
}

func endStream(ctx context.Context) {
	if s, ok := ctx.Value(openStreamKey{}).(*openStream); ok {
		s.finish()
	}
}

// streamEvents end the count of a stream with the first event that tells of its
// end: both transports tell when they forget a stream, but gRPC's tells nothing
// of one that it has opened on a connection which was about to close, so that an
// error of sending or receiving ends it, too. A stream whose caller has let it
// go without cancelling its context is counted as long as the transport holds it.
func streamEvents() client.StreamOption {
	return client.WithStreamEventHandler(rpcinfo.ClientStreamEventHandler{
		HandleStreamFinishEvent: func(ctx context.Context, _ rpcinfo.RPCInfo, _ rpcinfo.StreamFinishEvent) { endStream(ctx) },
		HandleStreamRecvEvent: func(ctx context.Context, _ rpcinfo.RPCInfo, event rpcinfo.StreamRecvEvent) {
			if event.Err != nil {
				endStream(ctx)
			}
		},
		HandleStreamSendEvent: func(ctx context.Context, _ rpcinfo.RPCInfo, event rpcinfo.StreamSendEvent) {
			if event.Err != nil {
				endStream(ctx)
			}
		},
	})
}
