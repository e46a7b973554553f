//! A crew of threads that do rounds of tasks together.
//!
//! A round takes a fraction of a millisecond, and to wake a thread that sleeps takes nearly as long. So a thread that
//! waits spins, and soon yields to other threads of the machine. Each thread has tasks of its own, whose data stay in
//! the cache of its core, and begins with the one that took longest in the last round. A thread that is done with them
//! takes those that others have not begun.
//!
//! On a busy machine a round can take longer than its tasks one after the other. The leader then does them alone for
//! some time, while the others sleep. What a task does depends on none of this.

use super::threads::Reached;
use crossbeam_utils::{Backoff, CachePadded};
use goodqueue_units::Instant;
use std::cell::Cell;
use std::cmp::Reverse;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::thread::{Builder, Thread};

/// The leader judges so many rounds together.
const JUDGED: u32 = 64;

/// The rounds pay if they take less than this share of the time of their tasks.
const PAYS: f64 = 0.9;

/// The leader first does so many rounds alone before it tries again. It does twice as many each time that the rounds
/// still do not pay. The first rounds of a run have little work, and say nothing of the next ones.
const ALONE: u32 = 64;
/// It does no more than so many.
const LONGEST_ALONE: u32 = 1024;

/// The threads, as their leader sees them.
pub(super) struct Crew<'a, F> {
    shared: &'a Shared,
    task: &'a F,
    /// The number of this thread, from 0.
    thread: usize,
    /// The other threads, as the leader knows them.
    others: Vec<Thread>,
    pace: Cell<Pace>,
}

/// Whether the rounds of a crew pay.
#[derive(Clone, Copy, Default)]
struct Pace {
    /// The rounds that are judged next, how long they have taken, and how long their tasks have.
    rounds: u32,
    wall_ns: u64,
    tasks_ns: u64,
    /// The rounds that the leader still does alone.
    alone: u32,
    /// How many it did alone the last time, if rounds have not paid since.
    last_alone: u32,
}

impl Pace {
    /// Takes note of a round. Returns whether the leader goes on alone.
    fn note(&mut self, wall_ns: u64, tasks_ns: u64) -> bool {
        self.rounds += 1;
        self.wall_ns += wall_ns;
        self.tasks_ns += tasks_ns;
        if self.rounds < JUDGED {
            return false;
        }
        let pays = (self.wall_ns as f64) < PAYS * self.tasks_ns as f64;
        let alone = if pays { 0 } else { (2 * self.last_alone).clamp(ALONE, LONGEST_ALONE) };
        *self = Self { alone, last_alone: alone, ..Self::default() };
        !pays
    }
}

struct Shared {
    threads: usize,
    /// The last round in which each task was taken.
    taken: Vec<CachePadded<AtomicUsize>>,
    /// How long each task took last, in nanoseconds.
    spent: Vec<CachePadded<AtomicU64>>,
    /// Only the leader works.
    is_alone: AtomicBool,
    done: CachePadded<AtomicUsize>,
    events: CachePadded<AtomicU64>,
    round: CachePadded<AtomicUsize>,
    /// The target of this round, in nanoseconds.
    links: AtomicU64,
    hosts: AtomicU64,
    is_over: AtomicBool,
}

/// Ends the crew's work when the leader ends, also by a panic.
struct Over<'a>(&'a Shared, Vec<Thread>);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.is_over.store(true, Ordering::Release);
        self.0.round.fetch_add(1, Ordering::Release);
        self.0.wake(&self.1);
    }
}

impl Shared {
    /// Lets the `others` work again.
    fn wake(&self, others: &[Thread]) {
        self.is_alone.store(false, Ordering::Release);
        others.iter().for_each(Thread::unpark);
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
            spent: (0..tasks).map(|_| AtomicU64::new(0).into()).collect(),
            is_alone: AtomicBool::new(false),
            done: AtomicUsize::new(0).into(),
            events: AtomicU64::new(0).into(),
            round: AtomicUsize::new(0).into(),
            links: AtomicU64::new(0),
            hosts: AtomicU64::new(0),
            is_over: AtomicBool::new(false),
        };
        let task = &task;
        std::thread::scope(|scope| {
            let crew = |thread, others| Crew { shared, task, thread, others, pace: Cell::default() };
            let mut over = Over(shared, Vec::new());
            for thread in 1..shared.threads {
                let follower = crew(thread, Vec::new());
                match Builder::new().spawn_scoped(scope, move || follower.follow()) {
                    Ok(handle) => over.1.push(handle.thread().clone()),
                    Err(_) => break, // others take its tasks
                }
            }
            lead(&crew(0, over.1.clone()));
        });
    }

    /// Lets the crew do a round with the target `next`. Returns the number of its events.
    pub(super) fn round(&self, next: Reached) -> u64 {
        let (shared, mut pace) = (self.shared, self.pace.get());
        if pace.alone > 0 {
            pace.alone -= 1;
            self.pace.set(pace);
            if pace.alone == 0 {
                shared.wake(&self.others);
            }
            return (0..shared.taken.len()).map(|task| (self.task)(task, next)).sum();
        }
        let begun = std::time::Instant::now();
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
        let tasks_ns = shared.spent.iter().map(|spent| spent.load(Ordering::Relaxed)).sum();
        if pace.note(begun.elapsed().as_nanos() as u64, tasks_ns) {
            shared.is_alone.store(true, Ordering::Release);
        }
        self.pace.set(pace);
        shared.events.load(Ordering::Relaxed)
    }

    /// Does tasks of `round` until none is left: its own, the longest first, then those of other threads, from the last
    /// one on.
    fn take_part(&self, round: usize) {
        let Shared { threads, taken, spent, .. } = self.shared;
        let mut own: Vec<_> = (self.thread..taken.len()).step_by(*threads).collect();
        own.sort_by_key(|task| Reverse(spent[*task].load(Ordering::Relaxed)));
        let others = (0..taken.len()).rev().filter(|task| task % threads != self.thread);
        for task in own.into_iter().chain(others) {
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
            let begun = std::time::Instant::now();
            shared.events.fetch_add((self.task)(task, next), Ordering::Relaxed);
            shared.spent[task].store(begun.elapsed().as_nanos() as u64, Ordering::Relaxed);
        }
    }

    /// Takes part in rounds until the work is over.
    fn follow(&self) {
        let (mut seen, shared) = (0, self.shared);
        loop {
            let backoff = Backoff::new();
            while shared.round.load(Ordering::Acquire) == seen {
                if shared.is_alone.load(Ordering::Acquire) {
                    std::thread::park();
                } else {
                    backoff.snooze();
                }
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The tasks are so short that the rounds do not pay, so the leader goes on alone after some, and tries again
    /// later.
    #[test]
    fn each_task_is_done_once_a_round() {
        let done: Vec<_> = (0..4).map(|_| AtomicU64::new(0)).collect();
        let next = Reached { links: Instant::ZERO, hosts: Instant::ZERO };
        let task = |task: usize, _| {
            done[task].fetch_add(1, Ordering::Relaxed);
            1
        };
        Crew::work(3, done.len(), task, |crew| {
            for round in 1..=2500 {
                assert_eq!(crew.round(next), 4);
                assert!(done.iter().all(|done| done.load(Ordering::Relaxed) == round));
            }
        });
    }

    #[test]
    fn rounds_that_take_as_long_as_their_tasks_do_not_pay() {
        let alone = |wall_ns| {
            let mut pace = Pace::default();
            (0..JUDGED).any(|_| pace.note(wall_ns, 100))
        };
        assert_eq!([alone(60), alone(89), alone(95)], [false, false, true]);
    }

    /// Otherwise a busy machine would be tried as often as an idle one, or a run whose first rounds are light would
    /// lose much of its length.
    #[test]
    fn rounds_that_do_not_pay_are_tried_more_seldom_each_time() {
        let mut pace = Pace::default();
        let mut judged = |wall_ns| {
            for _ in 0..JUDGED {
                pace.note(wall_ns, 100);
            }
            std::mem::take(&mut pace.alone)
        };
        assert_eq!([100; 7].map(&mut judged), [64, 128, 256, 512, 1024, 1024, 1024]);
        assert_eq!([60, 100].map(judged), [0, 64]);
    }
}
