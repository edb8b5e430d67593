// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package discovery

import (
	"context"
	"log/slog"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/fairway-rpc/fairway/internal/logging"
)

// newZap gives etcd's client, which logs through zap, our logger. Lines that
// repeat are held back: through an outage the client writes several a second.
func newZap(logger *slog.Logger) *zap.Logger {
	return zap.New(&zapCore{log: logger.With("component", "etcd-client"), limit: &logging.Limiter{}})
}

// zapCore implements zapcore.Core on slog.
type zapCore struct {
	log   *slog.Logger
	limit *logging.Limiter
}

// Enabled implements zapcore.LevelEnabler. The client's debug lines, several
// for each request, are of use to nobody here; its own retries are no news
// either but for the warnings about them.
func (c *zapCore) Enabled(level zapcore.Level) bool { return level >= zapcore.WarnLevel }

// With implements zapcore.Core.
func (c *zapCore) With(fields []zapcore.Field) zapcore.Core {
	return &zapCore{log: c.log.With(attrs(fields)...), limit: c.limit}
}

// Check implements zapcore.Core.
func (c *zapCore) Check(e zapcore.Entry, checked *zapcore.CheckedEntry) *zapcore.CheckedEntry {
	if !c.Enabled(e.Level) {
		return checked
	}
	return checked.AddCore(e, c)
}

// Write implements zapcore.Core.
func (c *zapCore) Write(e zapcore.Entry, fields []zapcore.Field) error {
	held, ok := c.limit.Allow(e.Message)
	if !ok {
		return nil
	}
	args := attrs(fields)
	if held > 0 {
		args = append(args, "repeated", held)
	}
	c.log.Log(context.Background(), slogLevel(e.Level), e.Message, args...)
	return nil
}

// Sync implements zapcore.Core.
func (c *zapCore) Sync() error { return nil }

func slogLevel(level zapcore.Level) slog.Level {
	if level >= zapcore.ErrorLevel {
		return slog.LevelError
	}
	return slog.LevelWarn
}

func attrs(fields []zapcore.Field) []any {
	object := zapcore.NewMapObjectEncoder()
	args := make([]any, 0, 2*len(fields))
	for _, f := range fields {
		f.AddTo(object)
		if value, ok := object.Fields[f.Key]; ok {
			args = append(args, f.Key, value)
		}
	}
	return args
}
