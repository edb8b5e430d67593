// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package etcdtest

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"net"
	"testing"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/encoding/proto"
)

func TestWatchMissesDroppedEvents(t *testing.T) {
	t.Parallel()
	srv := Start(t)
	proxy := NewProxy(t, srv.Endpoint())
	cli := srv.Client(t, Through(proxy))
	events := watchKey(t, cli)

	proxy.DropWatchEvents(2)
	for lost := range 2 {
		put(t, cli) // its own answer passes
		// A response for each: etcd may put two events into one.
		eventually(t, "the response is dropped", func() bool { return proxy.Dropped() == lost+1 })
	}
	if _, err := cli.Put(t.Context(), key, "seen"); err != nil {
		t.Fatal(err)
	}
	if got := <-events; len(got.Events) != 1 || string(got.Events[0].Kv.Value) != "seen" {
		t.Errorf("the watch got %v, want the third value only", got.Events)
	}
	if n := proxy.Dropped(); n != 2 {
		t.Errorf("%d frames dropped, want 2", n)
	}
	if n := proxy.Accepted(); n != 1 {
		t.Errorf("%d connections, want the first to live on", n)
	}
}

func TestFramesOfOneStreamAreDropped(t *testing.T) {
	t.Parallel()
	srv := Start(t)
	proxy := NewProxy(t, srv.Endpoint())
	cli := srv.Client(t, Through(proxy))
	// Their contexts differ, so that each has a stream of its own.
	first, second := watchKey(t, cli), cli.Watch(clientv3.WithRequireLeader(t.Context()), key, clientv3.WithCreatedNotify())
	<-second

	var stream uint32
	proxy.DropFrames(func(f Frame) bool {
		resp, ok := f.WatchResponse()
		if ok && stream == 0 && string(resp.Events[0].Kv.Key) == key {
			stream = f.StreamID
		}
		return f.Type == FrameData && f.StreamID == stream
	})
	put(t, cli)
	eventually(t, "one of two responses is dropped", func() bool { return proxy.Dropped() == 1 })
	select {
	case <-first:
	case <-second:
	}
	proxy.Restore()
	put(t, cli)
	for _, events := range []clientv3.WatchChan{first, second} {
		if resp := <-events; len(resp.Events) != 1 {
			t.Errorf("after Restore a watch got %+v", resp)
		}
	}
	if n := proxy.Accepted(); n != 1 {
		t.Errorf("%d connections, want the first to live on", n)
	}
}

// watchKey returns when etcd has the watch.
func watchKey(t *testing.T, cli *clientv3.Client) clientv3.WatchChan {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), soon)
	t.Cleanup(cancel)
	events := cli.Watch(ctx, key, clientv3.WithCreatedNotify())
	if resp := <-events; !resp.Created {
		t.Fatalf("the first response of a watch is %+v", resp)
	}
	return events
}

// What is no frame to drop passes byte for byte: large frames, the end of a
// connection within one.
func TestFramesPassUnchanged(t *testing.T) {
	t.Parallel()
	said := bytes.Join([][]byte{
		frame(0x4, 0, nil),
		frame(FrameData, 1, bytes.Repeat([]byte("x"), 100<<10)),
		frame(FrameData, 3, []byte("dropped")),
		frame(FrameData, 1<<31|5, []byte("reserved bit")),
		frame(FrameData, 7, []byte("cut off"))[:12],
	}, nil)
	proxy := NewProxy(t, sayServer(t, said))
	proxy.DropFrames(func(f Frame) bool { return f.StreamID == 3 })
	got, err := io.ReadAll(dial(t, proxy.Addr()))
	want := bytes.Replace(said, frame(FrameData, 3, []byte("dropped")), nil, 1)
	if !bytes.Equal(got, want) {
		t.Errorf("%d bytes came through, want %d: %v", len(got), len(want), err)
	}
	if n := proxy.Dropped(); n != 1 {
		t.Errorf("%d frames dropped, want 1", n)
	}
}

func TestWatchResponsesAreRecognised(t *testing.T) {
	t.Parallel()
	header := &etcdserverpb.ResponseHeader{ClusterId: 1, MemberId: 2, Revision: 3, RaftTerm: 4}
	kv := &mvccpb.KeyValue{Key: []byte("k"), Value: []byte("v"), ModRevision: 3, Lease: 7}
	events := &etcdserverpb.WatchResponse{Header: header, Events: []*mvccpb.Event{{Type: mvccpb.Event_DELETE, Kv: kv}}}
	for name, c := range map[string]struct {
		message any
		change  func(*Frame)
		want    bool
	}{
		"events":       {message: events, want: true},
		"created":      {message: &etcdserverpb.WatchResponse{Header: header, Created: true}},
		"progress":     {message: &etcdserverpb.WatchResponse{Header: header, WatchId: -1}},
		"range":        {message: &etcdserverpb.RangeResponse{Header: header, Kvs: []*mvccpb.KeyValue{kv}, Count: 1}},
		"put":          {message: &etcdserverpb.PutResponse{Header: header, PrevKv: kv}},
		"status":       {message: &etcdserverpb.StatusResponse{Header: header, Version: "3.7.3", StorageVersion: "3.7.0"}},
		"keepalive":    {message: &etcdserverpb.LeaseKeepAliveResponse{Header: header, ID: 7, TTL: 5}},
		"no data":      {message: events, change: func(f *Frame) { f.Type = 0x1 }},
		"padded":       {message: events, change: func(f *Frame) { f.Flags = flagPadded }},
		"compressed":   {message: events, change: func(f *Frame) { f.Payload[0] = 1 }},
		"a first part": {message: events, change: func(f *Frame) { f.Payload = f.Payload[:len(f.Payload)-1] }},
		"a last part":  {message: events, change: func(f *Frame) { f.Payload = f.Payload[6:] }},
		"tiny":         {message: events, change: func(f *Frame) { f.Payload = f.Payload[:4] }},
	} {
		f := Frame{Type: FrameData, StreamID: 1, Payload: grpcMessage(t, c.message)}
		if c.change != nil {
			c.change(&f)
		}
		resp, ok := f.WatchResponse()
		if ok != c.want {
			t.Errorf("%s: recognised %t, want %t", name, ok, c.want)
		}
		if ok && string(resp.Events[0].Kv.Key) != "k" {
			t.Errorf("%s: the response is %v", name, resp)
		}
	}
}

// grpcMessage returns what a DATA frame with the message holds.
func grpcMessage(t *testing.T, message any) []byte {
	t.Helper()
	data, err := encoding.GetCodecV2(proto.Name).Marshal(message)
	if err != nil {
		t.Fatal(err)
	}
	payload := make([]byte, messageHeader+data.Len())
	binary.BigEndian.PutUint32(payload[1:], uint32(data.Len()))
	data.CopyTo(payload[messageHeader:])
	return payload
}

func frame(kind byte, stream uint32, payload []byte) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(len(payload))<<8|uint32(kind))
	b = append(b, 0) // flags
	b = binary.BigEndian.AppendUint32(b, stream)
	return append(b, payload...)
}

// sayServer sends said on each connection and closes it.
func sayServer(t *testing.T, said []byte) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ln.Close() })
	go func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			_, _ = conn.Write(said)
			_ = conn.Close()
		}
	}()
	return ln.Addr().String()
}
