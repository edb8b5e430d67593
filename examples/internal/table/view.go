// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

// Package table renders the demo's live view as text. It is pure: the same
// [View] and [Style] give the same lines.
package table

import "time"

// View is what the table shows.
type View struct {
	Policy string
	// Elapsed is how long calls have been counted, Span how much of that the
	// shares and rates are taken from.
	Elapsed, Span time.Duration
	// Calls and Failed are those since counting began, QPS those of Span.
	Calls, Failed uint64
	QPS           float64
	Rows          []Row
	Feed          Feed
	// Etcd is the state of etcd and its endpoint.
	Etcd Service
	// Errors are some of the errors of failed calls.
	Errors []string
	// Hints stand below all.
	Hints []string
}

// Row is one provider.
type Row struct {
	Number           int
	Address          string
	Weight           int
	Expected, Actual float64 // between 0 and 1
	QPS              float64
	InFlight         int64
	State            Service
}

// Service is the state of something that can be stopped.
type Service struct {
	Name  string
	State string
	// Up tells whether that is as it should be.
	Up bool
}

// Feed is the state of what the consumer knows.
type Feed struct {
	State, Source string
	Age           time.Duration
	Revision      int64
}
