//! Ends the process after a signal that Python does not handle, because code in C holds its lock and never returns.

use pyo3::prelude::*;
use std::io::{ErrorKind, Read};
use std::os::fd::IntoRawFd;
use std::os::unix::net::UnixStream;
use std::sync::OnceLock;
use std::time::Duration;

const SIGINT: u8 = 2;
const SIGTERM: u8 = 15;
/// Python writes it when it has handled a signal.
const HANDLED: u8 = 0;

static WRITTEN: OnceLock<i32> = OnceLock::new();

/// Returns the descriptor for `signal.set_wakeup_fd`, to which Python's C code writes each signal's number at once.
///
/// `seconds` after SIGINT or SIGTERM the process ends with the status that a shell reports for that signal, unless a
/// 0 was written by then. `line` is printed on standard error if the signal is SIGINT. The descriptor is the same for
/// each call.
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
    let mut waiting = None;
    loop {
        if read.set_read_timeout(waiting.map(|_| limit)).is_err() {
            return;
        }
        let mut byte = [HANDLED];
        match (read.read(&mut byte), waiting) {
            (Ok(1), _) if byte[0] == HANDLED => waiting = None,
            (Ok(1), None) if byte[0] == SIGINT || byte[0] == SIGTERM => waiting = Some(byte[0]),
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
