//! An end whose stack may panic. The panic ends its connection, as an error of the stack does, and not the run.

use crate::peer::{Outgoing, Peer, Sample, Time, Totals};
use crate::shown::Shown;
use goodqueue_units::Ecn;
use std::any::Any;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

thread_local! {
    /// Whether this thread is within a stack, whose panics are reported as failures of their connections.
    static IS_WITHIN: Cell<bool> = const { Cell::new(false) };
}

/// An end of a connection.
pub(crate) struct Guarded {
    /// `None` after a panic. What the stack then holds may be broken, so it is not even dropped.
    peer: Option<Box<dyn Peer>>,
    /// The last that it said while it worked.
    totals: Totals,
    is_established: bool,
    /// The panic, in one line.
    failure: String,
}

impl Guarded {
    pub(crate) fn new(peer: Box<dyn Peer>) -> Self {
        silence();
        Self { peer: Some(peer), totals: Totals::default(), is_established: false, failure: String::new() }
    }

    /// Lets the stack do `work`. Returns the default after a panic.
    fn at<T: Default>(&mut self, work: impl FnOnce(&mut dyn Peer) -> T) -> T {
        let Some(peer) = &mut self.peer else { return T::default() };
        let done = within(|| {
            let made = work(peer.as_mut());
            (made, peer.is_established())
        });
        match done {
            Ok((made, is_established)) => {
                self.is_established = is_established;
                made
            }
            Err(panic) => {
                self.failure = line(panic.as_ref());
                self.peer.take().map(std::mem::forget);
                T::default()
            }
        }
    }
}

/// Does `work`, and returns its panic, of which nothing is printed.
fn within<T>(work: impl FnOnce() -> T) -> Result<T, Box<dyn Any + Send>> {
    IS_WITHIN.set(true);
    let done = catch_unwind(AssertUnwindSafe(work));
    IS_WITHIN.set(false);
    done
}

/// Returns what a panic said, in one line.
pub(crate) fn line(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("without a message");
    format!("the stack panicked: {}", text.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// Lets panics within a stack print nothing, from now on. This module's own are printed as before.
fn silence() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = take_hook();
        set_hook(Box::new(move |panic| {
            if !IS_WITHIN.get() {
                before(panic);
            }
        }));
    });
}

impl Peer for Guarded {
    fn receive(&mut self, now: Time, ecn: Ecn, datagram: Vec<u8>) {
        self.at(|peer| peer.receive(now, ecn, datagram));
    }
    fn transmit(&mut self, now: Time, out: &mut Vec<Outgoing>) {
        self.at(|peer| peer.transmit(now, out));
    }
    fn timeout(&mut self) -> Option<Time> {
        self.at(|peer| peer.timeout())
    }
    fn expire(&mut self, now: Time) {
        self.at(|peer| peer.expire(now));
    }
    fn is_established(&self) -> bool {
        self.is_established
    }
    fn write(&mut self, now: Time, bytes: u64) -> u64 {
        self.at(|peer| peer.write(now, bytes))
    }
    fn finish(&mut self, now: Time) {
        self.at(|peer| peer.finish(now));
    }
    fn abort(&mut self, now: Time) {
        self.at(|peer| peer.abort(now));
    }
    fn read(&mut self, now: Time) -> u64 {
        self.at(|peer| peer.read(now))
    }
    fn sample(&self) -> Sample {
        let sample = self.peer.as_ref().and_then(|peer| within(|| peer.sample()).ok());
        sample.unwrap_or_default()
    }
    fn show(&mut self) -> Shown {
        self.at(|peer| peer.show())
    }
    fn totals(&mut self) -> Totals {
        if self.peer.is_some() {
            let totals = self.at(|peer| peer.totals());
            if self.peer.is_some() {
                self.totals = totals;
            }
        }
        self.totals
    }
    fn failure(&self) -> Option<&str> {
        match &self.peer {
            Some(peer) => peer.failure(),
            None => Some(&self.failure),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A stack that panics as soon as a datagram arrives.
    struct Panics;

    impl Peer for Panics {
        fn receive(&mut self, _: Time, _: Ecn, datagram: Vec<u8>) {
            panic!("assertion failed:\n  {} bytes", datagram.len());
        }
        fn transmit(&mut self, _: Time, out: &mut Vec<Outgoing>) {
            out.push(Outgoing { ecn: Ecn::Ect0, bytes: vec![1] });
        }
        fn timeout(&mut self) -> Option<Time> {
            Some(Time::ZERO)
        }
        fn expire(&mut self, _: Time) {}
        fn is_established(&self) -> bool {
            true
        }
        fn write(&mut self, _: Time, bytes: u64) -> u64 {
            bytes
        }
        fn finish(&mut self, _: Time) {}
        fn abort(&mut self, _: Time) {}
        fn read(&mut self, _: Time) -> u64 {
            0
        }
        fn sample(&self) -> Sample {
            Sample { rtt: Time::ZERO, cwnd_bytes: 1 }
        }
        fn show(&mut self) -> Shown {
            Shown::default()
        }
        fn totals(&mut self) -> Totals {
            Totals { packets_sent: 7, ..Totals::default() }
        }
        fn failure(&self) -> Option<&str> {
            None
        }
    }

    #[test]
    fn a_stack_that_panics_ends_its_connection_alone() {
        let mut end = Guarded::new(Box::new(Panics));
        let (mut out, now) = (Vec::new(), Time::ZERO);
        end.transmit(now, &mut out);
        assert_eq!((out.len(), end.write(now, 5), end.totals().packets_sent, end.failure()), (1, 5, 7, None));
        end.receive(now, Ecn::NotEct, vec![0; 3]);
        assert_eq!(end.failure(), Some("the stack panicked: assertion failed: 3 bytes"));
        end.transmit(now, &mut out);
        assert_eq!((out.len(), end.write(now, 5), end.timeout(), end.sample().cwnd_bytes), (1, 0, None, 0));
        assert_eq!((end.totals().packets_sent, end.is_established()), (7, true));
    }
}
