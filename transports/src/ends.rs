//! Makes the ends of connections, whichever the stack is.

use crate::guarded::Guarded;
use crate::peer::{Peer, Setup, Time};
use goodqueue_hosts::traffic::quic::QuicStack;

/// Makes one end of a connection of `stack` at the time `now`.
///
/// # Errors
/// One line that says what could not be made.
pub(crate) fn make(stack: QuicStack, setup: Setup, now: Time) -> Result<Box<dyn Peer>, String> {
    let peer: Box<dyn Peer> = match stack {
        QuicStack::Quinn => Box::new(crate::quinn::Quinn::new(setup, now)?),
        QuicStack::Noq => Box::new(crate::noq::Noq::new(setup, now)?),
        QuicStack::Quiche => Box::new(crate::quiche::Quiche::new(setup, now)?),
        QuicStack::S2n => Box::new(crate::s2n::S2n::new(&setup)?),
        QuicStack::Aioquic => Box::new(crate::aioquic::Aioquic::new(setup, now)?),
    };
    Ok(Box::new(Guarded::new(peer)))
}
