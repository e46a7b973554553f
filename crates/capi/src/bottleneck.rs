//! The C interface of `goodqueue-bottleneck`. Its documentation is `include/goodqueue_bottleneck.h`.

use crate::{answer, misuse, tell};
use goodqueue_bottleneck::{Bottleneck, Datagram, Direction, Ecn, Flow};
use std::ffi::{CStr, c_char, c_int, c_void};
use std::time::Duration;

/// The C type `goodqueue_bottleneck`.
pub struct CBottleneck(Bottleneck);

/// The C type `goodqueue_datagram`. The C header describes the fields.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CDatagram {
    /// When it is sent or arrived, in nanoseconds.
    pub time_ns: u64,
    /// Bytes of payload.
    pub len: usize,
    /// The number of the flow.
    pub flow: u32,
    /// 0: down, 1: up.
    pub direction: u8,
    /// ECN codepoint.
    pub ecn: u8,
    /// Differentiated services codepoint.
    pub dscp: u8,
}

/// The C type `goodqueue_way`. The C header describes the fields.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[allow(missing_docs)] // their names are those of `goodqueue_bottleneck::Way`
pub struct CWay {
    pub sent: u64,
    pub sent_bytes: u64,
    pub delivered: u64,
    pub delivered_bytes: u64,
    pub lost: u64,
    pub marked: u64,
    pub under_way: u64,
    pub goodput_mbps: f64,
    pub delay_mean_ms: f64,
    pub delay_p50_ms: f64,
    pub delay_p99_ms: f64,
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

fn direction(number: u8) -> Result<Direction, String> {
    match number {
        0 => Ok(Direction::Down),
        1 => Ok(Direction::Up),
        _ => Err(format!("direction: found {number}; accepted: 0 (down), 1 (up)")),
    }
}

/// Returns the path behind `path`. NULL ends the process with one line.
///
/// # Safety
/// `path` is NULL or a pointer from [`goodqueue_bottleneck_open`] that was not freed. No other thread uses it while the
/// reference lives.
unsafe fn shared<'a>(path: *const CBottleneck, what: &str) -> &'a Bottleneck {
    // SAFETY: by this function's contract `path` is NULL or points to a live path that nobody changes meanwhile.
    unsafe { path.as_ref() }.map_or_else(|| misuse(&format!("{what}: the path is NULL")), |path| &path.0)
}

/// Does the same as [`shared`] for a call that changes the path.
///
/// # Safety
/// As for [`shared`].
unsafe fn exclusive<'a>(path: *mut CBottleneck, what: &str) -> &'a mut Bottleneck {
    // SAFETY: by this function's contract `path` is NULL or points to a live path that nobody else uses meanwhile.
    unsafe { path.as_mut() }.map_or_else(|| misuse(&format!("{what}: the path is NULL")), |path| &mut path.0)
}

/// Returns the text behind `text`. NULL ends the process with one line.
///
/// # Safety
/// `text` is NULL or a string that ends with a zero byte and lives as long as the result is used.
unsafe fn text<'a>(text: *const c_char, what: &str) -> Result<&'a str, String> {
    if text.is_null() {
        misuse(&format!("{what} is NULL"));
    }
    // SAFETY: `text` is not NULL, and by this function's contract it ends with a zero byte.
    let text = unsafe { CStr::from_ptr(text) };
    text.to_str().map_err(|_| format!("found {text:?}; accepted: UTF-8"))
}

/// Builds the path of a scenario. If the scenario is refused, writes the reason into `error` and returns NULL.
///
/// # Safety
/// `scenario` is NULL or a string that ends with a zero byte. `error` is NULL or `error_size` bytes long and writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn goodqueue_bottleneck_open(
    scenario: *const c_char,
    error: *mut c_char,
    error_size: usize,
) -> *mut CBottleneck {
    // SAFETY: this function's contract is that of `text`. The text is used only here.
    let scenario = unsafe { text(scenario, "goodqueue_bottleneck_open: the scenario") };
    match scenario.and_then(|scenario| Bottleneck::open(scenario).map_err(|error| error.to_string())) {
        Ok(path) => Box::into_raw(Box::new(CBottleneck(path))),
        Err(why) => {
            // SAFETY: this function's contract is that of `tell`.
            unsafe { tell(&why, error, error_size) };
            std::ptr::null_mut()
        }
    }
}

/// Frees a path.
///
/// # Safety
/// `path` is NULL or a pointer from [`goodqueue_bottleneck_open`] that was not freed. No other thread uses it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn goodqueue_bottleneck_free(path: *mut CBottleneck) {
    if !path.is_null() {
        // SAFETY: `path` came from Box::into_raw in goodqueue_bottleneck_open and was not freed.
        drop(unsafe { Box::from_raw(path) });
    }
}

/// Writes the number of the flow `name`. Returns 1, or 0 if there is none. Then `error` holds the reason.
///
/// # Safety
/// `path` is as for [`goodqueue_bottleneck_free`]. `name` is NULL or a string that ends with a zero byte. `flow` is
/// NULL or points to a writable integer. `error` is NULL or `error_size` bytes long and writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn goodqueue_bottleneck_flow(
    path: *const CBottleneck,
    name: *const c_char,
    flow: *mut u32,
    error: *mut c_char,
    error_size: usize,
) -> c_int {
    if flow.is_null() {
        misuse("goodqueue_bottleneck_flow: the flow is NULL");
    }
    // SAFETY: this function's contract is that of `shared`, of `text` and of `answer`. `flow` is not NULL, and by the
    // contract writable.
    unsafe {
        let path = shared(path, "goodqueue_bottleneck_flow");
        let name = text(name, "goodqueue_bottleneck_flow: the name");
        let found = name.and_then(|name| path.flow(name).map_err(|error| error.to_string()));
        answer(found.map(|found| flow.write(found.0)), error, error_size)
    }
}

/// Puts a datagram into the path. Returns 1, or 0 if it is refused. Then `error` holds the reason.
///
/// # Safety
/// `path` is as for [`goodqueue_bottleneck_free`]. `datagram` is NULL or points to a datagram. `bytes` is NULL or
/// points to as many readable bytes as the datagram's `len` says, which nobody writes during the call. `error` is NULL or
/// `error_size` bytes long and writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn goodqueue_bottleneck_send(
    path: *mut CBottleneck,
    datagram: *const CDatagram,
    bytes: *const c_void,
    error: *mut c_char,
    error_size: usize,
) -> c_int {
    if datagram.is_null() {
        misuse("goodqueue_bottleneck_send: the datagram is NULL");
    }
    // SAFETY: `datagram` is not NULL, and by this function's contract points to a datagram. It is copied at once.
    let CDatagram { time_ns, len, flow, direction: way, ecn, dscp } = unsafe { datagram.read() };
    if bytes.is_null() && len > 0 {
        misuse("goodqueue_bottleneck_send: the bytes are NULL");
    }
    // SAFETY: this function's contract is that of `exclusive`.
    let path = unsafe { exclusive(path, "goodqueue_bottleneck_send") };
    // A byte more than the path takes is enough to refuse a datagram of any length.
    let copied = len.min(path.most_bytes() + 1);
    let bytes = if copied == 0 {
        Vec::new()
    } else {
        // SAFETY: `bytes` is not NULL, because `len` is not 0. By this function's contract `len` bytes can be read, and
        // these are the first of them. u8 needs no alignment. The slice is copied at once.
        unsafe { std::slice::from_raw_parts(bytes.cast::<u8>(), copied) }.to_vec()
    };
    let sent = direction(way).and_then(|direction| {
        let time = Duration::from_nanos(time_ns);
        let datagram = Datagram { time, direction, flow: Flow(flow), ecn: Ecn::from_bits(ecn), dscp, bytes };
        path.send(datagram).map_err(|error| error.to_string())
    });
    // SAFETY: this function's contract is that of `answer`.
    unsafe { answer(sent, error, error_size) }
}

/// Returns the time of the next event in nanoseconds, or `u64::MAX`.
///
/// # Safety
/// `path` is as for [`goodqueue_bottleneck_free`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn goodqueue_bottleneck_next_time(path: *mut CBottleneck) -> u64 {
    // SAFETY: this function's contract is that of `exclusive`.
    unsafe { exclusive(path, "goodqueue_bottleneck_next_time") }.next_time().map_or(u64::MAX, nanos)
}

/// Runs until the next datagram arrives, at the latest until `until_ns`. Returns 1 if one arrived, else 0.
///
/// # Safety
/// `path` is as for [`goodqueue_bottleneck_free`]. `datagram` is NULL or points to memory to which a datagram can be
/// written. `bytes` is NULL or `size` bytes long and writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn goodqueue_bottleneck_receive(
    path: *mut CBottleneck,
    until_ns: u64,
    datagram: *mut CDatagram,
    bytes: *mut c_void,
    size: usize,
) -> c_int {
    if datagram.is_null() {
        misuse("goodqueue_bottleneck_receive: the datagram is NULL");
    }
    // SAFETY: this function's contract is that of `exclusive`.
    let path = unsafe { exclusive(path, "goodqueue_bottleneck_receive") };
    // The only error of `receive` is a panic of a discipline of the caller's, and there is none.
    let Ok(Some(arrived)) = path.receive(Duration::from_nanos(until_ns)) else { return 0 };
    let written = CDatagram {
        time_ns: nanos(arrived.time),
        len: arrived.bytes.len(),
        flow: arrived.flow.0,
        direction: arrived.direction as u8,
        ecn: arrived.ecn.bits(),
        dscp: arrived.dscp,
    };
    // SAFETY: `datagram` is not NULL, and by this function's contract a datagram can be written to it.
    unsafe { datagram.write(written) };
    if !bytes.is_null() {
        // SAFETY: `bytes` is not NULL and has `size` writable bytes, and no more are copied. They cannot overlap with
        // `arrived`, which is ours.
        unsafe {
            bytes.cast::<u8>().copy_from_nonoverlapping(arrived.bytes.as_ptr(), arrived.bytes.len().min(size))
        };
    }
    1
}

/// Returns the time that the path has reached, in nanoseconds.
///
/// # Safety
/// `path` is as for [`goodqueue_bottleneck_free`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn goodqueue_bottleneck_now(path: *const CBottleneck) -> u64 {
    // SAFETY: this function's contract is that of `shared`.
    nanos(unsafe { shared(path, "goodqueue_bottleneck_now") }.now())
}

/// Returns the end of the run, in nanoseconds.
///
/// # Safety
/// `path` is as for [`goodqueue_bottleneck_free`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn goodqueue_bottleneck_duration(path: *const CBottleneck) -> u64 {
    // SAFETY: this function's contract is that of `shared`.
    nanos(unsafe { shared(path, "goodqueue_bottleneck_duration") }.duration())
}

/// Returns the most bytes of a datagram.
///
/// # Safety
/// `path` is as for [`goodqueue_bottleneck_free`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn goodqueue_bottleneck_most_bytes(path: *const CBottleneck) -> usize {
    // SAFETY: this function's contract is that of `shared`.
    unsafe { shared(path, "goodqueue_bottleneck_most_bytes") }.most_bytes()
}

/// Writes what the path did to one direction of a flow. Returns 1, or 0 if there is no such flow or direction.
///
/// # Safety
/// `path` is as for [`goodqueue_bottleneck_free`]. `way` is NULL or points to memory to which a result can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn goodqueue_bottleneck_way(
    path: *const CBottleneck,
    flow: u32,
    direction: u8,
    way: *mut CWay,
) -> c_int {
    if way.is_null() {
        misuse("goodqueue_bottleneck_way: the way is NULL");
    }
    // SAFETY: this function's contract is that of `shared`.
    let results = unsafe { shared(path, "goodqueue_bottleneck_way") }.results();
    let found = match (results.get(flow as usize), direction) {
        (Some(result), 0) => &result.down,
        (Some(result), 1) => &result.up,
        _ => return 0,
    };
    let delay = |of: fn(&goodqueue_bottleneck::Summary) -> f64| found.delay_ms.as_ref().map_or(0.0, of);
    let written = CWay {
        sent: found.sent,
        sent_bytes: found.sent_bytes,
        delivered: found.delivered,
        delivered_bytes: found.delivered_bytes,
        lost: found.lost,
        marked: found.marked,
        under_way: found.under_way,
        goodput_mbps: found.goodput_mbps,
        delay_mean_ms: delay(|ms| ms.mean),
        delay_p50_ms: delay(|ms| ms.p50),
        delay_p99_ms: delay(|ms| ms.p99),
    };
    // SAFETY: `way` is not NULL, and by this function's contract a result can be written to it.
    unsafe { way.write(written) };
    1
}

/// Writes the record as JSON, cut to `size`. Returns its length.
///
/// # Safety
/// `path` is as for [`goodqueue_bottleneck_free`]. `json` is NULL or `size` bytes long and writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn goodqueue_bottleneck_record(
    path: *const CBottleneck,
    json: *mut c_char,
    size: usize,
) -> usize {
    // SAFETY: this function's contract is that of `shared`.
    let record = unsafe { shared(path, "goodqueue_bottleneck_record") }.record();
    let text = serde_json::to_string(&record).unwrap_or_default(); // a record is always JSON
    // SAFETY: this function's contract is that of `tell`.
    unsafe { tell(&text, json, size) };
    text.len()
}
