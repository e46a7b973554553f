//! Reads captures. Columns cross as bytes, so that numpy views them without copying each number.

use crate::heeding::{Heeding, Opened};
use goodqueue_capture::{Crossing, Flow, Queue, Transfer, Vector, Vectors};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use serde_json::json;
use std::path::PathBuf;

const DIRECTIONS: [&str; 2] = ["down", "up"];

/// Matches the packets of the captures on the two sides of the bottleneck.
#[pyfunction]
pub(crate) fn read_captures(py: Python<'_>, wan: PathBuf, cli: PathBuf) -> PyResult<Bound<'_, PyDict>> {
    let crossing = py.detach(|| goodqueue_capture::read(&wan, &cli));
    let Crossing { queues, flows, ignored } =
        crossing.map_err(|error| PyValueError::new_err(error.to_string()))?;
    let result = PyDict::new(py);
    result.set_item("queues", by_direction(py, &queues, queue)?)?;
    let flows: Vec<_> = flows.iter().map(|found| flow(py, found)).collect::<PyResult<_>>()?;
    result.set_item("flows", flows)?;
    result.set_item("ignored", ignored)?;
    Ok(result)
}

/// Returns the TCP connections of a capture as TMIX's connection vectors, each in JSON, and JSON of what else was
/// found. `file` has its bytes, and `capture` is its name. A signal ends the reading.
#[pyfunction]
pub(crate) fn connection_vectors(
    py: Python<'_>,
    capture: PathBuf,
    file: Py<PyAny>,
) -> PyResult<(Vec<String>, String)> {
    let refuse = |error: &dyn std::fmt::Display| PyValueError::new_err(error.to_string());
    let found = py.detach(|| {
        goodqueue_capture::vectors(&capture, Box::new(Heeding { inner: Opened(file), stopped: None }))
            .map_err(|error| refuse(&error))
    })?;
    let Vectors { list, partial, silent, one_sided, tally, untimed, is_cut } = found;
    let not_understood: serde_json::Map<_, _> =
        tally.not_understood().map(|(reason, frames)| (reason, frames.into())).collect();
    let others = json!({
        "partial": partial,
        "silent": silent,
        "one_sided": one_sided,
        "frames": tally.frames,
        "tcp": tally.tcp,
        "other": tally.other,
        "not_understood": not_understood,
        "untimed": untimed,
        "cut": is_cut,
    });
    Ok((list.iter().map(vector).collect(), others.to_string()))
}

fn vector(vector: &Vector) -> String {
    let direction = |is_initiators| if is_initiators { ">" } else { "<" };
    let sends =
        vector.sends.iter().map(|send| json!([direction(send.is_initiators), send.bytes, send.wait_us]));
    let vector = json!({
        "start_us": vector.start_us,
        "concurrent": vector.is_concurrent,
        "sends": sends.collect::<Vec<_>>(),
        "rtt_us": vector.rtt_us,
        "windows": vector.windows,
    });
    vector.to_string()
}

fn by_direction<'py, T>(
    py: Python<'py>,
    both: &[T; 2],
    convert: fn(Python<'py>, &T) -> PyResult<Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyDict>> {
    let result = PyDict::new(py);
    for (name, one) in DIRECTIONS.into_iter().zip(both) {
        result.set_item(name, convert(py, one)?)?;
    }
    Ok(result)
}

fn queue<'py>(py: Python<'py>, queue: &Queue) -> PyResult<Bound<'py, PyDict>> {
    let result = PyDict::new(py);
    result.set_item("arrival_ns", column(py, &queue.arrival_ns, |ns| ns.to_le_bytes()))?;
    result.set_item("departure_ns", column(py, &queue.departure_ns, |ns| ns.to_le_bytes()))?;
    result.set_item("length", column(py, &queue.length, |bytes| bytes.to_le_bytes()))?;
    result.set_item("flow", column(py, &queue.flow, |place| place.to_le_bytes()))?;
    result.set_item("ecn_in", PyBytes::new(py, &queue.ecn_in))?;
    result.set_item("ecn_out", PyBytes::new(py, &queue.ecn_out))?;
    result.set_item("copy_of", column(py, &queue.copy_of, |place| place.to_le_bytes()))?;
    result.set_item("copy_ns", column(py, &queue.copy_ns, |ns| ns.to_le_bytes()))?;
    Ok(result)
}

fn flow<'py>(py: Python<'py>, flow: &Flow) -> PyResult<Bound<'py, PyDict>> {
    let result = PyDict::new(py);
    result.set_item("protocol", flow.protocol)?;
    result.set_item("server", (flow.server.0.to_string(), flow.server.1))?;
    result.set_item("client", (flow.client.0.to_string(), flow.client.1))?;
    result.set_item("transfers", by_direction(py, &flow.transfers, transfer)?)?;
    Ok(result)
}

fn transfer<'py>(py: Python<'py>, transfer: &Transfer) -> PyResult<Bound<'py, PyDict>> {
    let result = PyDict::new(py);
    let columns = [
        ("delivered_at_ns", &transfer.delivered_at_ns),
        ("delivered_bytes", &transfer.delivered_bytes),
        ("rtt_at_ns", &transfer.rtt_at_ns),
        ("rtt_ns", &transfer.rtt_ns),
        ("resent_at_ns", &transfer.resent_at_ns),
    ];
    for (name, values) in columns {
        result.set_item(name, column(py, values, |value| value.to_le_bytes()))?;
    }
    Ok(result)
}

fn column<'py, T: Copy, const N: usize>(
    py: Python<'py>,
    values: &[T],
    bytes: impl Fn(T) -> [u8; N],
) -> Bound<'py, PyBytes> {
    PyBytes::new(py, &values.iter().flat_map(|value| bytes(*value)).collect::<Vec<u8>>())
}
