// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package discovery

import (
	"math"
	"net"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/fairway-rpc/fairway/internal/fault"
)

// WithTTL sets the lease's time to live: how long etcd keeps the key of a
// provider that died without a word. It is rounded up to whole seconds; etcd
// raises what is below its own minimum (2 s by default). Defaults to the
// seconds in the environment variable KITEX_ETCD_REGISTRY_LEASE_TTL, then to
// 10 s.
func WithTTL(ttl time.Duration) RegistryOption {
	return registryOption(func(c *registryConfig) error {
		if ttl < time.Second {
			return fault.Invalid("WithTTL", "%v is below one second", ttl)
		}
		c.ttl = ttl
		return nil
	})
}

// envTTL is kitex-contrib/registry-etcd's, in seconds.
const envTTL = "KITEX_ETCD_REGISTRY_LEASE_TTL"

// defaultTTL is the environment's, if that says something, or ours.
func defaultTTL() (time.Duration, error) {
	text := os.Getenv(envTTL)
	if text == "" {
		return DefaultTTL, nil
	}
	seconds, err := strconv.Atoi(text)
	if err != nil || seconds < 1 || seconds > math.MaxInt32 {
		return 0, fault.Invalid(envTTL, "%q is no number of seconds between 1 and %d; correct or unset it, or use WithTTL", text, math.MaxInt32)
	}
	return time.Duration(seconds) * time.Second, nil
}

// WithAdvertise sets the address that consumers call: a host, which takes its
// port from the listener, or host:port, for a registry with one server.
// Defaults to the environment variables KITEX_IP_TO_REGISTRY and
// KITEX_PORT_TO_REGISTRY, then to the listener's address; where that is
// unspecified, to the address that routes to etcd.
func WithAdvertise(address string) RegistryOption {
	return registryOption(func(c *registryConfig) error {
		c.advertise = address
		return checkAdvertise(address)
	})
}

func checkAdvertise(address string) error {
	host := address
	if h, port, err := net.SplitHostPort(address); err == nil {
		if err := checkPort(port); err != nil {
			return fault.Invalid("WithAdvertise", "%q: %w", address, err)
		}
		host = h
	}
	host = strings.Trim(host, "[]")
	ip := net.ParseIP(host)
	if host == "" || ip != nil && ip.IsUnspecified() {
		return fault.Invalid("WithAdvertise", "%q names no host that a consumer could call", address)
	}
	if ip == nil && strings.ContainsAny(host, ":/ \t") {
		return fault.Invalid("WithAdvertise", "%q is neither a host nor host:port", address)
	}
	return nil
}

// WithDrainDelay sets how long Deregister waits, after the key is gone, until
// consumers have moved on; then Kitex closes the listener. Defaults to 2 s,
// and to 6 s under registry-etcd's prefix, whose consumers poll every five.
func WithDrainDelay(delay time.Duration) RegistryOption {
	return registryOption(func(c *registryConfig) error {
		if delay < 0 {
			return fault.Invalid("WithDrainDelay", "%v is negative", delay)
		}
		c.drainDelay = delay
		return nil
	})
}

// WithFailFast makes Register return an error when etcd cannot be reached
// within three seconds, upon which Kitex stops the server. By default Register
// returns nil and goes on in the background.
func WithFailFast() RegistryOption {
	return registryOption(func(c *registryConfig) error {
		c.failFast = true
		return nil
	})
}

// WithHideDrained makes [Registry.Drain] remove the keys of this registry's
// providers instead of marking them: for consumers which know no states, such
// as those of kitex-contrib/registry-etcd. A hidden provider stays in
// [Registry.Status] and keeps its lease; [Registry.Undrain] puts it back.
func WithHideDrained() RegistryOption {
	return registryOption(func(c *registryConfig) error {
		c.hideDrained = true
		return nil
	})
}

// WithStatusCallback has f called with the status of a registration at each
// change of its state, the last one being [Deregistered]. The calls come in
// order and never concurrently, from a goroutine of their own that holds
// nothing up: while f is busy, only the latest status of each registration is
// kept for it. f must not call [Registry.Close], which waits for it.
func WithStatusCallback(f func(RegistrationStatus)) RegistryOption {
	return registryOption(func(c *registryConfig) error {
		if f == nil {
			return fault.Invalid("WithStatusCallback", "the function is nil")
		}
		c.onStatus = f
		return nil
	})
}
