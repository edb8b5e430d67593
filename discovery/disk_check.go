// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package discovery

import (
	"fmt"
	"strings"
)

// check compares a body with what this disk copy and service must have. Its
// errors wrap ErrInvalidSnapshot: a copy is used as a whole or not at all,
// since one that lacks instances would look like a service that shrank.
func (d *diskCopy) check(s *savedService, service string) error {
	if s.Service != service || s.Prefix != d.prefix || s.ClusterName != d.cluster {
		return fmt.Errorf("%w: it is of service %q under %q of cluster %q", ErrInvalidSnapshot,
			s.Service, s.Prefix, s.ClusterName)
	}
	if err := s.checkContent(); err != nil {
		return fmt.Errorf("%w: %w", ErrInvalidSnapshot, err)
	}
	return nil
}

func (s *savedService) checkContent() error {
	if s.ProvedAt.IsZero() {
		return missing("proved_at", s.Service)
	}
	keys := keyspace{prefix: s.Prefix}
	instances := keys.service(s.Service)
	if err := checkRecords(s.Records, instances); err != nil {
		return err
	}
	suspects := make([]savedRecord, 0, len(s.Suspects))
	for _, suspect := range s.Suspects {
		if suspect.VanishedAt.IsZero() {
			return missing("vanished_at", suspect.Key)
		}
		suspects = append(suspects, suspect.savedRecord)
	}
	if err := checkRecords(suspects, instances); err != nil {
		return err
	}
	return checkRecords(s.Rules, keys.rules(s.Service))
}

// checkRecords wants one value per key, and each key under prefix.
func checkRecords(records []savedRecord, prefix string) error {
	seen := make(map[string]struct{}, len(records))
	for _, r := range records {
		if rest, ok := strings.CutPrefix(r.Key, prefix); !ok || rest == "" {
			return fmt.Errorf("key %q is not of %q", r.Key, prefix)
		}
		if len(r.Value) == 0 || string(r.Value) == "null" {
			return missing("value", r.Key)
		}
		if r.ModRevision <= 0 {
			return missing("mod_revision", r.Key)
		}
		if _, twice := seen[r.Key]; twice {
			return fmt.Errorf("key %q is there twice", r.Key)
		}
		seen[r.Key] = struct{}{}
	}
	return nil
}

func missing(field, of string) error { return fmt.Errorf("no %s of %q", field, of) }
