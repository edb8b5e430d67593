// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package middleware

import (
	"errors"

	"github.com/cloudwego/kitex/pkg/kerrors"
	"github.com/cloudwego/kitex/pkg/rpcinfo"

	"github.com/fairway-rpc/fairway/discovery"
	"github.com/fairway-rpc/fairway/internal/pick"
	"github.com/fairway-rpc/fairway/loadbalance"
)

// otherError is the semantic conventions' word for what has none.
const otherError = "_OTHER"

// errorWord is an error and the one word that error.type has for it.
type errorWord struct {
	err  error
	word string
}

// pickErrors are why a pick found nobody.
var pickErrors = []errorWord{
	{loadbalance.ErrEmpty, "no_instance"},
	{loadbalance.ErrAllDrained, "all_drained"},
	{loadbalance.ErrAllEjected, "all_ejected"},
	{loadbalance.ErrNoneInSubset, "none_in_subset"},
	{loadbalance.ErrNoKey, "no_key"},
}

// ownErrors are errors of this side, and of finding instances.
var ownErrors = []errorWord{
	{discovery.ErrServiceNotFound, "no_such_service"},
	{discovery.ErrRegistryUnavailable, "registry_unavailable"},
	{kerrors.ErrNoMoreInstance, "no_instance"},
	{kerrors.ErrServiceDiscovery, "service_discovery"},
	{kerrors.ErrCircuitBreak, "circuit_break"},
	{kerrors.ErrOverlimit, "over_limit"},
	{kerrors.ErrACL, "forbidden"},
}

func wordOf(err error, words []errorWord) string {
	for _, w := range words {
		if errors.Is(err, w.err) {
			return w.word
		}
	}
	return ""
}

// errorType is why a pick found nobody, in one of few words.
func errorType(err error) string {
	if word := wordOf(err, pickErrors); word != "" {
		return word
	}
	return otherError
}

// callError is how an attempt failed, in one of few words, "" if it did not.
func callError(a *pick.Attempt, info rpcinfo.RPCInfo, err error, panicked bool) string {
	switch {
	case panicked:
		return "panic"
	case err == nil && isBusiness(info):
		return "business"
	case err == nil:
		return ""
	case a.Reason != nil:
		return errorType(a.Reason)
	}
	if word := wordOf(err, ownErrors); word != "" {
		return word
	}
	switch outcomeOf(a, info, err) {
	case pick.NoConnection:
		return "no_connection"
	case pick.TimedOut:
		return "timeout"
	case pick.Broken:
		return "broken"
	case pick.Answered:
		return "remote"
	default:
		return cancelledOr(err)
	}
}

// cancelledOr leaves out what is on this side for another reason: what the process
// lacks, and a call that has no address.
func cancelledOr(err error) string {
	if isOurs(err) && !isOurLack(err) && !errors.Is(err, kerrors.ErrNoDestAddress) {
		return "cancelled"
	}
	return otherError
}

// isBusiness reports whether the call was answered with a business error.
func isBusiness(info rpcinfo.RPCInfo) bool {
	call := invocationOf(info)
	return call != nil && call.BizStatusErr() != nil
}
