// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

// Package telemetry exports spans over OTLP and gives Kitex's clients and
// servers the spans that Fairway's pick spans belong under.
//
// A program that has tracing already needs none of it: the client suite takes
// the client span from the context, whoever made it.
package telemetry
