//! Ends the process after a signal that Python does not act on, because code in C holds its lock and never returns.

use pyo3::prelude::*;
use std::io::{ErrorKind, Read};
use std::os::fd::IntoRawFd;
use std::os::unix::net::UnixStream;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

const SIGINT: u8 = 2;
const SIGTERM: u8 = 15;
/// Python writes it when it has handled a signal, and from time to time until the process ends.
const ALIVE: u8 = 0;

static WRITTEN: OnceLock<i32> = OnceLock::new();

/// Returns the descriptor for `signal.set_wakeup_fd`, to which Python's C code writes each signal's number at once.
///
/// After SIGINT or SIGTERM a 0 must be written at least every `seconds`. Otherwise the process ends with the status
/// that a shell reports for that signal. `line` is printed on standard error if the signal is SIGINT. The descriptor is
/// the same for each call.
#[pyfunction]
pub(crate) fn watch_signals(seconds: f64, line: String) -> PyResult<i32> {
    if let Some(descriptor) = WRITTEN.get() {
        return Ok(*descriptor);
    }
    let (read, written) = UnixStream::pair()?;
    written.set_nonblocking(true)?;
    let limit = Duration::from_secs_f64(seconds);
    std::thread::Builder::new().name("signals".to_string()).spawn(move || watch(read, limit, &line))?;
    Ok(*WRITTEN.get_or_init(|| written.into_raw_fd()))
}

fn watch(mut read: UnixStream, limit: Duration, line: &str) {
    let mut first = None;
    let mut deadline = Instant::now();
    loop {
        let left = deadline.saturating_duration_since(Instant::now()).max(Duration::from_millis(1)); // 0 is refused
        if read.set_read_timeout(first.map(|_| left)).is_err() {
            return;
        }
        let mut byte = [ALIVE];
        match (read.read(&mut byte), first) {
            (Ok(1), Some(_)) if byte[0] == ALIVE => deadline = Instant::now() + limit,
            (Ok(1), None) if byte[0] == SIGINT || byte[0] == SIGTERM => {
                first = Some(byte[0]);
                deadline = Instant::now() + limit;
            }
            (Ok(1), _) => {} // a further signal, or one that is not ours
            (Err(error), _) if error.kind() == ErrorKind::Interrupted => {}
            (Err(error), Some(number))
                if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) =>
            {
                if number == SIGINT {
                    eprintln!("{line}");
                }
                std::process::exit(128 + i32::from(number));
            }
            _ => return,
        }
    }
}
