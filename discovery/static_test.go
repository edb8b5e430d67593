// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package discovery

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/cloudwego/kitex/pkg/rpcinfo"

	"github.com/fairway-rpc/fairway/internal/live"
)

func static(t *testing.T, weights map[string]int) *Static {
	t.Helper()
	s := NewStatic()
	t.Cleanup(func() { _ = s.Close() })
	for address, weight := range weights {
		if err := s.Add(address, weight); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// resolved is what Kitex's own balancers see.
func resolved(t *testing.T, s *Static) string {
	t.Helper()
	res, err := s.Resolve(t.Context(), "echo")
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, i := range res.Instances {
		list = append(list, fmt.Sprintf("%s://%s=%d", i.Address().Network(), i.Address(), i.Weight()))
	}
	return strings.Join(list, " ")
}

func TestStaticFollowsEachChange(t *testing.T) {
	s := static(t, nil)
	steps := []struct {
		change func() error
		want   string
	}{
		{func() error { return s.Add("a:1", 5) }, "tcp://a:1=5"},
		{func() error { return s.Add("[::1]:80", math.MaxInt32) }, "tcp://a:1=5 tcp://[::1]:80=2147483647"},
		{func() error { return s.Add("/run/c.sock", 1) }, "tcp://a:1=5 tcp://[::1]:80=2147483647 unix:///run/c.sock=1"},
		{func() error { return s.Add("d:1", 0) }, "tcp://a:1=5 tcp://[::1]:80=2147483647 unix:///run/c.sock=1"},
		{func() error { return s.SetWeight("[::1]:80", 2) }, "tcp://a:1=5 tcp://[::1]:80=2 unix:///run/c.sock=1"},
		{func() error { return s.SetWeight("a:1", 0) }, "tcp://[::1]:80=2 unix:///run/c.sock=1"},
		{func() error { return s.Remove("unix:/run/c.sock") }, "tcp://[::1]:80=2"},
		{func() error { return s.SetWeight("d:1", 4) }, "tcp://[::1]:80=2 tcp://d:1=4"},
		{func() error { return s.Remove("[::1]:80") }, "tcp://d:1=4"},
		{func() error { return s.Add("unix:echo.sock", 3) }, "tcp://d:1=4 unix://echo.sock=3"},
		{func() error { return s.Remove("d:1") }, "unix://echo.sock=3"},
		{func() error { return s.Remove("unix:echo.sock") }, ""}, // an answer and no error
		{func() error { return s.SetWeight("a:1", 1) }, "tcp://a:1=1"},
	}
	for n, step := range steps {
		if err := step.change(); err != nil {
			t.Fatalf("change %d: %v", n, err)
		}
		if got := resolved(t, s); got != step.want {
			t.Errorf("after change %d: %q, want %q", n, got, step.want)
		}
	}
	if got, want := s.List(), []StaticInstance{{Address: "a:1", Weight: 1}}; !slices.Equal(got, want) {
		t.Errorf("listed %v, want %v", got, want)
	}
}

func TestStaticRefuses(t *testing.T) {
	s := static(t, map[string]int{"a:1": 5, "/run/b.sock": 1})
	before, set := s.List(), s.view.Load()
	for name, c := range map[string]struct {
		err     error
		is      error
		mention string
	}{
		"no address":          {s.Add("", 1), nil, "Add"},
		"no port":             {s.Add("a", 1), nil, "missing port"},
		"port 0":              {s.Add("a:0", 1), nil, `"0"`},
		"too large a port":    {s.Add("a:65536", 1), nil, "65536"},
		"no host":             {s.Add(":80", 1), nil, "no host"},
		"any host":            {s.Add("0.0.0.0:80", 1), nil, "no host"},
		"no path":             {s.Add("unix:", 1), nil, "no path"},
		"negative":            {s.Add("c:1", -1), nil, "-1"},
		"too heavy":           {s.Add("c:1", math.MaxInt32+1), nil, "2147483648"},
		"twice":               {s.Add("a:1", 1), ErrDuplicateAddress, "a:1"},
		"twice, both ways":    {s.Add("unix:/run/b.sock", 1), ErrDuplicateAddress, "/run/b.sock"},
		"unknown, removed":    {s.Remove("c:1"), ErrUnknownAddress, "c:1"},
		"unknown, weighed":    {s.SetWeight("c:1", 1), ErrUnknownAddress, "c:1"},
		"negative, weighed":   {s.SetWeight("a:1", -1), nil, "SetWeight"},
		"too heavy, weighed":  {s.SetWeight("a:1", math.MaxInt32+1), nil, "2147483648"},
		"unreadable, weighed": {s.SetWeight("a", 1), nil, "missing port"},
	} {
		if !errors.Is(c.err, ErrInvalidConfig) || c.is != nil && !errors.Is(c.err, c.is) || !strings.Contains(c.err.Error(), c.mention) {
			t.Errorf("%s: got %v", name, c.err)
		}
	}
	if !slices.Equal(s.List(), before) || s.view.Load() != set {
		t.Error("a refused change has changed something")
	}
}

func TestStaticThatNeverHadAnInstance(t *testing.T) {
	s := static(t, nil)
	if _, err := s.Resolve(t.Context(), "echo"); !errors.Is(err, ErrServiceNotFound) || !strings.Contains(err.Error(), `"echo"`) {
		t.Errorf("got %v, want ErrServiceNotFound and the service", err)
	}
}

func TestStaticServesAnyServiceUnderAnUniqueName(t *testing.T) {
	one, other := static(t, map[string]int{"a:1": 1}), static(t, map[string]int{"b:1": 1})
	if one.Name() == other.Name() {
		t.Errorf("both are called %q", one.Name())
	}
	for _, service := range []string{"echo", "a service / of any name"} {
		target := one.Target(t.Context(), rpcinfo.NewEndpointInfo(service, "Echo", nil, nil))
		res, err := one.Resolve(t.Context(), target)
		if err != nil || len(res.Instances) != 1 || !res.Cacheable {
			t.Fatalf("%s: %+v, %v", service, res, err)
		}
		view := live.Find(live.Key(one.Name(), res.CacheKey))
		if view == nil || view.Load().Nodes[0].Address != "a:1" {
			t.Errorf("%s: balancers find no live list", service)
		}
	}
}

func TestStaticBoundsItsServices(t *testing.T) {
	s := static(t, map[string]int{"a:1": 1})
	for n := range DefaultMaxServices {
		if _, err := s.Resolve(t.Context(), fmt.Sprint(n)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Resolve(t.Context(), "one more"); !errors.Is(err, ErrInvalidConfig) {
		t.Errorf("got %v", err)
	}
	if _, err := s.Resolve(t.Context(), "0"); err != nil {
		t.Errorf("one of the others: %v", err)
	}
}

func TestStaticThatIsClosed(t *testing.T) {
	s := static(t, map[string]int{"a:1": 1})
	_ = resolved(t, s)
	view := live.Find(live.Key(s.Name(), "echo"))
	for range 2 {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	if !view.Closed() || live.Find(live.Key(s.Name(), "echo")) != nil {
		t.Error("balancers still follow the list")
	}
	if err := s.Add("b:1", 1); !errors.Is(err, ErrClosed) {
		t.Errorf("Add: %v", err)
	}
	if err := s.Remove("a:1"); !errors.Is(err, ErrClosed) {
		t.Errorf("Remove: %v", err)
	}
	if err := s.SetWeight("a:1", 2); !errors.Is(err, ErrClosed) {
		t.Errorf("SetWeight: %v", err)
	}
	if got := resolved(t, s); got != "tcp://a:1=1" {
		t.Errorf("resolved %q", got)
	}
	if _, err := s.Resolve(t.Context(), "another"); err != nil || live.Find(live.Key(s.Name(), "another")) != nil {
		t.Error("a service that came after the end has a live list")
	}
}
