// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package middleware

import (
	"context"
	"fmt"
	"net"
	"os"
	"syscall"
	"testing"

	"github.com/cloudwego/kitex/pkg/kerrors"

	"github.com/fairway-rpc/fairway/internal/pick"
)

// TestOnlyWhatWasCancelledIsCalledSo: neither what this process lacks nor a call
// without an address is.
func TestOnlyWhatWasCancelledIsCalledSo(t *testing.T) {
	files := &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("socket", syscall.EMFILE)}
	for name, tt := range map[string]struct {
		err  error
		want string
	}{
		"cancelled":             {fmt.Errorf("the call: %w", context.Canceled), "cancelled"},
		"by business":           {kerrors.ErrCanceledByBusiness, "cancelled"},
		"too many files":        {kerrors.ErrGetConnection.WithCause(files), otherError},
		"too many files, words": {kerrors.ErrGetConnection.WithCause(fmt.Errorf("dial: %w", syscall.EMFILE)), otherError},
		"no address":            {kerrors.ErrNoDestAddress, otherError},
	} {
		if got := callError(pick.Begin(context.Background()), nil, tt.err, false); got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}
