//! Packets and queues as Python sees them, and the ledger that records where each packet is.

use goodqueue_netsim::Packet as Cargo;
use goodqueue_qdisc::packet::{Plain, hosts_of_flow};
use goodqueue_qdisc::{Backlog, Drop as Why, Mark, Packet as _, TcpHeader};
use goodqueue_units::{Ecn, Instant, Stream};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard};

/// The largest packet that `Packet(len)` accepts, in bytes.
const MOST_BYTES: u32 = 1_000_000;

/// Where a packet is, from the point of view of a discipline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// Not with a discipline: new, delivered or dropped.
    Away,
    /// In the hands of a discipline written in Python, which must queue, drop or return it.
    Hand,
    /// In a queue.
    Queue,
}

/// What a discipline has done since its owner last looked, and the packets that it holds.
pub(crate) struct Counters {
    pub(crate) dropped: Vec<(Py<Packet>, Why)>,
    pub(crate) marked: Vec<(Py<Packet>, Mark)>,
    /// The packets in all its queues.
    pub(crate) backlog: Backlog,
    /// Packets in its hands.
    pub(crate) in_hand: u32,
    /// Packets that waited in a queue which no longer exists.
    pub(crate) lost: usize,
    pub(crate) random: Stream,
    /// The rate of the link below, in bit/s.
    pub(crate) link_bps: u64,
}

/// The counters of one discipline. Its packets, its queues and its link share them. The lock is uncontended, because
/// the GIL is held around it.
pub(crate) struct Ledger(Mutex<Counters>);

impl Ledger {
    pub(crate) fn new(random: Stream, link_bps: u64) -> Arc<Self> {
        let backlog = Backlog::default();
        let counters =
            Counters { dropped: vec![], marked: vec![], backlog, in_hand: 0, lost: 0, random, link_bps };
        Arc::new(Self(Mutex::new(counters)))
    }

    pub(crate) fn open(&self) -> MutexGuard<'_, Counters> {
        self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

/// A packet, as a queue discipline sees it.
#[pyclass(module = "goodqueue.qdisc")]
pub(crate) struct Packet {
    pub(crate) plain: Plain,
    pub(crate) flow: u32,
    /// The TCP header. Only `cake` reads it, and the firewall mark.
    pub(crate) tcp: Option<TcpHeader>,
    pub(crate) fwmark: u32,
    /// The simulator's own packet.
    pub(crate) cargo: Option<Cargo>,
    pub(crate) place: Place,
    pub(crate) ledger: Option<Arc<Ledger>>,
}

/// The names of the ECN codepoints, by their two bits.
const ECN_NAMES: [&str; 4] = ["not-ect", "ect1", "ect0", "ce"];

/// Returns the name of a codepoint.
pub(crate) fn codepoint_name(ecn: Ecn) -> &'static str {
    ECN_NAMES[usize::from(ecn.bits())]
}

/// Returns the codepoint called `name`, or what is accepted.
pub(crate) fn codepoint(name: &str) -> Result<Ecn, String> {
    let bits = ECN_NAMES.iter().position(|known| *known == name);
    let bits = bits.ok_or_else(|| format!("ecn: found {name:?}; accepted: {}", ECN_NAMES.join(", ")))?;
    Ok(Ecn::from_bits(bits as u8))
}

impl Packet {
    /// Wraps a packet of the simulator for a discipline written in Python. `host_hashes` are those of its source and
    /// destination, which the link knows.
    pub(crate) fn of(cargo: Cargo, host_hashes: (u32, u32)) -> Self {
        let plain = Plain {
            len: cargo.len(),
            ecn: cargo.ecn(),
            flow_hash: cargo.flow_hash(),
            host_hashes,
            dscp: cargo.dscp(),
            arrival: cargo.arrival(),
            id: 0,
        };
        let (tcp, fwmark) = (cargo.tcp(), cargo.fwmark());
        Self { plain, flow: cargo.flow(), tcp, fwmark, cargo: Some(cargo), place: Place::Away, ledger: None }
    }

    /// Returns the simulator's packet, marked CE if the discipline marked it.
    pub(crate) fn cargo(&self) -> Option<Cargo> {
        let mut cargo = self.cargo?;
        if self.plain.ecn == Ecn::Ce {
            cargo.set_ce();
        }
        Some(cargo)
    }

    /// Returns the ledger of the discipline that holds the packet.
    fn ledger_for(&self, what: &str) -> PyResult<Arc<Ledger>> {
        match (self.place, &self.ledger) {
            (Place::Hand | Place::Queue, Some(ledger)) => Ok(Arc::clone(ledger)),
            _ => Err(PyValueError::new_err(format!("{what}: the packet was delivered or dropped already"))),
        }
    }

    fn must_be_in_hand(&self, what: &str) -> PyResult<Arc<Ledger>> {
        if self.place == Place::Queue {
            return Err(PyValueError::new_err(format!("{what}: the packet waits in a queue; pop it first")));
        }
        self.ledger_for(what)
    }
}

/// Returns the reason called `name`, out of `all`.
fn reason<T: Copy>(name: &str, all: &[T], names: fn(T) -> &'static str, what: &str) -> PyResult<T> {
    all.iter().copied().find(|why| names(*why) == name).ok_or_else(|| {
        let known: Vec<&str> = all.iter().map(|why| names(*why)).collect();
        PyValueError::new_err(format!("{what}: found reason {name:?}; accepted: {}", known.join(", ")))
    })
}

#[pymethods]
impl Packet {
    #[new]
    #[pyo3(signature = (len, *, ecn="not-ect", flow=0, dscp=0, id=0, fwmark=0, ack=None, sack=vec![], hosts=None))]
    #[allow(clippy::too_many_arguments)] // keyword arguments in Python
    fn new(
        len: i64,
        ecn: &str,
        flow: i64,
        dscp: i64,
        id: i64,
        fwmark: i64,
        ack: Option<i64>,
        sack: Vec<(i64, i64)>,
        hosts: Option<(i64, i64)>,
    ) -> PyResult<Self> {
        let within = |name: &str, value: i64, least: i64, most: i64| {
            let refused = || format!("Packet {name}: found {value}; accepted: {least} to {most}");
            if (least..=most).contains(&value) { Ok(value) } else { Err(PyValueError::new_err(refused())) }
        };
        let ecn = codepoint(ecn).map_err(|refused| PyValueError::new_err(format!("Packet {refused}")))?;
        let flow = within("flow", flow, 0, u32::MAX.into())? as u32;
        // Fibonacci hashing: disciplines pick a bucket by the upper bits, and close flow numbers must differ there.
        let flow_hash = flow.wrapping_mul(0x9e37_79b1);
        let number = |name: &str, value: i64| Ok::<_, PyErr>(within(name, value, 0, u32::MAX.into())? as u32);
        let host_hashes = match hosts {
            Some((source, destination)) => (number("hosts", source)?, number("hosts", destination)?),
            None => hosts_of_flow(flow_hash),
        };
        let plain = Plain {
            len: within("len", len, 1, MOST_BYTES.into())? as u32,
            ecn,
            flow_hash,
            host_hashes,
            dscp: within("dscp", dscp, 0, 63)? as u8,
            arrival: Instant::ZERO,
            id: within("id", id, 0, i64::MAX)? as u64,
        };
        if sack.len() > 4 || (ack.is_none() && !sack.is_empty()) {
            let found = sack.len();
            let refused =
                format!("Packet sack: found {found} blocks; accepted: 4 at most, and beside an ack");
            return Err(PyValueError::new_err(refused));
        }
        let mut tcp = ack.map(|ack| number("ack", ack)).transpose()?.map(|ack| TcpHeader {
            ack,
            flags: TcpHeader::ACK,
            sack_len: sack.len() as u8,
            ..TcpHeader::default()
        });
        for (block, (start, end)) in tcp.iter_mut().flat_map(|tcp| &mut tcp.sack).zip(sack) {
            *block = (number("sack", start)?, number("sack", end)?);
        }
        let fwmark = number("fwmark", fwmark)?;
        Ok(Self { plain, flow, tcp, fwmark, cargo: None, place: Place::Away, ledger: None })
    }

    #[getter]
    fn len(&self) -> u32 {
        self.plain.len
    }

    #[getter]
    fn ecn(&self) -> &'static str {
        codepoint_name(self.plain.ecn)
    }

    #[getter]
    fn flow(&self) -> u32 {
        self.flow
    }

    #[getter]
    fn hosts(&self) -> (u32, u32) {
        self.plain.host_hashes
    }

    #[getter]
    fn dscp(&self) -> u8 {
        self.plain.dscp
    }

    #[getter]
    fn id(&self) -> u64 {
        self.plain.id
    }

    #[getter]
    fn arrival(&self) -> u64 {
        self.plain.arrival.as_nanos()
    }

    #[pyo3(signature = (reason="early"), text_signature = "($self, reason='early')")]
    fn drop(mut slf: PyRefMut<'_, Self>, reason: &str) -> PyResult<()> {
        let why = self::reason(reason, &Why::ALL, Why::name, "packet.drop")?;
        let ledger = slf.must_be_in_hand("packet.drop")?;
        slf.place = Place::Away;
        slf.ledger = None;
        let packet: Py<Self> = slf.into();
        let mut counters = ledger.open();
        counters.in_hand -= 1;
        counters.dropped.push((packet, why));
        Ok(())
    }

    #[pyo3(signature = (reason="early"), text_signature = "($self, reason='early')")]
    fn mark(mut slf: PyRefMut<'_, Self>, reason: &str) -> PyResult<bool> {
        let why = self::reason(reason, &Mark::ALL, Mark::name, "packet.mark")?;
        let ledger = slf.ledger_for("packet.mark")?;
        if !slf.plain.ecn.is_capable() {
            return Ok(false);
        }
        if slf.plain.ecn != Ecn::Ce {
            slf.plain.ecn = Ecn::Ce;
            let packet: Py<Self> = slf.into();
            ledger.open().marked.push((packet, why));
        }
        Ok(true)
    }

    fn __repr__(&self) -> String {
        let Plain { len, dscp, id, .. } = self.plain;
        format!("Packet({len}, ecn='{}', flow={}, dscp={dscp}, id={id})", self.ecn(), self.flow)
    }
}

/// A FIFO of a discipline written in Python.
#[pyclass(module = "goodqueue.qdisc")]
pub(crate) struct Queue {
    packets: VecDeque<Py<Packet>>,
    bytes: u64,
    ledger: Arc<Ledger>,
}

impl Queue {
    pub(crate) fn new(ledger: Arc<Ledger>) -> Self {
        Self { packets: VecDeque::new(), bytes: 0, ledger }
    }

    fn taken(&mut self, py: Python<'_>, packet: Option<Py<Packet>>) -> Option<Py<Packet>> {
        let packet = packet?;
        let mut inner = packet.borrow_mut(py);
        inner.place = Place::Hand;
        let len = u64::from(inner.plain.len);
        drop(inner);
        self.bytes -= len;
        let mut counters = self.ledger.open();
        counters.in_hand += 1;
        counters.backlog.packets -= 1;
        counters.backlog.bytes -= len;
        Some(packet)
    }
}

#[pymethods]
impl Queue {
    fn __len__(&self) -> usize {
        self.packets.len()
    }

    #[getter]
    fn bytes(&self) -> u64 {
        self.bytes
    }

    #[getter]
    fn head(&self, py: Python<'_>) -> Option<Py<Packet>> {
        self.packets.front().map(|packet| packet.clone_ref(py))
    }

    fn push(&mut self, mut packet: PyRefMut<'_, Packet>) -> PyResult<()> {
        let ledger = packet.must_be_in_hand("queue.push")?;
        if !Arc::ptr_eq(&ledger, &self.ledger) {
            return Err(PyValueError::new_err("queue.push: the packet is of another discipline"));
        }
        packet.place = Place::Queue;
        let len = u64::from(packet.plain.len);
        self.bytes += len;
        self.packets.push_back(packet.into());
        let mut counters = ledger.open();
        counters.in_hand -= 1;
        counters.backlog.packets += 1;
        counters.backlog.bytes += len;
        Ok(())
    }

    fn pop(&mut self, py: Python<'_>) -> Option<Py<Packet>> {
        let packet = self.packets.pop_front();
        self.taken(py, packet)
    }

    fn pop_tail(&mut self, py: Python<'_>) -> Option<Py<Packet>> {
        let packet = self.packets.pop_back();
        self.taken(py, packet)
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        self.ledger.open().lost += self.packets.len();
    }
}

/// The link below a discipline written in Python: its rate and MTU, random numbers, and further queues.
#[pyclass(module = "goodqueue.qdisc", frozen)]
pub(crate) struct Link {
    pub(crate) mtu: u32,
    pub(crate) ledger: Arc<Ledger>,
}

#[pymethods]
impl Link {
    #[getter]
    fn rate(&self) -> u64 {
        self.ledger.open().link_bps
    }

    #[getter]
    fn mtu(&self) -> u32 {
        self.mtu
    }

    fn random(&self) -> f64 {
        self.ledger.open().random.next_f64()
    }

    fn queue(&self) -> Queue {
        Queue::new(Arc::clone(&self.ledger))
    }
}

/// Converts a point in time from Python: whole nanoseconds.
pub(crate) fn instant(what: &str, value: &Bound<'_, PyAny>) -> PyResult<Instant> {
    value.extract::<u64>().ok().filter(|ns| *ns < 1 << 63).map(Instant::from_nanos).ok_or_else(|| {
        // Shows at most 60 characters of the value, which may be of any length.
        let shown = value.repr().map_or_else(|_| String::from("?"), |text| text.to_string());
        let shown = match shown.char_indices().nth(60) {
            Some((end, _)) => format!("{}...", &shown[..end]),
            None => shown,
        };
        let message = format!("{what}: found {shown}; accepted: whole nanoseconds, 0 or more");
        if value.is_instance_of::<pyo3::types::PyInt>() {
            PyValueError::new_err(message)
        } else {
            PyTypeError::new_err(message)
        }
    })
}
