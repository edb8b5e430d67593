// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"
	"testing"
)

func TestCheckShares(t *testing.T) {
	weights := map[string]int{"a": 5, "b": 3, "c": 2}
	for name, tc := range map[string]struct {
		calls map[string]int
		want  string // part of the error, empty for none
	}{
		"exact":            {map[string]int{"a": 500, "b": 300, "c": 200}, ""},
		"by chance":        {map[string]int{"a": 530, "b": 290, "c": 180}, ""},
		"just inside":      {map[string]int{"a": 500, "b": 250, "c": 250}, ""}, // c: 4 sd are 50.6
		"just outside":     {map[string]int{"a": 500, "b": 249, "c": 251}, "c got 251"},
		"uniform":          {map[string]int{"a": 334, "b": 333, "c": 333}, "a got 334"},
		"one is not there": {map[string]int{"a": 625, "b": 375}, "a got 625"},
		"a stranger":       {map[string]int{"a": 500, "b": 300, "d": 200}, "to d, which is no provider"},
	} {
		t.Run(name, func(t *testing.T) {
			err := checkShares(tc.calls, weights)
			if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
				t.Errorf("err = %v, want %q", err, tc.want)
			}
		})
	}
}
