// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package flagenv_test

import (
	"flag"
	"io"
	"strings"
	"testing"

	"github.com/fairway-rpc/fairway/examples/internal/flagenv"
)

func parse(t *testing.T, args ...string) (weight int, err error) {
	t.Helper()
	flags := flag.NewFlagSet("provider", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	n := flags.Int("weight", 10, "the weight")
	err = flagenv.Parse(flags, args, map[string]string{"weight": "FLAGENV_TEST_WEIGHT"})
	return *n, err
}

func TestPrecedence(t *testing.T) {
	for _, tt := range []struct {
		name, variable string
		args           []string
		want           int
	}{
		{"default", "", nil, 10},
		{"environment", "20", nil, 20},
		{"flag before environment", "20", []string{"-weight", "30"}, 30},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Setenv("FLAGENV_TEST_WEIGHT", tt.variable)
			got, err := parse(t, tt.args...)
			if err != nil || got != tt.want {
				t.Errorf("got %d, %v; want %d", got, err, tt.want)
			}
		})
	}
}

func TestBadInputNamesItsOrigin(t *testing.T) {
	t.Setenv("FLAGENV_TEST_WEIGHT", "heavy")
	if _, err := parse(t); err == nil || !strings.Contains(err.Error(), `FLAGENV_TEST_WEIGHT="heavy"`) {
		t.Errorf("got %v, want an error that names the variable", err)
	}
	t.Setenv("FLAGENV_TEST_WEIGHT", "")
	if _, err := parse(t, "5"); err == nil || !strings.Contains(err.Error(), `"5"`) {
		t.Errorf("got %v, want an error that names the argument", err)
	}
}
