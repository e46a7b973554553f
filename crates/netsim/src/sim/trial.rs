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

/// Both runs do so many steps at most. In the first ones caches fill and flows start, so they are not judged.
const STEPS: usize = 16;
const UNJUDGED: usize = 2;

/// Several threads are faster if they are so in this number of judged steps in a row. A single step says little: it may
/// have waited for other work of the machine. A core that has slept is slow for ten milliseconds and more, so a step in
/// which several threads are not faster does not end the trial.
const ENOUGH: usize = 3;

/// The trial is over when several threads took more than [`SLOWER`] times as long as one in this number of judged steps
/// in a row: no core wakes up.
const HOPELESS: usize = 4;
const SLOWER: f64 = 1.25;

/// A step is this part of the run. So the trial takes a fortieth of the run at most, twice.
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
    let mut cores = 0;
    for moment in 0..MOMENTS {
        if moment > 0 {
            thread::sleep(MOMENT);
        }
        let idle = std::fs::read_to_string("/proc/stat").ok().and_then(|stat| idle(&stat)).unwrap_or(most);
        cores = cores.max(idle.min(most));
        if cores == most {
            break; // another look would not find more
        }
    }
    cores
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
    score: Score,
}

/// What the steps say that both runs have done.
#[derive(Default)]
struct Score {
    steps: usize,
    /// How many judged steps in a row, up to the last one, took several threads less than [`FASTER`] of the time.
    faster: usize,
    /// How many of them in a row took several threads more than [`SLOWER`] times as long.
    slower: usize,
}

impl Trial {
    /// Lets `run`, which has not begun, try `threads` threads.
    ///
    /// # Errors
    /// If the run cannot be cut: the run itself, and why it cannot.
    pub fn new(run: Simulation, threads: usize) -> Result<Self, Box<(Simulation, Uncut)>> {
        match Threaded::beside(&run, threads) {
            Ok(rival) => {
                let rival = Rival { run: Box::new(rival), score: Score::default() };
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
            let Some(is_faster) = rival.score.is_faster() else { return };
            if let Some(rival) = self.rival.take()
                && is_faster
            {
                self.run = Run::Several(rival.run);
                return;
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
    /// these are left. If several threads are faster, they go on: new threads would take as long as some windows to
    /// start, and their cores be slow at first.
    fn try_steps(&mut self, one: &mut Simulation, elapsed: Duration, mut most: u64) -> u64 {
        let Self { run, score } = self;
        let elapsed = elapsed.min(one.duration());
        run.lead(|windows| {
            while score.is_faster().is_none() && most > 0 && one.elapsed() < elapsed {
                let to = (one.elapsed() + one.duration() / PARTS).min(elapsed);
                let begun = Clock::now();
                one.advance(to);
                let alone = begun.elapsed();
                let begun = Clock::now();
                windows.advance(to, elapsed, u64::MAX);
                score.note(alone, begun.elapsed());
                most = most.saturating_sub(EVENTS);
            }
            if score.is_faster() == Some(true) {
                windows.advance(elapsed, elapsed, most);
            }
        });
        most
    }
}

impl Score {
    /// Notes a step that one thread did in the time `alone`, and several threads in the time `several`.
    fn note(&mut self, alone: Wall, several: Wall) {
        self.steps += 1;
        if self.steps <= UNJUDGED || alone <= WORK {
            return;
        }
        let share = several.as_secs_f64() / alone.as_secs_f64();
        self.faster = if share < FASTER { self.faster + 1 } else { 0 };
        self.slower = if share > SLOWER { self.slower + 1 } else { 0 };
    }

    /// Returns whether several threads are faster, if that is known.
    fn is_faster(&self) -> Option<bool> {
        let is_faster = self.faster == ENOUGH;
        (is_faster || self.slower == HOPELESS || self.steps == STEPS).then_some(is_faster)
    }
}

#[cfg(test)]
mod tests {
    use super::{FASTER, STEPS, Score, UNJUDGED, WORK, Wall, idle};

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

    /// Returns what steps say in which several threads took such shares of the time of one, and how many were done.
    fn verdict(alone: Wall, shares: &[f64]) -> (Option<bool>, usize) {
        let mut score = Score::default();
        for share in shares {
            if score.is_faster().is_none() {
                score.note(alone, alone.mul_f64(*share));
            }
        }
        (score.is_faster(), score.steps)
    }

    #[test]
    fn some_steps_in_a_row_end_a_trial() {
        let (fast, slow) = (FASTER - 0.1, FASTER + 0.1);
        let judged = |shares: &[f64]| verdict(2 * WORK, &[&[fast; UNJUDGED], shares].concat());
        assert_eq!(judged(&[fast, fast]), (None, 4));
        assert_eq!(judged(&[fast, fast, fast, slow]), (Some(true), 5));
        assert_eq!(judged(&[slow, fast, fast, slow, fast, fast, fast]), (Some(true), 9));
        assert_eq!(judged(&[slow; STEPS]), (Some(false), STEPS));
        assert_eq!(judged(&[2.0, 2.0, 2.0, fast, 2.0, 2.0, 2.0, 2.0]), (Some(false), 10));
        assert_eq!(verdict(WORK, &[fast; STEPS]), (Some(false), STEPS), "nothing happened");
    }
}
