// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package discovery

import (
	"sync"
)

// notifier hands changes of state to the program's callback from a goroutine
// that lives while there is something to hand over. A nil notifier has no
// callback.
type notifier struct {
	call func(RegistrationStatus)

	mu      sync.Mutex
	queue   []*registration // in the order of their oldest change
	latest  map[*registration]RegistrationStatus
	running bool
	all     sync.WaitGroup
}

func newNotifier(call func(RegistrationStatus)) *notifier {
	if call == nil {
		return nil
	}
	return &notifier{call: call, latest: make(map[*registration]RegistrationStatus)}
}

// push never waits. It replaces a status of the same registration that has not
// been handed over yet.
func (n *notifier) push(g *registration, s RegistrationStatus) {
	if n == nil {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if _, waiting := n.latest[g]; !waiting {
		n.queue = append(n.queue, g)
	}
	n.latest[g] = s
	if !n.running {
		n.running = true
		n.all.Go(n.run)
	}
}

func (n *notifier) run() {
	for {
		s, ok := n.pop()
		if !ok {
			return
		}
		n.call(s)
	}
}

func (n *notifier) pop() (RegistrationStatus, bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.queue) == 0 {
		n.running = false
		return RegistrationStatus{}, false
	}
	g := n.queue[0]
	n.queue = n.queue[1:]
	s := n.latest[g]
	delete(n.latest, g)
	return s, true
}

// wait returns when everything that was pushed has been handed over.
func (n *notifier) wait() {
	if n != nil {
		n.all.Wait()
	}
}
