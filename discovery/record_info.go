// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package discovery

import (
	"crypto/rand"
	"maps"
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

// newInstanceID tells two processes with one advertised address apart.
func newInstanceID() string { return rand.Text() }
