// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package middleware

import (
	"github.com/cloudwego/kitex/client"
	"github.com/cloudwego/kitex/pkg/klog"
	kloadbalance "github.com/cloudwego/kitex/pkg/loadbalance"
	"github.com/cloudwego/kitex/pkg/utils"
)

// tellOverridden logs a resolver or hosts that came before the suite.
func tellOverridden() client.Option {
	return client.Option{F: func(o *client.Options, _ *utils.Slice) {
		switch {
		case o.Resolver == nil:
		case o.XDSEnabled:
			klog.Warnf("fairway: client of %q: the suite overrides the xDS suite's resolver; xDS still routes calls, but does not say where instances are: give WithXDSSuite after the suite, or leave one of them out", o.Svr.ServiceName)
		default:
			klog.Warnf("fairway: client of %q: the suite overrides the resolver or hosts %q that an earlier option set; give WithHostPorts after the suite to use them", o.Svr.ServiceName, o.Resolver.Name())
		}
	}}
}

// tellUnused logs what of the suite has no effect in a client, once all options are
// known.
func (s *clientSuite) tellUnused() client.Option {
	return client.TailOption(client.Option{F: func(o *client.Options, _ *utils.Slice) {
		service := o.Svr.ServiceName
		if ours, ok := o.Resolver.(*followed); o.Resolver != nil && (!ok || ours.suite != s) {
			klog.Infof("fairway: client of %q: a later option has set the resolver or hosts %q, and the suite's resolver %q is not used", service, o.Resolver.Name(), s.resolver.Name())
		}
		if o.Balancer != nil && o.Balancer != kloadbalance.Loadbalancer(s.balancer) {
			klog.Warnf("fairway: client of %q: a later option has set the balancer %q, and the suite's is not used: there are no pick spans, no counts of calls in flight and no reasons in errors", service, o.Balancer.Name())
		}
		if o.Proxy != nil {
			klog.Warnf("fairway: client of %q: with WithProxy Kitex leaves instance middlewares out, so that calls in flight are counted only until they return, and how calls went is not learnt; the proxy may also replace the resolver and the balancer", service)
		}
	}})
}
