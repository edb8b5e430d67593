// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package smoothwrr

// schedule spreads what has counts[i] places over a table of their sum, so that
// up to any place each has its share to within one: turn c of i comes not
// before place floor(c x length / count) and before ceil((c+1) x length /
// count), and of those that may come the one that must come soonest does
// (G. Steiner and S. Yeomans, "Level schedules for mixed-model, just-in-time
// processes", Management Science 39, 1993). Lengths are below 2^32.
func schedule(counts []uint64, length uint64) []uint32 {
	jobs := make([]job, len(counts))
	waiting := make([]link, length) // whose next turn may come from this place on
	for i := len(counts) - 1; i >= 0; i-- {
		if counts[i] > 0 {
			jobs[i] = newJob(counts[i], length)
			waiting[0].push(jobs, uint32(i))
		}
	}
	ready := newQueue(length)
	table := make([]uint32, length)
	for place := range table {
		for waiting[place] != 0 {
			i := waiting[place].pop(jobs)
			ready.push(jobs, jobs[i].advance(), i)
		}
		i := ready.pop(jobs, place)
		table[place] = i
		j := &jobs[i]
		if j.left--; j.left > 0 {
			waiting[max(j.end, uint32(place)+1)].push(jobs, i)
		}
	}
	return table
}

// job is who has places, with end and rest being (turns so far) x length /
// count, kept by addition: division would take most of the time.
type job struct {
	next              link // in the one list that it is in
	count, left       uint32
	end, rest         uint32
	endStep, restStep uint32
}

func newJob(count, length uint64) job {
	return job{count: uint32(count), left: uint32(count), endStep: uint32(length / count), restStep: uint32(length % count)}
}

// advance goes on to the next turn and returns its deadline.
func (j *job) advance() uint32 {
	j.end += j.endStep
	if j.rest += j.restStep; j.rest >= j.count {
		j.rest -= j.count
		j.end++
	}
	if j.rest > 0 {
		return j.end + 1
	}
	return j.end
}

// link is a list of jobs: the index of its first, plus one.
type link uint32

func (l *link) push(jobs []job, i uint32) {
	jobs[i].next = *l
	*l = link(i) + 1
}

func (l *link) pop(jobs []job) uint32 {
	i := uint32(*l) - 1
	*l = jobs[i].next
	return i
}
