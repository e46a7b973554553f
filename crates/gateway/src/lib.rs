//! Real packets on the path of a scenario, in real time. This is the only crate that reads a clock.
//!
//! ```text
//!   server's device ─▶ Port ─▶ Path [ netsim: hops, disciplines, wires ] ─▶ Port ─▶ client's device
//! ```
//!
//! A [`Path`] is a run of the simulator that accepts packets from outside. The headers of a packet cross the path's
//! hops in the run's time. Its bytes wait in a pool. So a path treats real packets as it treats simulated ones,
//! including changes over time, Wi-Fi and disciplines in Python, and it measures the same. [`Live`] ties the run's
//! time to the clock, between two [`Port`]s. Nothing below `Live` knows a clock, so a test can replay any arrivals in
//! no time.

mod capture;
mod flows;
mod join;
#[cfg(target_os = "linux")]
mod live;
mod offload;
mod packet;
mod path;
mod pool;
#[cfg(target_os = "linux")]
mod port;

pub use goodqueue_capture::Error;
#[cfg(target_os = "linux")]
pub use live::Live;
pub use offload::Offload;
pub use path::{Path, PortRoute};
#[cfg(target_os = "linux")]
pub use port::Port;
