//! A crew of threads that do rounds of tasks together.
//!
//! A round takes a fraction of a millisecond, and to wake a thread that sleeps takes nearly as long. So a thread that
//! waits spins, and soon yields to other threads of the machine. Each thread has tasks of its own, whose data stay in
//! the cache of its core. A thread that is done with them takes those that others have not begun.

use super::threads::Reached;
use crossbeam_utils::{Backoff, CachePadded};
use goodqueue_units::Instant;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::thread::Builder;

/// The threads, as their leader sees them.
pub(super) struct Crew<'a, F> {
    shared: &'a Shared,
    task: &'a F,
    /// The number of this thread, from 0.
    thread: usize,
}

struct Shared {
    threads: usize,
    /// The last round in which each task was taken.
    taken: Vec<CachePadded<AtomicUsize>>,
    done: CachePadded<AtomicUsize>,
    events: CachePadded<AtomicU64>,
    round: CachePadded<AtomicUsize>,
    /// The target of this round, in nanoseconds.
    links: AtomicU64,
    hosts: AtomicU64,
    is_over: AtomicBool,
}

/// Ends the crew's work when the leader ends, also by a panic.
struct Over<'a>(&'a Shared);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.is_over.store(true, Ordering::Release);
        self.0.round.fetch_add(1, Ordering::Release);
    }
}

impl<F: Fn(usize, Reached) -> u64 + Sync> Crew<'_, F> {
    /// Calls `lead` with a crew of `threads` threads, this one included. In each round, each of the `tasks` tasks is
    /// done once, by `task`, which gets its number and the target of the round, and returns its events. Where the
    /// machine starts fewer threads, those that there are do all tasks.
    pub(super) fn work(threads: usize, tasks: usize, task: F, lead: impl FnOnce(&Crew<'_, F>)) {
        let shared = &Shared {
            threads: threads.min(tasks),
            taken: (0..tasks).map(|_| AtomicUsize::new(0).into()).collect(),
            done: AtomicUsize::new(0).into(),
            events: AtomicU64::new(0).into(),
            round: AtomicUsize::new(0).into(),
            links: AtomicU64::new(0),
            hosts: AtomicU64::new(0),
            is_over: AtomicBool::new(false),
        };
        let task = &task;
        std::thread::scope(|scope| {
            let _over = Over(shared);
            for thread in 1..shared.threads {
                let follower = Crew { shared, task, thread };
                if Builder::new().spawn_scoped(scope, move || follower.follow()).is_err() {
                    break; // others take its tasks
                }
            }
            lead(&Crew { shared, task, thread: 0 });
        });
    }

    /// Lets the crew do a round with the target `next`. Returns the number of its events.
    pub(super) fn round(&self, next: Reached) -> u64 {
        let shared = self.shared;
        shared.links.store(next.links.as_nanos(), Ordering::Relaxed);
        shared.hosts.store(next.hosts.as_nanos(), Ordering::Relaxed);
        shared.done.store(0, Ordering::Relaxed);
        shared.events.store(0, Ordering::Relaxed);
        let round = shared.round.fetch_add(1, Ordering::Release) + 1;
        self.take_part(round);
        let backoff = Backoff::new();
        while shared.done.load(Ordering::Acquire) < shared.taken.len() {
            backoff.snooze();
        }
        shared.events.load(Ordering::Relaxed)
    }

    /// Does tasks of `round` until none is left: its own, then those of other threads, from the last one on.
    fn take_part(&self, round: usize) {
        let Shared { threads, taken, .. } = self.shared;
        let own = (self.thread..taken.len()).step_by(*threads);
        let others = (0..taken.len()).rev().filter(|task| task % threads != self.thread);
        for task in own.chain(others) {
            self.take(task, round);
        }
    }

    /// Does `task`, unless another thread has taken it in `round`. The round may be over: then all its tasks are taken.
    fn take(&self, task: usize, round: usize) {
        let shared = self.shared;
        let taken = &shared.taken[task];
        if taken.compare_exchange(round - 1, round, Ordering::AcqRel, Ordering::Relaxed).is_ok() {
            let [links, hosts] = [&shared.links, &shared.hosts].map(|at| at.load(Ordering::Relaxed));
            let next = Reached { links: Instant::from_nanos(links), hosts: Instant::from_nanos(hosts) };
            let _done = Done(shared);
            shared.events.fetch_add((self.task)(task, next), Ordering::Relaxed);
        }
    }

    /// Takes part in rounds until the work is over.
    fn follow(&self) {
        let (mut seen, shared) = (0, self.shared);
        loop {
            let backoff = Backoff::new();
            while shared.round.load(Ordering::Acquire) == seen {
                backoff.snooze();
            }
            seen = shared.round.load(Ordering::Acquire);
            if shared.is_over.load(Ordering::Acquire) {
                return;
            }
            self.take_part(seen);
        }
    }
}

/// Counts a task as done, also if it panics: the leader would wait for ever.
struct Done<'a>(&'a Shared);

impl Drop for Done<'_> {
    fn drop(&mut self) {
        self.0.done.fetch_add(1, Ordering::Release);
    }
}
