//! Propagation: a constant delay, in order, without loss.

use crate::packet::Packet;
use crate::scenario::Direction;
use goodqueue_units::{Duration, Instant, prefetch};
use std::collections::VecDeque;

/// Of flows whose packets go on to another hop.
pub(crate) const ONWARD: u32 = u32::MAX;
/// Of flows whose connections have base RTTs of their own: this, and the number of the flow's [`Fan`].
pub(crate) const FAN: u32 = 1 << 31;

/// The pipes of one flow whose connections have base RTTs of their own, one pipe for each RTT.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fan {
    pub(crate) first: u32,
    pub(crate) count: u32,
}

impl Fan {
    /// The pipe of a connection, which its hash says: the same for all packets of one way. The multiplier is there because
    /// disciplines choose queues by the same hash.
    fn pipe(self, connection: u32) -> u32 {
        let spread = u64::from(connection.wrapping_mul(0x85EB_CA6B));
        self.first + (spread * u64::from(self.count) >> 32) as u32
    }
}

/// The pipes of one direction: one for each delay.
pub(crate) struct Pipes {
    pipes: Vec<Pipe>,
    flows: usize,
    /// Which of them each flow's packets take; empty where there is but one, so that nothing is looked up, which with a hundred
    /// thousand flows would be a cache miss a packet.
    of_flow: Vec<u32>,
    fans: Vec<Fan>,
    direction: Direction,
}

/// A delay line.
struct Pipe {
    delay: Duration,
    on_the_way: VecDeque<(Instant, Packet)>,
}

impl Pipes {
    /// A pipe of `direction` for each of `delays`; `of_flow` says which each flow takes, one of them, or a fan.
    pub(crate) fn new(
        direction: Direction,
        delays: impl Iterator<Item = Duration>,
        of_flow: Vec<u32>,
        fans: Vec<Fan>,
    ) -> Self {
        let pipes: Vec<_> = delays.map(|delay| Pipe { delay, on_the_way: VecDeque::new() }).collect();
        let flows = of_flow.len();
        let is_one = pipes.len() == 1 && !of_flow.contains(&ONWARD);
        Self { of_flow: if is_one { Vec::new() } else { of_flow }, pipes, flows, fans, direction }
    }

    /// The pipe that `packet` takes to its host; [`ONWARD`]: it goes on to another hop.
    #[inline]
    pub(crate) fn number(&self, packet: &Packet) -> u32 {
        self.of_flow.get(packet.flow as usize).map_or(0, |&number| self.resolve(number, packet))
    }

    /// The pipe that `packet` takes, of the pipe, the fan or [`ONWARD`] that its flow has.
    #[inline]
    pub(crate) fn resolve(&self, number: u32, packet: &Packet) -> u32 {
        if number < FAN || number == ONWARD {
            return number;
        }
        self.fans[(number - FAN) as usize].pipe(packet.connection(self.direction))
    }

    /// Whether packets of any flow go on to another hop.
    pub(crate) fn lead_on(&self) -> bool {
        self.of_flow.contains(&ONWARD)
    }

    /// How many flows there are.
    pub(crate) fn flows(&self) -> usize {
        self.flows
    }

    /// How many pipes there are.
    pub(crate) fn len(&self) -> usize {
        self.pipes.len()
    }

    /// The shortest of the delays; none where packets go on to another hop.
    pub(crate) fn least_delay(&self) -> Duration {
        if self.lead_on() {
            return Duration::ZERO;
        }
        self.pipes.iter().map(|pipe| pipe.delay).min().unwrap_or(Duration::ZERO)
    }

    /// Sends `packet` into the pipe `number` at `time`, which may be yet to come. Where that pipe was empty: its number, and when
    /// the packet comes out.
    #[inline]
    pub(crate) fn push(&mut self, number: u32, time: Instant, packet: &Packet) -> Option<(u32, Instant)> {
        let pipe = &mut self.pipes[number as usize];
        let out = time + pipe.delay;
        let was_empty = pipe.on_the_way.is_empty();
        pipe.on_the_way.push_back((out, *packet));
        was_empty.then_some((number, out))
    }

    /// The next packet to come out of pipe `number`.
    #[inline]
    pub(crate) fn head(&self, number: usize) -> Option<&Packet> {
        self.pipes[number].on_the_way.front().map(|(_, packet)| packet)
    }

    /// The packet that is `places` behind it, if there is one.
    #[inline]
    pub(crate) fn behind(&self, number: usize, places: usize) -> Option<&Packet> {
        self.pipes[number].on_the_way.get(places).map(|(_, packet)| packet)
    }

    /// Asks the processor for the packet that is `places` behind it.
    #[inline]
    pub(crate) fn prefetch(&self, number: usize, places: usize) {
        if let Some(slot) = self.pipes[number].on_the_way.get(places) {
            prefetch(slot);
        }
    }

    /// Takes that packet out. When the one behind it comes out; [`Instant::MAX`]: there is none.
    #[inline]
    pub(crate) fn pop(&mut self, number: usize) -> Instant {
        let on_the_way = &mut self.pipes[number].on_the_way;
        on_the_way.pop_front();
        on_the_way.front().map_or(Instant::MAX, |next| {
            prefetch(next);
            next.0
        })
    }
}
