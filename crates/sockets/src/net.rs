//! The process's view of the network: both namespaces, the event queue and the clock.

use goodqueue_hosts::direction::Side;
use goodqueue_units::{Duration, Instant};
use rustix::buffer::spare_capacity;
use rustix::event::epoll::{self, Event, EventData, EventFlags};
use rustix::fd::{AsFd, OwnedFd};
use rustix::io::Errno;
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use rustix::time::{
    ClockId, Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, clock_gettime,
    timerfd_create, timerfd_settime,
};
use std::io;

/// The instant 0 of the run, by the clock for scheduling and by the clock that stamps packets, in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    /// By `CLOCK_MONOTONIC`.
    pub monotonic_ns: u64,
    /// By `CLOCK_REALTIME`.
    pub realtime_ns: u64,
}

impl Clock {
    /// Returns the time of the run, 0 before it has begun.
    pub(crate) fn now(self) -> Instant {
        let Timespec { tv_sec, tv_nsec } = clock_gettime(ClockId::Monotonic);
        Self::since(self.monotonic_ns, tv_sec, tv_nsec)
    }

    /// Returns the time of the run at which the kernel stamped a packet.
    pub(crate) fn stamped(self, seconds: i64, nanos: i64) -> Instant {
        Self::since(self.realtime_ns, seconds, nanos)
    }

    fn since(origin: u64, seconds: i64, nanos: i64) -> Instant {
        Instant::from_nanos((seconds as u64 * 1_000_000_000 + nanos as u64).saturating_sub(origin))
    }

    /// Returns when `time` of the run is, by `CLOCK_MONOTONIC`.
    fn at(self, time: Instant) -> Timespec {
        let nanos = self.monotonic_ns.saturating_add(time.as_nanos());
        Timespec { tv_sec: (nanos / 1_000_000_000) as i64, tv_nsec: (nanos % 1_000_000_000) as i64 }
    }
}

/// What became ready: which socket of which flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ready {
    /// The listening socket at this side, for connections that take this way.
    Listener(Side, u32),
    /// An end of a connection.
    End(Side, u32),
    /// The socket from which an exchange of datagrams was opened.
    Exchange(u32),
    /// The socket at this side to which exchanges are opened.
    Datagrams(Side),
}

/// The number by which epoll names the alarm.
const ALARM: u64 = u64::MAX;

impl Ready {
    /// Returns whether `event` is the alarm, and no socket.
    pub(crate) fn is_alarm(event: &Event) -> bool {
        event.data.u64() == ALARM
    }

    /// Returns the number by which epoll names this socket of flow number `flow`.
    fn token(self, flow: u32) -> u64 {
        let (kind, index) = match self {
            Self::Listener(side, route) => (side as u64, route),
            Self::End(side, index) => (2 + side as u64, index),
            Self::Exchange(index) => (4, index),
            Self::Datagrams(side) => (5 + side as u64, 0),
        };
        u64::from(flow) << 40 | kind << 32 | u64::from(index)
    }

    /// Returns the flow's number and its socket.
    pub(crate) fn of(token: u64) -> (usize, Self) {
        let index = token as u32;
        let ready = match token >> 32 & 0xFF {
            0 => Self::Listener(Side::User, index),
            1 => Self::Listener(Side::Remote, index),
            2 => Self::End(Side::User, index),
            3 => Self::End(Side::Remote, index),
            4 => Self::Exchange(index),
            5 => Self::Datagrams(Side::User),
            _ => Self::Datagrams(Side::Remote),
        };
        ((token >> 40) as usize, ready)
    }
}

/// Both ends' network.
pub(crate) struct Net {
    /// The namespaces of the user's side and of the remote side.
    spaces: [OwnedFd; 2],
    /// The side in whose namespace this thread is.
    inside: Option<Side>,
    epoll: OwnedFd,
    alarm: OwnedFd,
    pub(crate) clock: Clock,
    /// Zeros to send, and room for data that nobody reads.
    pub(crate) buffer: Vec<u8>,
}

impl Net {
    /// Takes the namespaces of the user's and of the remote side.
    pub(crate) fn new(spaces: [OwnedFd; 2], clock: Clock) -> io::Result<Self> {
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        let alarm =
            timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::CLOEXEC | TimerfdFlags::NONBLOCK)?;
        // Who sets it anew need not read it, since epoll tells of an edge.
        epoll::add(&epoll, &alarm, EventData::new_u64(ALARM), EventFlags::IN | EventFlags::ET)?;
        Ok(Self { spaces, inside: None, epoll, alarm, clock, buffer: vec![0; 1 << 18] })
    }

    /// Sets the alarm for `time`. It rings at once if that has passed, and no more for any time before.
    pub(crate) fn set_alarm(&self, time: Instant) -> io::Result<()> {
        let once = Timespec { tv_sec: 0, tv_nsec: 0 };
        let alarm = Itimerspec { it_interval: once, it_value: self.clock.at(time) };
        timerfd_settime(&self.alarm, TimerfdTimerFlags::ABSTIME, &alarm)?;
        Ok(())
    }

    /// Waits until the alarm rings or a socket is ready, and fills `events`.
    pub(crate) fn wait(&self, events: &mut Vec<Event>) -> io::Result<()> {
        match epoll::wait(&self.epoll, spare_capacity(events), None) {
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Enters the namespace of `side`: sockets are opened there from now on.
    pub(crate) fn enter(&mut self, side: Side) -> io::Result<()> {
        if self.inside != Some(side) {
            let space = self.spaces[side as usize].as_fd();
            move_into_link_name_space(space, Some(LinkNameSpaceType::Network))?;
            self.inside = Some(side);
        }
        Ok(())
    }

    /// Reports whenever `socket`, which is `ready` of `flow`, has more to read or more room to write.
    pub(crate) fn watch(&self, socket: &OwnedFd, flow: u32, ready: Ready) -> io::Result<()> {
        let of_ends = EventFlags::OUT | EventFlags::RDHUP;
        let more = if matches!(ready, Ready::End(..)) { of_ends } else { EventFlags::empty() };
        let flags = EventFlags::IN | EventFlags::ET | more;
        Ok(epoll::add(&self.epoll, socket, EventData::new_u64(ready.token(flow)), flags)?)
    }

    /// Returns how much later than `time` it is.
    pub(crate) fn late(&self, time: Instant) -> Duration {
        self.clock.now().since(time)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An event would otherwise reach another socket, or another flow.
    #[test]
    fn a_token_names_one_socket() {
        let all = Side::ALL.into_iter().flat_map(|side| {
            [
                Ready::Listener(side, 15),
                Ready::End(side, u32::MAX),
                Ready::Exchange(7),
                Ready::Datagrams(side),
            ]
        });
        for ready in all {
            assert_eq!(Ready::of(ready.token(1999)), (1999, ready));
        }
    }
}
