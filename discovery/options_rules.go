// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package discovery

// RuleOption configures [Rules].
type RuleOption interface{ applyRules(*rulesConfig) error }

type rulesConfig struct{ common }

func (f commonOption) applyRules(c *rulesConfig) error { return f(&c.common) }

func newRulesConfig(opts []RuleOption) (*rulesConfig, error) {
	c := &rulesConfig{common: newCommon()}
	for _, o := range opts {
		if o == nil {
			continue
		}
		if err := o.applyRules(c); err != nil {
			return nil, err
		}
	}
	return c, nil
}
