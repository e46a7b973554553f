//! A run that tries whether several threads are faster than one.
//!
//! How long threads wait for each other depends on the scenario, on the processor and on the machine's other work, so
//! no rule foresees it. But any number of threads gives the same record. So both runs do the same first steps, in
//! turns, and the slower one is then thrown away.

use super::Simulation;
use super::threads::{Threaded, Uncut};
use goodqueue_units::Duration;
use std::time::{Duration as Wall, Instant as Clock};

/// Both runs do so many steps. In the first ones caches fill and flows start, so they are not judged.
const STEPS: usize = 6;
const UNJUDGED: usize = 2;

/// A step is this part of the run. So the trial takes a hundredth of the run, twice.
const PARTS: u64 = 600;

/// Several threads must take less than this share of the time of one: they also take more processor time.
const FASTER: f64 = 0.9;

/// A step in which one thread is done sooner says nothing of the rest.
const WORK: Wall = Wall::from_micros(200);

/// A step counts as so many events of those that a call may handle.
const EVENTS: u64 = 30_000;

/// A run on one thread or on several, whichever turns out to be faster.
pub struct Trial {
    run: Run,
    rival: Option<Rival>,
}

/// Boxed, because both are large.
enum Run {
    One(Box<Simulation>),
    Several(Box<Threaded>),
}

/// The same run on several threads.
struct Rival {
    run: Box<Threaded>,
    /// The number of steps that both have done.
    steps: usize,
    /// Its times of the judged steps, as shares of the time of one thread.
    shares: Vec<f64>,
}

impl Trial {
    /// Lets `run`, which has not begun, try `threads` threads.
    ///
    /// # Errors
    /// If the run cannot be cut: the run itself, and why it cannot.
    pub fn new(run: Simulation, threads: usize) -> Result<Self, Box<(Simulation, Uncut)>> {
        if let Some(why) = run.uncut(threads) {
            return Err(Box::new((run, why)));
        }
        let Ok(copy) = Simulation::new(run.scenario.clone()) else {
            return Err(Box::new((run, "the scenario cannot be built twice")));
        };
        match Threaded::cut(copy, threads) {
            Ok(rival) => {
                let rival = Rival { run: Box::new(rival), steps: 0, shares: Vec::new() };
                Ok(Self { run: Run::One(Box::new(run)), rival: Some(rival) })
            }
            Err(uncut) => Err(Box::new((run, uncut.1))),
        }
    }

    /// Returns the length of the run.
    #[must_use]
    pub fn duration(&self) -> Duration {
        match &self.run {
            Run::One(run) => run.duration(),
            Run::Several(run) => run.duration(),
        }
    }

    /// Returns how much of the run has passed.
    #[must_use]
    pub fn elapsed(&self) -> Duration {
        match &self.run {
            Run::One(run) => run.elapsed(),
            Run::Several(run) => run.elapsed(),
        }
    }

    /// Returns whether the run has several threads, once that is known.
    #[must_use]
    pub fn has_several_threads(&self) -> Option<bool> {
        self.rival.is_none().then_some(matches!(self.run, Run::Several(_)))
    }

    /// Runs until `elapsed` of the run has passed, but not beyond its end. Begins no further window, or step of the
    /// trial, after about `most` events. The time that is reached is [`elapsed`](Self::elapsed).
    pub fn advance_by(&mut self, elapsed: Duration, mut most: u64) {
        while let (Run::One(run), Some(mut rival)) = (&mut self.run, self.rival.take()) {
            if most == 0 || run.elapsed() >= elapsed.min(run.duration()) {
                self.rival = Some(rival);
                return;
            }
            rival.step(run, elapsed);
            most = most.saturating_sub(EVENTS);
            if rival.steps < STEPS {
                self.rival = Some(rival);
            } else if rival.is_faster() {
                self.run = Run::Several(rival.run);
            }
        }
        match &mut self.run {
            Run::One(run) => run.advance_by(elapsed, most),
            Run::Several(run) => run.advance_by(elapsed, most),
        }
    }

    /// Returns the run as one simulation, which cannot go on.
    pub(crate) fn into_whole(self) -> Simulation {
        match self.run {
            Run::One(run) => *run,
            Run::Several(run) => run.into_whole(),
        }
    }
}

impl Rival {
    /// Lets `one` and this run do the next step, up to `elapsed` at most.
    fn step(&mut self, one: &mut Simulation, elapsed: Duration) {
        let to = (one.elapsed() + one.duration() / PARTS).min(elapsed);
        let begun = Clock::now();
        one.advance(to);
        let alone = begun.elapsed();
        let begun = Clock::now();
        self.run.advance_links_to(to, elapsed, u64::MAX);
        let share = begun.elapsed().as_secs_f64() / alone.as_secs_f64();
        self.steps += 1;
        if self.steps > UNJUDGED && alone > WORK {
            self.shares.push(share);
        }
    }

    /// Returns whether the median of its shares says that it is faster. A single step may have waited for other work of
    /// the machine.
    fn is_faster(&mut self) -> bool {
        self.shares.sort_by(f64::total_cmp);
        self.shares.get(self.shares.len() / 2).is_some_and(|share| *share < FASTER)
    }
}
