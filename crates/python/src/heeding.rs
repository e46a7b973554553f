//! Files that ask, whenever a buffer of them is read or written, whether to go on: work of many seconds thus ends soon
//! after Ctrl-C.

use pyo3::prelude::*;
use std::io::{Read, Result, Write};

/// A file whose reads and writes fail with what a signal's handler raised, and once `stopped()` is true.
pub(crate) struct Heeding<'a, T> {
    pub(crate) inner: T,
    /// For threads other than the first, which get no signals.
    pub(crate) stopped: Option<&'a Py<PyAny>>,
}

impl<T> Heeding<'_, T> {
    /// An exception becomes an `io::Error`, and PyO3 takes it out again where that becomes a `PyErr`.
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

impl<T: Write> Write for Heeding<'_, T> {
    fn write(&mut self, buffer: &[u8]) -> Result<usize> {
        self.heed()?;
        self.inner.write(buffer)
    }

    fn flush(&mut self) -> Result<()> {
        self.inner.flush()
    }
}
