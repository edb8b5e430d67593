// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package discovery

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestDecodeRecord(t *testing.T) {
	tests := []struct {
		name, value string
		want        record
	}{
		{
			name:  "as registry-etcd writes it",
			value: `{"network":"tcp","address":"10.0.0.1:8888","weight":20,"tags":null}`,
			want:  record{Network: "tcp", Address: "10.0.0.1:8888", Weight: new(int64(20)), State: StateServing},
		},
		{
			name: "with everything",
			value: `{"network":"tcp","address":"[::1]:1","weight":0,"tags":{"zone":"a"},"state":"draining",` +
				`"instance":"id","started_at":"2026-01-02T03:04:05Z","warmup":"30s","ttl":"10s","of a later version":[1]}`,
			want: record{
				Network: "tcp", Address: "[::1]:1", Weight: new(int64(0)), Tags: map[string]string{"zone": "a"},
				State: StateDraining, Instance: "id", WarmUp: duration(30 * time.Second), TTL: duration(10 * time.Second),
				StartedAt: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
			},
		},
		{
			name:  "a socket, with nothing but an address",
			value: `{"network":"unix","address":"/run/echo.sock"}`,
			want:  record{Network: "unix", Address: "/run/echo.sock", State: StateServing},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := decodeRecord([]byte(tt.value))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(&tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestRecordAsItStandsInEtcd: other programs read it.
func TestRecordAsItStandsInEtcd(t *testing.T) {
	for want, r := range map[string]record{
		`{"network":"tcp","address":"10.0.0.1:8888","weight":20,"tags":{"zone":"a"},"state":"serving","instance":"id",` +
			`"started_at":"2026-01-02T03:04:05Z","warmup":"1m30s","ttl":"10s"}`: {
			Network: "tcp", Address: "10.0.0.1:8888", Weight: new(int64(20)), Tags: map[string]string{"zone": "a"},
			State: StateServing, Instance: "id", StartedAt: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
			WarmUp: duration(90 * time.Second), TTL: duration(10 * time.Second),
		},
		`{"network":"unix","address":"/run/echo.sock","weight":0,"tags":null,"state":"draining"}`: {
			Network: "unix", Address: "/run/echo.sock", Weight: new(int64(0)), State: StateDraining,
		},
	} {
		got, err := r.encode()
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

func TestAbsentWeightMeansTenAndZeroMeansNone(t *testing.T) {
	for value, want := range map[string]int{
		`{"address":"a:1"}`:               10,
		`{"address":"a:1","weight":null}`: 10,
		`{"address":"a:1","weight":0}`:    0,
		`{"address":"a:1","weight":7}`:    7,
	} {
		r, err := decodeRecord([]byte(value))
		if err != nil {
			t.Fatal(err)
		}
		if got := newInstance(r).Weight(); got != want {
			t.Errorf("%s: weight %d, want %d", value, got, want)
		}
	}
}

func TestUnreadableRecords(t *testing.T) {
	for _, value := range []string{
		``, `null`, `[]`, `"x"`, `{`, `{}`,
		`{"address":""}`, `{"address":"10.0.0.1"}`, `{"address":"10.0.0.1:0"}`, `{"address":"10.0.0.1:65536"}`,
		`{"address":":8888"}`, `{"address":"0.0.0.0:8888"}`, `{"address":"[::]:8888"}`, `{"address":"a:http"}`,
		`{"address":"a:1","weight":-1}`, `{"address":"a:1","weight":2147483648}`, `{"address":"a:1","weight":1.5}`,
		`{"address":"a:1","weight":"10"}`, `{"address":"a:1","state":"asleep"}`, `{"address":"a:1","tags":[]}`,
		`{"address":"a:1","warmup":"-1s"}`, `{"address":"a:1","ttl":"-1s"}`, `{"address":"a:1","warmup":30}`, `{"address":"a:1","started_at":"today"}`,
		`{"network":"unix","address":""}`, `{"network":"udp","address":"a:1"}`, `{"network":"nonsense","address":"a:1"}`,
		`{"address":"0:1"}`, `{"address":"a\nb:1"}`, `{"address":"a b:1"}`, `{"address":"a/b:1"}`, `{"address":"a:+80"}`,
	} {
		if _, err := decodeRecord([]byte(value)); !errors.Is(err, ErrInvalidRecord) {
			t.Errorf("%s: got %v, want ErrInvalidRecord", value, err)
		}
	}
}

func TestEncodeRefusesARecordThatEtcdWouldRefuse(t *testing.T) {
	r := record{Network: "tcp", Address: "a:1", State: StateServing, Tags: map[string]string{"big": strings.Repeat("x", maxRecordSize)}}
	if _, err := r.encode(); !errors.Is(err, ErrInvalidConfig) {
		t.Errorf("got %v, want ErrInvalidConfig", err)
	}
}

func TestRecordSurvivesItsEncoding(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := &record{
			Network:   "tcp",
			Address:   rapid.StringMatching(`[a-z][a-z0-9.-]{0,20}:[1-9][0-9]{0,3}`).Draw(t, "address"),
			Weight:    new(rapid.Int64Range(0, maxWeight).Draw(t, "weight")),
			Tags:      rapid.MapOf(rapid.String(), rapid.String()).Draw(t, "tags"),
			State:     rapid.SampledFrom([]InstanceState{StateServing, StateDraining, StateLeaving}).Draw(t, "state"),
			Instance:  rapid.String().Draw(t, "instance"),
			StartedAt: time.Unix(0, rapid.Int64Range(1, 1<<60).Draw(t, "started")).UTC(),
			WarmUp:    duration(rapid.Int64Range(0, 1<<50).Draw(t, "warmup")),
			TTL:       duration(rapid.Int64Range(0, 1<<50).Draw(t, "ttl")),
		}
		value, err := want.encode()
		if err != nil {
			t.Fatal(err)
		}
		got, err := decodeRecord(value)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatal(diff)
		}
	})
}

// FuzzDecodeRecord: whatever stands in etcd is either refused with the right
// error or yields an instance that a balancer can use.
func FuzzDecodeRecord(f *testing.F) {
	f.Add([]byte(`{"network":"tcp","address":"10.0.0.1:8888","weight":20,"tags":{"a":"b"},"state":"serving","warmup":"30s"}`))
	f.Add([]byte(`{"address":"[::1]:1","weight":-1}`))
	f.Add([]byte(`null`))
	f.Fuzz(func(t *testing.T, value []byte) {
		r, err := decodeRecord(value)
		if err != nil {
			if !errors.Is(err, ErrInvalidRecord) {
				t.Fatalf("error %v does not wrap ErrInvalidRecord", err)
			}
			return
		}
		i := newInstance(r)
		if w := i.Weight(); w < 0 || w > maxWeight {
			t.Fatalf("weight %d", w)
		}
		if i.Address().String() == "" {
			t.Fatal("no address")
		}
		again, err := r.encode()
		if err != nil {
			t.Fatalf("decoded but cannot be encoded: %v", err)
		}
		if _, err := decodeRecord(again); err != nil {
			t.Fatalf("encoded but cannot be decoded: %v", err)
		}
	})
}
