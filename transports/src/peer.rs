//! One end of a QUIC connection: what a stack has to offer, whichever it is.

use crate::qlog::Qlog;
use crate::shown::Shown;
use goodqueue_units::{Ecn, Stream, Streams};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;

/// A time of the run.
pub(crate) type Time = Duration;

/// Which end of the connection it is. The client is at the user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    Client,
    Server,
}

/// What a stack needs to make one end.
#[derive(Clone)]
pub(crate) struct Setup {
    pub(crate) role: Role,
    /// Whether this end sends the data.
    pub(crate) is_sender: bool,
    /// The congestion control, by the stack's own name.
    pub(crate) cc: String,
    /// The seed of the stack's random numbers, where the stack can have one.
    pub(crate) seed: [u8; 32],
    /// Where the stack writes its qlog, if it shall.
    pub(crate) qlog: Option<Qlog>,
}

impl Setup {
    /// Returns the random numbers of this end that are called `name`, for a stack that takes no seed.
    pub(crate) fn stream(&self, name: &str) -> Stream {
        let word = |at: usize| u64::from_le_bytes(std::array::from_fn(|i| self.seed[at + i]));
        Streams::new(word(0)).stream(name, word(8))
    }
}

/// A datagram that a stack sends.
pub(crate) struct Outgoing {
    pub(crate) ecn: Ecn,
    pub(crate) bytes: Vec<u8>,
}

/// What the sender's stack sees of the path.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sample {
    /// The smoothed RTT.
    pub(crate) rtt: Duration,
    pub(crate) cwnd_bytes: u64,
}

/// The counters of a stack since the connection began.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Totals {
    pub(crate) packets_sent: u64,
    pub(crate) packets_lost: u64,
    pub(crate) congestion_events: Option<u64>,
}

/// One end of a connection that carries one stream of data, from the sender to the receiver.
pub(crate) trait Peer: Send {
    /// Takes a datagram that has arrived.
    fn receive(&mut self, now: Time, ecn: Ecn, datagram: Vec<u8>);
    /// Appends the datagrams that may be sent now to `out`.
    fn transmit(&mut self, now: Time, out: &mut Vec<Outgoing>);
    /// Returns when [`expire`](Self::expire) is due, if ever.
    fn timeout(&mut self) -> Option<Time>;
    /// Handles the timers that are due.
    fn expire(&mut self, now: Time);
    /// Returns whether the handshake is over.
    fn is_established(&self) -> bool;
    /// Writes up to `bytes` bytes, as many as the stack takes, and returns how many it took.
    fn write(&mut self, now: Time, bytes: u64) -> u64;
    /// Ends the stream behind what was written.
    fn finish(&mut self, now: Time);
    /// Ends the stream at once: what was not sent yet is not sent.
    fn abort(&mut self, now: Time);
    /// Reads what has arrived in order, and returns the number of bytes.
    fn read(&mut self, now: Time) -> u64;
    /// Returns what the stack sees of the path now.
    fn sample(&self) -> Sample;
    /// Returns what the sender's congestion control shows of itself.
    fn show(&mut self) -> Shown;
    /// Returns the counters of the stack.
    fn totals(&mut self) -> Totals;
    /// Returns why the connection has ended, if it has ended by an error.
    fn failure(&self) -> Option<&str>;
}

/// The addresses of the two ends.
pub(crate) const CLIENT: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1)), 50_000);
pub(crate) const SERVER: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::new(10, 0, 0, 2)), 443);

/// Returns the codepoint of the two bits of an IP header.
pub(crate) fn codepoint(bits: u8) -> Ecn {
    match bits & 0b11 {
        0b01 => Ecn::Ect1,
        0b10 => Ecn::Ect0,
        0b11 => Ecn::Ce,
        _ => Ecn::NotEct,
    }
}

/// The receive windows of both ends, in bytes: large enough never to limit a flow, as the simulator's TCP has them.
pub(crate) const WINDOW_BYTES: u32 = 16 << 20;
/// The most unacknowledged bytes that a sender's stack keeps.
pub(crate) const SEND_WINDOW_BYTES: u64 = 16 << 20;
/// The bytes of one write.
pub(crate) const WRITE_BYTES: usize = 64 << 10;
/// The data of every stream.
pub(crate) static ZEROS: [u8; WRITE_BYTES] = [0; WRITE_BYTES];
