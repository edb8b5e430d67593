// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package discovery

import (
	"encoding/json"
	"fmt"
	"math"
	"net"
	"strconv"
	"strings"
	"time"

	kdiscovery "github.com/cloudwego/kitex/pkg/discovery"

	"github.com/fairway-rpc/fairway/internal/fault"
)

const (
	// maxWeight is the largest weight: sums of 2^32 of them fit into 64 bits.
	maxWeight = math.MaxInt32
	// maxRecordSize leaves room below etcd's default request limit of 1.5 MiB.
	maxRecordSize = 1 << 20
)

// InstanceState is what an instance says of itself.
type InstanceState string

// The states of an instance. Only a serving one gets new calls.
const (
	StateServing  InstanceState = "serving"
	StateDraining InstanceState = "draining"
	StateLeaving  InstanceState = "leaving"
)

// record is the value under an instance's key, a superset of what
// kitex-contrib/registry-etcd writes: network, address, weight and tags mean
// the same there. Unknown fields are ignored.
type record struct {
	Network   string            `json:"network"`
	Address   string            `json:"address"`
	Weight    *int64            `json:"weight,omitempty"` // absent means 10, 0 means no calls
	Tags      map[string]string `json:"tags"`
	State     InstanceState     `json:"state,omitempty"`
	Instance  string            `json:"instance,omitempty"`
	StartedAt time.Time         `json:"started_at,omitzero"`
	WarmUp    duration          `json:"warmup,omitempty"`
	// TTL is how long etcd keeps the record of a provider that died, or 0 if the
	// record does not say.
	TTL duration `json:"ttl,omitempty"`
}

// duration is written the way people write one, "30s".
type duration time.Duration

func (d duration) MarshalText() ([]byte, error) { return []byte(time.Duration(d).String()), nil }

func (d *duration) UnmarshalText(text []byte) error {
	parsed, err := time.ParseDuration(string(text))
	if err == nil && parsed < 0 {
		err = fmt.Errorf("duration %s is negative", parsed)
	}
	*d = duration(parsed)
	return err
}

// decodeRecord parses and validates the value of an instance's key. Its errors
// wrap ErrInvalidRecord.
func decodeRecord(value []byte) (*record, error) {
	r := &record{}
	if err := json.Unmarshal(value, r); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrInvalidRecord, err)
	}
	if r.Network == "" {
		r.Network = "tcp"
	}
	if r.State == "" {
		r.State = StateServing
	}
	if err := r.validate(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrInvalidRecord, err)
	}
	return r, nil
}

// encode renders the record, refusing one that a consumer or etcd would refuse.
func (r *record) encode() ([]byte, error) {
	if err := r.validate(); err != nil {
		return nil, fault.Invalid("registration", "%w", err)
	}
	value, err := json.Marshal(r)
	if err != nil {
		return nil, fault.Invalid("registration", "%w", err)
	}
	if len(value) > maxRecordSize {
		return nil, fault.Invalid("registration", "record of %d bytes is over the limit of %d; shorten its tags", len(value), maxRecordSize)
	}
	return value, nil
}

func (r *record) validate() error {
	if err := checkWeight(r.weight()); err != nil {
		return err
	}
	switch r.State {
	case StateServing, StateDraining, StateLeaving:
	default:
		return fmt.Errorf("state %q is none of %s, %s, %s", r.State, StateServing, StateDraining, StateLeaving)
	}
	return checkAddress(r.Network, r.Address)
}

func (r *record) weight() int64 {
	if r.Weight == nil {
		return kdiscovery.DefaultWeight
	}
	return *r.Weight
}

func checkWeight(weight int64) error {
	if weight < 0 || weight > maxWeight {
		return fmt.Errorf("weight %d is not between 0 and %d", weight, maxWeight)
	}
	return nil
}

// checkAddress accepts what Kitex can dial.
func checkAddress(network, address string) error {
	switch network {
	case "tcp", "tcp4", "tcp6":
		return checkHostPortAddress(address)
	case "unix":
		if address == "" || strings.ContainsFunc(address, isControl) {
			return fmt.Errorf("address %q is no path of a socket", address)
		}
		return nil
	}
	return fmt.Errorf("network %q is none of tcp, tcp4, tcp6, unix", network)
}

func checkHostPortAddress(address string) error {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return fmt.Errorf("address: %w", err)
	}
	if err := checkPort(port); err != nil {
		return fmt.Errorf("address %q: %w", address, err)
	}
	ip := net.ParseIP(host)
	if host == "" || host == "0" || ip != nil && ip.IsUnspecified() || strings.ContainsFunc(host, notInHost) {
		return fmt.Errorf("address %q names no host that a consumer could call", address)
	}
	return nil
}

func checkPort(port string) error {
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return fmt.Errorf("port %q is not between 1 and %d", port, math.MaxUint16)
	}
	return nil
}

func notInHost(r rune) bool { return isControl(r) || r == ' ' || r == '/' }
