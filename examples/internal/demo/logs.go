// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package demo

import (
	"fmt"
	"io"
	"log/slog"
	"os"
	"sync"

	"github.com/cloudwego/kitex/pkg/klog"
)

// logFile takes the logs of etcd, Kitex and Fairway. Kitex has goroutines that
// outlive its clients: what they log after close is dropped.
type logFile struct {
	mu   sync.Mutex
	file *os.File // nil when closed
	path string
}

func openLog() (*logFile, error) {
	file, err := os.CreateTemp("", "fairway-demo-*.log")
	if err != nil {
		return nil, fmt.Errorf("log file: %w", err)
	}
	l := &logFile{file: file, path: file.Name()}
	klog.SetOutput(l)
	return l, nil
}

// Write implements io.Writer.
func (l *logFile) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil {
		return len(line), nil
	}
	return l.file.Write(line)
}

// logger is for Fairway's own packages.
func (l *logFile) logger() *slog.Logger { return slog.New(slog.NewTextHandler(l, nil)) }

// close closes the file and removes it unless it is to be kept.
func (l *logFile) close(keep bool) error {
	klog.SetOutput(io.Discard)
	l.mu.Lock()
	defer l.mu.Unlock()
	err := l.file.Close()
	l.file = nil
	if !keep {
		err = os.Remove(l.path)
	}
	return err
}
