//! A run that tries whether several threads are faster than one.
//!
//! How long threads wait for each other depends on the scenario, on the processor and on the machine's other work, so
//! no rule foresees it. But any number of threads gives the same record. So both runs do the same first steps, in
//! turns, and the slower one is then thrown away.

use super::Simulation;
use super::threads::{Threaded, Uncut};
use goodqueue_units::Duration;
use std::thread;
use std::time::{Duration as Wall, Instant as Clock};

/// Both runs do so many steps. In the first ones caches fill and flows start, so they are not judged.
const STEPS: usize = 8;
const UNJUDGED: usize = 3;

/// A step is this part of the run. So the trial takes an eightieth of the run, twice.
const PARTS: u64 = 640;

/// Several threads must take less than this share of the time of one: they also take more processor time.
const FASTER: f64 = 0.9;

/// A step in which one thread is done sooner says nothing of the rest.
const WORK: Wall = Wall::from_micros(200);

/// Work of the machine that ends at once is no reason for one thread. So the cores are looked at so often.
const MOMENTS: u32 = 3;
const MOMENT: Wall = Wall::from_micros(200);

/// A step counts as so many events of those that a call may handle.
const EVENTS: u64 = 30_000;

/// Returns how many cores have no other work now, `most` at most. The one of this thread is among them. If other work
/// has the cores, a rival would be built in vain, which takes as long as some steps. Only Linux says what runs.
#[must_use]
pub fn idle_cores(most: usize) -> usize {
    let look = |moment| {
        if moment > 0 {
            thread::sleep(MOMENT);
        }
        std::fs::read_to_string("/proc/stat").ok().and_then(|stat| idle(&stat))
    };
    (0..MOMENTS).filter_map(look).max().map_or(most, |idle| idle.min(most))
}

/// Returns how many cores have no other work, by the text of /proc/stat (proc_stat(5)).
fn idle(stat: &str) -> Option<usize> {
    let words = || stat.lines().filter_map(|line| line.split_once(' '));
    let cores = words().filter(|(name, _)| name.len() > 3 && name.starts_with("cpu")).count();
    let running: usize = words().find(|(name, _)| *name == "procs_running")?.1.trim().parse().ok()?;
    Some((cores + 1).saturating_sub(running).max(1)) // one of those that run is this thread
}

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
        match Threaded::beside(&run, threads) {
            Ok(rival) => {
                let rival = Rival { run: Box::new(rival), steps: 0, shares: Vec::new() };
                Ok(Self { run: Run::One(Box::new(run)), rival: Some(rival) })
            }
            Err(why) => Err(Box::new((run, why))),
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
        if let (Run::One(run), Some(rival)) = (&mut self.run, &mut self.rival) {
            most = rival.try_steps(run, elapsed, most);
            if rival.steps < STEPS {
                return;
            }
            if let Some(mut rival) = self.rival.take()
                && rival.is_faster()
            {
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
    /// Lets `one` and this run do the next steps, up to `elapsed` and about `most` events at most. Returns how many of
    /// these are left. The threads start once for all steps, because that takes as long as some windows.
    fn try_steps(&mut self, one: &mut Simulation, elapsed: Duration, mut most: u64) -> u64 {
        let Self { run, steps, shares } = self;
        let elapsed = elapsed.min(one.duration());
        run.lead(|windows| {
            while *steps < STEPS && most > 0 && one.elapsed() < elapsed {
                let to = (one.elapsed() + one.duration() / PARTS).min(elapsed);
                let begun = Clock::now();
                one.advance(to);
                let alone = begun.elapsed();
                let begun = Clock::now();
                windows.advance(to, elapsed, u64::MAX);
                let share = begun.elapsed().as_secs_f64() / alone.as_secs_f64();
                *steps += 1;
                if *steps > UNJUDGED && alone > WORK {
                    shares.push(share);
                }
                most = most.saturating_sub(EVENTS);
            }
        });
        most
    }

    /// Returns whether the median of its shares says that it is faster. A single step may have waited for other work of
    /// the machine.
    fn is_faster(&mut self) -> bool {
        self.shares.sort_by(f64::total_cmp);
        self.shares.get(self.shares.len() / 2).is_some_and(|share| *share < FASTER)
    }
}

#[cfg(test)]
mod tests {
    use super::idle;

    #[test]
    fn a_core_is_idle_if_no_other_thread_wants_it() {
        let stat = |running: usize| {
            format!(
                "cpu  8 0 8 9\ncpu0 4 0 4 5\ncpu1 4 0 4 4\nintr 9 0\nprocs_running {running}\nprocs_blocked 0\n"
            )
        };
        assert_eq!([1, 2, 3, 9].map(|running| idle(&stat(running))), [Some(2), Some(1), Some(1), Some(1)]);
        assert_eq!(idle("cpu  8 0 8 9\n"), None);
    }
}
