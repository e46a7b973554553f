//! Keeps a panic of a caller's discipline out of the run.

use crate::error::Error;
use goodqueue_netsim::Packet;
use goodqueue_netsim::foreign::Foreign;
use goodqueue_qdisc::{Backlog, Drop, Mark, Owner, Probe};
use goodqueue_units::{Instant, Rate};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};

/// The first panic of a discipline, until the caller of the path gets it.
pub(crate) type Failure = Arc<Mutex<Option<Error>>>;

/// Takes the first panic.
pub(crate) fn take(failure: &Failure) -> Option<Error> {
    failure.lock().unwrap_or_else(PoisonError::into_inner).take()
}

/// A discipline whose panics end its own part in the run, as [`Foreign`] asks of a discipline that fails.
pub(crate) struct Guard {
    inner: Box<dyn Foreign>,
    line: String,
    failure: Failure,
    has_failed: bool,
    /// Packets that came in and have not left.
    inside: u32,
}

impl Guard {
    pub(crate) fn new(inner: Box<dyn Foreign>, failure: Failure) -> Self {
        Self { line: inner.line(), inner, failure, has_failed: false, inside: 0 }
    }

    fn note(&self, panic: Box<dyn Any + Send>) {
        let text = panic.downcast_ref::<String>().cloned();
        let text = text.or_else(|| panic.downcast_ref::<&str>().map(ToString::to_string));
        let message = text.unwrap_or_else(|| "without a message".to_string());
        let error = Error::Panic { line: self.line.clone(), message };
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
    }

    /// Calls the discipline, unless it has failed.
    fn call<T>(
        &mut self,
        owner: &mut dyn Owner<Packet>,
        work: impl FnOnce(&mut dyn Foreign, &mut dyn Owner<Packet>) -> T,
    ) -> Option<T> {
        if self.has_failed {
            return None;
        }
        let (inner, mut owner) = (&mut *self.inner, Counting { owner, inside: &mut self.inside });
        match catch_unwind(AssertUnwindSafe(|| work(inner, &mut owner))) {
            Ok(answer) => Some(answer),
            Err(panic) => {
                self.has_failed = true;
                self.note(panic);
                None
            }
        }
    }

    /// Asks the discipline, unless it has failed. A panic while it is asked is noted, and the next call finds out.
    fn ask<T>(&self, work: impl FnOnce(&dyn Foreign) -> T) -> Option<T> {
        if self.has_failed {
            return None;
        }
        catch_unwind(AssertUnwindSafe(|| work(&*self.inner))).map_err(|panic| self.note(panic)).ok()
    }
}

impl Foreign for Guard {
    fn line(&self) -> String {
        self.line.clone()
    }
    fn enqueue(&mut self, now: Instant, packet: Packet, owner: &mut dyn Owner<Packet>) {
        if self.has_failed {
            return owner.dropped(packet, Drop::Overlimit);
        }
        self.inside += 1;
        self.call(owner, |inner, owner| inner.enqueue(now, packet, owner));
    }
    fn dequeue(&mut self, now: Instant, owner: &mut dyn Owner<Packet>) -> Option<Packet> {
        let packet = self.call(owner, |inner, owner| inner.dequeue(now, owner))??;
        self.inside -= 1;
        Some(packet)
    }
    fn next_timer(&self) -> Option<Instant> {
        self.ask(|inner| inner.next_timer())?
    }
    fn on_timer(&mut self, now: Instant, owner: &mut dyn Owner<Packet>) {
        self.call(owner, |inner, owner| inner.on_timer(now, owner));
    }
    fn set_link_rate(&mut self, rate: Rate) {
        let done = catch_unwind(AssertUnwindSafe(|| self.inner.set_link_rate(rate)));
        done.unwrap_or_else(|panic| self.note(panic));
    }
    /// Returns the packets that are inside, whatever the discipline says.
    fn backlog(&self) -> Backlog {
        let bytes = self.ask(|inner| inner.backlog().bytes).unwrap_or_default();
        Backlog { packets: self.inside, bytes }
    }
    fn probe(&self, probe: &mut dyn Probe) {
        self.ask(|inner| inner.probe(probe));
    }
    fn show(&self, see: &mut dyn FnMut(&str, f64)) {
        self.ask(|inner| inner.show(see));
    }
}

/// The owner, and the number of packets inside.
struct Counting<'a> {
    owner: &'a mut dyn Owner<Packet>,
    inside: &'a mut u32,
}

impl Owner<Packet> for Counting<'_> {
    fn dropped(&mut self, packet: Packet, why: Drop) {
        *self.inside -= 1;
        self.owner.dropped(packet, why);
    }
    fn marked(&mut self, packet: &Packet, why: Mark) {
        self.owner.marked(packet, why);
    }
    fn host_hashes(&self, packet: &Packet) -> (u32, u32) {
        self.owner.host_hashes(packet)
    }
    fn fwmark(&self, packet: &Packet) -> u32 {
        self.owner.fwmark(packet)
    }
    fn random_u32(&mut self) -> u32 {
        self.owner.random_u32()
    }
    fn random_u64(&mut self) -> u64 {
        self.owner.random_u64()
    }
}
