// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"

	"github.com/fairway-rpc/fairway/discovery"
)

// RunProcess is the provider that [StartProcess] has started this program as,
// and returns when that process's end closes the standard input. It reports
// whether the program was started so; otherwise it does nothing.
func RunProcess() (status int, ran bool) {
	text := os.Getenv(processEnv)
	if text == "" {
		return 0, false
	}
	// Ctrl-C reaches every process in the terminal; the one that started this
	// decides.
	signal.Ignore(os.Interrupt)
	var cfg ProcessConfig
	err := json.Unmarshal([]byte(text), &cfg)
	if err == nil {
		err = serve(cfg)
	}
	if err != nil {
		_, _ = fmt.Fprintf(os.Stderr, "provider: %v\n", err)
		return 1, true
	}
	return 0, true
}

// serve does not leave etcd in order: with the process that started it, its
// etcd has ended.
func serve(cfg ProcessConfig) error {
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	etcd, err := discovery.Dial(discovery.EtcdConfig{Endpoints: []string{cfg.Etcd}, Logger: log})
	if err != nil {
		return err
	}
	registry, err := discovery.NewRegistry(etcd, discovery.WithTTL(cfg.TTL), discovery.WithLogger(log))
	if err != nil {
		return err
	}
	p, err := NewProvider(registry, cfg.Service, cfg.Weight)
	if err != nil {
		return err
	}
	if _, err := fmt.Println(serving + p.Address); err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}
