//! How a run drives an endpoint of s2n-quic: a provider of datagrams, which keeps the endpoint.

use crate::peer::{Outgoing, Time};
use s2n_quic::provider::io;
use s2n_quic_core::endpoint::Endpoint;
use s2n_quic_core::inet::SocketAddress;
use s2n_quic_core::inet::datagram::Header;
use s2n_quic_core::io::{rx, tx};
use s2n_quic_core::path::Tuple;
use s2n_quic_core::time::{Clock, NoopClock, Timestamp};
use std::convert::Infallible;
use std::sync::{Arc, Mutex};
use std::task::{Context, Waker};

/// Returns a time of the run as one of the stack's, which counts whole microseconds and does not know zero.
pub(super) fn timestamp(now: Time) -> Timestamp {
    NoopClock.get_time() + now
}

/// Returns the time of the run of one of the stack's.
pub(super) fn time(at: Timestamp) -> Time {
    at.saturating_duration_since(NoopClock.get_time())
}

/// An endpoint, whatever its providers.
pub(super) trait Driven: Send {
    fn receive(&mut self, now: Timestamp, datagram: &mut Arrived<'_>);
    fn transmit(&mut self, now: Timestamp, sent: &mut Sent<'_>);
    fn timeout(&self) -> Option<Timestamp>;
}

impl<E: Endpoint<PathHandle = Tuple>> Driven for E {
    fn receive(&mut self, now: Timestamp, datagram: &mut Arrived<'_>) {
        Endpoint::receive(self, datagram, &now);
    }

    fn transmit(&mut self, now: Timestamp, sent: &mut Sent<'_>) {
        let mut context = Context::from_waker(Waker::noop());
        // Takes what the application has asked for. An endpoint that is closed has nothing more to send.
        let _asked = self.poll_wakeups(&mut context, &now);
        Endpoint::transmit(self, sent, &now);
    }

    fn timeout(&self) -> Option<Timestamp> {
        Endpoint::timeout(self)
    }
}

/// Where the provider leaves the endpoint.
pub(super) type Place = Arc<Mutex<Option<Box<dyn Driven>>>>;

pub(super) struct Io(pub(super) Place, pub(super) SocketAddress);

impl io::Provider for Io {
    type PathHandle = Tuple;
    type Error = Infallible;

    fn start<E: Endpoint<PathHandle = Tuple>>(self, endpoint: E) -> Result<SocketAddress, Infallible> {
        *super::locked(&self.0) = Some(Box::new(endpoint));
        Ok(self.1)
    }
}

/// One datagram that has arrived.
pub(super) struct Arrived<'a>(pub(super) Option<(Header<Tuple>, &'a mut [u8])>);

impl rx::Queue for Arrived<'_> {
    type Handle = Tuple;

    fn for_each<F: FnMut(Header<Tuple>, &mut [u8])>(&mut self, mut take: F) {
        if let Some((header, bytes)) = self.0.take() {
            take(header, bytes);
        }
    }

    fn is_empty(&self) -> bool {
        self.0.is_none()
    }
}

/// Takes the datagrams that an endpoint sends.
pub(super) struct Sent<'a> {
    pub(super) out: &'a mut Vec<Outgoing>,
    pub(super) buffer: &'a mut [u8],
}

impl tx::Queue for Sent<'_> {
    type Handle = Tuple;
    const SUPPORTS_ECN: bool = true;

    fn push<M: tx::Message<Handle = Tuple>>(&mut self, mut message: M) -> Result<tx::Outcome, tx::Error> {
        let len = message.write_payload(tx::PayloadBuffer::new(self.buffer), 0)?;
        let ecn = crate::peer::codepoint(message.ecn() as u8);
        self.out.push(Outgoing { ecn, bytes: self.buffer[..len].to_vec() });
        Ok(tx::Outcome { len, index: 0 })
    }

    fn capacity(&self) -> usize {
        usize::MAX
    }
}
