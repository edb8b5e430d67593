// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package demo

import (
	"context"
	"errors"
	"fmt"

	"github.com/fairway-rpc/fairway/examples/internal/story"
)

// tell tells the story. The report is nil if no step came to its end, and is
// that of the steps so far where a later one failed.
func tell(ctx context.Context, out *console) (r *story.Report, err error) {
	err = withLog(out, func(logs *logFile) error {
		r, err = story.Run(ctx, story.Config{Log: logs, Say: out.say})
		if err != nil && ctx.Err() != nil && !errors.Is(err, story.ErrCallsFailed) {
			return fmt.Errorf("%w: %w", errInterrupted, err)
		}
		return err
	})
	return r, err
}
