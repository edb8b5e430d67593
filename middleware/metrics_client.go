// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package middleware

import (
	"context"
	"time"

	"github.com/cloudwego/kitex/pkg/rpcinfo"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"

	"github.com/fairway-rpc/fairway/internal/pick"
	"github.com/fairway-rpc/fairway/loadbalance"
)

// clientMetrics measures the attempts of a suite's calls and their picks, whether
// or not there is a trace.
type clientMetrics struct {
	policy        string
	pickDurations bool
	labels        *labels // nil without

	duration  metric.Float64Histogram
	active    metric.Int64ObservableUpDownCounter
	picks     metric.Int64ObservableCounter
	pickTime  metric.Float64Histogram
	fallbacks metric.Int64Counter
	ejections metric.Int64Counter

	calls    *sets
	services *sets // of active calls and fallbacks
	causes   *sets // of ejections
	outcomes *sets // of picks

	meter metric.Meter
	use   usage
}

func newClientMetrics(c *metricsConfig, lb *loadbalance.Balancer) (*clientMetrics, error) {
	i := &instruments{meter: c.meter()}
	m := &clientMetrics{
		meter:         i.meter,
		policy:        lb.Policy(),
		pickDurations: c.pickDurations,
		duration:      i.seconds("rpc.client.call.duration", "How long attempts of calls took, to their real end.", callBounds),
		active:        i.active("fairway.client.active_calls", "Attempts of calls that are under way, streams included."),
		picks:         i.observedCounter("fairway.client.picks", "{pick}", "Picks of an instance, by what came of them."),
		fallbacks:     i.counter("fairway.client.subset_fallbacks", "{pick}", "Picks that went on without a preferred filter, or left their zone."),
		ejections:     i.counter("fairway.client.ejections", "{ejection}", "Instances that were ejected, by why."),
		calls:         newSets(callAttributes),
		services:      newSets(serviceAttributes),
		causes:        newSets(serviceAttributes),
	}
	m.outcomes = newSets(m.pickAttributes)
	if c.pickDurations {
		m.pickTime = i.seconds("fairway.client.pick.duration", "How long the picks of an attempt took.", pickBounds)
	}
	if c.instances > 0 {
		m.labels = newLabels(c.instances)
	}
	return m, i.err
}

// observe is called at each collection.
func (c *clientMetrics) observe(_ context.Context, o metric.Observer) error {
	c.services.each(func(s *set) {
		if s != c.services.overflow || s.active.Load() != 0 {
			o.ObserveInt64(c.active, s.active.Load(), s.observe...)
		}
	})
	c.outcomes.each(func(s *set) {
		if n := s.count.Load(); n > 0 {
			o.ObserveInt64(c.picks, n, s.observe...)
		}
	})
	return nil
}

func callAttributes(m measured) []attribute.KeyValue {
	attrs := []attribute.KeyValue{systemKitex, keyService.String(m.service), semconv.RPCMethod(joinMethod(m.pkg, m.idlService, m.method))}
	if m.errorType != "" {
		attrs = append(attrs, semconv.ErrorTypeKey.String(m.errorType))
	}
	if m.peer != "" {
		attrs = append(attrs, semconv.NetworkPeerAddress(m.peer))
	}
	return attrs
}

func serviceAttributes(m measured) []attribute.KeyValue {
	attrs := []attribute.KeyValue{systemKitex, keyService.String(m.service)}
	if m.other != "" {
		attrs = append(attrs, keyCause.String(m.other))
	}
	return attrs
}

func (c *clientMetrics) pickAttributes(m measured) []attribute.KeyValue {
	attrs := []attribute.KeyValue{keyPolicy.String(c.policy), keyService.String(m.service)}
	if m.errorType != "" {
		attrs = append(attrs, semconv.ErrorTypeKey.String(m.errorType))
	}
	return attrs
}

// enabled reports whether anybody measures.
func (c *clientMetrics) enabled(ctx context.Context) bool { return c.duration.Enabled(ctx) }

// begin counts an attempt that begins. It returns when that was, the zero time if
// nobody measures.
func (c *clientMetrics) begin(a *pick.Attempt) time.Time {
	if !c.enabled(a) {
		return time.Time{}
	}
	a.Timed = c.pickDurations
	c.services.get(measured{service: serviceOf(a.Call())}).active.Add(1)
	return time.Now()
}

// end measures an attempt that began then.
func (c *clientMetrics) end(a *pick.Attempt, began time.Time, err error, panicked bool) {
	if began.IsZero() || a.Measured.Swap(true) {
		return
	}
	info := a.Call()
	service := serviceOf(info)
	of := c.services.get(measured{service: service})
	of.active.Add(-1)
	m := measured{service: service, errorType: callError(a, info, err, panicked)}
	if call := invocationOf(info); call != nil {
		m.pkg, m.idlService, m.method = call.PackageName(), call.ServiceName(), call.MethodName()
	}
	if c.labels != nil && a.Picked != nil && info.To().Address() != nil {
		m.peer = c.labels.of(info.To().Address().String())
	}
	c.duration.Record(a, time.Since(began).Seconds(), c.calls.get(m).record...)
	c.endPicks(a, service, of)
}

func (c *clientMetrics) endPicks(a *pick.Attempt, service string, of *set) {
	if a.Picks > 0 {
		c.outcomes.get(measured{service: service}).count.Add(a.Picks)
	}
	if a.Misses > 0 {
		c.outcomes.get(measured{service: service, errorType: errorType(a.Reason)}).count.Add(a.Misses)
	}
	if a.Fallbacks > 0 {
		c.fallbacks.Add(a, a.Fallbacks, of.add...)
	}
	if a.Timed && a.Picks+a.Misses > 0 {
		c.pickTime.Record(a, a.PickTime.Seconds(), c.outcomes.get(measured{service: service}).record...)
	}
}

// ejected counts an ejection.
func (c *clientMetrics) ejected(service, cause string) {
	c.ejections.Add(context.Background(), 1, c.causes.get(measured{service: service, other: cause}).add...)
}

func serviceOf(info rpcinfo.RPCInfo) string {
	if info == nil || info.To() == nil {
		return ""
	}
	return info.To().ServiceName()
}

func invocationOf(info rpcinfo.RPCInfo) rpcinfo.Invocation {
	if info == nil {
		return nil
	}
	return info.Invocation()
}

// joinMethod is the method's full logical name: [package.]Service/Method.
func joinMethod(pkg, service, method string) string {
	name := service + "/" + method
	if pkg != "" {
		name = pkg + "." + name
	}
	return name
}
