// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"fmt"
	"io"
	"net/url"
	"os"
	"sync"
	"time"

	"go.etcd.io/etcd/server/v3/embed"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"google.golang.org/grpc"
)

// etcdStartTimeout bounds the start, which takes a second or two.
const etcdStartTimeout = 30 * time.Second

// Etcd is an etcd of one member inside this process. Its methods are safe for
// concurrent use.
type Etcd struct {
	dir string
	log *zap.Logger

	mu       sync.Mutex
	endpoint string // host:port, from the first start on
	member   *embed.Etcd
	rpc      *grpc.Server
}

// NewEtcd returns an etcd that keeps its data in dir and writes its log to w.
// Start starts it.
func NewEtcd(dir string, w io.Writer) *Etcd {
	encoder := zapcore.NewConsoleEncoder(zap.NewProductionEncoderConfig())
	return &Etcd{dir: dir, log: zap.New(zapcore.NewCore(encoder, zapcore.AddSync(w), zap.InfoLevel)).Named("etcd")}
}

// Endpoint is the host:port that clients dial. It stays the same over restarts
// and is empty before the first.
func (e *Etcd) Endpoint() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.endpoint
}

// Running tells whether it has been started and not stopped.
func (e *Etcd) Running() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.member != nil
}

// Start starts it, the first time on a free port and empty, then on the same
// port with the data that are there. It returns when etcd serves. It does
// nothing if it runs.
func (e *Etcd) Start(ctx context.Context) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.member != nil {
		return nil
	}
	member, err := embed.StartEtcd(e.config())
	if err != nil {
		return fmt.Errorf("start etcd: %w", err)
	}
	timer := time.NewTimer(etcdStartTimeout)
	defer timer.Stop()
	select {
	case <-member.Server.ReadyNotify():
		e.member, e.endpoint = member, member.Clients[0].Addr().String()
		return nil
	case err = <-member.Err():
	case <-ctx.Done():
		err = context.Cause(ctx)
	case <-timer.C:
		err = fmt.Errorf("not ready after %v", etcdStartTimeout)
	}
	member.Close()
	return fmt.Errorf("start etcd: %w", err)
}

// Stop stops it and cuts its clients' connections. The data stay. It does
// nothing if etcd does not run.
func (e *Etcd) Stop() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.member == nil {
		return
	}
	// Close alone would wait for watches and keepalives to end, which they do
	// not, until it loses patience after seven seconds.
	e.rpc.Stop()
	e.member.Close()
	e.member = nil
}

// Wipe removes the data, as if the disk had been lost: the next start is that of
// an empty etcd at the same port. It returns an error that wraps [ErrBusy] if
// etcd runs.
func (e *Etcd) Wipe() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.member != nil {
		return fmt.Errorf("wipe etcd at %s: %w: it runs", e.endpoint, ErrBusy)
	}
	if err := os.RemoveAll(e.dir); err != nil {
		return fmt.Errorf("wipe etcd: %w", err)
	}
	return nil
}

func (e *Etcd) config() *embed.Config {
	cfg := embed.NewConfig()
	cfg.Dir = e.dir
	cfg.ZapLoggerBuilder = embed.NewZapLoggerBuilder(e.log)
	cfg.EnableGRPCGateway = false
	cfg.ServiceRegister = func(s *grpc.Server) { e.rpc = s }
	free := url.URL{Scheme: "http", Host: "127.0.0.1:0"}
	client := free
	if e.endpoint != "" {
		client.Host = e.endpoint
	}
	cfg.ListenClientUrls, cfg.AdvertiseClientUrls = []url.URL{client}, []url.URL{client}
	// A single member never calls itself, so that any peer port will do.
	cfg.ListenPeerUrls, cfg.AdvertisePeerUrls = []url.URL{free}, []url.URL{free}
	cfg.InitialCluster = cfg.InitialClusterFromName(cfg.Name)
	return cfg
}
