//! The contract between a discipline and its link.

use crate::packet::Packet;
use crate::signal::Owner;
use goodqueue_units::Instant;

/// The result of offering a packet, as Linux's enqueue functions return it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Enqueued {
    /// `NET_XMIT_SUCCESS`: the packet waits. In `dualpi2` it may also have been dropped early, which Linux does not
    /// report.
    Success = 0,
    /// `NET_XMIT_DROP`: the packet was dropped.
    Dropped = 1,
    /// `NET_XMIT_CN`: congestion. This packet, or another one of its flow, was dropped.
    Congestion = 2,
}

/// The packets and bytes that wait in a discipline.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Backlog {
    /// Packets.
    pub packets: u32,
    /// Bytes.
    pub bytes: u64,
}

impl Backlog {
    /// No limit, for a `Backlog` that is used as a limit.
    pub const UNLIMITED: Self = Self { packets: u32::MAX, bytes: u64::MAX };

    /// Returns whether this backlog exceeds `limit` in packets or in bytes.
    #[must_use]
    pub const fn exceeds(self, limit: Self) -> bool {
        self.packets > limit.packets || self.bytes > limit.bytes
    }
}

impl core::iter::Sum for Backlog {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::default(), |sum, one| Self {
            packets: sum.packets + one.packets,
            bytes: sum.bytes + one.bytes,
        })
    }
}

/// A point of time on a discipline's clock, in nanoseconds. The upper bits may be missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    nanos: u64,
    bits: u32,
}

impl Moment {
    /// Returns the time `nanos` on a clock that wraps to 0 after `2^bits` ns; `bits` is 1 to 64.
    #[must_use]
    pub const fn wrapping(nanos: u64, bits: u32) -> Self {
        Self { nanos, bits }
    }

    /// Returns the nanoseconds from `now` to this moment, negative if it has passed. On a clock that wraps, the
    /// result is correct if the two are less than half a turn apart.
    #[must_use]
    pub const fn nanos_from(self, now: Instant) -> i64 {
        let unused = u64::BITS - self.bits;
        (self.nanos.wrapping_sub(now.as_nanos()) << unused) as i64 >> unused
    }
}

impl From<Instant> for Moment {
    fn from(time: Instant) -> Self {
        Self::wrapping(time.as_nanos(), u64::BITS)
    }
}

/// The value of a variable in a unit that people read. `None`: the variable has no value at this time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Measure {
    /// A number without a unit, such as a probability.
    Number(Option<f64>),
    /// A length of time, in seconds.
    Time(Option<f64>),
    /// A point of time.
    Moment(Option<Moment>),
    /// Bytes, perhaps an average of them.
    Bytes(Option<f64>),
    /// Packets, perhaps an average of them.
    Packets(Option<f64>),
    /// A rate, in bits per second.
    Rate(Option<f64>),
    /// No unit: the variable is internal to the computation, such as the keys of a hash.
    Internal,
}

/// A variable as the discipline keeps it and as a decision trace writes it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Raw {
    /// An integer, such as ticks of a clock or a fixed-point number.
    Integer(i128),
    /// A real number.
    Real(f64),
}

impl<T: Into<i128>> From<T> for Raw {
    fn from(value: T) -> Self {
        Self::Integer(value.into())
    }
}

/// Receives a discipline's inner state, variable by variable, under the names that Linux or the RFC uses.
pub trait Probe {
    /// Receives a variable that people read in another unit than the one it is kept in. A decision trace wants the
    /// kept value, so the default passes `raw` on and ignores `measure`.
    fn measured(&mut self, name: &'static str, raw: Raw, measure: Measure) {
        let _ = measure;
        match raw {
            Raw::Integer(value) => self.integer(name, value),
            Raw::Real(value) => self.real(name, value),
        }
    }

    /// Receives an integer, in the unit that its name or the discipline's page states.
    fn integer(&mut self, name: &'static str, value: i128);

    /// Receives a real number, such as a probability.
    fn real(&mut self, name: &'static str, value: f64);

    /// Receives a compound value, such as the list of a scheduler's first flows. Only decision traces want it.
    fn text(&mut self, name: &'static str, value: alloc::string::String) {
        let _ = (name, value);
    }
}

/// A queue discipline: what a link or a gateway sees.
pub trait Qdisc<P> {
    /// Offers `packet`. This packet and others may be handed to [`Owner::dropped`] before the call returns.
    fn enqueue<O: Owner<P>>(&mut self, now: Instant, packet: P, owner: &mut O) -> Enqueued;

    /// Offers a copy of `packet`. A discipline that makes the copy at its place in the queue copies the packet once.
    #[inline]
    fn enqueue_copy<O: Owner<P>>(&mut self, now: Instant, packet: &P, owner: &mut O) -> Enqueued
    where
        P: Copy,
    {
        self.enqueue(now, *packet, owner)
    }

    /// Offers `packet`, for which the discipline's own filters say `classid`, or nothing if none of them matches.
    /// `None`: Linux drops the packet, and tells the class above that it was taken (`__NET_XMIT_BYPASS`). A discipline
    /// without filters does what it does without them.
    #[cfg(feature = "complete")]
    fn enqueue_into<O: Owner<P>>(
        &mut self,
        now: Instant,
        packet: P,
        classid: Option<crate::tree::Id>,
        owner: &mut O,
    ) -> Option<Enqueued> {
        let _ = classid;
        Some(self.enqueue(now, packet, owner))
    }

    /// Takes the packet to send next. `None`: there is nothing to send now. A call that returns `None` matters too:
    /// it shows the discipline that the link is idle.
    fn dequeue<O: Owner<P>>(&mut self, now: Instant, owner: &mut O) -> Option<P>;

    /// Does what [`Qdisc::dequeue`] does, and shows the packet to `send` where it lies, with its length. So a packet
    /// that is copied need not be moved before, and is asked for its length once.
    #[inline]
    fn dequeue_to<O: Owner<P>, R>(
        &mut self,
        now: Instant,
        owner: &mut O,
        send: impl FnOnce(&P, u32) -> R,
    ) -> Option<R>
    where
        P: Packet,
    {
        self.dequeue(now, owner).as_ref().map(|packet| send(packet, packet.len()))
    }

    /// Lets `packet`, which arrives now at an idle link, leave at once, if nothing waits: does what
    /// [`Qdisc::enqueue`] and then [`Qdisc::dequeue`] would do. Returns the packet's length. `None`: the discipline has
    /// done nothing, and the caller asks it as usual.
    #[inline]
    fn pass(&mut self, now: Instant, packet: &P) -> Option<u32>
    where
        P: Packet,
    {
        let _ = (now, packet);
        None
    }

    /// Returns when [`Qdisc::on_timer`] is to be called next (PIE's update, ARED's adaptation). `None`: never.
    ///
    /// A discipline that shapes (`cake bandwidth`) may hold packets and still answer `None` to [`Qdisc::dequeue`].
    /// Its timer then says when it may send, and that time changes with each call. So a link asks for it after each
    /// `enqueue` and `dequeue`, and an idle link calls `dequeue` again after each `on_timer`.
    fn next_timer(&self) -> Option<Instant> {
        None
    }

    /// Returns whether [`Qdisc::dequeue`] gives a packet whenever one waits. A shaper does not.
    fn is_work_conserving(&self) -> bool {
        true
    }

    /// Returns whether the discipline waits for departure times that TCP of its own host sets (`fq`), so that TCP need
    /// not. With several queues the answer is yes if any of them waits.
    fn paces_sockets(&self) -> bool {
        false
    }

    /// Runs the timer's work. An early call is harmless only if the discipline says so.
    fn on_timer<O: Owner<P>>(&mut self, now: Instant, owner: &mut O) {
        let _ = (now, owner);
    }

    /// Prefetches into the processor's cache the state that a packet with this flow hash will need, and the next
    /// packet out.
    fn prefetch(&self, flow_hash: u32) {
        let _ = flow_hash;
    }

    /// Returns the names of the queues into which the discipline sorts packets by what they say of themselves, such as
    /// `dualpi2`'s L and C or `cake`'s tins. Flows are no such queues. Empty: there are none.
    fn queues(&self) -> &'static [&'static str] {
        &[]
    }

    /// Returns the queue of `packet`, as an index into [`Qdisc::queues`].
    fn queue_of(&self, packet: &P) -> usize {
        let _ = packet;
        0
    }

    /// Returns the packets and bytes that wait.
    fn backlog(&self) -> Backlog;

    /// Returns [`backlog`](Self::backlog) and [`next_timer`](Self::next_timer), for a scheduler that asks for both
    /// after each packet.
    #[cfg(feature = "complete")]
    fn state(&self) -> (Backlog, Option<Instant>) {
        (self.backlog(), self.next_timer())
    }

    /// Shows the inner state to `probe`, for plots and decision traces.
    fn probe(&self, probe: &mut dyn Probe) {
        let _ = probe;
    }
}
