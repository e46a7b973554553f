//! Applications: state machines above TCP connections and datagrams. They open, write to and close connections during a
//! run, and measure.
//!
//! An [`Application`] does no I/O and has no clock. Its caller passes the time and reports what arrived. The
//! application acts through a [`Host`], and sets the time at which it is woken next. It may have any number of
//! connections at a time, or none, and may send datagrams. So each application is written once: the simulator is one
//! host, and Linux's sockets are another.

use super::result;
use crate::direction::Side;
use crate::keys::{Key, Result, Size, Span, Table, Values, refuse};
use goodqueue_units::{Duration, Ecn, Instant};

/// Upper bound of every key that is a size in bytes.
pub(crate) const MOST_BYTES: Size = Size(1_000_000_000_000_000);
/// Upper bound of the time between two actions of an application.
pub(crate) const LONGEST_WAIT: Span = Span(Duration::from_secs(1_000_000));
/// How many times an application acts. Each kind says what it counts.
pub(crate) const REPEAT: Key<u64> = Key::optional("repeat", "10").range(1, 1_000_000_000);
/// Time from the end of one action to the start of the next.
pub(crate) const AGAIN: Key<Span> =
    Key::with_default("interval", "\"0s\"").range(Span(Duration::ZERO), LONGEST_WAIT).example("\"1s\"");

/// Upper bound of the base RTTs, if each connection has its own.
pub const RTT_MAX: Key<Span> = Key::optional("rtt_max", "\"150ms\"")
    .help(
        "each connection has its own base round-trip time, uniform between `rtt` and this in steps of 1 ms. The kernel \
         engine has twelve values, the middles of equal parts",
    );
/// The greatest difference between `rtt` and `rtt_max`.
const MOST_SPREAD: Span = Span(Duration::from_secs(1));

/// Refuses an [`RTT_MAX`] that is less than `rtt`, or greater than `rtt` by more than [`MOST_SPREAD`].
pub(crate) fn check_rtts(table: &Table<'_>, rtt: Span, values: &Values) -> Result<()> {
    match values.find(&RTT_MAX) {
        Some(most) if most.0 < rtt.0 || most.0 > rtt.0 + MOST_SPREAD.0 => {
            let accepted = format!("from rtt, {}, to {} more", rtt.0, MOST_SPREAD.0);
            refuse(&table.key("rtt_max"), most.0, &accepted)
        }
        _ => Ok(()),
    }
}

/// How many windows of data a connection's end has lost segments of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LossyWindows {
    /// All of them.
    pub all: u64,
    /// Windows among them of which more than one segment was lost.
    pub multi: u64,
}

/// What an application does. One object plays both [sides](Side).
pub trait Application: Send + Sync {
    /// Begins the application, because the flow starts.
    fn start(&mut self, host: &mut dyn Host);
    /// Acts at the time that the application asked for with [`Host::wake_at`].
    fn wake(&mut self, host: &mut dyn Host);
    /// Takes note that at `end` of `socket` the handshake is over, more bytes have arrived in order, or the peer has
    /// closed.
    fn notice(&mut self, socket: SocketId, end: Side, host: &mut dyn Host);
    /// Takes a datagram of this application that arrived at `end`.
    fn datagram(&mut self, _message: Message, _end: Side, _host: &mut dyn Host) {}
    /// Ends the application, because the flow's time is over. The application begins nothing new. What is under way may
    /// end.
    fn stop(&mut self, host: &mut dyn Host);
    /// Begins measuring.
    fn measure_from(&mut self, now: Instant);
    /// Returns what the application measured up to `now`, if it measures.
    fn result(&self, now: Instant) -> Option<result::Result>;
    /// Returns what it was asked for and has not done.
    fn undone(&self) -> result::Undone;
    /// Keeps what the application does from now on: the scenario asks for time series.
    fn log(&mut self) {}
    /// Returns what was kept: the part of the record's time series of the flow `name`.
    fn series(&self, _name: &str) -> Option<result::Series> {
        None
    }
}

/// The number of a connection of an application, which its host gives. After the connection has ended, another one may
/// get it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SocketId(u32);

impl SocketId {
    /// Returns the connection with the number `index`.
    #[inline]
    #[must_use]
    pub const fn at(index: usize) -> Self {
        Self(index as u32)
    }

    /// Returns the number.
    #[inline]
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// A datagram, as an application sends and receives it.
#[derive(Clone, Copy, Debug)]
pub struct Message {
    /// The number by which the application knows its contents.
    pub number: u32,
    /// Length in bytes as `tc` counts it on Ethernet.
    pub len: u16,
    /// The ECN field of the IP header.
    pub ecn: Ecn,
}

/// What an application acts through: its clock, its timer and its sockets.
pub trait Host {
    /// Returns the time of the event that the application handles.
    fn now(&self) -> Instant;
    /// Returns the end that sends the flow's data.
    fn sender(&self) -> Side;
    /// Returns the end that receives the flow's data.
    fn receiver(&self) -> Side {
        self.sender().other()
    }
    /// Opens a connection from the end `opener`. Data may be written at once; they are sent as soon as the handshake
    /// allows it.
    fn open(&mut self, opener: Side) -> SocketId;
    /// Writes `bytes` at `end`.
    fn write(&mut self, socket: SocketId, end: Side, bytes: u64);
    /// Closes `end`: it writes no more. An end also closes by itself, once the peer has closed and all of the peer's
    /// data have arrived.
    fn close(&mut self, socket: SocketId, end: Side);
    /// Returns the number of bytes that `end` has received in order.
    fn delivered(&self, socket: SocketId, end: Side) -> u64;
    /// Says that data at `end` mean nothing to the application before it has received so many bytes in order, except
    /// that the application looks whether it is due. The host may then spare itself the notice; the default does not.
    fn await_bytes(&mut self, _socket: SocketId, _end: Side, _bytes: u64) {}
    /// Returns the number of bytes that `end` has written and TCP has not sent.
    fn unsent(&self, socket: SocketId, end: Side) -> u64;
    /// Returns whether the handshake is over, as `end` sees it.
    fn is_established(&self, socket: SocketId, end: Side) -> bool;
    /// Returns whether the peer of `end` has closed, and `end` has received all data.
    fn is_peer_finished(&self, socket: SocketId, end: Side) -> bool;
    /// Returns the number of retransmission timeouts at both ends so far, including timeouts of SYN and SYN-ACK.
    /// Returns none where the host's TCP does not count them by connection.
    fn timeouts(&self, socket: SocketId) -> Option<u64>;
    /// Returns how many windows of data `end` has lost segments of. Returns none where the host's TCP does not count
    /// them.
    fn lossy_windows(&self, _socket: SocketId, _end: Side) -> Option<LossyWindows> {
        None
    }
    /// Returns the number of a new exchange of datagrams, which has ports of its own.
    fn exchange(&mut self) -> u32;
    /// Sends a datagram of `exchange` from `end`.
    fn send_datagram(&mut self, end: Side, exchange: u32, message: Message);
    /// Adds `bytes` of datagrams that the receiver got to the flow's delivered bytes. Bytes of connections are counted
    /// elsewhere.
    fn count_delivered(&mut self, bytes: u64);
    /// Sets the time at which the application is woken next, and replaces any earlier time.
    fn wake_at(&mut self, time: Instant);
}
