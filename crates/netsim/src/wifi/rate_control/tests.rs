//! Tests rate control and a channel in a closed loop, without contention: what rate control achieves, and how soon.

use super::*;
use crate::wifi::channel::error_rate;
use crate::wifi::mode::Ht;
use crate::wifi::standard::{Band, Category, Standard, Timing};
use goodqueue_units::{Stream, Streams};

/// Bytes of a frame: a packet of 1500 bytes with its headers.
const FRAME_BYTES: u32 = 1538;

/// A sender that always has frames, and a receiver.
struct Cell {
    timing: Timing,
    now: Instant,
    random: Stream,
    snr_db: f64,
    /// The most frames per aggregate.
    aggregate: u32,
    modes: Vec<Mode>,
    control: RateControl,
}

impl Cell {
    /// Returns a cell of 802.11a with legacy Minstrel.
    fn legacy(snr_db: f64, seed: u64) -> Self {
        let timing = Timing::new(Standard::A, Band::High, false);
        let modes: Vec<Mode> = Mode::legacy(Standard::A).collect();
        let mut random = Streams::new(seed).stream("cell", 0);
        let minstrel = Minstrel::new(&modes, &timing, Instant::ZERO, &mut random);
        let control = RateControl::Minstrel(Box::new(minstrel));
        Self { timing, now: Instant::ZERO, random, snr_db, aggregate: 1, modes, control }
    }

    /// Returns a cell of 802.11n with Minstrel-HT: two streams, 20 MHz, short guard intervals, ath9k's aggregates.
    fn ht(snr_db: f64, seed: u64) -> Self {
        let timing = Timing::new(Standard::N, Band::High, false);
        let mode = |mcs, has_short_guard| Mode::Ht(Ht { mcs, is_wide: false, has_short_guard });
        let modes = (0..16).flat_map(|mcs| [mode(mcs, false), mode(mcs, true)]).collect();
        let mut random = Streams::new(seed).stream("cell", 0);
        let minstrel = MinstrelHt::new(2, false, true, &timing, Instant::ZERO, &mut random);
        let control = RateControl::MinstrelHt(Box::new(minstrel));
        Self { timing, now: Instant::ZERO, random, snr_db, aggregate: 32, modes, control }
    }

    /// Sends one frame or aggregate, and lets its time pass.
    fn send(&mut self) -> Outcome {
        let chain = self.control.plan(self.now);
        let most = chain.stages().iter().map(|stage| self.aggregate_frames(stage.mode)).min();
        let frames = most.filter(|_| !chain.is_probe).unwrap_or(1);
        let mut outcome = Outcome { chain, tried: [0; 4], frames, acked: 0 };
        for (number, stage) in chain.stages().iter().enumerate() {
            while outcome.tried[number] < stage.tries && outcome.acked == 0 {
                outcome.tried[number] += 1;
                self.now += self.exchange(stage.mode, stage.has_rts, frames);
                let lost = error_rate(stage.mode, self.snr_db, FRAME_BYTES);
                let arrives = |_| u32::from(self.random.next_f64() >= lost);
                outcome.acked = (0..frames).map(arrives).sum();
            }
        }
        self.control.report(self.now, &outcome);
        outcome
    }

    /// Sends for `time`.
    fn run(&mut self, time: Duration) -> Vec<Outcome> {
        let end = self.now + time;
        std::iter::from_fn(|| (self.now < end).then(|| self.send())).collect()
    }

    /// Returns the frames per aggregate. An aggregate takes at most 4 ms.
    fn aggregate_frames(&self, mode: Mode) -> u32 {
        (mode.bytes_in(Duration::from_millis(4), false) / FRAME_BYTES).clamp(1, self.aggregate)
    }

    /// Returns the duration of one try, with the medium access and half of the smallest window.
    fn exchange(&self, mode: Mode, has_rts: bool, frames: u32) -> Duration {
        let access = self.timing.access(Category::BestEffort);
        let slots = self.timing.slot * u64::from(2 * access.aifsn + access.cw_min) / 2;
        let rts = if has_rts { self.timing.rts_cts(mode) } else { Duration::ZERO };
        let data = self.timing.frame(mode, FRAME_BYTES * frames);
        slots + rts + data + self.timing.sifs * 2 + self.timing.answer(mode, frames > 1)
    }

    /// Returns the frames per second that `mode` achieves alone.
    fn goodput(&self, mode: Mode) -> f64 {
        let frames = self.aggregate_frames(mode);
        let arrive = 1.0 - error_rate(mode, self.snr_db, FRAME_BYTES);
        arrive * f64::from(frames) / self.exchange(mode, false, frames).as_secs_f64()
    }

    fn best_goodput(&self) -> f64 {
        self.modes.iter().map(|mode| self.goodput(*mode)).fold(0.0, f64::max)
    }

    /// Returns the time until rate control achieves, for a tenth of a second, `share` of what the best mode achieves
    /// alone.
    fn time_until(&mut self, share: f64) -> Duration {
        let start = self.now;
        let step = Duration::from_millis(100);
        let want = share * self.best_goodput() * step.as_secs_f64();
        while arrived(&self.run(step)) < want {
            assert!(self.now.since(start) < Duration::from_secs(60), "never");
        }
        self.now.since(start)
    }
}

fn arrived(outcomes: &[Outcome]) -> f64 {
    outcomes.iter().map(|outcome| f64::from(outcome.acked)).sum()
}

/// Legacy Minstrel and Minstrel-HT.
const KINDS: [fn(f64, u64) -> Cell; 2] = [Cell::legacy, Cell::ht];

/// Three seconds after the start, rate control achieves at least four fifths of what the best mode achieves alone.
/// The rest goes into probes, and into changes between modes that are nearly as good.
#[test]
fn it_finds_the_mode_of_the_best_throughput() {
    for (kind, new) in KINDS.iter().enumerate() {
        for (snr_db, seed) in (5..=40).map(f64::from).flat_map(|snr_db| [(snr_db, 1), (snr_db, 2)]) {
            let mut cell = new(snr_db, seed);
            cell.run(Duration::from_secs(3));
            let from = cell.now;
            let goodput = arrived(&cell.run(Duration::from_secs(10))) / cell.now.since(from).as_secs_f64();
            let share = goodput / cell.best_goodput();
            assert!(
                (0.8..1.01).contains(&share),
                "{kind} at {snr_db} dB, seed {seed}: {share:.3} of the best mode"
            );
        }
    }
}

/// Within one second after the signal fell by 10 dB, and after it rose again, rate control achieves three quarters of
/// what the best mode then achieves alone. (A rate control that waited for a surer average, or that tried too few
/// modes, would take longer.)
#[test]
fn it_follows_a_signal_that_falls_and_rises_by_10_db() {
    for (kind, new) in KINDS.iter().enumerate() {
        for (high, low) in [(35.0, 25.0), (30.0, 20.0), (25.0, 15.0), (20.0, 10.0), (15.0, 5.0)] {
            let mut cell = new(high, 1);
            cell.run(Duration::from_secs(10));
            for snr_db in [low, high] {
                cell.snr_db = snr_db;
                let took = cell.time_until(0.75);
                let limit = Duration::from_secs(1);
                assert!(took < limit, "{kind}, {high} and {low} dB: {took} until well at {snr_db}");
                cell.run(Duration::from_secs(10));
            }
        }
    }
}

/// Legacy Minstrel probes with a tenth of the frames. Minstrel-HT probes after an update of the statistics and 20 and
/// 40 ms later, so there are fewer than 60 probes per second. It does not probe where the fastest mode is the best.
#[test]
fn probes_are_as_many_as_they_should_be() {
    let probes_of = |mut cell: Cell| {
        cell.run(Duration::from_secs(3));
        let all = cell.run(Duration::from_secs(10));
        let probes: Vec<&Outcome> = all.iter().filter(|outcome| outcome.chain.is_probe).collect();
        assert!(probes.iter().all(|probe| probe.frames == 1));
        (probes.len(), all.len())
    };
    for snr_db in [10.0, 15.0, 20.0, 40.0] {
        let (probes, all) = probes_of(Cell::legacy(snr_db, 1));
        assert!(probes.abs_diff(all / 10) <= all / 1000, "{probes} of {all} at {snr_db} dB");
    }
    for snr_db in [10.0, 15.0, 20.0] {
        let (probes, _) = probes_of(Cell::ht(snr_db, 1));
        assert!((450..600).contains(&probes), "{probes} in ten seconds at {snr_db} dB");
    }
    assert_eq!(probes_of(Cell::ht(40.0, 1)).0, 0);
}

/// Where nothing is lost, a chain has the two or three fastest modes, then the surest mode. With legacy Minstrel the
/// surest is the fastest mode, with Minstrel-HT the fastest mode of fewer streams. Minstrel-HT's fallbacks have RTS.
/// Only legacy Minstrel ends with the slowest mode.
#[test]
fn chains_go_from_fast_to_sure() {
    let chain_of = |mut cell: Cell| {
        let all = cell.run(Duration::from_secs(5));
        let last = all.iter().rfind(|outcome| !outcome.chain.is_probe).unwrap();
        assert!(all.iter().all(|one| one.chain.stages().iter().all(|stage| (1..=7).contains(&stage.tries))));
        let of = |stage: &Stage| (stage.mode.mbps().round(), stage.has_rts);
        last.chain.stages().iter().map(of).collect::<Vec<_>>()
    };
    let legacy = [(54.0, false), (48.0, false), (54.0, false), (6.0, false)];
    assert_eq!(chain_of(Cell::legacy(40.0, 1)), legacy);
    let ht = [(144.0, false), (130.0, true), (130.0, true), (72.0, true)];
    assert_eq!(chain_of(Cell::ht(40.0, 1)), ht);
}

#[test]
fn the_same_seed_gives_the_same_chains() {
    for new in KINDS {
        let run = |seed| {
            let all = new(20.0, seed).run(Duration::from_secs(2));
            all.iter().map(|outcome| (outcome.chain, outcome.tried, outcome.acked)).collect::<Vec<_>>()
        };
        assert_eq!(run(1), run(1));
        assert_ne!(run(1), run(2));
    }
}
