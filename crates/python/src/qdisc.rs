//! One discipline on its own, driven by hand: the object that `goodqueue.qdisc.make` returns.

use crate::law::Law;
use crate::packet::{Packet, Place, instant};
use crate::tc_line::line_of;
use goodqueue_netsim::foreign::is_foreign;
use goodqueue_qdisc::packet::Plain;
use goodqueue_qdisc::{
    AnyQdisc, Drop as Why, Link, Mark, Owner, Packet as QdiscPacket, Probe, Qdisc as _, TcpHeader, registry,
};
use goodqueue_units::{Ecn, Instant, Rate, Stream, Streams, parse};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// A Python packet inside a discipline of the registry.
struct Held {
    plain: Plain,
    tcp: Option<TcpHeader>,
    fwmark: u32,
    object: Py<Packet>,
}

impl QdiscPacket for Held {
    fn len(&self) -> u32 {
        self.plain.len
    }
    fn ecn(&self) -> Ecn {
        self.plain.ecn
    }
    fn set_ce(&mut self) {
        self.plain.ecn = Ecn::Ce;
    }
    fn flow_hash(&self) -> u32 {
        self.plain.flow_hash
    }
    fn dscp(&self) -> u8 {
        self.plain.dscp
    }
    fn host_hashes(&self) -> (u32, u32) {
        self.plain.host_hashes
    }
    fn set_dscp(&mut self, dscp: u8) {
        self.plain.dscp = dscp;
    }
    fn fwmark(&self) -> u32 {
        self.fwmark
    }
    fn tcp(&self) -> Option<TcpHeader> {
        self.tcp
    }
    fn arrival(&self) -> Instant {
        self.plain.arrival
    }
    fn set_arrival(&mut self, now: Instant) {
        self.plain.arrival = now;
    }
}

impl Held {
    /// Releases the packet: the Python object takes over what the discipline changed.
    fn release(self, py: Python<'_>) -> Py<Packet> {
        let mut inner = self.object.borrow_mut(py);
        inner.plain = self.plain;
        inner.place = Place::Away;
        drop(inner);
        self.object
    }
}

/// The owner: the fates of packets in the last call, and the dice.
struct Fates {
    dropped: Vec<(Py<Packet>, &'static str)>,
    marked: Vec<(Py<Packet>, &'static str)>,
    random: Stream,
}

impl Owner<Held> for Fates {
    fn dropped(&mut self, packet: Held, why: Why) {
        Python::attach(|py| self.dropped.push((packet.release(py), why.name())));
    }
    fn marked(&mut self, packet: &Held, why: Mark) {
        Python::attach(|py| {
            packet.object.borrow_mut(py).plain.ecn = Ecn::Ce;
            self.marked.push((packet.object.clone_ref(py), why.name()));
        });
    }
    fn random_u32(&mut self) -> u32 {
        self.random.next_u32()
    }
    fn random_u64(&mut self) -> u64 {
        self.random.next_u64()
    }
}

#[allow(clippy::large_enum_variant)] // one of the two is a discipline, and it never moves
enum Kind {
    Registry(AnyQdisc<Held>),
    Python(Law),
}

/// A queue discipline that is driven by hand.
#[pyclass(module = "goodqueue.qdisc")]
pub(crate) struct Qdisc {
    kind: Kind,
    fates: Fates,
    now: Instant,
    line: String,
}

impl Qdisc {
    /// Sets the time of a call. Time may stand still, but never goes back.
    fn tick(&mut self, what: &str, now: &Bound<'_, PyAny>) -> PyResult<Instant> {
        let time = instant(&format!("{what}: now_ns"), now)?;
        if time < self.now {
            let (time, last) = (time.as_nanos(), self.now.as_nanos());
            let message = format!("{what}: found now_ns {time}; accepted: {last} (the last call's) or later");
            return Err(PyValueError::new_err(message));
        }
        self.fates.dropped.clear();
        self.fates.marked.clear();
        self.now = time;
        Ok(time)
    }

    /// Notes the fates of a Python discipline's packets, after an error, too, so that none is left for the next call.
    fn settle<T>(&mut self, result: PyResult<T>) -> PyResult<T> {
        if let Kind::Python(law) = &self.kind {
            let mut counters = law.ledger.open();
            self.fates.dropped =
                counters.dropped.drain(..).map(|(packet, why)| (packet, why.name())).collect();
            self.fates.marked = counters.marked.drain(..).map(|(packet, why)| (packet, why.name())).collect();
        }
        result
    }
}

fn link_rate(text: &str) -> PyResult<Rate> {
    parse::rate(text).map_err(|error| PyValueError::new_err(format!("link rate: {error}")))
}

pub(crate) fn refuse(error: goodqueue_qdisc::Error) -> PyErr {
    PyValueError::new_err(error.0)
}

#[pymethods]
impl Qdisc {
    #[new]
    fn new(line: &str, rate: &str, mtu: u32, seed: u64, make: &Bound<'_, PyAny>) -> PyResult<Self> {
        let rate = link_rate(rate)?;
        if !(1..=1_000_000).contains(&mtu) {
            return Err(PyValueError::new_err(format!("mtu: found {mtu}; accepted: 1 to 1000000 bytes")));
        }
        let link = Link { rate, mtu };
        let random = Streams::new(seed).stream("qdisc", 0);
        let (kind, line) = if is_foreign(line) {
            let law = Law::new(make, line, link, random.clone())?;
            let line = law.line().to_string();
            (Kind::Python(law), line)
        } else {
            let args = registry::parse_line(line).map_err(refuse)?;
            let qdisc = AnyQdisc::build(&args, &link).map_err(refuse)?;
            let line = qdisc.args().to_string();
            (Kind::Registry(qdisc), line)
        };
        let fates = Fates { dropped: vec![], marked: vec![], random };
        Ok(Self { kind, fates, now: Instant::ZERO, line })
    }

    fn enqueue(
        &mut self,
        py: Python<'_>,
        now_ns: &Bound<'_, PyAny>,
        packet: &Bound<'_, Packet>,
    ) -> PyResult<()> {
        if packet.borrow().place != Place::Away {
            return Err(PyValueError::new_err(
                "enqueue: the packet waits already; accepted: one that does not",
            ));
        }
        let now = self.tick("enqueue", now_ns)?;
        let object = packet.clone().unbind();
        let result = match &mut self.kind {
            Kind::Registry(qdisc) => {
                let mut inner = packet.borrow_mut();
                inner.plain.arrival = now;
                inner.place = Place::Queue;
                let held = Held { plain: inner.plain, tcp: inner.tcp, fwmark: inner.fwmark, object };
                drop(inner);
                qdisc.enqueue(now, held, &mut self.fates);
                Ok(())
            }
            Kind::Python(law) => law.enqueue(py, now, &object),
        };
        self.settle(result)
    }

    fn dequeue(&mut self, py: Python<'_>, now_ns: &Bound<'_, PyAny>) -> PyResult<Option<Py<Packet>>> {
        let now = self.tick("dequeue", now_ns)?;
        let result = match &mut self.kind {
            Kind::Registry(qdisc) => Ok(qdisc.dequeue(now, &mut self.fates).map(|held| held.release(py))),
            Kind::Python(law) => law.dequeue(py, now),
        };
        self.settle(result)
    }

    fn next_timer(&self) -> Option<u64> {
        match &self.kind {
            Kind::Registry(qdisc) => qdisc.next_timer(),
            Kind::Python(law) => law.next_timer(),
        }
        .map(Instant::as_nanos)
    }

    fn on_timer(&mut self, py: Python<'_>, now_ns: &Bound<'_, PyAny>) -> PyResult<()> {
        let now = self.tick("on_timer", now_ns)?;
        let result = match &mut self.kind {
            Kind::Registry(qdisc) => {
                // A call before the timer is due is not part of the contract.
                if qdisc.next_timer().is_some_and(|due| due <= now) {
                    qdisc.on_timer(now, &mut self.fates);
                }
                Ok(())
            }
            Kind::Python(law) => law.on_timer(py, now),
        };
        self.settle(result)
    }

    /// Changes parameters as `tc qdisc change` does, with `params` as keyword arguments.
    #[pyo3(signature = (now_ns, **params))]
    fn change(&mut self, now_ns: &Bound<'_, PyAny>, params: Option<&Bound<'_, PyDict>>) -> PyResult<()> {
        let now = self.tick("change", now_ns)?;
        let Kind::Registry(qdisc) = &mut self.kind else {
            return Err(PyValueError::new_err(format!(
                "change: found {}, written in Python; accepted: a discipline of the registry",
                self.line
            )));
        };
        let line = line_of(qdisc.args().spec, params)?;
        qdisc.change(now, &line, &mut self.fates).map_err(refuse)?;
        self.line = qdisc.args().to_string();
        Ok(())
    }

    /// Changes the rate of the link.
    fn set_link_rate(&mut self, now_ns: &Bound<'_, PyAny>, rate: &str) -> PyResult<()> {
        let now = self.tick("set_link_rate", now_ns)?;
        let rate = link_rate(rate)?;
        match &mut self.kind {
            Kind::Registry(qdisc) => qdisc.set_link_rate(now, rate, &mut self.fates).map_err(refuse),
            Kind::Python(law) => {
                law.ledger.open().link_bps = rate.as_bps();
                Ok(())
            }
        }
    }

    /// The number of waiting packets and bytes.
    #[getter]
    fn backlog(&self) -> (u32, u64) {
        let backlog = match &self.kind {
            Kind::Registry(qdisc) => qdisc.backlog(),
            Kind::Python(law) => law.backlog(),
        };
        (backlog.packets, backlog.bytes)
    }

    fn probe<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        match &self.kind {
            Kind::Registry(qdisc) => {
                let mut variables = Variables(PyDict::new(py), Ok(()));
                qdisc.probe(&mut variables);
                variables.1.map(|()| variables.0)
            }
            Kind::Python(law) => law.probe(py),
        }
    }

    #[getter]
    fn dropped(&self, py: Python<'_>) -> Vec<(Py<Packet>, &'static str)> {
        self.fates.dropped.iter().map(|(packet, why)| (packet.clone_ref(py), *why)).collect()
    }

    #[getter]
    fn marked(&self, py: Python<'_>) -> Vec<(Py<Packet>, &'static str)> {
        self.fates.marked.iter().map(|(packet, why)| (packet.clone_ref(py), *why)).collect()
    }

    #[getter]
    fn line(&self) -> &str {
        &self.line
    }

    fn __repr__(&self) -> String {
        format!("<qdisc {}>", self.line)
    }
}

/// Collects the inner state into a dict.
struct Variables<'py>(Bound<'py, PyDict>, PyResult<()>);

impl Probe for Variables<'_> {
    fn integer(&mut self, name: &'static str, value: i128) {
        let set = self.0.set_item(name, value);
        self.1 = std::mem::replace(&mut self.1, Ok(())).and(set);
    }
    fn real(&mut self, name: &'static str, value: f64) {
        let set = self.0.set_item(name, value);
        self.1 = std::mem::replace(&mut self.1, Ok(())).and(set);
    }
    fn text(&mut self, name: &'static str, value: String) {
        let set = self.0.set_item(name, value);
        self.1 = std::mem::replace(&mut self.1, Ok(())).and(set);
    }
}
