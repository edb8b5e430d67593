// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package story

import (
	"context"
	"fmt"
	"time"

	"github.com/fairway-rpc/fairway/discovery"
)

func restartConsumer(ctx context.Context, s *stage) (Finding, error) {
	s.stopCalls()
	if err := s.consumer.close(); err != nil {
		return Finding{}, err
	}
	after := s.turn()
	began := time.Now()
	if err := s.startConsumer(); err != nil {
		return Finding{}, err
	}
	s.startCalls(ctx)
	if err := await(ctx, patience, "the new consumer's first call ends", func() bool { return after.Read().Calls > 0 }); err != nil {
		return Finding{}, err
	}
	first, known := time.Since(began), s.consumer.snapshot()
	if known.Source != discovery.SourceDisk {
		return Finding{}, fmt.Errorf("%w: the new consumer's list is from %q, not from disk", ErrUnexpected, known.Source)
	}
	shares, err := s.follows(ctx, after)
	return Finding{AgeMS: age(known).Milliseconds(), Shares: shares, Shows: fmt.Sprintf(
		"The new one took its %d providers from the disk copy, which was %s old. Its first call was answered after %s: it waits a second for etcd, once.",
		len(known.Instances), brief(age(known)), brief(first))}, err
}
