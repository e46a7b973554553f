//! The receive side of a network card: packets wait for its interrupt, and are merged when the host takes them.
//!
//! Source: ethtool(8) for the times of interrupts, and Linux 6.1 for what an interrupt does. The first packet that
//! waits starts a time of `rx-usecs`. The interrupt comes at its end, or as soon as `rx-frames` packets wait. Then the
//! host polls (NAPI): it takes up to 64 packets per poll, until none waits (`napi_poll`). Here that takes no time, so a
//! packet waits for its interrupt alone. With `rx-usecs` 0 the interrupt comes at once, and one poll takes the packets
//! that arrive at the same instant, such as a burst of segmentation offload.
//!
//! Generic receive offload merges segments of one connection within one poll (`dev_gro_receive`); [`Segment::join`]
//! says which. A packet that merges with nothing overtakes the packets of other connections that are held for merging.
//! Held packets leave at the end of the poll. With ticks of 4 ms, as Debian has them, that holds for full polls too
//! (`napi_poll`).
//!
//! The ring of a real card is limited. This one has room for every packet.
//!
//! [`Segment::join`]: goodqueue_tcp::Segment::join

use crate::packet::{Body, Packet};
use goodqueue_hosts::keys::{Key, Result, Table, refuse};
use goodqueue_qdisc::Packet as _;
use goodqueue_units::{Duration, Instant};
use serde::Serialize;
use std::collections::VecDeque;

pub(crate) const RX_USECS: Key<u64> = Key::optional("rx_usecs", "100")
    .range(0, 100_000)
    .unit("microseconds")
    .help(
        "interrupt moderation: how long the first packet waits in the receiving card before the interrupt at which \
         the host takes all; 0 if left out",
    )
    .source("ethtool(8), -C rx-usecs")
    .simulator_only();
pub(crate) const RX_FRAMES: Key<u64> = Key::optional("rx_frames", "32")
    .range(1, 100_000)
    .unit("packets")
    .help("packets at which the interrupt comes before `rx_usecs` are over")
    .source("ethtool(8), -C rx-frames")
    .simulator_only();
pub(crate) const GRO: Key<bool> = Key::optional("gro", "true")
    .help(
        "whether the host merges segments that it takes at one interrupt (generic receive offload); false if left out",
    )
    .source("Linux 6.1 `tcp_gro_receive`")
    .simulator_only();

pub(crate) const READS_AFTER_POLL: Key<bool> = Key::optional("reads_after_poll", "true")
    .help(
        "whether applications read only when the host has taken all packets that wait, as if both share a processor; \
         false if left out: they read each segment at once",
    )
    .source("Linux 6.1 `__tcp_ack_snd_check`, `tcp_cleanup_rbuf`")
    .simulator_only();

/// The packets that one poll takes at most (Linux `NAPI_POLL_WEIGHT`).
const BUDGET: usize = 64;
/// The lists of held packets, and the most in each (Linux `GRO_HASH_BUCKETS`, `MAX_GRO_SKBS`).
const LISTS: u32 = 8;
const MOST_HELD: usize = 8;

/// The receive side of a card as a scenario writes it.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Receive {
    rx_usecs: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    rx_frames: Option<u64>,
    gro: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    reads_after_poll: bool,
}

impl Receive {
    /// Reads the keys of `table`. Those that it leaves out are taken from `other`. Returns none if packets neither wait
    /// nor merge.
    ///
    /// # Errors
    /// An ill-formed value, or a number of packets without a time: the last packets would wait for ever.
    pub(crate) fn read(table: &Table<'_>, other: Option<Self>) -> Result<Option<Self>> {
        let rx_usecs = table.find(&RX_USECS)?.or(other.map(|other| other.rx_usecs)).unwrap_or(0);
        let rx_frames = table.find(&RX_FRAMES)?.or(other.and_then(|other| other.rx_frames));
        let gro = table.find(&GRO)?.or(other.map(|other| other.gro)).unwrap_or(false);
        match rx_frames {
            Some(frames) if rx_usecs == 0 => {
                let accepted = "one with `rx_usecs`, at the end of which fewer packets are taken";
                refuse(&table.key("rx_frames"), format!("{frames} without a time"), accepted)
            }
            _ => Ok((rx_usecs > 0 || gro).then_some(Self {
                rx_usecs,
                rx_frames,
                gro,
                reads_after_poll: false,
            })),
        }
    }

    /// Reads the keys of a host's `table`. Returns none if packets neither wait nor merge, and applications read each
    /// segment at once.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub(crate) fn of_host(table: &Table<'_>) -> Result<Option<Self>> {
        let card = Self::read(table, None)?;
        if table.find(&READS_AFTER_POLL)? != Some(true) {
            return Ok(card);
        }
        let at_once = Self { rx_usecs: 0, rx_frames: None, gro: false, reads_after_poll: true };
        Ok(Some(card.map_or(at_once, |card| Self { reads_after_poll: true, ..card })))
    }

    /// Returns whether applications of the host read only after a poll.
    pub(crate) fn reads_after_poll(&self) -> bool {
        self.reads_after_poll
    }

    /// Returns whether segments merge.
    pub(crate) fn merges(&self) -> bool {
        self.gro
    }
}

/// What a card counted.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counts {
    pub(crate) interrupts: u64,
    /// Packets that the host took.
    pub(crate) packets: u64,
    /// The same packets, where several merged ones count as one, and their bytes.
    pub(crate) handed_on: u64,
    pub(crate) bytes: u64,
}

/// A card that receives.
pub(crate) struct Card {
    of: Receive,
    waiting: VecDeque<Packet>,
    /// When the interrupt comes, or [`Instant::MAX`] if no packet waits.
    due: Instant,
    /// Packets that later ones of the same poll may join, the oldest first.
    held: Vec<Packet>,
    counts: Counts,
    /// The counts when measuring began.
    baseline: Counts,
}

impl Card {
    pub(crate) fn new(of: Receive) -> Self {
        let (counts, baseline) = Default::default();
        Self { of, waiting: VecDeque::new(), due: Instant::MAX, held: Vec::new(), counts, baseline }
    }

    /// Takes `packet`. Returns when the interrupt comes.
    pub(crate) fn arrive(&mut self, now: Instant, packet: Packet) -> Instant {
        self.waiting.push_back(packet);
        if self.waiting.len() == 1 {
            self.due = now + Duration::from_micros(self.of.rx_usecs);
        }
        if self.of.rx_frames.is_some_and(|most| self.waiting() >= most) {
            self.due = now;
        }
        self.due
    }

    /// Hands all packets that wait to `host`, at the interrupt.
    pub(crate) fn interrupt(&mut self, host: &mut Vec<Packet>) {
        self.counts.interrupts += 1;
        self.counts.packets += self.waiting();
        self.due = Instant::MAX;
        let before = host.len();
        while !self.waiting.is_empty() {
            for packet in self.waiting.drain(..self.waiting.len().min(BUDGET)) {
                if self.of.gro { merge(&mut self.held, packet, host) } else { host.push(packet) }
            }
            self.held.sort_by_key(list_of); // the order of `napi_gro_flush`; it keeps the oldest of each list first
            host.append(&mut self.held);
        }
        self.counts.handed_on += (host.len() - before) as u64;
        self.counts.bytes += host[before..].iter().map(|packet| u64::from(packet.len())).sum::<u64>();
    }

    /// Returns when the interrupt comes, or [`Instant::MAX`] if no packet waits.
    pub(crate) fn due(&self) -> Instant {
        self.due
    }

    /// Returns whether the host's applications read only after a poll.
    pub(crate) fn reads_after_poll(&self) -> bool {
        self.of.reads_after_poll
    }

    /// Returns the number of packets that wait.
    pub(crate) fn waiting(&self) -> u64 {
        self.waiting.len() as u64
    }

    /// Begins the measured time.
    pub(crate) fn begin_measuring(&mut self) {
        self.baseline = self.counts;
    }

    /// Returns what was counted during the measured time.
    pub(crate) fn measured(&self) -> Counts {
        let Counts { interrupts, packets, handed_on, bytes } = self.baseline;
        Counts {
            interrupts: self.counts.interrupts - interrupts,
            packets: self.counts.packets - packets,
            handed_on: self.counts.handed_on - handed_on,
            bytes: self.counts.bytes - bytes,
        }
    }
}

/// Returns the list in which `packet` is held.
fn list_of(packet: &Packet) -> u32 {
    packet.hash % LISTS
}

/// Joins `packet` to one of the `held`, or holds it for others, or hands it to `host`. What can no longer be joined
/// goes to `host` before it.
fn merge(held: &mut Vec<Packet>, packet: Packet, host: &mut Vec<Packet>) {
    let Body::Tcp(segment) = packet.body else { return host.push(packet) };
    let same = |other: &Packet| (other.flow, other.hash) == (packet.flow, packet.hash);
    if let Some(place) = held.iter().position(same) {
        let joined = held[place].segment().and_then(|first| first.join(&segment));
        if let Some(joined) = joined {
            held[place].body = Body::Tcp(joined);
        }
        if joined.is_none_or(|joined| joined.is_complete()) {
            host.push(held.remove(place));
        }
        if joined.is_some() {
            return;
        }
    }
    if segment.is_complete() {
        return host.push(packet);
    }
    let of_list = |other: &&Packet| list_of(other) == list_of(&packet);
    if held.iter().filter(of_list).count() == MOST_HELD
        && let Some(oldest) = held.iter().position(|other| of_list(&other))
    {
        host.push(held.remove(oldest));
    }
    held.push(packet);
}

#[cfg(test)]
mod tests;
