// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package story

import "context"

// step is one event of the story.
type step struct {
	name string
	// does says what is done, to a person.
	does string
	// run does it, waits until it has had its effect, and tells what that was.
	run func(context.Context, *stage) (Finding, error)
}

// steps is the story. Each step begins where the one before has ended.
var steps = []step{
	{"steady", "nothing happens.", steady},
	{"weight change", "the weight of provider 1 goes from 5 to 1, at run time.", changeWeight},
	{"drain and undrain", "provider 2 asks for no more calls, then takes them again.", drainAndUndrain},
	{"provider killed", "provider 3, a process of its own, is killed as by kill -9.", killProvider},
	{"provider added", "provider 4 starts, with the weight 4.", addProvider},
	{"etcd stopped", "etcd stops, and its port refuses.", stopEtcd},
	{"consumer restarted", "etcd is still down; the consumer ends and starts again.", restartConsumer},
	{"etcd back", "etcd starts again, with its data.", startEtcd},
	{"etcd wiped", "etcd stops, loses its data and starts empty; the providers cannot reach it at first.", wipeEtcd},
}

// What the steps change. The weights of the start are those of the README.
const (
	lightWeight = 1
	addedWeight = 4
)

// weights are those of the first providers, the last of which is a process of
// its own.
var weights = []int{5, 3, 2}
