// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package loadbalance_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"

	kdiscovery "github.com/cloudwego/kitex/pkg/discovery"

	"github.com/fairway-rpc/fairway/loadbalance"
)

const keyMapVar = "FAIRWAY_KEY_MAP"

// TestHelperKeyMap does nothing, except in the processes that the test below
// starts: there it tells how keys are mapped.
func TestHelperKeyMap(t *testing.T) {
	seed, err := strconv.ParseUint(os.Getenv(keyMapVar), 10, 64)
	if err != nil {
		return
	}
	for _, policy := range byKey {
		fmt.Printf("MAP %s %s\n", policy, keyMap(t, policy, seed))
	}
}

var byKey = []string{loadbalance.ConsistentHash, loadbalance.BoundedHash, loadbalance.Maglev, loadbalance.SourceHash}

// TestProcessesMapKeysAlike: three processes have the same instances in three
// orders.
func TestProcessesMapKeysAlike(t *testing.T) {
	t.Parallel()
	second, third := keyMapsOf(t, 2), keyMapsOf(t, 3)
	for _, policy := range byKey {
		here := keyMap(t, policy, 1)
		if here != second[policy] || here != third[policy] {
			t.Errorf("%s maps keys differently:\nhere    %s\nsecond  %s\nthird   %s", policy, here, second[policy], third[policy])
		}
	}
}

// keyMapsOf has another process tell its maps, by policy.
func keyMapsOf(t *testing.T, seed uint64) map[string]string {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestHelperKeyMap$")
	cmd.Env = append(os.Environ(), keyMapVar+"="+strconv.FormatUint(seed, 10))
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("process %d: %v\n%s", seed, err, out)
	}
	maps := map[string]string{}
	for line := range strings.Lines(string(out)) {
		if fields := strings.SplitN(strings.TrimSpace(line), " ", 3); fields[0] == "MAP" {
			maps[fields[1]] = fields[2]
		}
	}
	return maps
}

// keyMap maps 10,000 keys to instances that are listed in an order of the seed,
// and returns a digest and a sample of that. Every instance must have keys.
func keyMap(t *testing.T, policy string, seed uint64) string {
	t.Helper()
	var key string
	lb, err := loadbalance.New(policy, loadbalance.WithKey(func(context.Context, any) string { return key }))
	if err != nil {
		t.Fatal(err)
	}
	res := shuffledFleet(seed)
	digest, owners, sample := sha256.New(), map[string]bool{}, []string{}
	for i := range 10_000 {
		key = fmt.Sprint("user-", i)
		p := lb.GetPicker(res)
		owner := p.Next(t.Context(), nil).Address().String()
		recycle(p)
		owners[owner] = true
		_, _ = fmt.Fprintln(digest, key, owner)
		if i%2000 == 0 {
			sample = append(sample, owner)
		}
	}
	if len(owners) != len(res.Instances) {
		t.Errorf("%s: %d of %d instances have keys", policy, len(owners), len(res.Instances))
	}
	return hex.EncodeToString(digest.Sum(nil)) + " " + strings.Join(sample, " ")
}

// shuffledFleet is the same sixty instances of mixed weights in an order of the
// seed.
func shuffledFleet(seed uint64) kdiscovery.Result {
	res := kdiscovery.Result{Cacheable: true, CacheKey: "fleet"}
	for i := range 60 {
		res.Instances = append(res.Instances, instancesOf(5+i%11, fmt.Sprintf("10.0.%d.%d:8888", i/8, i))...)
	}
	slices.Reverse(res.Instances)
	rand.New(rand.NewPCG(seed, 0)).Shuffle(len(res.Instances), func(i, j int) {
		res.Instances[i], res.Instances[j] = res.Instances[j], res.Instances[i]
	})
	return res
}
