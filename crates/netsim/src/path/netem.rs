//! What tc-netem(8) does to packets, one packet at a time. A [wire](super::wire) is built on it.

use super::chance::{Chance, Dice};
use super::jitter::Jitter;
use super::loss::{Loss, Losses};
use goodqueue_qdisc::timed::Timed;
use goodqueue_units::{Duration, Instant, Stream};

/// What a wire does to packets, in the words of tc-netem(8).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct WireParams {
    /// The delay of each packet, without jitter.
    pub(crate) delay: Duration,
    /// How much the delay varies around `delay`: the unit of `distribution`. No delay is negative.
    pub(crate) jitter: Duration,
    pub(crate) distribution: Jitter,
    pub(crate) loss: Loss,
    /// Probability that a packet is duplicated.
    pub(crate) duplicate: f64,
    /// Which packets are sent at once, before all packets that are on their way.
    pub(crate) reorder: Chance,
    /// After a packet that was sent at once, the next `gap` - 1 packets are delayed. 0 works as 1: any packet may be
    /// sent at once. `tc` sets 1 if `gap` is left out. `tc` reads `gap` alone as `reorder 100%`: the caller that
    /// reads such a line has to set `reorder` here.
    pub(crate) gap: u32,
    /// Whether jitter lets a packet overtake another, as in netem. Without this, a packet that would overtake arrives
    /// together with the packet before it, as in netem above a pfifo. A packet that `reorder` sends at once overtakes
    /// in both cases.
    pub(crate) may_reorder: bool,
    /// Most packets that are on their way at a time. Further packets are lost. netem's default is 1000, which causes
    /// unwanted losses on a long fat path. [`WireParams::default`] has a million packets, enough for 10 Gbit/s
    /// times 1 s.
    pub(crate) limit: usize,
}

impl Default for WireParams {
    /// Returns a wire that neither delays nor changes any packet.
    fn default() -> Self {
        Self {
            delay: Duration::ZERO,
            jitter: Duration::ZERO,
            distribution: Jitter::default(),
            loss: Loss::None,
            duplicate: 0.0,
            reorder: Chance::default(),
            gap: 0,
            may_reorder: true,
            limit: 1_000_000,
        }
    }
}

/// Packet counts since the run began. At any time, `offered + duplicated = delivered + lost + held`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct WireCounts {
    pub(crate) offered: u64,
    /// Packets that became two.
    pub(crate) duplicated: u64,
    pub(crate) delivered: u64,
    /// All lost packets, including those in `over_limit`.
    pub(crate) lost: u64,
    /// Packets that the limit refused. They show that the limit is too small for the path: nobody asked for this
    /// loss.
    pub(crate) over_limit: u64,
    /// Packets above a policer's rate, whether they were lost or not.
    pub(crate) exceeded: u64,
    /// Packets on their way.
    pub(crate) held: u64,
}

/// What became of a packet that a wire was given. Both are true if the packet was duplicated and the limit refused a
/// copy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Accepted {
    pub(crate) lost: bool,
    pub(crate) duplicated: bool,
}

/// A wire in one direction.
pub(crate) struct Wire<P> {
    params: WireParams,
    /// The table of `params.distribution`.
    table: Vec<i16>,
    random: Stream,
    losses: Losses,
    duplicate: Dice,
    reorder: Dice,
    /// Packets that were delayed since the last packet was sent at once.
    in_turn: u32,
    /// Release time of the last delayed packet.
    latest: Instant,
    /// Packets on their way.
    held: Timed<P>,
    counts: WireCounts,
}

impl<P: Copy> Wire<P> {
    pub(crate) fn new(params: WireParams, random: Stream) -> Self {
        let losses = Losses::new(params.loss);
        let duplicate = Dice::new(Chance::of(params.duplicate));
        let reorder = Dice::new(params.reorder);
        Self {
            params,
            table: params.distribution.table(),
            random,
            losses,
            duplicate,
            reorder,
            in_turn: 0,
            latest: Instant::ZERO,
            held: Timed::default(),
            counts: WireCounts::default(),
        }
    }

    /// Takes `packet` at `now`, and returns what became of it. `now` may be in the future, but never before the `now`
    /// of the packet before.
    ///
    /// A packet that is both duplicated and lost is sent once, and counts as neither, as in netem. The second copy of
    /// a packet has its own delay, but no loss of its own. In netem, the second copy passes through the qdisc again,
    /// so netem draws for it once more.
    #[inline]
    pub(crate) fn accept(&mut self, now: Instant, packet: P) -> Accepted {
        self.counts.offered += 1;
        let twice = self.duplicate.hit(&mut self.random);
        let none = self.losses.next(&mut self.random);
        let mut accepted = Accepted { lost: none && !twice, duplicated: twice && !none };
        self.counts.lost += u64::from(accepted.lost);
        self.counts.duplicated += u64::from(accepted.duplicated);
        let copies = 1 + u32::from(twice) - u32::from(none);
        for _ in 0..copies {
            if self.held.len() < self.params.limit {
                self.hold(now, packet);
            } else {
                self.counts.lost += 1;
                self.counts.over_limit += 1;
                accepted.lost = true;
            }
        }
        accepted
    }

    fn hold(&mut self, now: Instant, packet: P) {
        let release = self.release_time(now);
        self.held.push(release, packet);
    }

    /// Returns when a packet that enters at `now` leaves.
    fn release_time(&mut self, now: Instant) -> Instant {
        if self.in_turn >= self.params.gap.saturating_sub(1) && self.reorder.hit(&mut self.random) {
            self.in_turn = 0;
            return now;
        }
        self.in_turn = self.in_turn.saturating_add(1);
        let mut delay = self.params.delay.as_nanos();
        if self.params.jitter > Duration::ZERO {
            let off = self.params.distribution.draw(&self.table, self.params.jitter, &mut self.random);
            delay = delay.saturating_add_signed(off);
        }
        let own = now + Duration::from_nanos(delay);
        self.latest = if self.params.may_reorder { own } else { own.max(self.latest) };
        self.latest
    }

    /// Sets the delay and the jitter of packets from now on, as `tc qdisc change` does. Packets on their way keep the
    /// old delay. A packet behind them with a shorter delay overtakes them in netem, whose queue is sorted by time
    /// (`tfifo_enqueue`): here only if jitter may reorder, too.
    pub(crate) fn set_delay(&mut self, delay: Duration, jitter: Duration) {
        (self.params.delay, self.params.jitter) = (delay, jitter);
    }

    /// Returns when the next packet is due, if a packet is on its way.
    #[inline]
    pub(crate) fn next_time(&self) -> Option<Instant> {
        self.held.next_time()
    }

    /// Returns the next packet that is due at `now`, in order of time, then of arrival.
    #[inline]
    pub(crate) fn release(&mut self, now: Instant) -> Option<P> {
        let packet = self.held.pop(now)?;
        self.counts.delivered += 1;
        Some(packet)
    }

    /// Returns the packet counts so far.
    ///
    /// # Panics
    /// If the counts do not add up: a packet vanished or came from nowhere.
    pub(crate) fn counts(&self) -> WireCounts {
        let counts = WireCounts { held: self.held.len() as u64, ..self.counts };
        let WireCounts { offered, duplicated, delivered, lost, held, .. } = counts;
        assert_eq!(offered + duplicated, delivered + lost + held, "conservation: {counts:?}");
        counts
    }
}

#[cfg(test)]
mod tests;
