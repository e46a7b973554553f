//! The path in real time: a thread that reads packets as they come and sends them when they are due.
//!
//! The run's time is the clock's. A packet is stamped when it is read, and leaves when the run plans it, however late
//! this thread was before. The delay of each sending is measured.

use crate::path::Path;
use crate::port::Port;
use goodqueue_netsim::Direction;
use goodqueue_units::Duration;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::thread::set_current_timer_slack;
use serde_json::Value;
use std::num::NonZeroU64;
use std::sync::mpsc::{Receiver, RecvError, Sender, TryRecvError, channel};
use std::thread::{Builder, JoinHandle};
use std::time::Instant as Clock;

/// The thread wakes this long before a packet is due, and then spins on the clock. A sleep ends up to 50 µs late on a
/// machine that does little else, and later on others. Where time is virtual a sleep ends on time, and hardly any time
/// passes for a program that spins.
const AHEAD: Duration = Duration::from_micros(60);
/// The longest sleep. A request waits no longer than this.
const LOOK: Duration = Duration::from_millis(20);
/// Packets that are read from one end before the thread looks again for packets that are due.
const BATCH: usize = 32;

/// A request to the thread.
enum Ask {
    Glance(Sender<Value>),
    Record(Sender<serde_json::Result<Value>>),
    Stop,
}

/// A path in real time.
pub struct Live {
    ask: Sender<Ask>,
    thread: JoinHandle<(Path, std::io::Result<()>)>,
}

impl Live {
    /// Starts `path` between the devices of the two ends, now. `virtual_time` says that time passes only while all
    /// programs sleep.
    ///
    /// # Errors
    /// No thread can be started.
    pub fn start(path: Path, server: Port, client: Port, virtual_time: bool) -> std::io::Result<Self> {
        let (ask, asked) = channel();
        let began = Clock::now(); // before the thread begins, so that its starter knows the moment
        let ahead = if virtual_time { Duration::ZERO } else { AHEAD };
        let work = move || {
            let mut work = Work { path, ports: [server, client], asked, began, ahead };
            let _ = set_current_timer_slack(NonZeroU64::new(1)); // default 50 µs; this only makes it wake on time
            let ended = work.run();
            (work.path, ended)
        };
        let thread = Builder::new().name("goodqueue-link".to_string()).spawn(work)?;
        Ok(Self { ask, thread })
    }

    /// Returns [`Path::glance`], or null if the thread has ended.
    #[must_use]
    pub fn glance(&self) -> Value {
        let (answer, answered) = channel();
        let asked = self.ask.send(Ask::Glance(answer)).map_err(|_| RecvError);
        asked.and_then(|()| answered.recv()).unwrap_or(Value::Null)
    }

    /// Returns [`Path::record`] of now. The run goes on afterwards, including the packets that wait now.
    ///
    /// # Errors
    /// The thread has ended.
    pub fn record(&self) -> std::io::Result<Value> {
        let (answer, answered) = channel();
        let over = || std::io::Error::other("the thread of the path has ended");
        self.ask.send(Ask::Record(answer)).map_err(|_| over())?;
        Ok(answered.recv().map_err(|_| over())??)
    }

    /// Returns whether the thread has ended by itself.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.thread.is_finished()
    }

    /// Ends the thread and returns its path.
    ///
    /// # Errors
    /// A device had disappeared, or the thread has panicked.
    pub fn stop(self) -> std::io::Result<Path> {
        let _ = self.ask.send(Ask::Stop);
        let panicked = |_| std::io::Error::other("the thread of the path has panicked");
        let (path, ended) = self.thread.join().map_err(panicked)?;
        ended.map(|()| path)
    }
}

struct Work {
    path: Path,
    /// In the order of the directions in which they send: the server's port, then the client's.
    ports: [Port; 2],
    asked: Receiver<Ask>,
    began: Clock,
    /// How long before a packet is due the thread wakes.
    ahead: Duration,
}

impl Work {
    fn elapsed(&self) -> Duration {
        elapsed(self.began)
    }

    fn run(&mut self) -> std::io::Result<()> {
        loop {
            match self.asked.try_recv() {
                Ok(Ask::Glance(answer)) => {
                    let _ = answer.send(self.path.glance()); // the asker may be gone
                }
                Ok(Ask::Record(answer)) => {
                    self.path.advance(self.elapsed());
                    let _ = answer.send(self.path.record());
                }
                Ok(Ask::Stop) | Err(TryRecvError::Disconnected) => return Ok(()),
                Err(TryRecvError::Empty) => {}
            }
            let mut came = false;
            for direction in Direction::ALL {
                came |= self.read(direction)?;
            }
            let now = self.elapsed();
            if now >= self.path.duration() {
                return Ok(()); // the run is over
            }
            self.path.advance(now);
            self.send();
            if !came {
                self.wait()?;
            }
        }
    }

    /// Reads the packets that wait at the end that sends `direction`. Returns whether there were any.
    fn read(&mut self, direction: Direction) -> std::io::Result<bool> {
        let Self { path, ports, began, .. } = self;
        for taken in 0..BATCH {
            let Some((packet, offload)) = ports[direction as usize].receive()? else { return Ok(taken > 0) };
            path.offer(elapsed(*began), direction, packet, offload);
        }
        Ok(true)
    }

    /// Sends the packets that are due.
    fn send(&mut self) {
        let Self { path, ports, began, .. } = self;
        path.deliver(|direction, parts, offload| {
            let port = &ports[1 - direction as usize];
            let sent = elapsed(*began);
            port.send(parts, offload).then_some(sent)
        });
    }

    /// Sleeps until a packet comes, or until shortly before one is due.
    fn wait(&mut self) -> std::io::Result<()> {
        let now = self.elapsed();
        let next = self.path.next_time().map_or(LOOK, |next| next.saturating_sub(now)).min(LOOK);
        let sleep = next.saturating_sub(self.ahead);
        if sleep == Duration::ZERO {
            std::hint::spin_loop();
            return Ok(());
        }
        let timeout = Timespec { tv_sec: 0, tv_nsec: sleep.as_nanos() as i64 };
        let mut waiting = self.ports.each_ref().map(|port| PollFd::new(port, PollFlags::IN));
        match poll(&mut waiting, Some(&timeout)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}

fn elapsed(began: Clock) -> Duration {
    Duration::from_nanos(began.elapsed().as_nanos() as u64)
}
