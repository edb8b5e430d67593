// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package story

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/fairway-rpc/fairway/examples/internal/share"
)

const (
	// telling is how many calls tell how they are spread.
	telling = 1000
	// tolerance is how far a share may be from its weight's: the calls in flight
	// at the ends of a phase, or those of a machine that is busy.
	tolerance = 0.02
)

// Share is one provider's part of a phase's calls, between 0 and 1.
type Share struct {
	Provider int     `json:"provider"`
	Address  string  `json:"address"`
	Weight   int     `json:"weight"`
	Expected float64 `json:"expected_share"`
	Share    float64 `json:"share"`
	Calls    uint64  `json:"calls"`
}

// sharesOf is by the providers' numbers, which numbers has by address.
func sharesOf(rows []share.Row, numbers map[string]int) []Share {
	shares := make([]Share, len(rows))
	for i, row := range rows {
		shares[i] = Share{
			Provider: numbers[row.Address], Address: row.Address, Weight: row.Weight,
			Expected: row.Expected, Share: row.Actual, Calls: row.Calls,
		}
	}
	slices.SortFunc(shares, func(a, b Share) int { return cmp.Compare(a.Provider, b.Provider) })
	return shares
}

// asWanted reports whether every share is that of the weight.
func asWanted(shares []Share) bool {
	return len(shares) > 0 && !slices.ContainsFunc(shares, func(s Share) bool {
		return math.Abs(s.Share-s.Expected) > tolerance
	})
}

// describe says "provider 1 50.0 % (weight 5), 2 30.0 % (3), 3 20.0 % (2)".
func describe(shares []Share) string {
	texts := make([]string, len(shares))
	for i, s := range shares {
		format := "%d %.1f %% (%d)"
		if i == 0 {
			format = "provider %d %.1f %% (weight %d)"
		}
		texts[i] = fmt.Sprintf(format, s.Provider, 100*s.Share, s.Weight)
	}
	return strings.Join(texts, ", ")
}
