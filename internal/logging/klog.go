// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package logging

import (
	"bytes"
	"context"
	"log/slog"
	"sync"

	"github.com/cloudwego/kitex/pkg/klog"
)

// Default returns a logger that writes to Kitex's klog, so that a program
// which configured klog finds Fairway's lines where it expects them.
func Default() *slog.Logger { return slog.New(newHandler()) }

// handler formats a record as klog's message: klog adds time and level itself.
type handler struct {
	text slog.Handler
	out  *buffer
}

// buffer is shared by all handlers derived from one: formatting and taking the
// line out happen under its lock.
type buffer struct {
	mu sync.Mutex
	bytes.Buffer
}

func newHandler() *handler {
	out := &buffer{}
	return &handler{out: out, text: slog.NewTextHandler(out, &slog.HandlerOptions{
		Level:       slog.LevelDebug,
		ReplaceAttr: dropTimeAndLevel,
	})}
}

func dropTimeAndLevel(groups []string, a slog.Attr) slog.Attr {
	if len(groups) == 0 && (a.Key == slog.TimeKey || a.Key == slog.LevelKey) {
		return slog.Attr{}
	}
	return a
}

// Enabled leaves the choice to klog, which has a level of its own.
func (h *handler) Enabled(context.Context, slog.Level) bool { return true }

// Handle implements slog.Handler.
func (h *handler) Handle(ctx context.Context, r slog.Record) error {
	line, err := h.format(ctx, r)
	if err != nil {
		return err
	}
	switch {
	case r.Level >= slog.LevelError:
		klog.CtxErrorf(ctx, "fairway: %s", line)
	case r.Level >= slog.LevelWarn:
		klog.CtxWarnf(ctx, "fairway: %s", line)
	case r.Level >= slog.LevelInfo:
		klog.CtxInfof(ctx, "fairway: %s", line)
	default:
		klog.CtxDebugf(ctx, "fairway: %s", line)
	}
	return nil
}

func (h *handler) format(ctx context.Context, r slog.Record) (string, error) {
	h.out.mu.Lock()
	defer h.out.mu.Unlock()
	h.out.Reset()
	err := h.text.Handle(ctx, r)
	return string(bytes.TrimSpace(h.out.Bytes())), err
}

// WithAttrs implements slog.Handler.
func (h *handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &handler{text: h.text.WithAttrs(attrs), out: h.out}
}

// WithGroup implements slog.Handler.
func (h *handler) WithGroup(name string) slog.Handler {
	return &handler{text: h.text.WithGroup(name), out: h.out}
}
