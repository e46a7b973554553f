//! A TCP connection: its two ends, what they still have to send, and what they have received.

use crate::net::Net;
use crate::options::{self, Info};
use goodqueue_hosts::direction::Side;
use rustix::event::epoll::EventFlags;
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, Shutdown, recv, send, shutdown};

/// What an end has to write if its sender always has data.
pub(crate) const ENDLESS: u64 = u64::MAX;

/// One end of a connection.
#[derive(Default)]
pub(crate) struct End {
    /// None before the end exists and after it was closed.
    pub(crate) socket: Option<OwnedFd>,
    pub(crate) is_established: bool,
    /// Bytes that it has received in order.
    pub(crate) delivered: u64,
    /// Whether the other end writes no more, and all its data have arrived.
    pub(crate) is_peer_finished: bool,
    /// Bytes that are written and not yet in the socket.
    pending: u64,
    /// Whether it closes for writing once these bytes are in the socket, and whether it has done so.
    is_closing: bool,
    is_shut: bool,
}

/// Both ends of a connection.
pub(crate) struct Connection {
    ends: [End; 2],
    /// The end that opens it, until it does.
    opener: Option<Side>,
}

impl Connection {
    /// Makes a connection that the end `opener` has to open.
    pub(crate) fn new(opener: Side) -> Self {
        Self { ends: [End::default(), End::default()], opener: Some(opener) }
    }

    /// Returns whether `side` has to open it now, once.
    pub(crate) fn is_to_open(&mut self, side: Side) -> bool {
        self.opener.take_if(|opener| *opener == side).is_some()
    }

    pub(crate) fn end(&self, side: Side) -> &End {
        &self.ends[side as usize]
    }

    pub(crate) fn end_mut(&mut self, side: Side) -> &mut End {
        &mut self.ends[side as usize]
    }

    /// Discards all data that are not sent, and resets the connection.
    pub(crate) fn abort(&mut self) {
        for socket in self.ends.iter_mut().filter_map(|end| end.socket.take()) {
            options::reset_on_close(&socket);
        }
    }
}

impl End {
    /// Sends `bytes`, after the bytes written before.
    pub(crate) fn write(&mut self, bytes: u64) {
        self.pending = self.pending.saturating_add(bytes);
    }

    /// Returns how many bytes are written and not sent: those in the socket are counted, too.
    pub(crate) fn unsent(&self) -> u64 {
        let in_socket =
            self.socket.as_ref().and_then(|socket| Info::of(socket).ok()).map_or(0, |info| info.unsent());
        self.pending.saturating_add(in_socket)
    }

    /// Closes for writing once all bytes are sent. An end that always has data stops here.
    pub(crate) fn close(&mut self) {
        self.is_closing = true;
        if self.pending == ENDLESS {
            self.pending = 0;
        }
    }

    /// Gives the socket what it takes, and closes what is to be closed. Returns whether this end is over: both ends
    /// have closed for writing, and everything has arrived here.
    pub(crate) fn flush(&mut self, net: &Net) -> bool {
        let Some(socket) = self.socket.as_ref().filter(|_| self.is_established) else { return false };
        while self.pending > 0 {
            let most = net.buffer.len().min(usize::try_from(self.pending).unwrap_or(usize::MAX));
            match send(socket, &net.buffer[..most], SendFlags::NOSIGNAL) {
                Ok(_) if self.pending == ENDLESS => {}
                Ok(sent) => self.pending -= sent as u64,
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return false,
                Err(_) => self.pending = 0, // the other end is gone
            }
        }
        if self.is_closing && !self.is_shut {
            self.is_shut = true;
            let _ = shutdown(socket, Shutdown::Write); // fails only if the other end is gone
        }
        self.is_shut && self.is_peer_finished
    }

    /// Counts and discards what has arrived, if `flags` tell of any. Returns whether they do, or the other end has
    /// closed.
    ///
    /// Who reads less than there is room for has read all (epoll(7)). Only an end may be left, of which `flags` tell.
    pub(crate) fn take(&mut self, flags: EventFlags, net: &mut Net) -> bool {
        let before = (self.delivered, self.is_peer_finished);
        let is_ending = flags.intersects(EventFlags::RDHUP | EventFlags::HUP | EventFlags::ERR);
        let mut is_left = is_ending || flags.contains(EventFlags::IN);
        while let Some(socket) = self.socket.as_ref().filter(|_| is_left && !self.is_peer_finished) {
            // With MSG_TRUNC the kernel drops the bytes instead of copying them (tcp(7)).
            match recv(socket, net.buffer.as_mut_slice(), RecvFlags::TRUNC) {
                Ok((_, 0)) => self.is_peer_finished = true,
                Ok((_, count)) => {
                    self.delivered += count as u64;
                    is_left = is_ending || count == net.buffer.len();
                }
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => break,
                Err(_) => self.is_peer_finished = true, // a reset: nothing more will come
            }
        }
        before != (self.delivered, self.is_peer_finished)
    }
}
