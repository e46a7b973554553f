//! A connection of a responsiveness test: TLS's handshake, then requests and answers in the order of their streams.

use super::super::application::{Host, SocketId};
use crate::direction::Side;
use goodqueue_units::{Duration, Instant};
use std::collections::VecDeque;

/// Bytes of the messages of a client and its server.
#[derive(Debug)]
pub(super) struct Messages {
    hello: u64,
    /// From ServerHello to the server's Finished.
    flight: u64,
    /// The client's Finished, if what follows has to wait until the server has answered it.
    finished: Option<u64>,
    /// What the server says to the client's Finished.
    tickets: u64,
    request: u64,
    /// One byte, and its headers.
    answer: u64,
}

/// A ClientHello that is padded (RFC 7685), a chain of two certificates, and a request as a web page's by default. With
/// the other messages and their headers a foreign probe takes the draft's 5000 bytes.
pub(super) const DRAFT: Messages =
    Messages { hello: 517, flight: 3500, finished: None, tickets: 0, request: 400, answer: 200 };
/// As captured: cf-mach 0.4.0 with BoringSSL (its key share is a hybrid one) before a server with one certificate. It
/// leaves Nagle's algorithm on (RFC 9293, 3.7.4). So its first request waits until the server has answered the
/// Finished.
pub(super) const CF_MACH: Messages =
    Messages { hello: 1476, flight: 1340, finished: Some(80), tickets: 624, request: 174, answer: 128 };

/// What a request asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Asked {
    /// TLS 1.3: one round trip.
    Tls,
    /// What the server says to the client's Finished.
    Tickets,
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
    messages: &'static Messages,
    pub(super) opened: Instant,
    /// How long the handshake of TCP took, once it is over.
    pub(super) tcp: Option<Duration>,
    pub(super) tls: Duration,
    /// When TLS's handshake was over.
    secured: Instant,
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
    pub(super) fn open(is_load: bool, messages: &'static Messages, host: &mut dyn Host) -> Self {
        Self {
            socket: host.open(Side::User),
            messages,
            opened: host.now(),
            tcp: None,
            tls: Duration::ZERO,
            secured: host.now(),
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

    /// Notes the end of TLS's handshake at the user, which took `tls`, and goes on.
    pub(super) fn secured(&mut self, tls: Duration, host: &mut dyn Host) {
        (self.tls, self.secured) = (tls, host.now());
        if self.messages.finished.is_some() { self.ask(Asked::Tickets, host) } else { self.begin(host) }
    }

    /// Asks for what the connection was opened for.
    pub(super) fn begin(&mut self, host: &mut dyn Host) {
        self.is_loading = self.is_load && host.sender() == Side::User;
        self.ask(if self.is_load { Asked::Load } else { Asked::Probe }, host);
    }

    pub(super) fn ask(&mut self, asked: Asked, host: &mut dyn Host) {
        let bytes = match asked {
            Asked::Tls => self.messages.hello,
            Asked::Tickets => self.messages.finished.unwrap_or_default(),
            Asked::Probe | Asked::OwnProbe | Asked::Load => self.messages.request,
        };
        self.write(Side::User, bytes, host);
        let request_end = self.written[Side::User as usize];
        let since = if asked == Asked::Probe { self.secured } else { host.now() };
        self.pending.push_back(Pending { asked, since, request_end, answer_end: None });
    }

    /// Answers, at the server, each request that is there. Returns whether one was for load.
    pub(super) fn answer(&mut self, host: &mut dyn Host) -> bool {
        let received = host.delivered(self.socket, SERVER);
        let mut is_for_load = false;
        for place in 0..self.pending.len() {
            let Pending { asked, request_end, answer_end, .. } = self.pending[place];
            if answer_end.is_none() && received >= request_end {
                let bytes = match asked {
                    Asked::Tls => self.messages.flight,
                    Asked::Tickets => self.messages.tickets,
                    Asked::Probe | Asked::OwnProbe | Asked::Load => self.messages.answer,
                };
                self.write(SERVER, bytes, host);
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
