// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package story

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fairway-rpc/fairway/idl/kitex_gen/fairway/echo"
)

// told is what was said and logged.
type told struct {
	mu    sync.Mutex
	lines []string
	log   bytes.Buffer
}

func (o *told) say(format string, args ...any) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.lines = append(o.lines, fmt.Sprintf(format, args...))
}

// Write implements io.Writer.
func (o *told) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.log.Write(p)
}

func (o *told) text() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return strings.Join(o.lines, "\n")
}

// act runs steps and checks that nothing is left.
func act(ctx context.Context, t *testing.T, out *told, steps ...step) (*Report, error) {
	t.Helper()
	dir := t.TempDir()
	for _, variable := range []string{"TMPDIR", "TMP", "TEMP"} {
		t.Setenv(variable, dir)
	}
	r, err := run(ctx, Config{Log: out, Say: out.say}, steps)
	if names, globErr := filepath.Glob(filepath.Join(dir, "*")); globErr != nil || len(names) > 0 {
		t.Errorf("left behind: %v, %v", names, globErr)
	}
	return r, err
}

func TestCallThatFailsIsAnErrorOfItsStep(t *testing.T) {
	out := &told{}
	fail := step{"one fails", "a provider answers with an error.", func(ctx context.Context, s *stage) (Finding, error) {
		s.phases.Do(ctx, func(ctx context.Context) error {
			_, err := s.consumer.cli.Echo(ctx, &echo.Request{Failure: echo.Failure_REMOTE})
			return err
		})
		return steady(ctx, s)
	}}
	r, err := act(t.Context(), t, out, steps[0], fail)
	if !errors.Is(err, ErrCallsFailed) || !strings.Contains(err.Error(), `1 in step "one fails"`) {
		t.Errorf("got %v", err)
	}
	if len(r.Steps) != 2 || r.Steps[0].Failed != 0 || r.Steps[1].Failed != 1 || r.Failed != 1 || r.Steps[1].Shares == nil {
		t.Errorf("got %+v", r)
	}
	if text := out.text(); !strings.Contains(text, "1 failed") {
		t.Errorf("nobody was told:\n%s", text)
	}
}

// TestKilledProviderIsNoExcuseForOthers has a call fail elsewhere meanwhile.
func TestKilledProviderIsNoExcuseForOthers(t *testing.T) {
	out := &told{}
	kill := step{"kill", "and another fails.", func(ctx context.Context, s *stage) (Finding, error) {
		err := s.kill(ctx, s.providers[2])
		s.turn()
		s.phases.Do(ctx, func(ctx context.Context) error {
			_, err := s.consumer.cli.Echo(ctx, &echo.Request{Failure: echo.Failure_REMOTE})
			return err
		})
		return Finding{}, err
	}}
	r, err := act(t.Context(), t, out, steps[0], kill)
	if !errors.Is(err, ErrCallsFailed) || r.Failed != 1 {
		t.Errorf("%d calls failed, %v; want one", r.Failed, err)
	}
}

func TestStepThatDoesNotComeTrueIsNamed(t *testing.T) {
	out := &told{}
	never := step{"never", "nothing that could help.", func(ctx context.Context, _ *stage) (Finding, error) {
		return Finding{Shows: "It rained."}, await(ctx, 50*time.Millisecond, "it rains", func() bool { return false })
	}}
	r, err := act(t.Context(), t, out, steps[0], never, steps[1])
	if !errors.Is(err, ErrNotInTime) || !strings.Contains(err.Error(), `step "never"`) || !strings.Contains(err.Error(), "it rains") {
		t.Errorf("got %v", err)
	}
	if strings.Contains(out.text(), "It rained.") {
		t.Errorf("it tells of what did not come true:\n%s", out.text())
	}
	if len(r.Steps) != 2 || r.Steps[0].Calls < telling || r.Failed != 0 {
		t.Errorf("got %+v", r)
	}
}

func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var addresses []string
	out := &told{}
	interrupted := step{"interrupted", "Ctrl-C.", func(ctx context.Context, s *stage) (Finding, error) {
		for _, p := range s.providers {
			addresses = append(addresses, p.address)
		}
		cancel()
		return Finding{}, await(ctx, patience, "it ends", func() bool { return false })
	}}
	r, err := act(ctx, t, out, steps[0], interrupted, steps[1])
	if !errors.Is(err, context.Canceled) || len(r.Steps) != 2 || r.Failed != 0 {
		t.Errorf("got %v, %+v", err, r)
	}
	if len(addresses) != len(weights) || slices.ContainsFunc(addresses, accepts) {
		t.Errorf("of the providers at %v one still listens", addresses)
	}
}

func accepts(address string) bool {
	conn, err := net.DialTimeout("tcp", address, time.Second)
	if err == nil {
		_ = conn.Close()
	}
	return err == nil
}

func TestInterruptedBeforeItBegins(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if r, err := act(ctx, t, &told{}, steps...); r != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("got %+v, %v", r, err)
	}
}
