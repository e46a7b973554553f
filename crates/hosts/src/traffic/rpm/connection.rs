//! A connection of a responsiveness test: TLS's handshake, then requests and answers in the order of their streams.

use super::super::application::{Host, SocketId};
use crate::direction::Side;
use goodqueue_units::{Duration, Instant};
use std::collections::VecDeque;

/// Bytes of a ClientHello that is padded (RFC 7685).
const HELLO_BYTES: u64 = 517;
/// Bytes from ServerHello to Finished, with a chain of two certificates. With the other messages and their headers a
/// foreign probe takes the draft's 5000 bytes.
const FLIGHT_BYTES: u64 = 3500;
/// Bytes of a request, as a web page's by default, and of the answer with one byte and its headers.
const REQUEST_BYTES: u64 = 400;
const ANSWER_BYTES: u64 = 200;

/// What a request asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Asked {
    /// TLS 1.3: one round trip.
    Tls,
    /// One byte, on a new connection.
    Probe,
    /// One byte, on a connection that loads the path.
    OwnProbe,
    /// An endless object, or to take one.
    Load,
}

/// A request under way.
#[derive(Debug)]
struct Pending {
    asked: Asked,
    since: Instant,
    /// Where the request ends in the user's stream.
    request_end: u64,
    /// Where the answer ends in the server's stream, once the server has answered.
    answer_end: Option<u64>,
}

#[derive(Debug)]
pub(super) struct Connection {
    pub(super) socket: SocketId,
    opened: Instant,
    /// How long the handshake of TCP took, once it is over.
    pub(super) tcp: Option<Duration>,
    pub(super) tls: Duration,
    /// Whether it loads the path, or will.
    pub(super) is_load: bool,
    /// Whether it carries load now.
    pub(super) is_loading: bool,
    /// Bytes that each side has written, by [`Side`].
    written: [u64; 2],
    pending: VecDeque<Pending>,
}

const SERVER: Side = Side::Remote;

impl Connection {
    pub(super) fn open(is_load: bool, host: &mut dyn Host) -> Self {
        Self {
            socket: host.open(Side::User),
            opened: host.now(),
            tcp: None,
            tls: Duration::ZERO,
            is_load,
            is_loading: false,
            written: [0; 2],
            pending: VecDeque::new(),
        }
    }

    /// Notes the end of the handshake of TCP at the user, and begins TLS's.
    pub(super) fn established(&mut self, host: &mut dyn Host) {
        self.tcp = Some(host.now().since(self.opened));
        self.ask(Asked::Tls, host);
    }

    pub(super) fn ask(&mut self, asked: Asked, host: &mut dyn Host) {
        self.write(Side::User, if asked == Asked::Tls { HELLO_BYTES } else { REQUEST_BYTES }, host);
        let request_end = self.written[Side::User as usize];
        self.pending.push_back(Pending { asked, since: host.now(), request_end, answer_end: None });
    }

    /// Answers, at the server, each request that is there. Returns whether one was for load.
    pub(super) fn answer(&mut self, host: &mut dyn Host) -> bool {
        let received = host.delivered(self.socket, SERVER);
        let mut is_for_load = false;
        for place in 0..self.pending.len() {
            let Pending { asked, request_end, answer_end, .. } = self.pending[place];
            if answer_end.is_none() && received >= request_end {
                self.write(SERVER, if asked == Asked::Tls { FLIGHT_BYTES } else { ANSWER_BYTES }, host);
                self.pending[place].answer_end = Some(self.written[SERVER as usize]);
                is_for_load |= asked == Asked::Load;
            }
        }
        is_for_load
    }

    /// Takes, at the user, the next answer that is whole, and returns how long it took.
    pub(super) fn hear(&mut self, host: &mut dyn Host) -> Option<(Asked, Duration)> {
        let received = host.delivered(self.socket, Side::User);
        let Pending { asked, since, answer_end, .. } = self.pending.front()?;
        let found = (*asked, host.now().since(*since));
        if received < (*answer_end)? {
            return None;
        }
        self.pending.pop_front();
        Some(found)
    }

    /// Writes load at `end`: as soon as less than half of `unsent` bytes are not sent, as many as are missing (Linux,
    /// TCP_NOTSENT_LOWAT: `tcp_stream_memory_free`).
    pub(super) fn load(&mut self, end: Side, unsent: u64, host: &mut dyn Host) {
        if !self.is_loading {
            return; // on Linux the next line asks the kernel
        }
        let waiting = host.unsent(self.socket, end);
        if waiting * 2 < unsent {
            self.write(end, unsent - waiting, host);
        }
    }

    fn write(&mut self, end: Side, bytes: u64, host: &mut dyn Host) {
        self.written[end as usize] += bytes;
        host.write(self.socket, end, bytes);
    }
}
