//! The program of `[autorate]`: a controller of the shapers' rates that measures nothing but pings and its own traffic.
//!
//! The rules are those of cake-autorate (its README and config defaults, version 3.5). A sample is half of a ping's
//! round trip. Each sample is judged as soon as it returns. Rules that act on the program itself are left out: it
//! replaces no reflector, and it never sleeps. The load is measured when a sample returns, at least `load_every` after
//! the measurement before.

use crate::flow::Flow;
use crate::ids::{FlowId, LinkId};
use crate::lists::{ByDirection, PerFlow};
use crate::scenario::complete::autorate as key;
use crate::scenario::{Autorate, Scenario};
use crate::sim::Simulation;
use goodqueue_hosts::direction::Direction;
use goodqueue_hosts::keys::{Key, Span};
use goodqueue_units::{Duration, Instant};
use std::collections::VecDeque;

/// Bits of a full frame: a sample may wait for one more that is being sent.
const FRAME_BITS: f64 = 1514.0 * 8.0;

/// The state of the program.
pub(crate) struct Controller {
    rules: Autorate,
    /// The lowest usual one-way delay of each reflector, in seconds. None for other flows.
    baselines: PerFlow<Option<f64>>,
    shapers: ByDirection<Option<State>>,
}

/// The state of one shaper.
struct State {
    /// Its rate in bit/s.
    rate: f64,
    min: f64,
    base: f64,
    max: f64,
    /// The last samples: the delay above the baseline in seconds, and whether it counts as delayed.
    window: VecDeque<(f64, bool)>,
    cut: Instant,
    /// When the rate last changed for another reason than a raise.
    returned: Instant,
    /// When the load was measured, and the bytes that had left then.
    measured: (Instant, u64),
    is_high: bool,
}

impl Controller {
    /// Returns the program of `scenario`, if it has one.
    pub(crate) fn of(scenario: &Scenario, flows: &PerFlow<Flow>) -> Option<Box<Self>> {
        let rules = scenario.autorate.clone()?;
        let prefix = format!("{}/", rules.values.get(&key::PINGS));
        let is_reflector = |flow: &Flow| flow.is_echoed() && flow.name.starts_with(&prefix);
        let baselines = flows.iter().map(|flow| is_reflector(flow).then_some(f64::INFINITY)).collect();
        let shapers = ByDirection::of(|direction| {
            let shaper = rules.shapers[direction]?;
            let [min, base, max] = [shaper.min, shaper.base, shaper.max].map(|rate| rate.0.as_bps() as f64);
            Some(State {
                rate: base,
                min,
                base,
                max,
                window: VecDeque::new(),
                cut: Instant::ZERO,
                returned: Instant::ZERO,
                measured: (Instant::ZERO, 0),
                is_high: false,
            })
        });
        Some(Box::new(Self { rules, baselines, shapers }))
    }

    /// Takes the round-trip time of a ping of `flow` that has returned at `now`. `sent` is the number of bytes that
    /// have left each shaper. Returns the shapers' new rates in bit/s, if they change.
    fn take(
        &mut self,
        now: Instant,
        flow: FlowId,
        rtt: Duration,
        sent: ByDirection<u64>,
    ) -> ByDirection<Option<u64>> {
        let values = &self.rules.values;
        let Some(baseline) = &mut self.baselines[flow] else { return ByDirection::of(|_| None) };
        let delay = rtt.as_secs_f64() / 2.0;
        let weight = values.get(if delay > *baseline { &key::BASELINE_UP } else { &key::BASELINE_DOWN });
        *baseline = if baseline.is_finite() { *baseline + weight * (delay - *baseline) } else { delay };
        let above = delay - *baseline;
        let rules = &self.rules;
        let mut rates = ByDirection::of(|_| None);
        for direction in Direction::ALL {
            if let Some(shaper) = &mut self.shapers[direction] {
                rates[direction] = shaper.judge(rules, now, above, sent[direction]);
            }
        }
        rates
    }
}

impl State {
    /// Judges a sample that is `above` seconds above its baseline. Returns the new rate, if it changes.
    fn judge(&mut self, rules: &Autorate, now: Instant, above: f64, sent: u64) -> Option<u64> {
        let rules = &rules.values;
        let seconds = |key: &Key<Span>| rules.get(key).0.as_secs_f64();
        let limit = seconds(&key::DELAYED) + FRAME_BITS / self.rate;
        self.window.push_back((above, above > limit));
        if self.window.len() as u64 > rules.get(&key::WINDOW) {
            self.window.pop_front();
        }
        let has_load = self.measure(now, sent, rules.get(&key::LOAD_EVERY).0, rules.get(&key::HIGH_LOAD));
        let delayed = self.window.iter().filter(|(_, is_delayed)| *is_delayed).count() as u64;
        let mean = self.window.iter().map(|(above, _)| above).sum::<f64>() / self.window.len() as f64;
        let rests = now.since(self.cut) < rules.get(&key::AFTER_CUT).0;
        let factor = if delayed >= rules.get(&key::DETECTIONS) {
            if rests {
                return None;
            }
            (self.cut, self.returned) = (now, now);
            let bounds = (seconds(&key::DELAYED), seconds(&key::CUT_MOST_FROM));
            between(mean, bounds, (rules.get(&key::CUT_LEAST), rules.get(&key::CUT_MOST)))
        } else if self.is_high {
            if rests || !has_load {
                return None;
            }
            self.returned = now;
            between(mean, (seconds(&key::RAISE_UP_TO), seconds(&key::DELAYED)), (rules.get(&key::RAISE), 1.0))
        } else {
            if now.since(self.returned) < rules.get(&key::RETURN_EVERY).0 {
                return None;
            }
            self.returned = now;
            let share = rules.get(&key::RETURN);
            if self.rate > self.base {
                (1.0 - share).max(self.base / self.rate)
            } else {
                (1.0 + share).min(self.base / self.rate)
            }
        };
        let before = self.rate;
        self.rate = (self.rate * factor).clamp(self.min, self.max);
        (self.rate as u64 != before as u64).then_some(self.rate as u64)
    }

    /// Measures the load if it is time. Returns whether it did.
    fn measure(&mut self, now: Instant, sent: u64, every: Duration, high: f64) -> bool {
        let (since, bytes) = self.measured;
        let passed = now.since(since);
        if passed < every {
            return false;
        }
        let achieved = (sent - bytes) as f64 * 8.0 / passed.as_secs_f64();
        self.is_high = achieved > high * self.rate;
        self.measured = (now, sent);
        true
    }
}

/// Returns the value at `at` on the line between two points, and outside of them the value of the nearer one.
fn between(at: f64, (from, to): (f64, f64), (first, last): (f64, f64)) -> f64 {
    let share = if to > from { ((at - from) / (to - from)).clamp(0.0, 1.0) } else { f64::from(at >= to) };
    first + share * (last - first)
}

impl Simulation {
    /// Gives a ping's round trip to the program of `[autorate]`, and sets the rates that it chooses.
    #[cold]
    pub(in crate::sim) fn autorate(&mut self, flow: FlowId, rtt: Duration) {
        let Some(controller) = &mut self.autorate else { return };
        for link in self.links.iter_mut() {
            link.settle_before(self.now, &mut self.agenda);
        }
        let links = &self.links;
        let sent = ByDirection::of(|direction| links[LinkId::bottleneck(direction)].ledger.forwarded.bytes);
        let rates = controller.take(self.now, flow, rtt, sent);
        for direction in Direction::ALL {
            let Some(rate) = rates[direction] else { continue };
            let words = format!("cake bandwidth {rate}bit");
            let link = &mut self.links[LinkId::bottleneck(direction)];
            if let Err(error) = link.change(self.now, None, Some(&words), &mut self.agenda) {
                unreachable!("reading the scenario has read this line: {error}");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TICK: Duration = Duration::from_millis(50);

    fn controller() -> Box<Controller> {
        let text = r#"{
            "duration": "60s", "path": {"rtt": "40ms"},
            "bottleneck": {"rate": "100mbit", "qdisc": "cake bandwidth 20mbit"},
            "traffic": [{"kind": "ping", "name": "reflectors"}, {"kind": "ping"}],
            "autorate": {"pings": "reflectors", "down": {"min": "5mbit", "max": "80mbit"}}
        }"#;
        let scenario = Scenario::from_json(text).unwrap();
        let flows = Flow::all(&scenario, &mut crate::sockets::Sockets::elsewhere());
        Controller::of(&scenario, &flows).unwrap()
    }

    /// A run of samples, 20 per second.
    struct Samples {
        program: Box<Controller>,
        now: Instant,
        sent: u64,
    }

    impl Samples {
        fn new() -> Self {
            Self { program: controller(), now: Instant::ZERO, sent: 0 }
        }

        fn rate(&self) -> f64 {
            self.program.shapers[Direction::Down].as_ref().unwrap().rate
        }

        /// Feeds one sample of `rtt_ms`, while `load` of the rate is in use. Returns the rate in Mbit/s.
        fn feed(&mut self, rtt_ms: u64, load: f64) -> f64 {
            self.now += TICK;
            self.sent += (self.rate() * load * TICK.as_secs_f64() / 8.0) as u64;
            let sent = ByDirection::from([self.sent, 0]);
            let flow = self.program.baselines.numbers().next().unwrap();
            self.program.take(self.now, flow, Duration::from_millis(rtt_ms), sent);
            self.rate() / 1e6
        }

        /// Feeds samples until the rate is at least `mbps`. Returns how long that took.
        fn until(&mut self, mbps: f64) -> Duration {
            let begun = self.now;
            while self.feed(40, 1.0) < mbps {}
            self.now.since(begun)
        }
    }

    /// ln 4 / ln 1.04 = 35.3 raises, one per 200 ms, after the first 300 ms in which nothing is raised.
    #[test]
    fn from_20_to_80_mbits_it_climbs_in_7_seconds() {
        let took = Samples::new().until(79.9).as_secs_f64();
        assert!((7.2..7.6).contains(&took), "{took}");
    }

    /// Three delayed samples of six are bufferbloat. 60 ms above the baseline, one way, cut a quarter at once.
    #[test]
    fn the_third_delayed_sample_cuts() {
        let mut samples = Samples::new();
        for _ in 0..20 {
            samples.feed(40, 0.5);
        }
        let before = samples.rate() / 1e6;
        assert!((samples.feed(1000, 0.5) - before).abs() < 1e-9);
        assert!((samples.feed(1000, 0.5) - before).abs() < 1e-9);
        assert!((samples.feed(1000, 0.5) / before - 0.75).abs() < 1e-9);
        // The next cut is 300 ms later, whatever comes back until then.
        let cuts: Vec<_> = (0..12).map(|_| samples.feed(1000, 0.5)).collect();
        assert!((cuts[4] / before - 0.75).abs() < 1e-9);
        assert!((cuts[5] / before - 0.75 * 0.75).abs() < 1e-9);
        assert!((cuts[11] / before - 0.75_f64.powi(3)).abs() < 1e-9);
    }

    #[test]
    fn a_cut_is_undone_by_8_raises() {
        let mut samples = Samples::new();
        samples.until(60.0);
        let before = samples.rate() / 1e6;
        while samples.feed(1000, 1.0) >= before {}
        for _ in 0..6 {
            samples.feed(40, 1.0); // the window forgets
        }
        let took = samples.until(before).as_secs_f64();
        assert!((1.2..2.0).contains(&took), "{took}");
    }

    #[test]
    fn without_load_it_returns_by_a_hundredth_each_second() {
        let mut samples = Samples::new();
        samples.until(40.0);
        let before = samples.rate() / 1e6;
        for _ in 0..30 {
            samples.feed(40, 0.1);
        }
        assert!((samples.rate() / 1e6 / before - 0.99).abs() < 1e-9);
        for _ in 0..2000 {
            samples.feed(40, 0.1);
        }
        assert_eq!(samples.rate(), 20e6, "the line's own bandwidth, and not below it");
    }

    #[test]
    fn the_rate_stays_within_its_bounds() {
        let mut samples = Samples::new();
        for _ in 0..400 {
            samples.feed(40, 1.0);
        }
        assert_eq!(samples.rate(), 80e6);
        for _ in 0..400 {
            samples.feed(2000, 1.0);
        }
        assert_eq!(samples.rate(), 5e6);
    }

    /// Otherwise a game's pings, which others may send, would count as reflectors.
    #[test]
    fn other_pings_are_not_measured() {
        let mut program = controller();
        let other = program.baselines.numbers().nth(1).unwrap();
        for tick in 1..100 {
            let rates = program.take(
                Instant::ZERO + TICK * tick,
                other,
                Duration::from_secs(2),
                ByDirection::from([0, 0]),
            );
            assert!(rates.iter().all(Option::is_none));
        }
    }
}
