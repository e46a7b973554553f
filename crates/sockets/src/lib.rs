//! The applications of a scenario on Linux's own sockets, for the engines `kernel` and `live`.
//!
//! The applications are those of the simulator (`goodqueue_hosts::traffic`). Here are the sockets on which they act.
//! One process has both ends of every connection. Each side of the path is a network namespace; a socket belongs to the
//! namespace in which it was opened, so the process enters a side to open a socket there, and then serves all sockets
//! of both sides in one loop.
//!
//! Times are the run's. An application's event has the time at which it was due or at which its cause arrived.
//! Datagrams carry how much later than that they were sent, and arrive as much earlier. So their delay is the path's,
//! without the time that this process took (as in RFC 5357, TWAMP).
#![cfg(target_os = "linux")]

mod connection;
mod datagrams;
mod desk;
mod flow;
mod net;
mod options;
mod order;
mod run;

pub use net::Clock;
pub use run::Run;
