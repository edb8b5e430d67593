// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package compat

import (
	"encoding/json"
	"maps"
	"net"
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fairway-rpc/fairway/discovery"
)

// Environment variables that both libraries know.
const (
	advertiseIP   = "KITEX_IP_TO_REGISTRY"
	advertisePort = "KITEX_PORT_TO_REGISTRY"
)

// TestOldRecordsAreRead: what registry-etcd writes is what we read.
func TestOldRecordsAreRead(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	old := member{Library: registryEtcd}
	_, plain := f.provider(t, old)
	_, tagged := f.provider(t, member{Library: registryEtcd, Weight: new(20), Tags: map[string]string{"zone": "a"}})
	// Nobody can call these two: the first lacks its brackets, the second names no host.
	f.provider(t, old, advertiseIP+"=::1", advertisePort+"=1")
	f.provider(t, old, advertiseIP+"=0.0.0.0", advertisePort+"=1")
	f.registered(t, 4)

	wantValues := map[string]string{
		plain:       `{"network":"tcp","address":"` + plain + `","weight":10,"tags":null}`,
		tagged:      `{"network":"tcp","address":"` + tagged + `","weight":20,"tags":{"zone":"a"}}`,
		"::1:1":     `{"network":"tcp","address":"::1:1","weight":10,"tags":null}`,
		"0.0.0.0:1": `{"network":"tcp","address":"0.0.0.0:1","weight":10,"tags":null}`,
	}
	if diff := cmp.Diff(wantValues, f.values(t)); diff != "" {
		t.Errorf("what registry-etcd has written (-want +got):\n%s", diff)
	}
	want := map[string]found{
		plain:  {Network: "tcp", Address: plain, Weight: 10, Tags: map[string]string{}},
		tagged: {Network: "tcp", Address: tagged, Weight: 20, Tags: map[string]string{"zone": "a"}},
	}
	if diff := cmp.Diff(want, f.newView(t)); diff != "" {
		t.Errorf("what Fairway has read (-want +got):\n%s", diff)
	}
}

// TestNewRecordsAreReadByOldConsumers: what we write, registry-etcd's resolver
// reads, as far as it goes.
func TestNewRecordsAreReadByOldConsumers(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	_, plain := f.provider(t, member{Library: fairway})
	_, tagged := f.provider(t, member{Library: fairway, Weight: new(20), Tags: map[string]string{"zone": "a"}})
	_, zero := f.provider(t, member{Library: fairway, Weight: new(0)})
	f.provider(t, member{Library: fairway}, advertiseIP+"=::1", advertisePort+"=1")
	f.registered(t, 4)

	rest := `,"state":"serving","instance":"ID","started_at":"TIME","ttl":"10s"}`
	wantValues := map[string]string{
		plain:         `{"network":"tcp","address":"` + plain + `","weight":10,"tags":null` + rest,
		tagged:        `{"network":"tcp","address":"` + tagged + `","weight":20,"tags":{"zone":"a"}` + rest,
		zero:          `{"network":"tcp","address":"` + zero + `","weight":0,"tags":null` + rest,
		"%5B::1%5D:1": `{"network":"tcp","address":"[::1]:1","weight":10,"tags":null` + rest,
	}
	if diff := cmp.Diff(wantValues, f.values(t)); diff != "" {
		t.Errorf("what Fairway has written (-want +got):\n%s", diff)
	}
	want := map[string]found{
		plain:     {Network: "tcp", Address: plain, Weight: 10},
		tagged:    {Network: "tcp", Address: tagged, Weight: 20, Tags: map[string]string{"zone": "a"}},
		zero:      {Network: "tcp", Address: zero, Weight: 10}, // registry-etcd knows no weight of zero
		"[::1]:1": {Network: "tcp", Address: "[::1]:1", Weight: 10},
	}
	if diff := cmp.Diff(want, f.oldView(t)); diff != "" {
		t.Errorf("what registry-etcd has read (-want +got):\n%s", diff)
	}
}

// TestOldConsumersSeeOnlyPresence: states and warm-up mean nothing to them, and
// the keys of rules and consumers are none of a service.
func TestOldConsumersSeeOnlyPresence(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	want := map[string]found{}
	for address, rest := range map[string]string{
		"10.0.0.1:1": `"state":"serving","warmup":"1h","started_at":"2100-01-01T00:00:00Z"`,
		"10.0.0.2:1": `"state":"draining"`,
		"10.0.0.3:1": `"state":"leaving"`,
	} {
		f.put(t, service+"/"+address, `{"network":"tcp","address":"`+address+`","weight":7,"tags":null,`+rest+`}`)
		want[address] = found{Network: "tcp", Address: address, Weight: 7}
	}
	f.put(t, "_rules/"+service+"/*", `{"state":"disabled"}`)
	f.put(t, "_consumers/"+service+"/id", `{}`)
	if diff := cmp.Diff(want, f.oldView(t)); diff != "" {
		t.Errorf("what registry-etcd has read (-want +got):\n%s", diff)
	}
}

// TestAdvertisedAddress: the variables mean the same to both.
func TestAdvertisedAddress(t *testing.T) {
	for _, l := range libraries {
		t.Run(string(l), func(t *testing.T) {
			t.Parallel()
			f := newFleet(t)
			_, listens := f.provider(t, member{Library: l}, advertiseIP+"=10.1.2.3")
			_, port, err := net.SplitHostPort(listens)
			if err != nil {
				t.Fatal(err)
			}
			f.provider(t, member{Library: l}, advertiseIP+"=10.1.2.3", advertisePort+"=4321")
			f.provider(t, member{Library: l}, advertisePort+"=4321")
			f.registered(t, 3)
			for _, want := range []string{"10.1.2.3:" + port, "10.1.2.3:4321", "127.0.0.1:4321"} {
				var value struct{ Address string }
				text := f.keys(t)[want].Value
				if err := json.Unmarshal([]byte(text), &value); err != nil || value.Address != want {
					t.Errorf("key %s has %q", want, text)
				}
			}
		})
	}
}

func (f *fleet) put(t *testing.T, name, value string) {
	t.Helper()
	if _, err := f.etcd.Put(t.Context(), prefix+"/"+name, value); err != nil {
		t.Fatal(err)
	}
}

// ownWords are what differs from record to record.
var ownWords = regexp.MustCompile(`("instance":")[A-Z2-7]+-\d+(".*"started_at":")[0-9T:.-]+Z`)

// values returns the records without what differs from run to run.
func (f *fleet) values(t *testing.T) map[string]string {
	t.Helper()
	values := map[string]string{}
	for name, kv := range f.keys(t) {
		values[name] = ownWords.ReplaceAllString(kv.Value, "${1}ID${2}TIME")
	}
	return values
}

// newView is what Fairway's resolver finds, by address.
func (f *fleet) newView(t *testing.T) map[string]found {
	t.Helper()
	res := f.resolver(t)
	if _, err := res.Resolve(t.Context(), service); err != nil {
		t.Fatal(err)
	}
	snapshot, _ := res.Snapshot(service)
	view := map[string]found{}
	for _, i := range snapshot.Instances {
		if i.State() != discovery.StateServing {
			t.Errorf("%s is %s", i.Address(), i.State())
		}
		one := found{Network: i.Address().Network(), Address: i.Address().String(), Weight: i.Weight(), Tags: maps.Collect(i.Tags())}
		view[one.Address] = one
	}
	return view
}
