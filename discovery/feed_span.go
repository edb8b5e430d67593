// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package discovery

import (
	"context"
	"fmt"
	"strings"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// pageSize bounds one answer of a list, in keys.
const pageSize = 1000

// span is a range of keys with one prefix, and what a feed knows of it.
type span struct {
	prefix  string
	decode  func(*mvccpb.KeyValue) entry
	pos     position
	entries entries
}

// position is up to where etcd's history is known.
type position struct {
	revision int64
	cluster  uint64
	term     uint64
}

func positionOf(h *etcdserverpb.ResponseHeader) position {
	return position{revision: h.GetRevision(), cluster: h.GetClusterId(), term: h.GetRaftTerm()}
}

// behind reports whether p is of another history than known, or earlier in it.
func (p position) behind(known position) bool {
	return p.cluster != known.cluster || p.revision < known.revision || p.term < known.term
}

// list reads the whole span at one revision, in pages. Without a revision the
// first page is linearizable and fixes it.
func (s *span) list(ctx context.Context, cli *clientv3.Client, revision int64) (position, entries, error) {
	var list entries
	pos, err := s.pages(ctx, cli, revision, func(kv *mvccpb.KeyValue) {
		list = append(list, s.decode(kv))
	})
	return pos, list, err
}

// pages reads the span at one revision and hands over each key.
func (s *span) pages(ctx context.Context, cli *clientv3.Client, revision int64, each func(*mvccpb.KeyValue), opts ...clientv3.OpOption) (position, error) {
	return pages(ctx, cli, s.prefix, revision, each, opts...)
}

// pages reads all keys with a prefix at one revision, which the first page fixes
// if it is 0. Pages of different stores are no list: etcd may have been replaced
// in between.
func pages(ctx context.Context, cli *clientv3.Client, prefix string, revision int64, each func(*mvccpb.KeyValue), opts ...clientv3.OpOption) (position, error) {
	var pos position
	start, end := prefix, clientv3.GetPrefixRangeEnd(prefix)
	for {
		page := append([]clientv3.OpOption{
			clientv3.WithRange(end), clientv3.WithLimit(pageSize), clientv3.WithRev(revision),
		}, opts...)
		resp, err := get(ctx, cli, start, page...)
		if err != nil {
			return pos, err
		}
		if pos.revision == 0 {
			pos = positionOf(resp.Header)
		}
		if now := positionOf(resp.Header); now.behind(pos) {
			return pos, fmt.Errorf("%w: pages from revision %d of cluster %x and %d of %x", errDiverged,
				pos.revision, pos.cluster, now.revision, now.cluster)
		}
		if revision == 0 {
			revision = pos.revision
		}
		for _, kv := range resp.Kvs {
			each(kv)
		}
		if !resp.More {
			return pos, nil
		}
		start = string(resp.Kvs[len(resp.Kvs)-1].Key) + "\x00"
	}
}

// get is one bounded read.
func get(ctx context.Context, cli *clientv3.Client, key string, opts ...clientv3.OpOption) (*clientv3.GetResponse, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	return cli.Get(ctx, key, opts...)
}

// decodeInstance makes an entry of a key; an unreadable record becomes one
// without an instance and is logged once.
func (f *feed) decodeInstance(kv *mvccpb.KeyValue) entry {
	e := entry{key: string(kv.Key), modified: kv.ModRevision, lease: kv.Lease}
	r, err := decodeRecord(kv.Value)
	if err == nil {
		err = f.belongs(e.key, r)
	}
	if err == nil {
		e.value, err = r.encode() // without what later versions or others have put in
	}
	if err == nil {
		e.instance = newInstance(r)
		e.odd = e.key != f.cfg.keys.instance(f.service, r.Address)
		return e
	}
	f.skip("instance record skipped", e, err)
	return e
}

// decodeRule does the same with an operator's rule.
func (f *feed) decodeRule(kv *mvccpb.KeyValue) entry {
	e := entry{key: string(kv.Key), modified: kv.ModRevision, lease: kv.Lease, value: kv.Value}
	rule, err := decodeRule(kv.Value)
	if err == nil {
		_, _, err = f.cfg.keys.ruleAddress(e.key)
	}
	if err != nil {
		f.skip("rule skipped", e, err)
		return e
	}
	e.rule = rule
	return e
}

// skip logs each key that cannot be used, once a day.
func (f *feed) skip(what string, e entry, err error) {
	if _, first := f.skipped.Allow(e.key); first {
		f.cfg.log.Warn(what, "service", f.service, "key", e.key, "revision", e.modified, "error", err)
	}
}

// belongs refuses keys of a service further below, whose prefix begins like
// this one's. Slashes within a service's own keys are escaped, but for the Unix
// sockets of old providers.
func (f *feed) belongs(key string, r *record) error {
	name := strings.TrimPrefix(key, f.instances.prefix)
	if strings.Contains(name, "/") && (r.Network != "unix" || name != r.Address) {
		return fmt.Errorf("%w: the key has a further slash, so that it is not of this service", ErrInvalidRecord)
	}
	return nil
}
