//! What the sender's application writes, and when.

use crate::peer::{Peer, Time};
use goodqueue_hosts::keys::Values;
use goodqueue_hosts::traffic::quic;
use goodqueue_units::{Duration, Rate};

/// The application of a connection's sender.
pub(crate) struct App {
    source: Source,
    stop: Time,
    is_over: bool,
}

enum Source {
    /// There are always data to send.
    Endless,
    /// So many bytes are still to be written.
    Sized(u64),
    /// A chunk per interval, as a video encoder writes.
    Limited(Limited),
}

struct Limited {
    rate: Rate,
    interval: Duration,
    /// When the limit ends.
    until: Option<Time>,
    /// When the first chunk was written.
    began: Option<Time>,
    /// Chunks that were due.
    chunks: u64,
    /// Bytes of chunks that the stack has not taken yet.
    backlog: u64,
    /// Whether the limit has ended.
    is_unlimited: bool,
}

impl App {
    /// Builds the application that a table of `[[traffic]]` asks for, which stops at `stop`.
    pub(crate) fn new(values: &Values, stop: Time) -> Self {
        let limited = |rate| Limited {
            rate,
            interval: values.find(&quic::INTERVAL).map_or(quic::DEFAULT_INTERVAL, |interval| interval.0),
            until: values.find(&quic::UNLIMITED_FROM).map(|from| Time::from_nanos(from.0.as_nanos())),
            began: None,
            chunks: 0,
            backlog: 0,
            is_unlimited: false,
        };
        let source = match (values.find(&quic::SIZE), values.find(&quic::RATE)) {
            (Some(size), _) => Source::Sized(size.0),
            (None, Some(rate)) => Source::Limited(limited(rate.0)),
            (None, None) => Source::Endless,
        };
        Self { source, stop, is_over: false }
    }

    /// Returns whether the application has written all, or has stopped.
    pub(crate) fn is_over(&self) -> bool {
        self.is_over
    }

    /// Returns when the application next acts by itself.
    pub(crate) fn next_time(&self) -> Option<Time> {
        if self.is_over {
            return None;
        }
        let chunk = match &self.source {
            Source::Limited(limited) => limited.next_time(),
            Source::Endless | Source::Sized(_) => None,
        };
        Some(chunk.map_or(self.stop, |chunk| chunk.min(self.stop)))
    }

    /// Writes what there is to write at `now`.
    pub(crate) fn write(&mut self, now: Time, sender: &mut dyn Peer) {
        if self.is_over || !sender.is_established() {
            return;
        }
        if now >= self.stop {
            self.is_over = true;
            return sender.abort(now);
        }
        match &mut self.source {
            Source::Endless => _ = sender.write(now, u64::MAX),
            Source::Sized(left) => {
                *left -= sender.write(now, *left);
                if *left == 0 {
                    self.is_over = true;
                    sender.finish(now);
                }
            }
            Source::Limited(limited) => limited.write(now, sender),
        }
    }
}

impl Limited {
    fn is_limited(&self, now: Time) -> bool {
        self.until.is_none_or(|until| now < until)
    }

    fn chunk_time(&self, chunk: u64) -> Option<Time> {
        self.began.map(|began| began + Time::from_nanos((self.interval * chunk).as_nanos()))
    }

    /// Returns when the next chunk is due, or when the limit ends.
    fn next_time(&self) -> Option<Time> {
        let chunk = self.chunk_time(self.chunks).filter(|_| !self.is_unlimited)?;
        Some(self.until.map_or(chunk, |until| until.min(chunk)))
    }

    fn write(&mut self, now: Time, sender: &mut dyn Peer) {
        self.began.get_or_insert(now);
        if !self.is_limited(now) {
            self.is_unlimited = true;
            _ = sender.write(now, u64::MAX);
            return;
        }
        while self.chunk_time(self.chunks).is_some_and(|at| at <= now) {
            let bytes = |chunks| self.rate.bytes_in(self.interval * chunks);
            self.backlog += bytes(self.chunks + 1) - bytes(self.chunks);
            self.chunks += 1;
        }
        self.backlog -= sender.write(now, self.backlog);
    }
}
