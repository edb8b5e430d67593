// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package table_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/fairway-rpc/fairway/examples/internal/table"
)

var update = flag.Bool("update", false, "write the golden files anew")

func live() table.View {
	return table.View{
		Policy: "smooth-wrr", Elapsed: 12300 * time.Millisecond, Span: 5 * time.Second,
		Calls: 1234567, QPS: 4000.2,
		Rows: []table.Row{
			{Number: 1, Address: "127.0.0.1:40001", Weight: 5, Expected: 0.5, Actual: 0.5004, QPS: 2001, InFlight: 5, State: table.Service{State: "running", Up: true}},
			{Number: 2, Address: "127.0.0.1:40002", Weight: 3, Expected: 0.3, Actual: 0.2997, QPS: 1200, InFlight: 3, State: table.Service{State: "running", Up: true}},
			{Number: 3, Address: "127.0.0.1:40003", Weight: 2, Expected: 0.2, Actual: 0.1999, QPS: 799.6, InFlight: 2, State: table.Service{State: "running", Up: true}},
		},
		Feed: table.Feed{State: "live", Source: "etcd", Age: 400 * time.Millisecond, Revision: 4},
		Etcd: table.Service{Name: "127.0.0.1:2379", State: "running", Up: true},
	}
}

func outage() table.View {
	v := live()
	v.Failed = 2
	v.Rows[0].Expected, v.Rows[0].Actual, v.Rows[0].QPS, v.Rows[0].InFlight = 0, 0, 0, 0
	v.Rows[0].State = table.Service{State: "stopped"}
	v.Rows[1].Expected, v.Rows[1].Actual = 0.6, 0.6
	v.Rows[2].Expected, v.Rows[2].Actual = 0.4, 0.4
	v.Feed.State, v.Feed.Age = "stale", 21*time.Second
	v.Etcd.State, v.Etcd.Up = "stopped", false
	v.Errors = []string{"remote or network error[remote]: broken"}
	v.Hints = []string{"k 1 stops provider 1"}
	return v
}

func TestRender(t *testing.T) {
	for _, tt := range []struct {
		name  string
		view  table.View
		style table.Style
	}{
		{"live", live(), table.Style{}},
		{"outage", outage(), table.Style{}},
		{"outage_colour", outage(), table.Style{Colour: true}},
		{"narrow_colour", outage(), table.Style{Colour: true, Width: 60}},
		{"empty", table.View{Policy: "least-active"}, table.Style{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := strings.Join(table.Render(tt.view, tt.style), "\n") + "\n"
			path := filepath.Join("testdata", tt.name+".golden")
			if *update {
				if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			// A checkout on Windows may have changed the line ends.
			if diff := cmp.Diff(strings.ReplaceAll(string(want), "\r\n", "\n"), got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestPlainHasNoControlCharacters(t *testing.T) {
	for _, line := range table.Render(outage(), table.Style{}) {
		if strings.ContainsAny(line, "\x1b\r\t") {
			t.Errorf("%q", line)
		}
	}
}

func TestWidthIsKept(t *testing.T) {
	for _, line := range table.Render(outage(), table.Style{Width: 40}) {
		if n := utf8.RuneCountInString(line); n > 40 {
			t.Errorf("%d characters: %q", n, line)
		}
	}
}
