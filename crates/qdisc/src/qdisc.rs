//! The contract between a discipline and its link.

use crate::signal::Owner;
use goodqueue_units::Instant;

/// What became of the packet offered, as Linux's enqueue functions return it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Enqueued {
    /// `NET_XMIT_SUCCESS`: it waits (or, in `dualpi2`, was dropped early without telling).
    Success = 0,
    /// `NET_XMIT_DROP`: it was dropped.
    Dropped = 1,
    /// `NET_XMIT_CN`: congestion; it, or another packet of its flow, was dropped.
    Congestion = 2,
}

/// What waits in a discipline.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Backlog {
    /// Packets.
    pub packets: u32,
    /// Bytes.
    pub bytes: u64,
}

impl Backlog {
    /// No limit, where a backlog is one.
    pub const UNLIMITED: Self = Self { packets: u32::MAX, bytes: u64::MAX };

    /// Whether it exceeds `limit`, in packets or in bytes.
    #[must_use]
    pub const fn exceeds(self, limit: Self) -> bool {
        self.packets > limit.packets || self.bytes > limit.bytes
    }
}

/// What a shaper sees that looks into a discipline before it takes a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Head {
    /// A packet of so many bytes would leave next.
    Length(u32),
    /// Nothing waits.
    Nothing,
    /// Only [`Qdisc::dequeue`] can tell, as where a law may drop what is in front.
    Unknown,
}

/// A point of time by a discipline's clock, in nanoseconds of which the upper bits may be missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    nanos: u64,
    bits: u32,
}

impl Moment {
    /// By a clock that wraps to 0 after `2^bits` ns, 1 to 64 bits.
    #[must_use]
    pub const fn wrapping(nanos: u64, bits: u32) -> Self {
        Self { nanos, bits }
    }

    /// Nanoseconds from `now` until then; negative where it has passed. A clock that wraps tells half a turn apart.
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

/// What a variable is in units that people read; `None` where it has no value at the time.
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
    /// Nothing: it serves the computation, as the keys of a hash do.
    Internal,
}

/// A variable as the discipline keeps it, and as a trace writes it.
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

/// Receives a discipline's inner state, one variable after the other, under the names that Linux or the RFC give.
pub trait Probe {
    /// A variable that a person reads in other units than the discipline keeps it in. A trace wants what is kept, hence
    /// the default.
    fn measured(&mut self, name: &'static str, raw: Raw, measure: Measure) {
        let _ = measure;
        match raw {
            Raw::Integer(value) => self.integer(name, value),
            Raw::Real(value) => self.real(name, value),
        }
    }

    /// A variable in the units that its name or the discipline's page states.
    fn integer(&mut self, name: &'static str, value: i128);

    /// A variable that is a real number, such as a probability.
    fn real(&mut self, name: &'static str, value: f64);

    /// A compound, such as the list of a scheduler's first flows; asked for only by traces.
    fn text(&mut self, name: &'static str, value: alloc::string::String) {
        let _ = (name, value);
    }
}

/// A queue discipline: what a link or a gateway sees.
pub trait Qdisc<P> {
    /// Offers `packet`. It, and others, may be handed to [`Owner::dropped`] before the call returns.
    fn enqueue<O: Owner<P>>(&mut self, now: Instant, packet: P, owner: &mut O) -> Enqueued;

    /// Takes the packet to send next. `None`: nothing to send now. That call counts too: disciplines learn from it
    /// that the link has gone idle.
    fn dequeue<O: Owner<P>>(&mut self, now: Instant, owner: &mut O) -> Option<P>;

    /// What would leave next, where a look at the queue tells. For a shaper (`tbf`); a look is no dequeue, and teaches
    /// nothing of idleness.
    fn head(&self) -> Head {
        Head::Unknown
    }

    /// When [`Qdisc::on_timer`] wants to be called next (PIE's update, ARED's adaptation); `None`: never.
    ///
    /// A discipline that shapes (`cake bandwidth`) may hold packets and yet answer `None` to [`Qdisc::dequeue`]. Its
    /// timer then says when it may send, and changes with each call; so a link asks for it after each `enqueue` and
    /// `dequeue`, and after each `on_timer` an idle link calls `dequeue` again.
    fn next_timer(&self) -> Option<Instant> {
        None
    }

    /// Whether [`Qdisc::dequeue`] gives a packet whenever one waits, which a shaper does not.
    fn is_work_conserving(&self) -> bool {
        true
    }

    /// The timer. Calls before it is due are harmless only where the discipline says so.
    fn on_timer<O: Owner<P>>(&mut self, now: Instant, owner: &mut O) {
        let _ = (now, owner);
    }

    /// Asks the processor for what is going to be touched by a packet with this flow hash, and by the next one out.
    fn prefetch(&self, flow_hash: u32) {
        let _ = flow_hash;
    }

    /// What waits.
    fn backlog(&self) -> Backlog;

    /// Shows the inner state, for plots and traces.
    fn probe(&self, probe: &mut dyn Probe) {
        let _ = probe;
    }
}
