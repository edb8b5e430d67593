// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package discovery

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/grpc"

	"github.com/fairway-rpc/fairway/internal/etcdtest"
)

// arrivals notes when each service is first read of.
type arrivals struct {
	mu    sync.Mutex
	first map[string]time.Time
}

func (a *arrivals) reset() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.first = make(map[string]time.Time)
}

func (a *arrivals) note(ctx context.Context, method string, req, reply any, conn *grpc.ClientConn,
	invoke grpc.UnaryInvoker, opts ...grpc.CallOption,
) error {
	asked := time.Now()
	err := invoke(ctx, method, req, reply, conn, opts...)
	if read, ok := req.(*etcdserverpb.RangeRequest); ok && err == nil {
		service, _, _ := strings.Cut(strings.TrimPrefix(string(read.GetKey()), "fairway/"), "/")
		a.mu.Lock()
		defer a.mu.Unlock()
		if _, again := a.first[service]; !again && strings.HasPrefix(service, "s") {
			a.first[service] = asked
		}
	}
	return err
}

// times are the first reads, in order.
func (a *arrivals) times() []time.Time {
	a.mu.Lock()
	defer a.mu.Unlock()
	list := make([]time.Time, 0, len(a.first))
	for _, t := range a.first {
		list = append(list, t)
	}
	slices.SortFunc(list, time.Time.Compare)
	return list
}

// TestFeedsDoNotAskAnEtcdThatIsBackAllAtOnce: they compare what they have with
// it, each in its own time. The run without jitter shows what it is good for.
func TestFeedsDoNotAskAnEtcdThatIsBackAllAtOnce(t *testing.T) {
	t.Parallel()
	spread, together := spreadOfReturn(t), time.Hour
	for range 3 { // a busy machine spreads them too, but not always
		together = min(together, spreadOfReturn(t, withoutJitter()))
	}
	t.Logf("spread over %v, without jitter over %v", spread, together)
	if spread < reconnectSpread/2 {
		t.Errorf("most feeds ask within %v, want them spread over %v", spread, reconnectSpread)
	}
	if together > spread/2 {
		t.Errorf("without jitter they ask within %v: it is not the jitter that spreads them over %v", together, spread)
	}
}

// spreadOfReturn is the time in which the middle four fifths of many feeds ask
// an etcd that they were cut off from.
func spreadOfReturn(t *testing.T, opts ...ResolverOption) time.Duration {
	t.Helper()
	const feeds = 40
	s := etcdtest.Start(t)
	p := etcdtest.NewProxy(t, s.Endpoint())
	a := &arrivals{}
	a.reset()
	cli, err := Dial(EtcdConfig{
		Endpoints: []string{p.Addr()}, Logger: testLog(t),
		DialOptions: []grpc.DialOption{grpc.WithChainUnaryInterceptor(a.note)},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cli.Close() })
	opts = append([]ResolverOption{WithoutSnapshotDir(), WithLogger(slog.New(slog.DiscardHandler)), WithResolveTimeout(time.Millisecond)}, opts...)
	r := testResolver(t, cli, opts...)
	for i := range feeds {
		_, _ = r.Resolve(t.Context(), fmt.Sprintf("s%d", i))
	}
	waitFor(t, "all feeds are live", func() bool { return liveFeeds(r) == feeds })
	p.Cut()
	a.reset()
	p.Restore()
	waitFor(t, "each feed has asked", func() bool { return len(a.times()) == feeds })
	all := a.times()
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	return all[feeds-feeds/10].Sub(all[feeds/10])
}

func liveFeeds(r *Resolver) (n int) {
	for _, s := range r.Status().Services {
		if s.State == FeedLive {
			n++
		}
	}
	return n
}
