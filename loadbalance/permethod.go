// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package loadbalance

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	kdiscovery "github.com/cloudwego/kitex/pkg/discovery"
	kloadbalance "github.com/cloudwego/kitex/pkg/loadbalance"
	"github.com/cloudwego/kitex/pkg/rpcinfo"

	"github.com/fairway-rpc/fairway/internal/fault"
	"github.com/fairway-rpc/fairway/internal/pick"
)

// PerMethodPolicy is what [Balancer.Policy] says of a balancer that [PerMethod]
// has made. Spans and metrics say the policy that has picked.
const PerMethodPolicy = "per-method"

// PerMethod makes a balancer that leaves each call to the balancer of its method,
// by the name that the IDL gives it, and the calls of all other methods to
// otherwise: one method hashes, say, while the others take the least active
// instance. A call whose method is not known is one of the others.
//
// The balancers keep the state that they have, and may be in use elsewhere as
// well. A nil one is refused with an error that wraps [ErrInvalidConfig].
func PerMethod(byMethod map[string]*Balancer, otherwise *Balancer) (*Balancer, error) {
	if otherwise == nil {
		return nil, fault.Invalid("PerMethod", "the balancer of the other methods is nil")
	}
	for method, b := range byMethod {
		if b == nil {
			return nil, fault.Invalid("PerMethod", "the balancer of method %q is nil", method)
		}
	}
	return newMethods(maps.Clone(byMethod), otherwise), nil
}

// methods leaves picks to other balancers.
type methods struct {
	byMethod  map[string]*Balancer
	otherwise *Balancer
}

func newMethods(byMethod map[string]*Balancer, otherwise *Balancer) *Balancer {
	return &Balancer{
		methods: &methods{byMethod: byMethod, otherwise: otherwise},
		name:    fmt.Sprintf("fairway-%s-%d", PerMethodPolicy, balancers.Add(1)),
	}
}

// of is the balancer of a call.
func (m *methods) of(ctx context.Context) *Balancer {
	if ri := rpcinfo.GetRPCInfo(ctx); ri != nil && ri.Invocation() != nil {
		if b, ok := m.byMethod[ri.Invocation().MethodName()]; ok {
			return b
		}
	}
	return m.otherwise
}

// all is each balancer once.
func (m *methods) all() []*Balancer {
	all := []*Balancer{m.otherwise}
	for _, method := range slices.Sorted(maps.Keys(m.byMethod)) {
		if b := m.byMethod[method]; !slices.Contains(all, b) {
			all = append(all, b)
		}
	}
	return all
}

func (m *methods) observed(o pick.Observer) *Balancer {
	views := make(map[*Balancer]*Balancer)
	for _, b := range m.all() {
		views[b] = b.Observed(o)
	}
	byMethod := make(map[string]*Balancer, len(m.byMethod))
	for method, b := range m.byMethod {
		byMethod[method] = views[b]
	}
	return newMethods(byMethod, views[m.otherwise])
}

func (m *methods) picker(res kdiscovery.Result) kloadbalance.Picker {
	p := methodPickers.Get().(*methodPicker)
	p.methods, p.result = m, res
	return p
}

var methodPickers = sync.Pool{New: func() any { return new(methodPicker) }}

// methodPicker is the picker of one attempt. Only Next knows the method.
type methodPicker struct {
	methods *methods
	result  kdiscovery.Result
	inner   kloadbalance.Picker
}

// Next implements Kitex's Picker.
func (p *methodPicker) Next(ctx context.Context, request any) kdiscovery.Instance {
	if p.inner == nil {
		p.inner = p.methods.of(ctx).GetPicker(p.result)
	}
	return p.inner.Next(ctx, request)
}

// Recycle is found by Kitex and called after the attempt.
func (p *methodPicker) Recycle() {
	if r, ok := p.inner.(interface{ Recycle() }); ok {
		r.Recycle()
	}
	*p = methodPicker{}
	methodPickers.Put(p)
}
