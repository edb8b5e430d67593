// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package discovery

import (
	"context"

	"github.com/cloudwego/kitex/pkg/registry"

	"github.com/fairway-rpc/fairway/internal/fault"
)

func idOf(info *registry.Info) registrationID {
	return registrationID{service: info.ServiceName, network: info.Addr.Network(), address: info.Addr.String()}
}

// base turns Kitex's info into the record that is to stand in etcd if nobody
// wishes for anything else.
func (r *Registry) base(info *registry.Info) (*record, registrationID, addressFinder, error) {
	if info.Addr == nil {
		return nil, registrationID{}, nil, fault.Invalid("registry.Info", "Addr is nil")
	}
	id := idOf(info)
	if err := CheckServiceName(info.ServiceName); err != nil {
		return nil, id, nil, err
	}
	// Names of endpoints are looked up for it, while Kitex holds its lock.
	ctx, cancel := context.WithTimeout(context.Background(), registerWait)
	defer cancel()
	address, certain, err := r.advertised(ctx, info)
	if err != nil {
		return nil, id, nil, err
	}
	weight := weightOf(info)
	rec := &record{
		Network:   info.Addr.Network(),
		Address:   address,
		Weight:    &weight,
		Tags:      cloneTags(info.Tags),
		State:     StateServing,
		StartedAt: startOf(info),
		WarmUp:    duration(info.WarmUp),
		Instance:  newInstanceID(),
		TTL:       duration(wholeSeconds(r.cfg.ttl)),
	}
	_, err = rec.encode()
	if certain {
		return rec, id, nil, err
	}
	return rec, id, r.finder(info), err
}

// finder keeps what it needs of the info: Kitex writes into its own.
func (r *Registry) finder(info *registry.Info) addressFinder {
	kept := &registry.Info{Addr: info.Addr}
	return func(ctx context.Context) (string, bool) {
		address, certain, err := r.advertised(ctx, kept)
		return address, certain && err == nil
	}
}

// advertised finds the address that consumers can call.
func (r *Registry) advertised(ctx context.Context, info *registry.Info) (address string, certain bool, err error) {
	if info.SkipListenAddr || info.Addr.Network() == "unix" {
		return info.Addr.String(), true, nil
	}
	return advertise(ctx, info.Addr, r.cfg.advertise, r.cli.Endpoints())
}
