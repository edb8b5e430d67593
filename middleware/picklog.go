// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package middleware

import (
	"context"
	"log/slog"
	"time"

	"github.com/fairway-rpc/fairway/internal/logging"
	"github.com/fairway-rpc/fairway/internal/pick"
)

// WithPickLog writes a line for picks to a logger, at the level debug: at most ten
// a second for each service, and as many for each kind of failure. A line says
// how many were left out since the last one of its kind. It is off by default and
// for nil; where the logger's handler is not enabled for debug, a pick costs a few
// nanoseconds more.
func WithPickLog(logger *slog.Logger) ClientOption {
	return clientOption(func(c *clientConfig) error {
		c.pickLog = logger
		return nil
	})
}

// pickLogInterval is the time between two lines of a kind.
const pickLogInterval = time.Second / 10

var _ pick.Observer = (*pickLog)(nil)

// pickLog writes a line of each pick that the limiter lets pass.
type pickLog struct {
	log     *slog.Logger
	limiter logging.Limiter
}

// newPickLog returns nil without a logger.
func newPickLog(logger *slog.Logger) *pickLog {
	if logger == nil {
		return nil
	}
	return &pickLog{log: logger, limiter: logging.Limiter{Interval: pickLogInterval}}
}

// Wants implements pick.Observer.
func (l *pickLog) Wants(ctx context.Context) bool { return l.log.Enabled(ctx, slog.LevelDebug) }

// Picked implements pick.Observer.
func (l *pickLog) Picked(ctx context.Context, p *pick.Pick) {
	service, method := target(ctx)
	kind := service
	if p.Instance == nil {
		kind += " " + errorType(p.Err)
	}
	held, ok := l.limiter.Allow(kind)
	if !ok {
		return
	}
	message, attrs := "picked", make([]slog.Attr, 0, maxLogged)
	if p.Instance == nil {
		message = "picked nobody"
	}
	for _, a := range attributesOf(p, service, method) {
		attrs = append(attrs, slog.Any(string(a.Key), a.Value.AsInterface()))
	}
	if p.Instance == nil {
		attrs = append(attrs, slog.String("reason", reason(p.Err)))
	}
	if held > 0 {
		attrs = append(attrs, slog.Int("left_out", held))
	}
	l.log.LogAttrs(ctx, slog.LevelDebug, message, attrs...)
}

// maxLogged is the most that one line can have.
const maxLogged = maxAttributes + 2
