//! Propagation: a constant delay, in order, without loss.

use crate::direction::Direction;
use crate::ids::{FanId, Number, PipeId};
use crate::lists::{List, PerFlow};
use crate::packet::Packet;
use goodqueue_units::{Duration, Instant, processor::prefetch};
use std::collections::VecDeque;

/// Where packets of a flow leave the path: by one pipe, or, where each connection has a base RTT of its own, by
/// several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    Pipe(PipeId),
    Fan(FanId),
}

/// The pipes of a flow whose connections have base RTTs of their own, one pipe for each.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fan {
    pub(crate) first: PipeId,
    pub(crate) count: u32,
}

impl Fan {
    /// The pipe of a connection, which its hash says: the same one for all of its packets of one direction. The
    /// multiplier is there because disciplines choose queues by the same hash.
    fn pipe(self, connection: u32) -> PipeId {
        let spread = u64::from(connection.wrapping_mul(0x85EB_CA6B));
        PipeId::at(self.first.index() + ((spread * u64::from(self.count)) >> 32) as usize)
    }
}

/// The pipes of one direction: one for each delay.
pub(crate) struct Pipes {
    pipes: List<PipeId, Pipe>,
    flows: usize,
    /// Which of them each flow's packets take; empty where there is but one, so that nothing is looked up, which with a
    /// hundred thousand flows would be a cache miss a packet.
    of_flow: PerFlow<Exit>,
    fans: List<FanId, Fan>,
    direction: Direction,
}

/// A delay line.
struct Pipe {
    delay: Duration,
    on_the_way: VecDeque<(Instant, Packet)>,
}

impl Pipes {
    /// A pipe of `direction` for each of `delays`; `of_flow` says which each flow takes, or which of the `fans`.
    pub(crate) fn new(
        direction: Direction,
        delays: impl Iterator<Item = Duration>,
        of_flow: PerFlow<Exit>,
        fans: List<FanId, Fan>,
    ) -> Self {
        let pipes: List<_, _> = delays.map(|delay| Pipe { delay, on_the_way: VecDeque::new() }).collect();
        let flows = of_flow.len();
        let all = Self { pipes, flows, of_flow, fans, direction };
        let is_one = all.pipes.len() == 1 && !all.lead_on();
        if is_one { Self { of_flow: PerFlow::default(), ..all } } else { all }
    }

    /// The pipe that `packet` takes to its host; [`PipeId::ONWARD`]: it goes on to another hop.
    #[inline]
    pub(crate) fn of(&self, packet: &Packet) -> PipeId {
        self.of_flow.get(packet.flow).map_or(PipeId::FIRST, |&exit| self.by(exit, packet))
    }

    /// The pipe that `packet`, whose flow leaves by `exit`, takes.
    #[inline]
    pub(crate) fn by(&self, exit: Exit, packet: &Packet) -> PipeId {
        match exit {
            Exit::Pipe(pipe) => pipe,
            Exit::Fan(fan) => self.fans[fan].pipe(packet.connection(self.direction)),
        }
    }

    /// Whether packets of any flow go on to another hop.
    pub(crate) fn lead_on(&self) -> bool {
        self.of_flow.iter().any(|&exit| exit == Exit::Pipe(PipeId::ONWARD))
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

    /// Sends `packet` into the pipe `id` at `time`, which may be yet to come. Where that pipe was empty: when the
    /// packet comes out.
    #[inline]
    pub(crate) fn push(&mut self, id: PipeId, time: Instant, packet: &Packet) -> Option<Instant> {
        let pipe = &mut self.pipes[id];
        let out = time + pipe.delay;
        let was_empty = pipe.on_the_way.is_empty();
        pipe.on_the_way.push_back((out, *packet));
        was_empty.then_some(out)
    }

    /// The next packet to come out of `pipe`.
    #[inline]
    pub(crate) fn head(&self, pipe: PipeId) -> Option<&Packet> {
        self.pipes[pipe].on_the_way.front().map(|(_, packet)| packet)
    }

    /// The packet that is `places` behind it, if there is one.
    #[inline]
    pub(crate) fn behind(&self, pipe: PipeId, places: usize) -> Option<&Packet> {
        self.pipes[pipe].on_the_way.get(places).map(|(_, packet)| packet)
    }

    /// Asks the processor for the packet that is `places` behind it.
    #[inline]
    pub(crate) fn prefetch(&self, pipe: PipeId, places: usize) {
        if let Some(slot) = self.pipes[pipe].on_the_way.get(places) {
            prefetch(slot);
        }
    }

    /// Takes that packet out. When the one behind it comes out; [`Instant::MAX`]: there is none.
    #[inline]
    pub(crate) fn pop(&mut self, pipe: PipeId) -> Instant {
        let on_the_way = &mut self.pipes[pipe].on_the_way;
        on_the_way.pop_front();
        on_the_way.front().map_or(Instant::MAX, |next| {
            prefetch(next);
            next.0
        })
    }
}
