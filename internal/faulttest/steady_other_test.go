// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !unix

package faulttest

import "errors"

func (g *gaugeProcess) balance() error { return errors.New("only measured on unix") }
