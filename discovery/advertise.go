// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package discovery

import (
	"context"
	"net"
	"net/url"
	"os"
	"strings"

	"github.com/fairway-rpc/fairway/internal/fault"
)

// Environment variables of kitex-contrib/registry-etcd, honoured so that a
// deployment can move without changes.
const (
	envAdvertiseIP   = "KITEX_IP_TO_REGISTRY"
	envAdvertisePort = "KITEX_PORT_TO_REGISTRY"
)

// advertise finds host:port under which consumers reach a listener: what is
// configured, then the environment, then the listener's own address, in which
// an unspecified host is replaced by the one that routes to etcd. It is not
// certain where no route to etcd was found, for etcd's name may not resolve yet.
func advertise(ctx context.Context, listener net.Addr, configured string, endpoints []string) (address string, certain bool, err error) {
	host, port, err := net.SplitHostPort(listener.String())
	if err != nil {
		return "", false, fault.Invalid("registry.Info", "Addr: %w", err)
	}
	if env := os.Getenv(envAdvertisePort); env != "" {
		port = env
	}
	certain = true
	switch {
	case configured != "":
		if h, p, err := net.SplitHostPort(configured); err == nil {
			return net.JoinHostPort(h, p), true, nil
		}
		host = strings.Trim(configured, "[]")
	case os.Getenv(envAdvertiseIP) != "":
		host = strings.Trim(os.Getenv(envAdvertiseIP), "[]")
	case isUnspecified(host):
		host, certain = routableHost(ctx, endpoints)
	}
	return net.JoinHostPort(host, port), certain, nil
}

func isUnspecified(host string) bool {
	ip := net.ParseIP(host)
	return host == "" || ip != nil && ip.IsUnspecified()
}

// routableHost is the local address that routes to etcd; where etcd is on this
// host, the first address of an interface that is up; loopback only where
// there is no other. It is certain if a route to etcd was found.
func routableHost(ctx context.Context, endpoints []string) (host string, certain bool) {
	var loopback net.IP
	for _, endpoint := range endpoints {
		ip := routeTo(ctx, endpoint)
		if ip != nil && !ip.IsLoopback() {
			return ip.String(), true
		}
		if loopback == nil {
			loopback = ip
		}
	}
	certain = loopback != nil
	if ip := interfaceIP(); ip != nil {
		return ip.String(), certain
	}
	if loopback == nil {
		loopback = net.IPv4(127, 0, 0, 1)
	}
	return loopback.String(), certain
}

// routeTo asks the routing table for the source address towards an endpoint;
// a UDP socket that is connected sends nothing.
func routeTo(ctx context.Context, endpoint string) net.IP {
	hostport := endpoint
	if u, err := url.Parse(endpoint); err == nil && u.Host != "" {
		hostport = u.Host
	}
	conn, err := (&net.Dialer{}).DialContext(ctx, "udp", hostport)
	if err != nil {
		return nil
	}
	defer func() { _ = conn.Close() }()
	local, ok := conn.LocalAddr().(*net.UDPAddr)
	if !ok {
		return nil
	}
	return local.IP
}

// interfaceIP is the first address of an interface that is up and running,
// IPv4 before IPv6, as the field does; nil if there is only loopback.
func interfaceIP() net.IP {
	interfaces, err := net.Interfaces()
	if err != nil {
		return nil
	}
	const running = net.FlagUp | net.FlagRunning
	var v6 net.IP
	for _, i := range interfaces {
		if i.Flags&running != running {
			continue
		}
		addresses, err := i.Addrs()
		if err != nil {
			continue
		}
		for _, a := range addresses {
			n, ok := a.(*net.IPNet)
			if !ok || !n.IP.IsGlobalUnicast() {
				continue
			}
			if n.IP.To4() != nil {
				return n.IP
			}
			if v6 == nil {
				v6 = n.IP
			}
		}
	}
	return v6
}
