// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package discovery

import (
	"crypto/rand"
	"maps"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	kdiscovery "github.com/cloudwego/kitex/pkg/discovery"
	"github.com/cloudwego/kitex/pkg/registry"

	"github.com/fairway-rpc/fairway/internal/weight"
)

// weightOf reads the weight of Kitex's info, where 0 means the default.
func weightOf(info *registry.Info) int64 {
	switch info.Weight {
	case 0:
		return kdiscovery.DefaultWeight
	case weight.Zero:
		return 0
	default:
		return int64(info.Weight)
	}
}

// cloneTags keeps a copy: Kitex and the caller may change theirs.
func cloneTags(tags map[string]string) map[string]string {
	if len(tags) == 0 {
		return nil
	}
	return maps.Clone(tags)
}

func startOf(info *registry.Info) time.Time {
	if !info.StartTime.IsZero() {
		return info.StartTime.UTC()
	}
	return time.Now().UTC()
}

// process is the part of instance IDs that all of this process share, and
// registrations tells them apart.
var (
	process       = sync.OnceValue(rand.Text)
	registrations atomic.Int64
)

// newInstanceID tells two registrations at one address apart, and also whether
// they are of one process: a server may stand under several names.
func newInstanceID() string {
	return process() + "-" + strconv.FormatInt(registrations.Add(1), 10)
}

// oneProcess reports whether two instance IDs say that they are of one process.
// Those of others need not say.
func oneProcess(a, b string) bool {
	x, _, xok := strings.Cut(a, "-")
	y, _, yok := strings.Cut(b, "-")
	return xok && yok && x != "" && x == y
}
