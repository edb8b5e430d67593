// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package discovery

import (
	"context"
	"time"

	"github.com/fairway-rpc/fairway/discovery/internal/guard"
	"github.com/fairway-rpc/fairway/discovery/internal/probe"
	"github.com/fairway-rpc/fairway/internal/fault"
)

// Guard configures how a consumer protects itself against a registry that
// loses providers which are alive: one that was wiped, restored to an old
// backup, or is led by a sick member.
//
// Instances that leave in order say so and are dropped at once. Those that
// vanish without a word are counted over a window. If too many of a service
// vanish, or the last one, they are held as suspects and get calls as before. A
// suspect is dropped as soon as two probes or two calls in a row fail, when its
// address is registered under another service, or after the hold time; it is
// one no more when it registers again.
//
// A probe is a TCP connection that is closed at once. Behind a proxy that
// accepts connections for dead hosts, only failed calls tell.
//
// The zero value has all defaults.
type Guard struct {
	// Off turns the guard off: whoever vanishes is dropped.
	Off bool
	// Window is how long an instance that vanished is counted. Defaults to
	// 10 s; the time to live that the providers register with makes it longer.
	Window time.Duration
	// Share of the largest set in the window: more than it has to vanish, and at
	// least two. Defaults to 0.5.
	Share float64
	// HoldTime is how long a suspect is held at most. Defaults to 10 min.
	HoldTime time.Duration
	// ProbeTimeout bounds a probe. Defaults to 1 s.
	ProbeTimeout time.Duration
	// ProbeInterval is the time between two probes of a suspect that answers.
	// Defaults to 5 s.
	ProbeInterval time.Duration
	// ProbeConcurrency bounds the probes that run at a time, and ProbeRate those
	// that begin in a second, for all services of the resolver. Default to 16
	// and 100.
	ProbeConcurrency int
	ProbeRate        int
	// Probe replaces the TCP connection; network and address are the
	// instance's. It must return when its context ends, and an error if the
	// instance does not answer.
	Probe func(ctx context.Context, network, address string) error
}

// Defaults of [Guard].
const (
	DefaultGuardWindow   = 10 * time.Second
	DefaultGuardShare    = 0.5
	DefaultGuardHoldTime = 10 * time.Minute
)

// guardAtLeast is how many instances must vanish, unless it is the last one.
const guardAtLeast = 2

// WithGuard configures the guard. Defaults to Guard{}.
func WithGuard(g Guard) ResolverOption {
	return resolverOption(func(c *resolverConfig) error {
		if err := g.validate(); err != nil {
			return err
		}
		c.guard = g.withDefaults()
		return nil
	})
}

func (g Guard) validate() error {
	switch {
	case g.Window < 0, g.HoldTime < 0, g.ProbeTimeout < 0, g.ProbeInterval < 0, g.ProbeConcurrency < 0, g.ProbeRate < 0:
		return fault.Invalid("WithGuard", "a field is negative; leave it at zero for its default")
	case g.Share < 0, g.Share >= 1, g.Share != g.Share:
		return fault.Invalid("WithGuard", "Share %v is not from 0 up to, but without, 1", g.Share)
	}
	return nil
}

func (g Guard) withDefaults() Guard {
	orDefault(&g.Window, DefaultGuardWindow)
	orDefault(&g.Share, DefaultGuardShare)
	orDefault(&g.HoldTime, DefaultGuardHoldTime)
	return g
}

func orDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

func (g Guard) limits() guard.Limits {
	return guard.Limits{Window: g.Window, Share: g.Share, AtLeast: guardAtLeast, Hold: g.HoldTime}
}

// probes leaves what is zero to the prober's own defaults.
func (g Guard) probes() probe.Config {
	return probe.Config{
		Timeout:     g.ProbeTimeout,
		Interval:    g.ProbeInterval,
		Concurrency: g.ProbeConcurrency,
		Rate:        g.ProbeRate,
		Dial:        g.Probe,
	}
}
