// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

// Package echotest runs the Echo service of idl/echo.thrift in tests.
package echotest
