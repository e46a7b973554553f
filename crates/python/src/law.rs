//! A discipline written in Python: calls its methods and checks that it loses no packet.

use crate::failure::Failure;
use crate::packet::{Ledger, Link, Packet, Place, Queue, instant};
use goodqueue_netsim::Packet as Cargo;
use goodqueue_netsim::foreign::Foreign;
use goodqueue_qdisc::{Backlog, Drop as Why, Owner, Probe};
use goodqueue_units::{Instant, Rate, Stream};
use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::sync::Arc;

pyo3::create_exception!(
    _goodqueue,
    DisciplineError,
    pyo3::exceptions::PyValueError,
    "A discipline written in Python failed; its cause, if there is one, is what it raised."
);

/// A discipline written in Python.
pub(crate) struct Law {
    /// The class's name, for error messages.
    name: String,
    /// Its line with every parameter.
    line: String,
    object: Py<PyAny>,
    enqueue: Py<PyAny>,
    dequeue: Py<PyAny>,
    on_timer: Option<Py<PyAny>>,
    queue: Py<Queue>,
    pub(crate) ledger: Arc<Ledger>,
    next_timer: Option<Instant>,
    /// The time of the last call.
    now: Instant,
}

impl Law {
    /// Calls `make(line, link)`, which returns the object, the class's name and the line with every parameter.
    pub(crate) fn new(
        make: &Bound<'_, PyAny>,
        line: &str,
        link: goodqueue_qdisc::Link,
        random: Stream,
    ) -> PyResult<Self> {
        let py = make.py();
        let ledger = Ledger::new(random, link.rate.as_bps());
        let link = Link { mtu: link.mtu, ledger: Arc::clone(&ledger) };
        let (object, name, line): (Bound<'_, PyAny>, String, String) = make.call1((line, link))?.extract()?;
        let on_timer = object.getattr_opt("on_timer")?.map(Bound::unbind);
        let mut law = Self {
            name,
            line,
            enqueue: object.getattr("enqueue")?.unbind(),
            dequeue: object.getattr("dequeue")?.unbind(),
            on_timer,
            object: object.unbind(),
            queue: Py::new(py, Queue::new(Arc::clone(&ledger)))?,
            ledger,
            next_timer: None,
            now: Instant::ZERO,
        };
        law.read_timer(py)?;
        Ok(law)
    }

    pub(crate) fn line(&self) -> &str {
        &self.line
    }

    pub(crate) fn next_timer(&self) -> Option<Instant> {
        self.next_timer
    }

    pub(crate) fn backlog(&self) -> Backlog {
        self.ledger.open().backlog
    }

    /// Offers `packet`, which must be [`Place::Away`].
    pub(crate) fn enqueue(&mut self, py: Python<'_>, now: Instant, packet: &Py<Packet>) -> PyResult<()> {
        {
            let mut inner = packet.borrow_mut(py);
            inner.place = Place::Hand;
            inner.plain.arrival = now;
            inner.ledger = Some(Arc::clone(&self.ledger));
        }
        self.ledger.open().in_hand = 1;
        self.now = now;
        self.enqueue.bind(py).call1((now.as_nanos(), packet, &self.queue))?;
        self.nothing_in_hand("enqueue", "queue.push(packet) or packet.drop(reason) on every path")?;
        self.read_timer(py)
    }

    /// Asks for the packet to send next.
    pub(crate) fn dequeue(&mut self, py: Python<'_>, now: Instant) -> PyResult<Option<Py<Packet>>> {
        self.now = now;
        let answer = self.dequeue.bind(py).call1((now.as_nanos(), &self.queue))?;
        let packet = if answer.is_none() { None } else { Some(self.delivered(&answer)?) };
        self.nothing_in_hand("dequeue", "each popped packet is returned, dropped or pushed again")?;
        self.read_timer(py)?;
        Ok(packet)
    }

    pub(crate) fn on_timer(&mut self, py: Python<'_>, now: Instant) -> PyResult<()> {
        let Some(on_timer) = &self.on_timer else { return Ok(()) };
        self.now = now;
        on_timer.bind(py).call1((now.as_nanos(), &self.queue))?;
        self.nothing_in_hand("on_timer", "each popped packet is dropped or pushed again")?;
        self.read_timer(py)?;
        match self.next_timer {
            Some(next) if next <= now => Err(self.complain(&format!(
                "on_timer left next_timer at {} ns, and it is {} ns now; accepted: a later time, or None",
                next.as_nanos(),
                now.as_nanos()
            ))),
            _ => Ok(()),
        }
    }

    /// Returns what the discipline's `probe` returns, or an empty dict if it has none.
    pub(crate) fn probe<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        match self.object.bind(py).getattr_opt("probe")? {
            Some(probe) => probe.call0()?.cast_into::<PyDict>().map_err(|error| {
                let found = error.into_inner().get_type();
                self.complain(&format!("probe returned {found}; accepted: a dict"))
            }),
            None => Ok(PyDict::new(py)),
        }
    }

    fn complain(&self, message: &str) -> PyErr {
        DisciplineError::new_err(format!("{}.{message}", self.name))
    }

    fn delivered(&self, answer: &Bound<'_, PyAny>) -> PyResult<Py<Packet>> {
        const ACCEPTED: &str = "accepted: a packet from queue.pop(), or None";
        let Ok(packet) = answer.cast::<Packet>() else {
            let found = answer.get_type().name()?;
            return Err(self.complain(&format!("dequeue returned a {found}; {ACCEPTED}")));
        };
        let mut inner = packet.borrow_mut();
        let ours = inner.ledger.as_ref().is_some_and(|ledger| Arc::ptr_eq(ledger, &self.ledger));
        if inner.place != Place::Hand || !ours {
            let found = match inner.place {
                Place::Queue => "that still waits in a queue",
                _ => "that was delivered or dropped before",
            };
            return Err(self.complain(&format!("dequeue returned a packet {found}; {ACCEPTED}")));
        }
        inner.place = Place::Away;
        inner.ledger = None;
        self.ledger.open().in_hand -= 1;
        drop(inner);
        Ok(packet.clone().unbind())
    }

    /// Checks conservation: every packet is delivered, dropped or queued.
    fn nothing_in_hand(&self, method: &str, accepted: &str) -> PyResult<()> {
        let counters = self.ledger.open();
        let lost = counters.in_hand as usize + counters.lost;
        if lost == 0 {
            return Ok(());
        }
        let packets = if lost == 1 { "a packet" } else { &format!("{lost} packets") };
        let how = if counters.lost > 0 { " in a queue that it let go of" } else { "" };
        Err(self.complain(&format!("{method} lost {packets}{how}; accepted: {accepted}")))
    }

    /// Reads `next_timer`. Only a discipline with an `on_timer` needs it.
    fn read_timer(&mut self, py: Python<'_>) -> PyResult<()> {
        if self.on_timer.is_some() {
            self.next_timer = match self.object.bind(py).getattr_opt(pyo3::intern!(py, "next_timer"))? {
                Some(time) if !time.is_none() => Some(instant(&format!("{}.next_timer", self.name), &time)?),
                _ => None,
            };
        }
        Ok(())
    }
}

/// A discipline in a run. When the run's Python fails, the exception waits for the end of the time slice. From then on
/// the discipline delivers nothing.
pub(crate) struct InRun {
    law: Law,
    failure: Failure,
    /// Packets that came in and have not left, whatever the discipline claims.
    inside: u32,
}

impl InRun {
    pub(crate) fn new(law: Law, failure: Failure) -> Self {
        Self { law, failure, inside: 0 }
    }

    /// Returns the variables of `probe`, or None if it raises an exception. Ctrl-C, which is not an `Exception`, ends
    /// the run.
    fn shown<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyDict>> {
        if self.failure.is_noted() {
            return None;
        }
        match self.law.probe(py) {
            Ok(shown) => Some(shown),
            Err(error) => {
                if !error.is_instance_of::<PyException>(py) {
                    self.failure.note(error);
                }
                None
            }
        }
    }

    /// Reports the fates of packets to the owner.
    fn tell(&mut self, py: Python<'_>, owner: &mut dyn Owner<Cargo>) {
        let mut counters = self.law.ledger.open();
        if counters.dropped.is_empty() && counters.marked.is_empty() {
            return;
        }
        let (dropped, marked) = (std::mem::take(&mut counters.dropped), std::mem::take(&mut counters.marked));
        drop(counters);
        for (packet, why) in marked {
            if let Some(cargo) = packet.borrow(py).cargo() {
                owner.marked(&cargo, why);
            }
        }
        for (packet, why) in dropped {
            if let Some(cargo) = packet.borrow(py).cargo() {
                owner.dropped(cargo, why);
                self.inside -= 1;
            }
        }
    }
}

impl Foreign for InRun {
    fn line(&self) -> String {
        self.law.line.clone()
    }

    fn enqueue(&mut self, now: Instant, packet: Cargo, owner: &mut dyn Owner<Cargo>) {
        if self.failure.is_noted() {
            return owner.dropped(packet, Why::Overlimit);
        }
        self.inside += 1;
        let hosts = owner.host_hashes(&packet);
        Python::attach(|py| {
            let offered = Py::new(py, Packet::of(packet, hosts));
            match offered.and_then(|packet| self.law.enqueue(py, now, &packet)) {
                Ok(()) => self.tell(py, owner),
                Err(error) => self.failure.note(error),
            }
        });
    }

    fn dequeue(&mut self, now: Instant, owner: &mut dyn Owner<Cargo>) -> Option<Cargo> {
        if self.failure.is_noted() {
            return None;
        }
        Python::attach(|py| match self.law.dequeue(py, now) {
            Ok(packet) => {
                self.tell(py, owner);
                let cargo = packet.and_then(|packet| packet.borrow(py).cargo())?;
                self.inside -= 1;
                Some(cargo)
            }
            Err(error) => {
                self.failure.note(error);
                None
            }
        })
    }

    fn next_timer(&self) -> Option<Instant> {
        // A discipline that holds packets back may name a time in the past. That means now.
        if self.failure.is_noted() { None } else { self.law.next_timer().map(|time| time.max(self.law.now)) }
    }

    fn on_timer(&mut self, now: Instant, owner: &mut dyn Owner<Cargo>) {
        if self.failure.is_noted() {
            return;
        }
        Python::attach(|py| match self.law.on_timer(py, now) {
            Ok(()) => self.tell(py, owner),
            Err(error) => self.failure.note(error),
        });
    }

    fn set_link_rate(&mut self, rate: Rate) {
        self.law.ledger.open().link_bps = rate.as_bps();
    }

    fn backlog(&self) -> Backlog {
        Backlog { packets: self.inside, bytes: self.law.backlog().bytes }
    }

    fn probe(&self, probe: &mut dyn Probe) {
        const SERIES: &str = "drop_probability";
        Python::attach(|py| {
            let shown = self.shown(py).and_then(|shown| shown.get_item(SERIES).ok().flatten());
            if let Some(value) = shown.and_then(|value| value.extract().ok()) {
                probe.real(SERIES, value);
            }
        });
    }

    fn show(&self, see: &mut dyn FnMut(&str, f64)) {
        Python::attach(|py| {
            for (name, value) in self.shown(py).iter().flatten() {
                if let (Ok(name), Ok(value)) = (name.extract(), value.extract()) {
                    see(name, value);
                }
            }
        });
    }
}
