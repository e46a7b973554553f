//! Propagation: a constant delay, without reordering and loss.

use crate::agenda::scanned;
use crate::ids::{FanId, Number, PipeId};
use crate::lists::{List, PerFlow};
use crate::packet::Packet;
use goodqueue_hosts::direction::Direction;
use goodqueue_units::{Duration, Instant, processor::prefetch};
use std::collections::VecDeque;

/// How packets of a flow leave the path: by one pipe, or by several if each connection has its own base RTT.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    Pipe(PipeId),
    Fan(FanId),
}

/// The pipes of a flow whose connections have their own base RTTs: one pipe per RTT.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fan {
    pub(crate) first: PipeId,
    pub(crate) count: u32,
}

impl Fan {
    /// Returns the pipe of a connection, computed from its hash. All packets of the connection in one direction get
    /// the same pipe. The multiplication separates this choice from the disciplines' choice of a queue by the same
    /// hash.
    fn pipe(self, connection: u32) -> PipeId {
        let spread = u64::from(connection.wrapping_mul(0x85EB_CA6B));
        PipeId::at(self.first.index() + ((spread * u64::from(self.count)) >> 32) as usize)
    }
}

/// The pipes of one direction, one per delay.
pub(crate) struct Pipes {
    pipes: List<PipeId, Pipe>,
    flows: usize,
    /// The exit of each flow's packets. The list is empty if there is only one pipe, so that nothing is looked up.
    /// With 100,000 flows the look-up would cost one cache miss per packet.
    of_flow: PerFlow<Exit>,
    fans: List<FanId, Fan>,
    direction: Direction,
}

/// A delay line.
struct Pipe {
    delay: Duration,
    /// When the last packet of an earlier delay comes out. No packet behind it comes out before.
    floor: Instant,
    /// Before this time only segments of bulk transfers come out.
    bulk_before: Instant,
    on_the_way: VecDeque<(Instant, Packet)>,
}

/// What is in a pipe, with the time at which it comes out.
pub(crate) type OnTheWay<'a> = &'a [(Instant, Packet)];

/// Returns when the first of these packets comes out.
#[inline]
pub(crate) fn time_of(packets: OnTheWay<'_>) -> Instant {
    packets.first().map_or(Instant::MAX, |(time, _)| *time)
}

impl Pipes {
    /// Builds one pipe of `direction` for each of `delays`. `of_flow` has each flow's pipe, or its fan among `fans`.
    pub(crate) fn new(
        direction: Direction,
        delays: impl Iterator<Item = Duration>,
        of_flow: PerFlow<Exit>,
        fans: List<FanId, Fan>,
    ) -> Self {
        let (floor, bulk_before) = (Instant::ZERO, Instant::ZERO);
        let pipes: List<_, _> =
            delays.map(|delay| Pipe { delay, floor, bulk_before, on_the_way: VecDeque::new() }).collect();
        let flows = of_flow.len();
        let all = Self { pipes, flows, of_flow, fans, direction };
        let is_one = all.pipes.len() == 1 && !all.lead_on();
        if is_one { Self { of_flow: PerFlow::default(), ..all } } else { all }
    }

    /// Returns the pipe of `packet` to its host, or [`PipeId::ONWARD`] if the packet goes on to another hop.
    #[inline]
    pub(crate) fn of(&self, packet: &Packet) -> PipeId {
        self.of_flow.get(packet.flow).map_or(PipeId::FIRST, |&exit| self.by(exit, packet))
    }

    /// Returns the pipe of `packet`, if its flow leaves by `exit`.
    #[inline]
    pub(crate) fn by(&self, exit: Exit, packet: &Packet) -> PipeId {
        match exit {
            Exit::Pipe(pipe) => pipe,
            Exit::Fan(fan) => self.fans[fan].pipe(packet.connection(self.direction)),
        }
    }

    /// Returns whether packets of any flow go on to another hop.
    pub(crate) fn lead_on(&self) -> bool {
        self.of_flow.iter().any(|&exit| exit == Exit::Pipe(PipeId::ONWARD))
    }

    /// Returns the number of flows.
    pub(crate) fn flows(&self) -> usize {
        self.flows
    }

    /// Returns the shortest of the delays, or zero if packets of any flow go on to another hop.
    pub(crate) fn least_delay(&self) -> Duration {
        if self.lead_on() { Duration::ZERO } else { self.shortest() }
    }

    /// Returns the shortest of the delays.
    pub(crate) fn shortest(&self) -> Duration {
        self.pipes.iter().map(|pipe| pipe.delay).min().unwrap_or(Duration::ZERO)
    }

    /// Changes each delay by as much as `to` differs from `from`, except that of pipes that `keeps` names. Packets on
    /// their way keep the old delay. A packet that would overtake them comes out together with the last of them.
    pub(crate) fn change(&mut self, from: Duration, to: Duration, keeps: impl Fn(PipeId) -> bool) {
        for id in self.pipes.numbers().filter(|id| !keeps(*id)) {
            let pipe = &mut self.pipes[id];
            pipe.delay = (pipe.delay + to).saturating_sub(from);
            pipe.floor = pipe.on_the_way.back().map_or(pipe.floor, |last| last.0);
        }
    }

    /// Sends `packet` into the pipe `id` at `time`, which may be in the future. If the pipe was empty, returns when
    /// the packet comes out.
    #[inline]
    pub(crate) fn push(&mut self, id: PipeId, time: Instant, packet: &Packet) -> Option<Instant> {
        let pipe = &mut self.pipes[id];
        let out = (time + pipe.delay).max(pipe.floor);
        let was_empty = pipe.on_the_way.is_empty();
        pipe.on_the_way.push_back((out, *packet));
        was_empty.then_some(out)
    }

    /// Returns the next packets in the pipe `id`, with the times at which they come out. There may be more behind them.
    #[inline]
    pub(crate) fn next(&self, id: PipeId) -> OnTheWay<'_> {
        self.pipes[id].on_the_way.as_slices().0
    }

    /// Returns a time before which only segments of bulk transfers come out of the scanned pipes, all of which
    /// [`next`](Self::next) has; at most `until`. `is_bulk` is asked once for each packet.
    pub(crate) fn bulk_until(&mut self, until: Instant, is_bulk: impl Fn(&Packet) -> bool) -> Instant {
        let (mut first, count) = (until, self.scanned());
        for pipe in self.pipes.iter_mut().take(count) {
            let (next, later) = pipe.on_the_way.as_slices();
            let Some((time, _)) = next.first() else { continue };
            let until = until.min(time_of(later));
            if *time >= pipe.bulk_before {
                let other = next.iter().find(|(time, packet)| *time >= until || !is_bulk(packet));
                pipe.bulk_before = other.map_or(until, |(time, _)| until.min(*time));
            }
            first = first.min(until).min(pipe.bulk_before);
        }
        first
    }

    /// Forgets what [`bulk_until`](Self::bulk_until) has found. `has_others`: some flows are no bulk transfers.
    pub(crate) fn look_anew(&mut self, has_others: bool) {
        let bulk_before = if has_others { Instant::ZERO } else { Instant::MAX };
        self.pipes.iter_mut().for_each(|pipe| pipe.bulk_before = bulk_before);
    }

    /// Removes the next `packets` packets of the pipe `id`. Returns when the packet behind them comes out, or
    /// [`Instant::MAX`] if there is none.
    pub(crate) fn take(&mut self, id: PipeId, packets: usize) -> Instant {
        let on_the_way = &mut self.pipes[id].on_the_way;
        on_the_way.drain(..packets);
        on_the_way.front().map_or(Instant::MAX, |next| next.0)
    }

    /// Returns how many of the pipes the agenda scans. They are the first ones.
    #[inline]
    pub(crate) fn scanned(&self) -> usize {
        scanned(self.pipes.len())
    }

    /// Returns the number of pipes.
    #[cfg(feature = "threads")]
    pub(crate) fn count(&self) -> usize {
        self.pipes.len()
    }

    /// Puts `packet` into the pipe `id`, from which it comes out at `time`. Returns `time` if the pipe was empty.
    #[cfg(feature = "threads")]
    pub(crate) fn arrive(&mut self, id: PipeId, time: Instant, packet: &Packet) -> Option<Instant> {
        let on_the_way = &mut self.pipes[id].on_the_way;
        on_the_way.push_back((time, *packet));
        (on_the_way.len() == 1).then_some(time)
    }

    /// Takes all packets out of the pipes. `take` gets each with its pipe and the time at which it comes out.
    #[cfg(feature = "threads")]
    pub(crate) fn drain(&mut self, mut take: impl FnMut(PipeId, Instant, &Packet)) {
        for id in self.pipes.numbers() {
            let on_the_way = &mut self.pipes[id].on_the_way;
            on_the_way.iter().for_each(|(time, packet)| take(id, *time, packet));
            on_the_way.clear();
        }
    }

    /// Returns the next packet to come out of `pipe`.
    #[inline]
    pub(crate) fn head(&self, pipe: PipeId) -> Option<&Packet> {
        self.pipes[pipe].on_the_way.front().map(|(_, packet)| packet)
    }

    /// Returns the packet `places` places behind the next one, if there is one.
    #[inline]
    pub(crate) fn behind(&self, pipe: PipeId, places: usize) -> Option<&Packet> {
        self.pipes[pipe].on_the_way.get(places).map(|(_, packet)| packet)
    }

    /// Prefetches the packet `places` places behind the next one.
    #[inline]
    pub(crate) fn prefetch(&self, pipe: PipeId, places: usize) {
        if let Some(slot) = self.pipes[pipe].on_the_way.get(places) {
            prefetch(slot);
        }
    }

    /// Removes the next packet. Returns when the packet behind it comes out, or [`Instant::MAX`] if there is none.
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
