//! aioquic, which is written in Python: `aioquic_peer.py` is the end, and this file calls it.

use crate::peer::{Outgoing, Peer, Role, Sample, Setup, Time, Totals, WINDOW_BYTES};
use crate::shown::Shown;
use crate::tls;
use goodqueue_units::Ecn;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCFunction};
use std::io::Write;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// One end of a connection.
pub(crate) struct Aioquic {
    object: Py<PyAny>,
    failure: Option<String>,
}

/// Returns the exception as one line.
fn said(error: &PyErr) -> String {
    error.to_string().replace('\n', " ")
}

/// Returns a time of aioquic's, which is a float. It must not be earlier than the float.
fn time(seconds: f64) -> Time {
    Duration::from_nanos((seconds * 1e9).ceil().max(0.0) as u64 + 1)
}

/// Returns a function of Python's that writes its text to `file`.
fn words(py: Python<'_>, file: Box<dyn Write + Send + Sync>) -> PyResult<Bound<'_, PyCFunction>> {
    let file = Mutex::new(file);
    PyCFunction::new_closure(py, None, None, move |arguments, _| {
        let text: String = arguments.get_item(0)?.extract()?;
        file.lock().unwrap_or_else(PoisonError::into_inner).write_all(text.as_bytes())?;
        PyResult::Ok(())
    })
}

impl Aioquic {
    /// Makes an end. A client begins its handshake at `now`.
    ///
    /// # Errors
    /// One line: aioquic is not installed, or refuses.
    pub(crate) fn new(setup: Setup, now: Time) -> Result<Self, String> {
        let is_client = setup.role == Role::Client;
        let made = Python::attach(|py| -> PyResult<Py<PyAny>> {
            let class = py.import("goodqueue_transports.aioquic_peer")?.getattr("AioquicPeer")?;
            let alpn = String::from_utf8_lossy(tls::ALPN).into_owned();
            let qlog = setup.qlog.map(|qlog| words(py, qlog.writer())).transpose()?;
            let tls = (PyBytes::new(py, tls::CERTIFICATE), PyBytes::new(py, tls::KEY), tls::NAME, alpn);
            let object = class.call1((is_client, setup.cc, WINDOW_BYTES, tls, qlog))?;
            if is_client {
                object.call_method1("connect", (now.as_secs_f64(),))?;
            }
            Ok(object.unbind())
        });
        let accepted = "accepted: pip install aioquic";
        let object = made.map_err(|error| format!("{}; {accepted}", said(&error)))?;
        Ok(Self { object, failure: None })
    }

    /// Calls `work`, unless an exception or the stack has ended the connection.
    fn call<T: Default>(&mut self, work: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<T>) -> T {
        if self.failure.is_some() {
            return T::default();
        }
        let done = Python::attach(|py| {
            let object = self.object.bind(py);
            let done = work(object)?;
            Ok((done, object.getattr("failure")?.extract::<Option<String>>()?))
        });
        match done {
            Ok((done, failure)) => {
                self.failure = failure;
                done
            }
            Err(error) => {
                self.failure = Some(said(&error));
                T::default()
            }
        }
    }
}

impl Peer for Aioquic {
    fn receive(&mut self, now: Time, _ecn: Ecn, datagram: Vec<u8>) {
        self.call(|object| {
            let data = PyBytes::new(object.py(), &datagram);
            object.call_method1("receive", (now.as_secs_f64(), data)).map(|_| ())
        });
    }

    fn transmit(&mut self, now: Time, out: &mut Vec<Outgoing>) {
        let sent: Vec<Vec<u8>> =
            self.call(|object| object.call_method1("transmit", (now.as_secs_f64(),))?.extract());
        out.extend(sent.into_iter().map(|bytes| Outgoing { ecn: Ecn::NotEct, bytes }));
    }

    fn timeout(&mut self) -> Option<Time> {
        let seconds: Option<f64> = self.call(|object| object.call_method0("timeout")?.extract());
        seconds.map(time)
    }

    fn expire(&mut self, now: Time) {
        self.call(|object| object.call_method1("expire", (now.as_secs_f64(),)).map(|_| ()));
    }

    fn is_established(&self) -> bool {
        Python::attach(|py| self.object.bind(py).getattr("established")?.extract()).unwrap_or(false)
    }

    fn write(&mut self, _now: Time, bytes: u64) -> u64 {
        self.call(|object| object.call_method1("write", (bytes,))?.extract())
    }

    fn finish(&mut self, _now: Time) {
        self.call(|object| object.call_method0("finish").map(|_| ()));
    }

    fn abort(&mut self, _now: Time) {
        self.call(|object| object.call_method0("abort").map(|_| ()));
    }

    fn read(&mut self, _now: Time) -> u64 {
        self.call(|object| object.call_method0("read")?.extract())
    }

    fn sample(&self) -> Sample {
        let seen = Python::attach(|py| self.object.bind(py).call_method0("sample")?.extract::<(f64, u64)>());
        let (rtt, cwnd_bytes) = seen.unwrap_or_default();
        Sample { rtt: Duration::from_secs_f64(rtt.max(0.0)), cwnd_bytes }
    }

    fn show(&mut self) -> Shown {
        Shown { mtu_bytes: self.call(|object| object.call_method0("mtu")?.extract()), ..Shown::default() }
    }

    fn totals(&mut self) -> Totals {
        let (packets_sent, packets_lost) = self.call(|object| object.call_method0("totals")?.extract());
        Totals { packets_sent, packets_lost, congestion_events: None }
    }

    fn failure(&self) -> Option<&str> {
        self.failure.as_deref()
    }
}
