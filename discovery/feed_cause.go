// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package discovery

import (
	"context"
	"errors"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// Why a feed listed again, as status and metrics say it.
const (
	causeEnded      = "watch ended"
	causeCompacted  = "compacted"
	causeNoLeader   = "no leader"
	causeAuth       = "authentication"
	causeDiverged   = "diverged"
	causeSilent     = "silent"
	causeUnanswered = "unreachable"
	causeOther      = "other"
)

// causeOf sorts the error that ended a watch or a list.
func causeOf(err error) string {
	switch {
	case errors.Is(err, errWatchEnded):
		return causeEnded
	case errors.Is(err, errDiverged):
		return causeDiverged
	case errors.Is(err, errWatchSilent):
		return causeSilent
	case errors.Is(err, rpctypes.ErrCompacted):
		return causeCompacted
	case errors.Is(err, rpctypes.ErrNoLeader):
		return causeNoLeader
	case errors.Is(err, context.DeadlineExceeded):
		return causeUnanswered
	}
	var coded interface{ Code() codes.Code } // etcd's own errors
	code := status.Code(err)
	if errors.As(err, &coded) {
		code = coded.Code()
	}
	if code == codes.Unauthenticated || code == codes.PermissionDenied {
		return causeAuth
	}
	if code == codes.Unavailable || code == codes.DeadlineExceeded {
		return causeUnanswered
	}
	return causeOther
}
