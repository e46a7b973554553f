//! The arrivals of a recorded decision trace: time, flow, length and codepoint.
//!
//! All numbers are integers, so that a seed gives the same bytes on every machine.

use crate::record::{Ecns, Options, Pattern, Sizes};
use goodqueue_units::{Ecn, Stream, Streams};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

const MS: u64 = 1_000_000;
const ONOFF_NS: u64 = 250 * MS;
const SAW_NS: u64 = 1000 * MS;
const LONGEST_BURST: u64 = 50;
/// Base round trip of a flow of [`Pattern::Aimd`].
const RTT_NS: u64 = 50 * MS;
/// Gap between the packets that one acknowledgement releases.
const SPACING_NS: u64 = 1000;

/// A packet to be offered.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Offer {
    pub(crate) flow: u64,
    pub(crate) len: u32,
    pub(crate) ecn: Ecn,
}

/// A flow that responds to losses and marks. Sizes are in thousandths of a packet.
#[derive(Clone, Copy, Debug)]
struct Window {
    size: u64,
    in_flight: u64,
    slow_start: bool,
    /// The time before which the window is not reduced again: once per round trip.
    until: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Happens {
    /// The sender learns whether a packet was lost or marked.
    Answer {
        congested: bool,
    },
    Send,
}

pub(crate) struct Load {
    options: Options,
    dice: Stream,
    start: u64,
    /// Packets still to come.
    left: u64,
    /// The next packet of a pattern that does not respond.
    next: (u64, Offer),
    /// Packets of the burst that follow the next packet at the same moment.
    burst: u64,
    /// The events of [`Pattern::Aimd`]: time, flow and kind.
    agenda: BinaryHeap<Reverse<(u64, u64, Happens)>>,
    windows: Vec<Window>,
}

impl Load {
    pub(crate) fn new(options: &Options, start: u64) -> Self {
        let window = Window { size: 2000, in_flight: 0, slow_start: true, until: 0 };
        let closed = options.pattern == Pattern::Aimd;
        let offer = Offer { flow: 0, len: 1, ecn: Ecn::NotEct };
        let mut this = Self {
            options: options.clone(),
            dice: Streams::new(options.seed).stream("load", 0),
            start,
            left: options.packets,
            next: (start, offer),
            burst: 0,
            agenda: BinaryHeap::new(),
            windows: if closed { vec![window; options.flows as usize] } else { Vec::new() },
        };
        for flow in 0..this.windows.len() as u64 {
            let at = start + this.below(RTT_NS);
            this.send(flow, at);
        }
        if !closed {
            this.plan();
        }
        this
    }

    /// Returns a uniform number from 0 to `n` - 1.
    fn below(&mut self, n: u64) -> u64 {
        ((u128::from(self.dice.next_u64()) * u128::from(n)) >> 64) as u64
    }

    /// Returns the time of the next arrival, if there is one.
    pub(crate) fn next(&mut self) -> Option<u64> {
        if self.left == 0 {
            return None;
        }
        if self.options.pattern != Pattern::Aimd {
            return Some(self.next.0);
        }
        loop {
            match *self.agenda.peek()? {
                Reverse((at, _, Happens::Send)) => return Some(at),
                Reverse((at, flow, Happens::Answer { congested })) => {
                    self.agenda.pop();
                    self.answer(flow, at, congested);
                }
            }
        }
    }

    /// Returns the packet that [`Load::next`] announced.
    pub(crate) fn take(&mut self) -> Offer {
        self.left -= 1;
        if self.options.pattern == Pattern::Aimd {
            let flow = self.agenda.pop().map_or(0, |Reverse((_, flow, _))| flow);
            return self.offer(flow);
        }
        let offer = self.next.1;
        self.plan();
        offer
    }

    /// Tells the sender, one round trip later, that a packet was delivered or lost.
    pub(crate) fn tell(&mut self, flow: u64, now: u64, congested: bool) {
        if !self.windows.is_empty() {
            self.agenda.push(Reverse((now + RTT_NS, flow, Happens::Answer { congested })));
        }
    }

    fn answer(&mut self, flow: u64, now: u64, congested: bool) {
        let window = &mut self.windows[flow as usize];
        window.in_flight -= 1000;
        if congested && now >= window.until {
            window.size = (window.size / 2).max(1000);
            window.slow_start = false;
            window.until = now + RTT_NS;
        } else if !congested {
            window.size += if window.slow_start { 1000 } else { 1_000_000 / window.size };
        }
        self.send(flow, now);
    }

    /// Plans the packets that the window allows.
    fn send(&mut self, flow: u64, mut at: u64) {
        let window = &mut self.windows[flow as usize];
        while window.in_flight + 1000 <= window.size {
            window.in_flight += 1000;
            self.agenda.push(Reverse((at, flow, Happens::Send)));
            at += SPACING_NS;
        }
    }

    fn offer(&mut self, flow: u64) -> Offer {
        let len = match self.options.sizes {
            Sizes::Of(len) => len,
            Sizes::Mix => match self.below(4) {
                0 => 64,
                1 => 64 + self.below(1451) as u32,
                _ => 1514,
            },
        };
        let ecn = match self.options.ecn {
            Ecns::All(ecn) => ecn,
            Ecns::Mix => Ecn::from_bits(self.below(4) as u8),
        };
        Offer { flow, len, ecn }
    }

    /// Plans the next packet of a pattern that does not respond.
    fn plan(&mut self) {
        let (mut now, Offer { flow, .. }) = self.next;
        if self.burst > 0 {
            self.burst -= 1;
            self.next.1 = self.offer(flow);
            return;
        }
        let flow = self.below(self.options.flows);
        let offer = self.offer(flow);
        let since = now - self.start;
        let permille: u64 = match self.options.pattern {
            Pattern::Onoff => 2000,
            Pattern::Saw => (2000 * (since % SAW_NS) / SAW_NS).max(50),
            Pattern::Burst => {
                self.burst = self.below(LONGEST_BURST);
                1000
            }
            Pattern::Steady | Pattern::Aimd => 1000,
        };
        let wire = u128::from(offer.len) * (1 + u128::from(self.burst)) * 8_000_000_000;
        let load = u128::from(self.options.load_permille) * u128::from(permille);
        let mean = wire * 1_000_000 / (u128::from(self.options.rate.as_bps()) * load);
        now += self.below(2 * mean as u64 + 1);
        if self.options.pattern == Pattern::Onoff && (now - self.start) / ONOFF_NS % 2 == 1 {
            now += ONOFF_NS;
        }
        self.next = (now, offer);
    }
}
