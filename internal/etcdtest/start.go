// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package etcdtest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"
)

const (
	// readyTimeout bounds a start, which takes a fraction of a second, or two of
	// them with an election, and far longer on a machine that is overloaded.
	readyTimeout = 30 * time.Second
	// startAttempts bounds how often a first start tries other ports.
	startAttempts = 5
)

// startOnFreePorts brings up servers that never ran and tries other ports when
// somebody took the chosen ones. The caller holds their locks.
func startOnFreePorts(servers []*Server, pick func() error) error {
	err := bringUp(servers...)
	for i := 1; i < startAttempts && slices.ContainsFunc(servers, (*Server).portTaken); i++ {
		if err := clearFolders(servers); err != nil {
			return err
		}
		if err := pick(); err != nil {
			return err
		}
		err = bringUp(servers...)
	}
	return err
}

func clearFolders(servers []*Server) error {
	for _, s := range servers {
		if err := os.RemoveAll(s.dir); err != nil {
			return fmt.Errorf("clear its folder: %w", err)
		}
	}
	return nil
}

// bringUp runs one cluster's servers that are down and waits until each is
// ready; on an error none of them runs. The caller holds their locks.
func bringUp(servers ...*Server) error {
	ctx, cancel := context.WithTimeout(context.Background(), readyTimeout)
	defer cancel()
	err := launchAll(servers)
	if err == nil {
		err = awaitAll(ctx, servers)
	}
	if err == nil {
		err = secure(ctx, servers)
	}
	if err != nil {
		for _, s := range servers {
			s.proc.kill()
		}
	}
	return err
}

func launchAll(servers []*Server) error {
	for _, s := range servers {
		if err := s.launch(); err != nil {
			return err
		}
	}
	return nil
}

// launch runs the process.
func (s *Server) launch() error {
	out, err := s.openLog()
	if err != nil {
		return fmt.Errorf("open its log: %w", err)
	}
	defer func() { _ = out.Close() }() // the child has its own handle
	before, err := out.Stat()
	if err != nil {
		return fmt.Errorf("size of its log: %w", err)
	}
	s.logged = before.Size()
	s.proc, err = startProcess(s.bin, s.args(), s.environ(), out)
	return err
}

// awaitAll gives up on all when one fails, since the others may need it.
func awaitAll(ctx context.Context, servers []*Server) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	errs := make([]error, len(servers))
	var waits sync.WaitGroup
	for i, s := range servers {
		waits.Go(func() {
			if errs[i] = s.await(ctx); errs[i] != nil {
				cancel()
			}
		})
	}
	waits.Wait()
	return errors.Join(errs...)
}
