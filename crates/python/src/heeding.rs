//! Files that check for a signal whenever a buffer is read or written, so that work of many seconds ends soon after
//! Ctrl-C.

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::io::{Read, Result, Write};

/// A file whose reads and writes fail with the exception of a signal handler, or once `stopped()` is true.
pub(crate) struct Heeding<'a, T> {
    pub(crate) inner: T,
    /// For threads other than the main thread, which get no signals.
    pub(crate) stopped: Option<&'a Py<PyAny>>,
}

impl<T> Heeding<'_, T> {
    /// Fails if the work must stop. An exception becomes an `io::Error`. PyO3 restores the exception when that
    /// becomes a `PyErr`.
    fn heed(&self) -> Result<()> {
        Python::attach(|py| {
            py.check_signals()?;
            let stopped = self.stopped.map_or(Ok(false), |stopped| stopped.call0(py)?.is_truthy(py));
            if stopped? { Err(std::io::Error::other("stopped")) } else { Ok(()) }
        })
    }
}

impl<T: Read> Read for Heeding<'_, T> {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        self.heed()?;
        self.inner.read(buffer)
    }
}

/// A file that Python has opened and reads. It knows how to wait for a pipe.
pub(crate) struct Opened(pub(crate) Py<PyAny>);

impl Read for Opened {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        Python::attach(|py| {
            let read = self.0.bind(py).call_method1("read", (buffer.len(),));
            let read = read.map_err(|error| match error.value(py).getattr("strerror") {
                Ok(why) => std::io::Error::other(why.to_string()), // an OSError, in words
                Err(_) => error.into(),
            })?;
            let read = read.cast::<PyBytes>().map_err(PyErr::from)?.as_bytes();
            buffer[..read.len()].copy_from_slice(read);
            Ok(read.len())
        })
    }
}

impl<T: Write> Write for Heeding<'_, T> {
    fn write(&mut self, buffer: &[u8]) -> Result<usize> {
        self.heed()?;
        self.inner.write(buffer)
    }

    fn flush(&mut self) -> Result<()> {
        self.inner.flush()
    }
}
