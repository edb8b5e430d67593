// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

// Package outlier finds hosts that fail or are slow compared with their peers
// and says for how long each is to get no calls: passive outlier detection, by
// what calls tell. The model is gRPC's proposal A50, which follows Envoy;
// consecutive failures are Envoy's.
//
// A [Record] counts the calls of one host. A [Detector] looks at all records of
// one service from time to time, in [Detector.Sweep], and ejects a host for one of
// four causes, see [Cause]. An ejection lasts BaseTime times a multiplier that grows
// by one with each and falls by one for every ten intervals without. Afterwards the
// host is judged by its calls from then on only.
//
// Three rules hold for every cause: never more than MaxShare of the hosts are
// ejected at a time; of several, the worst go first; and nobody is ejected while no
// other does better, as the fault then lies elsewhere.
//
// What differs from A50, and why:
//
//   - The interval is one second instead of ten, so that a broken host is out
//     within two. As a second holds few calls, hosts are compared over the last one,
//     three and ten intervals, each over the same time as its peers: the shortest
//     shows a sudden fault of a busy host, the longest judges hosts with few calls.
//   - Success rates are compared with their median and the median deviation from
//     it, scaled to a standard deviation (Hampel 1974), instead of mean and standard
//     deviation. With those, one bad host of n is at most sqrt(n-1) deviations off,
//     so that the factor 1.9 finds none among four; and two bad hosts hide each other.
//   - A success rate must also be lower by MinDelta, and by more than chance
//     explains: Chernoff's bound for the tail of a binomial distribution must be below
//     one in a million. With the factor alone one failure among hosts without any
//     ejects, and of a hundred hosts that are alike, three are always out.
//   - The share is rounded down and never exceeded, also when hosts leave.
//   - The multiplier stops growing where it reaches MaxTime.
//
// Times are nanoseconds on one monotonic clock, with any origin.
package outlier
