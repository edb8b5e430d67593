// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package discovery

import (
	"context"
	"fmt"
	"strings"
	"time"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// pageSize bounds one answer of a list, in keys.
const pageSize = 1000

// list reads the whole service at one revision, in pages. The first page is
// linearizable and fixes the revision.
func (f *feed) list(ctx context.Context) (position, entries, error) {
	var (
		pos  position
		list entries
	)
	start, end := f.prefix, clientv3.GetPrefixRangeEnd(f.prefix)
	for {
		resp, err := f.page(ctx, start, end, pos.revision)
		if err != nil {
			return position{}, nil, err
		}
		if pos.revision == 0 {
			pos = positionOf(resp.Header)
		}
		for _, kv := range resp.Kvs {
			list = append(list, f.decode(kv))
		}
		if !resp.More {
			return pos, list, nil
		}
		start = string(resp.Kvs[len(resp.Kvs)-1].Key) + "\x00"
	}
}

func (f *feed) page(ctx context.Context, start, end string, revision int64) (*clientv3.GetResponse, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	return f.cli.Get(ctx, start, clientv3.WithRange(end), clientv3.WithLimit(pageSize), clientv3.WithRev(revision))
}

func positionOf(h *etcdserverpb.ResponseHeader) position {
	return position{revision: h.GetRevision(), cluster: h.GetClusterId(), term: h.GetRaftTerm()}
}

// decode makes an entry of a key; an unreadable record becomes one without an
// instance and is logged once.
func (f *feed) decode(kv *mvccpb.KeyValue) entry {
	e := entry{key: string(kv.Key), modified: kv.ModRevision}
	r, err := decodeRecord(kv.Value)
	if err == nil {
		err = f.belongs(e.key, r)
	}
	if err == nil {
		e.value, err = r.encode() // without what later versions or others have put in
	}
	if err == nil {
		e.instance = newInstance(r)
		return e
	}
	if _, first := f.skipped.Allow(e.key); first {
		f.cfg.log.Warn("instance record skipped", "service", f.service, "key", e.key, "revision", e.modified, "error", err)
	}
	return e
}

// belongs refuses keys of a service further below, whose prefix begins like
// this one's. Slashes within a service's own keys are escaped, but for the Unix
// sockets of old providers.
func (f *feed) belongs(key string, r *record) error {
	name := strings.TrimPrefix(key, f.prefix)
	if strings.Contains(name, "/") && (r.Network != "unix" || name != r.Address) {
		return fmt.Errorf("%w: the key has a further slash, so that it is not of this service", ErrInvalidRecord)
	}
	return nil
}

// adopt replaces everything known by a list.
func (f *feed) adopt(pos position, list entries) {
	f.mu.Lock()
	defer f.unlock()
	f.pos, f.entries, f.source, f.lastErr = pos, list, SourceEtcd, nil
	f.prove(time.Now())
	if f.state == FeedStarting {
		f.broken = f.proved // the watch is about to begin
		f.become(FeedLive)
	}
	f.publish()
	f.save(f)
}
