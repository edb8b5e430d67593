// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"flag"
	"fmt"
	"math"

	"github.com/fairway-rpc/fairway/discovery"
	"github.com/fairway-rpc/fairway/examples/internal/flagenv"
)

type config struct {
	etcd, service, listen, advertise, otlp string
	weight                                 int
}

// parse reads the flags, whose defaults the environment can set.
func parse(args []string) (cfg config, err error) {
	flags := flag.NewFlagSet("provider", flag.ContinueOnError)
	flags.StringVar(&cfg.etcd, "etcd", "127.0.0.1:2379", "endpoints of etcd, separated by commas")
	flags.StringVar(&cfg.service, "service", "echo", "name to register under")
	flags.StringVar(&cfg.listen, "listen", ":8888", "address to serve at")
	flags.StringVar(&cfg.advertise, "advertise", "", "host or host:port to register; empty is the address that routes to etcd")
	flags.IntVar(&cfg.weight, "weight", 10, "share of the calls beside the other providers' weights; 0 is none")
	flags.StringVar(&cfg.otlp, "otlp", "", "OTLP receiver of spans, host:port; empty is no tracing")
	err = flagenv.Parse(flags, args, map[string]string{
		"etcd":      "FAIRWAY_ETCD",
		"service":   "FAIRWAY_SERVICE",
		"listen":    "FAIRWAY_LISTEN",
		"advertise": "FAIRWAY_ADVERTISE",
		"weight":    "FAIRWAY_WEIGHT",
		"otlp":      "OTEL_EXPORTER_OTLP_ENDPOINT",
	})
	if err != nil {
		return cfg, err
	}
	if cfg.weight < 0 || cfg.weight > math.MaxInt32 {
		return cfg, fmt.Errorf("-weight %d: it is not between 0 and %d", cfg.weight, math.MaxInt32)
	}
	return cfg, discovery.CheckServiceName(cfg.service)
}
