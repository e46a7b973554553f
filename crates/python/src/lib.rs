//! The Python binding: it converts, and never decides. Structured data crosses as JSON text, so that one schema
//! serves Rust, Python and the page. The typed interface of this module is `python/goodqueue/_goodqueue.pyi`.

mod bottleneck;
mod capture;
mod cc;
mod failure;
mod heeding;
mod law;
mod lines;
#[cfg(target_os = "linux")]
mod live;
mod making;
mod numbers;
mod packet;
mod qdisc;
mod rates;
mod simulation;
#[cfg(target_os = "linux")]
mod sockets;
#[cfg(unix)]
mod stuck;
mod tc_line;
mod trace;

use crate::heeding::{Heeding, Opened};
use crate::simulation::Simulation;
use goodqueue_hosts::keys::KeyDoc;
use goodqueue_hosts::traffic::KINDS;
use goodqueue_hosts::traffic::kind::{Kind, Make, Measure, UNDONE};
use goodqueue_netsim::path::HOPS;
use goodqueue_netsim::roofline::Roofline;
use goodqueue_netsim::scenario::reference::TABLES;
use goodqueue_netsim::{Scenario, catalogue};
use goodqueue_tcp::{Buffer, Difference, Stack};
use goodqueue_units::Release;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::hint::black_box;
use std::path::PathBuf;
use std::time::Instant;

pyo3::create_exception!(_goodqueue, ScenarioError, PyValueError, "A refused scenario: `key` and `message`.");

/// Returns the Python exception for a refused scenario, with its key and message as attributes.
fn refuse(py: Python<'_>, error: &goodqueue_netsim::ScenarioError) -> PyErr {
    let exception = ScenarioError::new_err(error.to_string());
    let value = exception.value(py);
    let attributes = value.setattr("key", &error.key).and_then(|()| value.setattr("message", &error.message));
    attributes.err().unwrap_or(exception)
}

fn to_json<T: serde::Serialize>(value: &T) -> PyResult<String> {
    serde_json::to_string(value).map_err(|error| PyValueError::new_err(error.to_string()))
}

/// Returns the scenario with its defaults filled in.
#[pyfunction]
fn resolve(py: Python<'_>, scenario_json: &str) -> PyResult<String> {
    to_json(&Scenario::from_json(scenario_json).map_err(|error| refuse(py, &error))?)
}

/// Returns the scenario without tables of subscribers: the trees and the traffic that follow from them are written out.
/// Also returns the place of each flow's subscriber.
#[pyfunction]
fn expanded(py: Python<'_>, scenario_json: &str) -> PyResult<(String, Vec<Option<u32>>)> {
    let scenario = Scenario::from_json(scenario_json).map_err(|error| refuse(py, &error))?;
    Ok((to_json(&scenario.expanded())?, scenario.subscribers_of_flows()))
}

/// Returns the part of a record for subscribers. For each of them and each direction there are its bytes, those of its
/// best second, packets offered and dropped, and delays.
#[pyfunction]
fn isp_record(
    py: Python<'_>,
    scenario_json: &str,
    down: Vec<numbers::Got>,
    up: Vec<numbers::Got>,
) -> PyResult<String> {
    let scenario = Scenario::from_json(scenario_json).map_err(|error| refuse(py, &error))?;
    to_json(&scenario.isp_seen(&[numbers::got(py, down)?, numbers::got(py, up)?]))
}

/// Returns the single flows of a scenario, as JSON.
#[pyfunction]
fn flows(py: Python<'_>, scenario_json: &str) -> PyResult<String> {
    let scenario = Scenario::from_json(scenario_json).map_err(|error| refuse(py, &error))?;
    to_json(&scenario.flows())
}

/// Returns a sentence for each filter of a scenario's trees that is easily misread, or that no packet can match. With
/// `has_real_packets`, packets of real programs come, too.
#[pyfunction]
fn filter_notes(py: Python<'_>, scenario_json: &str, has_real_packets: bool) -> PyResult<Vec<String>> {
    let scenario = Scenario::from_json(scenario_json).map_err(|error| refuse(py, &error))?;
    Ok(scenario.notes_on_filters(has_real_packets))
}

/// Returns every queue discipline with its parameters, as JSON.
#[pyfunction]
fn qdiscs() -> PyResult<String> {
    to_json(&catalogue::qdiscs())
}

/// Returns every discipline that has classes, with its words and those of a class, as JSON.
#[pyfunction]
fn classful() -> PyResult<String> {
    to_json(&catalogue::classful())
}

/// Returns every kind of access network with its parameters, as JSON.
#[pyfunction]
fn access() -> PyResult<String> {
    to_json(&catalogue::access())
}

/// Returns the releases of Linux, and what changed in each discipline, as JSON.
#[pyfunction]
fn linux() -> PyResult<String> {
    to_json(&catalogue::linux())
}

/// Returns every congestion control, as JSON.
#[pyfunction]
fn congestion_controls() -> PyResult<String> {
    to_json(&catalogue::congestion_controls())
}

/// Returns every TCP stack, its buffers as sysctls, and how the stacks differ, as JSON.
#[pyfunction]
fn stacks() -> PyResult<String> {
    let names: Vec<&str> = Stack::ALL.iter().map(|stack| stack.name()).collect();
    let differences: Vec<Value> = Difference::ALL
        .iter()
        .map(|row| {
            let each: Vec<_> = Stack::ALL.iter().map(|&stack| row.of(stack)).collect();
            json!({"aspect": row.aspect, "stacks": each})
        })
        .collect();
    let sysctl = |Buffer { first, most }| format!("4096 {first} {most}");
    let buffers: BTreeMap<&str, Value> = Stack::ALL
        .iter()
        .map(|&stack| {
            let (rmem, wmem) = (sysctl(Buffer::rmem(stack)), sysctl(Buffer::WMEM));
            (stack.name(), json!({"tcp_rmem": rmem, "tcp_wmem": wmem}))
        })
        .collect();
    to_json(&json!({"names": names, "buffers": buffers, "differences": differences}))
}

/// Returns every table of a scenario with its keys, and the keys of its kinds, as JSON.
#[pyfunction]
fn scenario_tables() -> PyResult<String> {
    to_json(&TABLES)
}

/// Returns the layout of a record, as JSON.
#[pyfunction]
fn record_layout() -> PyResult<String> {
    to_json(&goodqueue_netsim::record::layout::layout())
}

/// Returns every kind of traffic, with its keys and measures, as JSON.
#[pyfunction]
fn traffic_kinds() -> PyResult<String> {
    let all: Vec<Value> = KINDS
        .iter()
        .map(|kind| {
            let keys: Vec<KeyDoc> = kind.all_keys().map(|key| key.doc()).collect();
            json!({
                "name": kind.name,
                "summary": kind.summary,
                "is_tcp": kind.is_tcp(),
                "is_probe": kind.is_probe,
                "in_parallel": kind.in_parallel,
                "asks": kind.asks,
                "is_made_of_flows": kind.is_made_of_flows(),
                "package": if matches!(kind.make, Make::Endpoints) { "goodqueue-transports" } else { "" },
                "keys": keys,
                "plural": kind.plural,
                "fields": kind.result.map(|part| part.fields).unwrap_or_default(),
                "things": if kind.things.is_empty() { kind.plural } else { kind.things },
                "is_one_per_flow": kind.things.is_empty(),
                "ended": kind.ended,
                "measures": measures(kind),
                "times": kind.times,
                "times_are": kind.times_are,
                "series": kind.series.map(|(name, _)| name).unwrap_or_default(),
                "option": kind.option,
            })
        })
        .collect();
    to_json(&all)
}

/// Returns the measures of a kind, and what every kind counts that measures. Without an end nothing is unfinished.
fn measures(kind: &Kind) -> Vec<Value> {
    let has = |one: &&Measure| kind.result.is_some() && (one.path != "unfinished" || !kind.ended.is_empty());
    let of_all = UNDONE.iter().filter(has).map(|one| {
        let things = if kind.things.is_empty() { kind.plural } else { kind.things };
        let mut named = json!(one);
        named["key"] = json!(format!("{}_{}", kind.name, one.key));
        named["label"] = json!(format!("{things} {}", one.label));
        named["heading"] = json!(things);
        named
    });
    kind.measures.iter().map(|one| json!(one)).chain(of_all).collect()
}

/// Returns every kind of hop, with its keys, as JSON.
#[pyfunction]
fn hop_kinds() -> PyResult<String> {
    let all: Vec<Value> = HOPS
        .iter()
        .map(|kind| {
            let keys: Vec<KeyDoc> = kind.keys.iter().map(|key| key.doc()).collect();
            json!({
                "name": kind.name,
                "summary": kind.summary,
                "has_queue": kind.has_queue(),
                "plural": kind.plural,
                "noun": kind.noun,
                "shows": kind.shows,
                "linux": kind.linux,
                "keys": keys,
            })
        })
        .collect();
    to_json(&all)
}

/// Replays the decision trace `name`, whose bytes `file` has, with the law of `release` or else of its kernel. Raises
/// ValueError once `stopped()` is true.
#[pyfunction]
#[pyo3(signature = (name, file, release=None, stopped=None))]
fn replay(
    py: Python<'_>,
    name: &str,
    file: Py<PyAny>,
    release: Option<&str>,
    stopped: Option<Py<PyAny>>,
) -> PyResult<String> {
    let named = |release| {
        let accepted = || Release::ALL.map(Release::name).join(", ");
        let refused = || PyValueError::new_err(format!("found {release:?}; accepted: {}", accepted()));
        Release::named(release).ok_or_else(refused)
    };
    let release = release.map(named).transpose()?;
    let outcome = py.detach(|| {
        let file = std::io::BufReader::new(Heeding { inner: Opened(file), stopped: stopped.as_ref() });
        goodqueue_conformance::replay_as(name, file, release)
    });
    to_json(&outcome.map_err(|error| PyValueError::new_err(error.to_string()))?)
}

/// Records the decisions of a `tc` line's discipline, as a decision trace at `path`. Returns totals as JSON.
#[pyfunction]
#[allow(clippy::too_many_arguments)] // one argument per option of the verb
fn record(
    py: Python<'_>,
    path: PathBuf,
    gzip: bool,
    line: &str,
    pattern: &str,
    load: f64,
    rate: &str,
    packets: u64,
    sizes: &str,
    flows: u64,
    ecn: &str,
    seed: u64,
) -> PyResult<String> {
    use goodqueue_conformance::record::{Error, Options, Words, record};
    let totals = py.detach(|| {
        let options = Options::parse(&Words { pattern, load, rate, packets, sizes, flows, ecn, seed })?;
        record(line, &options, gzip, Heeding { inner: std::fs::File::create(path)?, stopped: None })
    });
    let totals = totals.map_err(|error| match error {
        Error::Refused(why) => PyValueError::new_err(why),
        Error::Io(error) => error.into(),
    })?;
    to_json(&totals)
}

/// Plays a tree by its own timers. Returns the packets that left and those that were dropped, each as a list of tuples:
/// time, number, segment, length, codepoints. Returns also how many packets wait at the end.
#[pyfunction]
#[allow(clippy::type_complexity)] // two lists of tuples, for Python
fn play_tree(
    py: Python<'_>,
    commands: &str,
    release: &str,
    packets: &[u8],
    end: u64,
    draws: (u64, u64),
) -> PyResult<(Vec<(u64, u32, u32, u32, u8)>, Vec<(u64, u32, u32, u32, u8)>, u32)> {
    use goodqueue_conformance::trees::{Job, Sent, play};
    let release = Release::named(release).ok_or_else(|| PyValueError::new_err("no such release"))?;
    let draws = u128::from(draws.0) << 64 | u128::from(draws.1);
    let played = py.detach(|| play(&Job { commands, release, packets, end, draws }));
    let played = played.map_err(PyValueError::new_err)?;
    let tuple = |Sent { at, number, segment, len, tos }| (at, number, segment, len, tos);
    let tuples = |list: Vec<Sent>| list.into_iter().map(tuple).collect();
    Ok((tuples(played.sent), tuples(played.dropped), played.left))
}

/// Returns the nanoseconds that one enqueue and one dequeue take with `backlog` packets of `flows` flows waiting, and
/// the share of packets that were dropped.
#[pyfunction]
fn qdisc_pair_ns(py: Python<'_>, line: &str, flows: u32, backlog: u32, pairs: u64) -> PyResult<(f64, f64)> {
    py.detach(|| goodqueue_conformance::bench::run(line, flows, backlog, pairs))
        .map(|run| (run.packet_ns(), run.dropped as f64 / run.packets as f64))
        .map_err(|error| PyValueError::new_err(error.to_string()))
}

/// Returns the nanoseconds per packet that only moving the memory of `flows` connections and their packets takes.
#[pyfunction]
fn roofline_ns(py: Python<'_>, flows: u32, waiting: u32, on_the_way: u32, packets: u64) -> f64 {
    py.detach(|| {
        let mut memory = Roofline::new(flows, waiting, on_the_way);
        black_box(memory.carry(packets / 4)); // into the caches
        let started = Instant::now();
        black_box(memory.carry(packets));
        started.elapsed().as_secs_f64() * 1e9 / packets.max(1) as f64
    })
}

/// Adds the class `T`, whose values live inside objects that Python's allocator places.
///
/// Every class is added here, so that a class that needs more alignment than those objects have does not compile. A
/// reference into a misaligned object would be undefined behaviour. A value that needs more alignment belongs in a
/// `Box`.
fn add_class<T: pyo3::PyClass>(module: &Bound<'_, PyModule>) -> PyResult<()> {
    const {
        // CPython's Objects/obmalloc.c, ALIGNMENT: 16 bytes on 64-bit machines, 8 on 32-bit ones.
        assert!(
            align_of::<T>() <= 2 * size_of::<usize>(),
            "a Python class holds what Python cannot align: box it"
        );
    }
    module.add_class::<T>()
}

#[pymodule]
fn _goodqueue(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("VERSION", env!("CARGO_PKG_VERSION"))?;
    module.add("HAS_PROFILE", cfg!(has_profile))?;
    module.add("ScenarioError", module.py().get_type::<ScenarioError>())?;
    module.add("DisciplineError", module.py().get_type::<law::DisciplineError>())?;
    module.add("TraceError", module.py().get_type::<trace::TraceError>())?;
    add_class::<Simulation>(module)?;
    #[cfg(target_os = "linux")]
    add_class::<live::Gateway>(module)?;
    #[cfg(target_os = "linux")]
    add_class::<sockets::Sockets>(module)?;
    add_class::<bottleneck::Bottleneck>(module)?;
    add_class::<bottleneck::Datagram>(module)?;
    add_class::<cc::CcAck>(module)?;
    add_class::<cc::CcCongestion>(module)?;
    add_class::<cc::CcConnection>(module)?;
    add_class::<cc::CcSample>(module)?;
    add_class::<cc::CcWindow>(module)?;
    add_class::<packet::Packet>(module)?;
    add_class::<packet::Queue>(module)?;
    add_class::<packet::Link>(module)?;
    add_class::<qdisc::Qdisc>(module)?;
    module.add_function(wrap_pyfunction!(play_tree, module)?)?;
    module.add_function(wrap_pyfunction!(tc_line::qdisc_line, module)?)?;
    module.add_function(wrap_pyfunction!(tc_line::qdisc_values, module)?)?;
    module.add_function(wrap_pyfunction!(tc_line::qdisc_reading, module)?)?;
    module.add_function(wrap_pyfunction!(rates::generate_rates, module)?)?;
    module.add_function(wrap_pyfunction!(rates::mean_rate_bps, module)?)?;
    module.add_function(wrap_pyfunction!(rates::rate_steps, module)?)?;
    module.add_function(wrap_pyfunction!(numbers::time_ns, module)?)?;
    module.add_function(wrap_pyfunction!(numbers::rate_bps, module)?)?;
    module.add_function(wrap_pyfunction!(numbers::mos, module)?)?;
    module.add_function(wrap_pyfunction!(numbers::rounded, module)?)?;
    module.add_function(wrap_pyfunction!(numbers::percent, module)?)?;
    module.add_function(wrap_pyfunction!(numbers::jain, module)?)?;
    module.add_function(wrap_pyfunction!(numbers::percentiles_ms, module)?)?;
    module.add_function(wrap_pyfunction!(numbers::summary, module)?)?;
    module.add_function(wrap_pyfunction!(numbers::goodput_quantiles, module)?)?;
    module.add_function(wrap_pyfunction!(numbers::jitter_ms, module)?)?;
    module.add_function(wrap_pyfunction!(resolve, module)?)?;
    module.add_function(wrap_pyfunction!(expanded, module)?)?;
    module.add_function(wrap_pyfunction!(flows, module)?)?;
    module.add_function(wrap_pyfunction!(filter_notes, module)?)?;
    module.add_function(wrap_pyfunction!(isp_record, module)?)?;
    module.add_function(wrap_pyfunction!(capture::read_captures, module)?)?;
    module.add_function(wrap_pyfunction!(capture::connection_vectors, module)?)?;
    #[cfg(unix)]
    module.add_function(wrap_pyfunction!(stuck::watch_signals, module)?)?;
    module.add_function(wrap_pyfunction!(trace::trace_points, module)?)?;
    module.add_function(wrap_pyfunction!(trace::merge_captures, module)?)?;
    module.add_function(wrap_pyfunction!(qdiscs, module)?)?;
    module.add_function(wrap_pyfunction!(classful, module)?)?;
    module.add_function(wrap_pyfunction!(access, module)?)?;
    module.add_function(wrap_pyfunction!(linux, module)?)?;
    module.add_function(wrap_pyfunction!(congestion_controls, module)?)?;
    module.add_function(wrap_pyfunction!(stacks, module)?)?;
    module.add_function(wrap_pyfunction!(record_layout, module)?)?;
    module.add_function(wrap_pyfunction!(traffic_kinds, module)?)?;
    module.add_function(wrap_pyfunction!(hop_kinds, module)?)?;
    module.add_function(wrap_pyfunction!(scenario_tables, module)?)?;
    module.add_function(wrap_pyfunction!(lines::toml_line, module)?)?;
    module.add_function(wrap_pyfunction!(replay, module)?)?;
    module.add_function(wrap_pyfunction!(record, module)?)?;
    module.add_function(wrap_pyfunction!(qdisc_pair_ns, module)?)?;
    module.add_function(wrap_pyfunction!(roofline_ns, module)?)
}
