//! Propagation: a constant delay, in order, without loss.

use crate::ids::{FlowId, PipeId};
use crate::lists::{List, PerFlow};
use crate::packet::Packet;
use goodqueue_units::{Duration, Instant, processor::prefetch};
use std::collections::VecDeque;

/// The pipes of one direction: one for each delay.
pub(crate) struct Pipes {
    pipes: List<PipeId, Pipe>,
    flows: usize,
    /// Which of them each flow's packets take; empty where there is but one, so that nothing is looked up, which with a hundred
    /// thousand flows would be a cache miss a packet.
    of_flow: PerFlow<PipeId>,
}

/// A delay line.
struct Pipe {
    delay: Duration,
    on_the_way: VecDeque<(Instant, Packet)>,
}

impl Pipes {
    /// A pipe for each of `delays`; `of_flow` says which each flow takes.
    pub(crate) fn new(delays: impl Iterator<Item = Duration>, of_flow: PerFlow<PipeId>) -> Self {
        let pipes: List<_, _> = delays.map(|delay| Pipe { delay, on_the_way: VecDeque::new() }).collect();
        let flows = of_flow.len();
        let all = Self { pipes, flows, of_flow };
        let is_one = all.pipes.len() == 1 && !all.lead_on();
        if is_one { Self { of_flow: PerFlow::default(), ..all } } else { all }
    }

    /// The pipe that packets of `flow` take to their host; [`PipeId::ONWARD`]: they go on to another hop.
    #[inline]
    pub(crate) fn of(&self, flow: FlowId) -> PipeId {
        self.of_flow.get(flow).copied().unwrap_or(PipeId::FIRST)
    }

    /// Whether packets of any flow go on to another hop.
    pub(crate) fn lead_on(&self) -> bool {
        self.of_flow.iter().any(|&pipe| pipe == PipeId::ONWARD)
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

    /// Sends `packet` into the pipe `id` at `time`, which may be yet to come. Where that pipe was empty: when the packet comes out.
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
