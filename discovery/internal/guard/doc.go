// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

// Package guard tells a registry that has lost its data from providers that
// have gone.
//
// A registry that is wiped, restored to an old backup or led by a sick member
// takes live providers away, all at once or one after the other. A consumer
// that believes it goes blind. So the members of a set that vanish without
// saying so are counted over a sliding window; when they are too many at once,
// they are held as suspects, until they register again, turn out to be dead, or
// their hold time is over.
//
// Eureka's self-preservation is the model, with three differences: the decision
// is the consumer's, who alone can reach the providers; it is taken for each
// service by itself; and a suspect that is dead is dropped at once.
//
// The package holds the decision alone: it starts nothing, asks no clock and
// knows neither etcd nor Kitex. A Ledger is not safe for concurrent use.
package guard
