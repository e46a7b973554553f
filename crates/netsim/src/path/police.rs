//! A policer, as tc's action `police`: packets above a rate and a burst are dropped at once, and no packet waits.
//!
//! Source: tc-police(8), and net/sched/act_police.c. Tokens are time: a packet costs the time that it takes at the rate
//! (`psched_l2t_ns`), and the bucket holds the time of `burst` bytes. With `peakrate` a second bucket of `mtu` bytes
//! must have tokens, too. A packet above `mtu` exceeds in any case. A packet that exceeds costs no tokens.

use super::kind::{Element, HopKind, Make};
use super::netem::{Accepted, WireCounts};
use crate::packet::Packet;
use goodqueue_hosts::keys::{Key, MOST_RATE, RateText, ScenarioError, Size, Values};
use goodqueue_qdisc::Packet as _;
use goodqueue_qdisc::sched::bucket::Bucket;
use goodqueue_qdisc::sched::pace::Pace;
use goodqueue_units::Instant;
use std::collections::VecDeque;

const MAN: &str = "tc-police(8)";
const MOST_BYTES: Size = Size(1_000_000_000);

const RATE: Key<RateText> = Key::required("rate", "\"10mbit\"")
    .range(MOST_RATE.0, MOST_RATE.1)
    .help("what passes in the long run")
    .source(MAN);
const BURST: Key<Size> = Key::required("burst", "\"15kB\"")
    .range(Size(1), MOST_BYTES)
    .help("bytes that may pass at once after a pause; a packet above it never passes")
    .source(MAN);
const MTU: Key<Size> = Key::with_default("mtu", "\"2040B\"")
    .range(Size(1), MOST_BYTES)
    .help("longest packet; a longer one exceeds in any case")
    .source("act_police.c and tc: 255 cells of 8 bytes");
const PEAKRATE: Key<RateText> = Key::optional("peakrate", "\"20mbit\"")
    .range(MOST_RATE.0, MOST_RATE.1)
    .help("rate at which a burst may pass, above `rate`, with a bucket of `mtu` bytes")
    .source(MAN);
const OVERHEAD: Key<u64> = Key::with_default("overhead", "0")
    .range(0, 65_535)
    .unit("bytes")
    .help("bytes that each packet counts for in addition")
    .source(MAN);
const MPU: Key<u64> = Key::with_default("mpu", "0")
    .range(0, 1_000_000)
    .unit("bytes")
    .help("least bytes that a packet counts for")
    .source(MAN);
const LINKLAYER: Key<LinkLayer> = Key::with_default("linklayer", "\"ethernet\"")
    .help("atm: a packet counts for whole cells, 53 bytes for each 48")
    .source(MAN);
const EXCEED: Key<Exceed> = Key::with_default("exceed", "\"drop\"")
    .help("what becomes of packets above the rate: dropped, or only counted. `continue` and `pass` differ in tc by the filters behind the policer, of which a hop has none")
    .source("tc-police(8), conform-exceed");

/// The lower layer of the counted bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LinkLayer {
    Ethernet,
    Atm,
}

/// The fate of a packet that exceeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Exceed {
    Drop,
    Continue,
    Pass,
}

impl LinkLayer {
    const ALL: [Self; 2] = [Self::Ethernet, Self::Atm];
    fn name(self) -> &'static str {
        match self {
            Self::Ethernet => "ethernet",
            Self::Atm => "atm",
        }
    }
}
goodqueue_hosts::word!(LinkLayer);

impl Exceed {
    const ALL: [Self; 3] = [Self::Drop, Self::Continue, Self::Pass];
    fn name(self) -> &'static str {
        match self {
            Self::Drop => "drop",
            Self::Continue => "continue",
            Self::Pass => "pass",
        }
    }
}
goodqueue_hosts::word!(Exceed);

pub(crate) const KIND: HopKind = HopKind {
    keys: &[&RATE, &BURST, &MTU, &PEAKRATE, &OVERHEAD, &MPU, &LINKLAYER, &EXCEED],
    check: |table, values| {
        let rate = values.get(&RATE).0;
        match values.find(&PEAKRATE) {
            Some(RateText(peak)) if peak <= rate => {
                let message = format!("found {peak}; accepted: a rate above `rate`, {rate}");
                Err(ScenarioError::new(table.key("peakrate"), message))
            }
            Some(_) if !table.has("mtu") => {
                let message = "missing; accepted: a size such as \"1514B\", which peakrate needs for its bucket";
                Err(ScenarioError::new(table.key("mtu"), message))
            }
            _ => Ok(()),
        }
    },
    plural: "policers",
    noun: "a policer",
    shows: &[("rate", " at ")],
    ..HopKind::new(
        "police",
        "a policer as tc-police(8): packets above a rate and a burst are dropped at once",
        Make::Element(|values, _| Box::new(Police::new(values))),
    )
};

/// The action.
struct Police {
    bucket: Bucket,
    peak: Option<Bucket>,
    mtu: u64,
    drops: bool,
    /// What passes, and when it came.
    passing: VecDeque<(Instant, Packet)>,
    counts: WireCounts,
}

impl Police {
    fn new(values: &Values) -> Self {
        let cells = values.get(&LINKLAYER) == LinkLayer::Atm;
        let (overhead, mpu) = (values.get(&OVERHEAD) as u32, values.get(&MPU) as u32);
        let pace = |rate| Pace::of_parts(rate, overhead, mpu, cells);
        let (rate, mtu) = (values.get(&RATE).0, values.get(&MTU).0);
        let burst = Pace::of_parts(rate, 0, 0, false).time(values.get(&BURST).0 as u32);
        let peak = values.find(&PEAKRATE).map(|RateText(rate)| (rate, pace(rate)));
        Self {
            bucket: Bucket::new(rate, pace(rate), burst),
            peak: peak.map(|(rate, pace)| Bucket::new(rate, pace, pace.time(mtu as u32))),
            mtu,
            drops: values.get(&EXCEED) == Exceed::Drop,
            passing: VecDeque::new(),
            counts: WireCounts::default(),
        }
    }

    /// Returns whether a packet of `len` bytes conforms. Then it has paid.
    fn conforms(&mut self, now: Instant, len: u32) -> bool {
        let buckets = || std::iter::once(&self.bucket).chain(&self.peak);
        let fits = u64::from(len) <= self.mtu;
        let conforms = fits && buckets().all(|bucket| bucket.tokens(now) >= bucket.cost(len));
        if conforms {
            for bucket in std::iter::once(&mut self.bucket).chain(&mut self.peak) {
                bucket.charge(now, bucket.cost(len), 0);
            }
        }
        conforms
    }
}

impl Element for Police {
    fn accept(&mut self, now: Instant, packet: Packet) -> Accepted {
        self.counts.offered += 1;
        let exceeds = !self.conforms(now, packet.len());
        self.counts.exceeded += u64::from(exceeds);
        let lost = exceeds && self.drops;
        if lost {
            self.counts.lost += 1;
        } else {
            self.passing.push_back((now, packet));
        }
        Accepted { lost, duplicated: false }
    }

    fn next_time(&self) -> Option<Instant> {
        self.passing.front().map(|(came, _)| *came)
    }

    fn release(&mut self, _now: Instant) -> Option<Packet> {
        let (_, packet) = self.passing.pop_front()?;
        self.counts.delivered += 1;
        Some(packet)
    }

    fn counts(&self) -> WireCounts {
        WireCounts { held: self.passing.len() as u64, ..self.counts }
    }
}

#[cfg(test)]
mod tests;
