// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package pick

// Outcome is what one attempt of a call tells about the instance that it went to.
type Outcome uint8

const (
	// Unknown tells nothing: the attempt ended before it came to the instance,
	// or for a reason of the caller's own.
	Unknown Outcome = iota
	// Sent is a one-way call that was handed to a connection. Nobody answers.
	Sent
	// Answered is any answer of the instance, also an error, or an opened stream.
	Answered
	// NoConnection is a connection that was refused or not made in time.
	NoConnection
	// TimedOut is an answer that did not come in time.
	TimedOut
	// Broken is a connection that broke before the answer.
	Broken
)

// Failed reports whether the instance is to blame.
func (o Outcome) Failed() bool { return o >= NoConnection }

// String is the outcome in a word or two.
func (o Outcome) String() string {
	switch o {
	case Unknown:
		return "unknown"
	case Sent:
		return "sent"
	case Answered:
		return "answered"
	case NoConnection:
		return "no connection"
	case TimedOut:
		return "timed out"
	case Broken:
		return "broken"
	}
	return "invalid"
}
