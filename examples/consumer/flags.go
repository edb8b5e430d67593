// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"flag"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fairway-rpc/fairway/discovery"
	"github.com/fairway-rpc/fairway/examples/internal/flagenv"
	"github.com/fairway-rpc/fairway/loadbalance"
)

type config struct {
	etcd, service, policy, snapshots, cluster, otlp string
	qps                                             int
	every                                           time.Duration
}

// parse reads the flags, whose defaults the environment can set.
func parse(args []string) (cfg config, err error) {
	policies := strings.Join(loadbalance.Policies(), ", ")
	flags := flag.NewFlagSet("consumer", flag.ContinueOnError)
	flags.StringVar(&cfg.etcd, "etcd", "127.0.0.1:2379", "endpoints of etcd, separated by commas")
	flags.StringVar(&cfg.service, "service", "echo", "name of the service to call")
	flags.StringVar(&cfg.policy, "policy", loadbalance.SmoothWRR, "how instances are picked: "+policies)
	flags.IntVar(&cfg.qps, "qps", 200, "calls a second")
	flags.DurationVar(&cfg.every, "every", 5*time.Second, "how often the distribution is logged")
	flags.StringVar(&cfg.snapshots, "snapshots", "", "folder of the disk copy; empty is the library's default")
	flags.StringVar(&cfg.cluster, "cluster", "", "name of the etcd cluster in the disk copy; empty is made of the endpoints")
	flags.StringVar(&cfg.otlp, "otlp", "", "OTLP receiver of spans, host:port; empty is no tracing")
	err = flagenv.Parse(flags, args, map[string]string{
		"etcd":      "FAIRWAY_ETCD",
		"service":   "FAIRWAY_SERVICE",
		"policy":    "FAIRWAY_POLICY",
		"qps":       "FAIRWAY_QPS",
		"every":     "FAIRWAY_EVERY",
		"snapshots": "FAIRWAY_SNAPSHOTS",
		"cluster":   "FAIRWAY_CLUSTER",
		"otlp":      "OTEL_EXPORTER_OTLP_ENDPOINT",
	})
	switch {
	case err != nil:
		return cfg, err
	case cfg.qps < 1:
		return cfg, fmt.Errorf("-qps %d: it is not positive", cfg.qps)
	case cfg.every <= 0:
		return cfg, fmt.Errorf("-every %v: it is not positive", cfg.every)
	case !slices.Contains(loadbalance.Policies(), cfg.policy):
		return cfg, fmt.Errorf("-policy %q: known are %s", cfg.policy, policies)
	}
	return cfg, discovery.CheckServiceName(cfg.service)
}
