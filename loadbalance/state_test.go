// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package loadbalance

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fairway-rpc/fairway/internal/pick"
)

func TestState(t *testing.T) {
	b := mustNew(t, LeastActive)
	res := result("resolver:echo", 5, 0, 3, 2)
	p := b.GetPicker(res)
	picked := p.Next(t.Context(), nil).Address().String()
	s := b.core.find("resolver:echo")
	s.nodes["i3:80"].Done(pick.NoConnection, 0, false)
	waitFor(t, "the table is without it", func() bool { return s.table.Load().at("i3:80").out })
	got := b.State()
	want := []ServiceState{{Key: "resolver:echo", Policy: LeastActive, Instances: []InstanceState{
		{Address: "i0:80", Weight: 5, Effective: 5, Serving: true, Share: 5. / 8},
		{Address: "i1:80"},
		{Address: "i2:80", Weight: 3, Effective: 3, Serving: true, Share: 3. / 8},
		{Address: "i3:80", Weight: 2, Serving: true, Aside: true},
	}}}
	for i := range want[0].Instances {
		if in := &want[0].Instances[i]; in.Address == picked {
			in.InFlight = 1
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("state (- want, + got):\n%s", diff)
	}
	recycle(p)
	printed := b.State()[0].String()
	for _, line := range []string{
		"resolver:echo by least-active",
		"ADDRESS  WEIGHT  EFFECTIVE  SHARE   IN FLIGHT  STATE",
		"i0:80    5       5          62.5 %  0          serving",
		"i1:80    0       0          0.0 %   0          drained",
		"i3:80    2       0          0.0 %   0          serving, aside",
	} {
		if !strings.Contains(printed, line+"\n") {
			t.Errorf("no line %q in:\n%s", line, printed)
		}
	}
}

func TestStateOfPoliciesThatDoNotWeigh(t *testing.T) {
	lb, err := PerMethod(map[string]*Balancer{"Get": mustNew(t, RoundRobin)}, mustNew(t, WeightedRandom))
	if err != nil {
		t.Fatal(err)
	}
	res := result("r", 3, 1)
	_ = call(t.Context(), lb, res)
	_ = call(ofMethod(t.Context(), "Get"), lb, res)
	states := lb.State()
	if len(states) != 2 || states[0].Instances[0].Share != 0.5 || states[1].Instances[0].Share != 0.75 {
		t.Errorf("states %+v", states)
	}
}
