// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package etcdtest

import (
	"encoding/binary"
	"sync"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/encoding/proto"
	"google.golang.org/grpc/mem"
)

const (
	// FrameData is the type of the frames that carry messages. The other types
	// are in RFC 9113, section 6.
	FrameData = 0x0

	// flagPadded is set when a DATA frame has padding, which gRPC never adds.
	flagPadded = 0x8
	// messageHeader is what gRPC puts before each message: one byte, 0 unless
	// it is compressed, and its length in four.
	messageHeader = 5
)

// Frame is a frame of HTTP/2 that etcd sends, valid during the call that gets it.
type Frame struct {
	Type     uint8
	Flags    uint8
	StreamID uint32
	Payload  []byte
}

// DropFrames makes frames that etcd sends vanish while match wants it, from
// every connection, also those that are there, until [Proxy.Restore] or the next
// DropFrames; nil ends it. Calls of match do not overlap, and it must not call
// the proxy.
//
// The connection stays in order as long as match takes only DATA (type 0) or
// PING (6): without a HEADERS frame the rest cannot be decoded. etcd believes
// that the bytes are on their way, so that of the 64 KiB or more that it may send
// ahead so much the less is left, for good.
//
// It works in plaintext only: over TLS nothing is recognised, and nothing
// dropped, which [Proxy.Dropped] shows.
func (p *Proxy) DropFrames(match func(Frame) bool) { p.frames.set(match) }

// DropWatchEvents is [Proxy.DropFrames] for the next n watch responses with
// events that [Frame.WatchResponse] recognises: the client never learns of them
// and the watch goes on.
func (p *Proxy) DropWatchEvents(n int) {
	p.DropFrames(func(f Frame) bool {
		if n == 0 {
			return false
		}
		_, ok := f.WatchResponse()
		if ok {
			n--
		}
		return ok
	})
}

// Dropped returns how many frames have vanished since the beginning.
func (p *Proxy) Dropped() int {
	p.frames.mu.Lock()
	defer p.frames.mu.Unlock()
	return p.frames.dropped
}

// WatchResponse returns the watch response with events that the frame consists
// of. One that fills several frames (16 KiB each as a rule) or shares one is not
// recognised, nor is one without events, which looks like other responses.
func (f Frame) WatchResponse() (*etcdserverpb.WatchResponse, bool) {
	message, ok := f.message()
	if !ok {
		return nil, false
	}
	var resp etcdserverpb.WatchResponse
	data := mem.BufferSlice{mem.SliceBuffer(message)}
	if err := encoding.GetCodecV2(proto.Name).Unmarshal(data, &resp); err != nil {
		return nil, false
	}
	// No response of another method has such fields and no others.
	named := len(resp.GetEvents()) > 0 && len(resp.GetEvents()[0].GetKv().GetKey()) > 0
	return &resp, named && len(resp.ProtoReflect().GetUnknown()) == 0
}

// message returns the one uncompressed gRPC message that the frame consists of.
func (f Frame) message() ([]byte, bool) {
	if f.Type != FrameData || f.Flags&flagPadded != 0 || len(f.Payload) < messageHeader || f.Payload[0] != 0 {
		return nil, false
	}
	message := f.Payload[messageHeader:]
	return message, int(binary.BigEndian.Uint32(f.Payload[1:])) == len(message)
}

// frameFilter decides which frames vanish.
type frameFilter struct {
	mu      sync.Mutex
	match   func(Frame) bool // nil: none
	dropped int
}

func (f *frameFilter) set(match func(Frame) bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.match = match
}

// drops reports whether what src has just read is a frame that vanishes.
func (f *frameFilter) drops(src *source) bool {
	frame, ok := src.frame()
	if !ok {
		return false
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.match == nil || !f.match(frame) {
		return false
	}
	f.dropped++
	return true
}
