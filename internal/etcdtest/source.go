// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package etcdtest

import (
	"bufio"
	"encoding/binary"
	"io"
)

const (
	pieceSize   = 32 << 10 // of bytes without structure
	frameHeader = 9        // length (3), type, flags, stream (4)
)

// source gives what goes one way through a link, piece by piece: whole frames
// when it is what a server says in HTTP/2, else whatever is there.
type source struct {
	in     *bufio.Reader
	buf    []byte
	piece  []byte
	sniff  bool // nothing was read yet, and it may be HTTP/2
	framed bool
}

// newSource reads one way. Only servers are asked whether they speak HTTP/2.
func newSource(in io.Reader, way Direction) *source {
	return &source{
		in:    bufio.NewReaderSize(in, pieceSize),
		buf:   make([]byte, pieceSize),
		sniff: way == FromTarget,
	}
}

// next returns the next piece, valid until the call after. With an error there
// may be a last, incomplete one.
func (s *source) next() ([]byte, error) {
	if s.sniff {
		first, err := s.in.Peek(1)
		if err != nil {
			return nil, err
		}
		// A server begins with a frame of settings, whose length takes one byte of
		// three. TLS and the text of tests never begin with a zero.
		s.sniff, s.framed = false, first[0] == 0
	}
	read := s.readAny
	if s.framed {
		read = s.readFrame
	}
	n, err := read()
	s.piece = s.buf[:n]
	return s.piece, err
}

func (s *source) readAny() (int, error) { return s.in.Read(s.buf) }

func (s *source) readFrame() (int, error) {
	if n, err := io.ReadFull(s.in, s.buf[:frameHeader]); err != nil {
		return n, err
	}
	size := frameHeader + int(binary.BigEndian.Uint32(s.buf)>>8)
	if size > len(s.buf) {
		s.buf = append(s.buf, make([]byte, size-len(s.buf))...)
	}
	n, err := io.ReadFull(s.in, s.buf[frameHeader:size])
	return frameHeader + n, err
}

// frame returns the last piece as a frame, if it is a whole one.
func (s *source) frame() (Frame, bool) {
	if !s.framed || len(s.piece) < frameHeader || len(s.piece) != frameHeader+int(binary.BigEndian.Uint32(s.piece)>>8) {
		return Frame{}, false
	}
	return Frame{
		Type:     s.piece[3],
		Flags:    s.piece[4],
		StreamID: binary.BigEndian.Uint32(s.piece[5:]) &^ (1 << 31),
		Payload:  s.piece[frameHeader:],
	}, true
}
