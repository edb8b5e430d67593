// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package middleware_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// rows returns the cells of the table that stands first under a heading of
// docs/observability.md, without the table's own head.
func rows(t *testing.T, heading string) [][]string {
	t.Helper()
	page, err := os.ReadFile("../docs/observability.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, found := strings.Cut(string(page), "\n"+heading+"\n")
	if !found {
		t.Fatalf("docs/observability.md has no %q", heading)
	}
	var all [][]string
	for line := range strings.SplitSeq(section, "\n") {
		if !strings.HasPrefix(line, "|") {
			if len(all) > 0 {
				break
			}
			continue
		}
		cells := strings.Split(strings.Trim(line, "|"), "|")
		for i, cell := range cells {
			cells[i] = strings.Trim(cell, " `")
		}
		all = append(all, cells)
	}
	if len(all) < 3 {
		t.Fatalf("no table under %q", heading)
	}
	return all[2:]
}

// documented returns the attributes by name that the table wants of a pick for
// which the conditions hold, with their types.
func documented(t *testing.T, conditions []string) map[string]string {
	t.Helper()
	want := make(map[string]string)
	for _, row := range rows(t, "### Attributes of a pick span") {
		holds := true
		for condition := range strings.SplitSeq(row[2], ", ") {
			holds = holds && (condition == "always" || slices.Contains(conditions, condition))
		}
		if holds {
			want[row[0]] = row[1]
		}
	}
	return want
}

// emitted returns the attributes of a span by name, with their types in the
// words of OpenTelemetry's conventions.
func emitted(span sdktrace.ReadOnlySpan) map[string]string {
	words := map[string]string{"INT64": "int", "FLOAT64": "double", "STRING": "string", "BOOL": "boolean"}
	got := make(map[string]string)
	for key, value := range attributes(span) {
		got[string(key)] = words[value.Type().String()]
	}
	return got
}

// TestPickSpansAreAsDocumented compares what is emitted in every condition with
// the table in docs/observability.md.
func TestPickSpansAreAsDocumented(t *testing.T) {
	for name, tt := range pickConditions {
		t.Run(name, func(t *testing.T) {
			tp, recorder := tracing(t)
			tt.pick(t, tp)
			spans := picks(recorder)
			if len(spans) == 0 || tt.picks > 0 && len(spans) != tt.picks {
				t.Fatalf("%d pick spans, want %d", len(spans), tt.picks)
			}
			span := spans[len(spans)-1]
			if diff := cmp.Diff(documented(t, strings.Split(tt.conditions, ", ")), emitted(span)); diff != "" {
				t.Errorf("attributes and their types (-documented +emitted):\n%s", diff)
			}
			want := codes.Unset
			if strings.Contains(tt.conditions, "failed") {
				want = codes.Error
			}
			if span.Status().Code != want {
				t.Errorf("status %v, want %v", span.Status().Code, want)
			}
		})
	}
}

// TestEveryConditionOfThePickSpanIsTried: on and off, so that the comparison
// misses none.
func TestEveryConditionOfThePickSpanIsTried(t *testing.T) {
	for _, row := range rows(t, "### Attributes of a pick span") {
		for condition := range strings.SplitSeq(row[2], ", ") {
			on, off := false, false
			for _, tt := range pickConditions {
				holds := slices.Contains(strings.Split(tt.conditions, ", "), condition)
				on, off = on || holds, off || !holds
			}
			if condition != "always" && (!on || !off) {
				t.Errorf("%s: the condition %q is tried as true: %v, as false: %v", row[0], condition, on, off)
			}
		}
	}
}
