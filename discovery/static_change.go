// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package discovery

import (
	"errors"
	"fmt"
	"slices"

	"github.com/fairway-rpc/fairway/internal/fault"
	"github.com/fairway-rpc/fairway/internal/live"
)

var (
	// ErrDuplicateAddress is wrapped, with [ErrInvalidConfig], by the error of
	// [Static.Add] about an address that is listed already.
	ErrDuplicateAddress = errors.New("duplicate address")
	// ErrUnknownAddress is wrapped, with [ErrInvalidConfig], by the errors of
	// [Static.Remove] and [Static.SetWeight] about an address that is not listed.
	ErrUnknownAddress = errors.New("unknown address")
)

// Add puts an instance at the end of the list. The address is host:port, or the
// path of a Unix socket, with or without "unix:" before it. The weight is 0 to
// 2^31-1; one of weight 0 is listed and gets no calls.
//
// Errors wrap [ErrInvalidConfig], and [ErrDuplicateAddress] if the address is
// listed already, or are [ErrClosed]. An error changes nothing.
func (s *Static) Add(address string, weight int) error {
	node, err := staticNode(address, weight)
	if err != nil {
		return fault.Invalid("Add", "%w", err)
	}
	return s.change(func() ([]*live.Node, error) {
		if _, listed := s.listed[node.Address]; listed {
			return nil, fault.Invalid("Add", "%w: %q is listed; change it with SetWeight", ErrDuplicateAddress, node.Address)
		}
		s.listed[node.Address] = struct{}{}
		s.known = true
		return append(s.nodes, node), nil // beyond the end of every list that was published
	})
}

// Remove takes an instance off the list. Errors are those of [Static.SetWeight].
func (s *Static) Remove(address string) error {
	return s.change(func() ([]*live.Node, error) {
		at, err := s.find("Remove", address)
		if err != nil {
			return nil, err
		}
		delete(s.listed, s.nodes[at].Address)
		return slices.Concat(s.nodes[:at], s.nodes[at+1:]), nil
	})
}

// SetWeight changes an instance's weight, which is 0 to 2^31-1; with 0 it stays
// listed and gets no calls. Errors wrap [ErrInvalidConfig], and
// [ErrUnknownAddress] if the address is not listed, or are [ErrClosed].
func (s *Static) SetWeight(address string, weight int) error {
	node, err := staticNode(address, weight)
	if err != nil {
		return fault.Invalid("SetWeight", "%w", err)
	}
	return s.change(func() ([]*live.Node, error) {
		at, err := s.find("SetWeight", address)
		if err != nil {
			return nil, err
		}
		nodes := slices.Clone(s.nodes)
		nodes[at] = node
		return nodes, nil
	})
}

// List returns all instances in the order in which they were added.
func (s *Static) List() []StaticInstance {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := make([]StaticInstance, len(s.nodes))
	for i, n := range s.nodes {
		list[i] = StaticInstance{Address: n.Address, Weight: n.Weight}
	}
	return list
}

// change publishes what to makes of the list. It waits for balancers without the
// mutex, so that Resolve does not.
func (s *Static) change(to func() ([]*live.Node, error)) error {
	if err := s.publish(to); err != nil {
		return err
	}
	s.view.Settle()
	return nil
}

func (s *Static) publish(to func() ([]*live.Node, error)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return fmt.Errorf("static resolver: %w", ErrClosed)
	}
	nodes, err := to()
	if err != nil {
		return err
	}
	s.nodes, s.current = nodes, false
	s.revision++
	s.view.Publish(&live.Set{Nodes: nodes, Revision: s.revision, Source: "static"})
	return nil
}

// find is the index of a listed address. Callers hold mu.
func (s *Static) find(method, address string) (int, error) {
	_, address = splitNetwork(address)
	if _, listed := s.listed[address]; !listed {
		return 0, fault.Invalid(method, "%w: %q is not listed", ErrUnknownAddress, address)
	}
	return slices.IndexFunc(s.nodes, func(n *live.Node) bool { return n.Address == address }), nil
}
