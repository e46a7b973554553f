//! The C interface of `goodqueue-qdisc`, and of `goodqueue-bottleneck`. Its documentation are the headers in `include`.
//!
//! All unsafe code of the project is here, except the prefetch in `goodqueue-units`. Each function first turns its
//! arguments from C into references or values, with the proof beside it. The rest of the function is safe Rust. Two
//! mistakes of a caller are caught instead of trusted: a NULL, and a callback that calls its own discipline (a
//! [`RefCell`] detects it). Both end the process with one line on standard error. A panic would end it, too: no panic
//! leaves an `extern "C"` function.

mod bottleneck;
mod callbacks;
mod packet;

pub use bottleneck::*;
pub use callbacks::{CallBacks, ProbeTo};
use goodqueue_qdisc::{AnyQdisc, Drop, Link, Mark, Qdisc, TcpHeader};
use goodqueue_units::{Instant, Rate};
pub use packet::{CPacket, CSender};
use packet::{Held, Known};
use std::cell::RefCell;
use std::ffi::{CStr, c_char, c_int, c_void};

/// The C type `goodqueue`: the discipline and its owner.
pub struct Goodqueue(RefCell<Inner>);

struct Inner {
    qdisc: AnyQdisc<Held>,
    owner: CallBacks,
}

/// Ends the process with one line on standard error, because no caller can receive an error.
fn misuse(what: &str) -> ! {
    eprintln!("{what}");
    std::process::abort()
}

/// Calls `work` with the discipline. NULL, and a call from inside a callback, end the process with one line.
///
/// # Safety
/// `qdisc` is NULL or a pointer from [`goodqueue_new`] that was not freed. No other thread uses it until this
/// returns.
unsafe fn with<T>(qdisc: *const Goodqueue, what: &str, work: impl FnOnce(&mut Inner) -> T) -> T {
    // SAFETY: by this function's contract `qdisc` is NULL or points to a live `Goodqueue`. While that lives, only
    // shared references to it are made, and its `RefCell` guards exclusive access to what is inside. The caller keeps
    // other threads away.
    let qdisc =
        unsafe { qdisc.as_ref() }.unwrap_or_else(|| misuse(&format!("{what}: the discipline is NULL")));
    let Ok(mut inner) = qdisc.0.try_borrow_mut() else {
        misuse(&format!("{what}: called from inside a callback of the same discipline"));
    };
    work(&mut inner)
}

/// Builds a discipline. If the line is refused, writes the reason into `error` and returns NULL.
///
/// # Safety
/// `line` is NULL or a string that ends with a zero byte. `error` is NULL or `error_size` bytes long and writable.
/// The callbacks of `owner` may be called with its context, as the header declares them, until the discipline is
/// freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn goodqueue_new(
    line: *const c_char,
    rate_bps: u64,
    mtu: u32,
    owner: CallBacks,
    error: *mut c_char,
    error_size: usize,
) -> *mut Goodqueue {
    if line.is_null() {
        misuse("goodqueue_new: the line is NULL");
    }
    // SAFETY: `line` is not NULL, and by this function's contract it ends with a zero byte. It is read only here.
    let line = unsafe { CStr::from_ptr(line) };
    match make(line, rate_bps, mtu) {
        Ok(qdisc) => Box::into_raw(Box::new(Goodqueue(RefCell::new(Inner { qdisc, owner })))),
        Err(why) => {
            // SAFETY: this function's contract is that of `tell`.
            unsafe { tell(&why, error, error_size) };
            std::ptr::null_mut()
        }
    }
}

/// Writes `why` into `error`, truncated to fit.
///
/// # Safety
/// `error` is NULL or `error_size` bytes long and writable.
unsafe fn tell(why: &str, error: *mut c_char, error_size: usize) {
    if error.is_null() || error_size == 0 {
        return;
    }
    let mut len = why.len().min(error_size - 1);
    while !why.is_char_boundary(len) {
        len -= 1;
    }
    // SAFETY: `error` is not NULL and has `error_size` writable bytes. len <= error_size - 1, so the text and its
    // zero byte fit. `error` cannot overlap `why`, which is ours.
    unsafe {
        error.copy_from_nonoverlapping(why.as_ptr().cast(), len);
        error.add(len).write(0);
    }
}

fn utf8(line: &CStr) -> Result<&str, String> {
    line.to_str().map_err(|_| format!("found {line:?}; accepted: a tc line in UTF-8"))
}

fn rate(rate_bps: u64) -> Result<Rate, String> {
    Rate::from_bps(rate_bps)
        .ok_or_else(|| "rate_bps: found 0; accepted: 1 or more bits per second".to_string())
}

fn make(line: &CStr, rate_bps: u64, mtu: u32) -> Result<AnyQdisc<Held>, String> {
    let (line, rate) = (utf8(line)?, rate(rate_bps)?);
    if mtu == 0 {
        return Err("mtu: found 0; accepted: 1 or more bytes".to_string());
    }
    AnyQdisc::parse(line, &Link { rate, mtu }).map_err(|error| error.0)
}

/// Changes parameters. Returns 1, or 0 if the change is refused. Then `error` holds the reason.
///
/// # Safety
/// `qdisc` is as for [`goodqueue_free`]. `line` is NULL or a string that ends with a zero byte. `error` is NULL or
/// `error_size` bytes long and writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn goodqueue_change(
    qdisc: *mut Goodqueue,
    now_ns: u64,
    line: *const c_char,
    error: *mut c_char,
    error_size: usize,
) -> c_int {
    if line.is_null() {
        misuse("goodqueue_change: the line is NULL");
    }
    // SAFETY: `line` is not NULL, and by this function's contract it ends with a zero byte. It is read only here.
    let line = unsafe { CStr::from_ptr(line) };
    let now = Instant::from_nanos(now_ns);
    // SAFETY: this function's contract is that of `with` and of `tell`.
    unsafe {
        let changed = with(qdisc, "goodqueue_change", |Inner { qdisc, owner }| {
            qdisc.change(now, utf8(line)?, owner).map_err(|error| error.0)
        });
        answer(changed, error, error_size)
    }
}

/// Changes the rate of the link. Returns 1, or 0 if the change is refused. Then `error` holds the reason.
///
/// # Safety
/// `qdisc` is as for [`goodqueue_free`]. `error` is NULL or `error_size` bytes long and writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn goodqueue_set_link_rate(
    qdisc: *mut Goodqueue,
    now_ns: u64,
    rate_bps: u64,
    error: *mut c_char,
    error_size: usize,
) -> c_int {
    let now = Instant::from_nanos(now_ns);
    // SAFETY: this function's contract is that of `with` and of `tell`.
    unsafe {
        let changed = with(qdisc, "goodqueue_set_link_rate", |Inner { qdisc, owner }| {
            qdisc.set_link_rate(now, rate(rate_bps)?, owner).map_err(|error| error.0)
        });
        answer(changed, error, error_size)
    }
}

/// Returns 1 for a change that was made, or 0 for a refused change. Then it writes the reason into `error`.
///
/// # Safety
/// As for [`tell`].
unsafe fn answer(changed: Result<(), String>, error: *mut c_char, error_size: usize) -> c_int {
    match changed {
        Ok(()) => 1,
        Err(why) => {
            // SAFETY: this function's contract is that of `tell`.
            unsafe { tell(&why, error, error_size) };
            0
        }
    }
}

/// Frees a discipline.
///
/// # Safety
/// `qdisc` is NULL or a pointer from [`goodqueue_new`] that was not freed. No other thread uses it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn goodqueue_free(qdisc: *mut Goodqueue) {
    if qdisc.is_null() {
        return;
    }
    // SAFETY: this function's contract is that of `with`. The call takes the borrow that a running call would hold,
    // and returns it.
    unsafe { with(qdisc, "goodqueue_free", |_| ()) };
    // SAFETY: `qdisc` came from Box::into_raw in goodqueue_new and was not freed. No call runs on it, as the line
    // above checked.
    drop(unsafe { Box::from_raw(qdisc) });
}

/// Offers a packet.
///
/// # Safety
/// `qdisc` is as for [`goodqueue_free`]. `packet` is NULL or points to a packet.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn goodqueue_enqueue(
    qdisc: *mut Goodqueue,
    now_ns: u64,
    packet: *const CPacket,
) -> c_int {
    // SAFETY: this function's contract is that of `offer`.
    unsafe { offer(qdisc, now_ns, packet, Known::Nothing, "goodqueue_enqueue") }
}

/// Offers a packet that a socket of this host sends.
///
/// # Safety
/// As for [`goodqueue_enqueue`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn goodqueue_enqueue_sent(
    qdisc: *mut Goodqueue,
    now_ns: u64,
    packet: *const CPacket,
    sender: CSender,
) -> c_int {
    // SAFETY: this function's contract is that of `offer`. `sender` is a value.
    unsafe { offer(qdisc, now_ns, packet, Known::Sender(sender), "goodqueue_enqueue_sent") }
}

/// Offers a packet together with its first bytes.
///
/// # Safety
/// As for [`goodqueue_enqueue`]. `ip` is NULL or points to `ip_size` readable bytes, which nobody writes during the
/// call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn goodqueue_enqueue_ip(
    qdisc: *mut Goodqueue,
    now_ns: u64,
    packet: *const CPacket,
    ip: *const c_void,
    ip_size: usize,
) -> c_int {
    if ip.is_null() && ip_size > 0 {
        misuse("goodqueue_enqueue_ip: the bytes are NULL");
    }
    // The longest headers of IP and of TCP are 60 bytes each. Nothing after them is read, whatever `ip_size` says.
    let len = ip_size.min(120);
    let bytes: &[u8] = if len == 0 {
        &[]
    } else {
        // SAFETY: `ip` is not NULL, because `ip_size` is not 0. By this function's contract `ip_size` bytes can be
        // read, and these are the first of them. u8 needs no alignment, and 120 is less than isize::MAX. The slice is
        // last used in the next line.
        unsafe { std::slice::from_raw_parts(ip.cast(), len) }
    };
    let known = TcpHeader::from_ip(bytes).map_or(Known::Nothing, Known::Tcp);
    // SAFETY: this function's contract is that of `offer`.
    unsafe { offer(qdisc, now_ns, packet, known, "goodqueue_enqueue_ip") }
}

/// Offers a packet of which `known` is known.
///
/// # Safety
/// As for [`goodqueue_enqueue`].
unsafe fn offer(
    qdisc: *mut Goodqueue,
    now_ns: u64,
    packet: *const CPacket,
    known: Known,
    what: &str,
) -> c_int {
    if packet.is_null() {
        misuse(&format!("{what}: the packet is NULL"));
    }
    // SAFETY: `packet` is not NULL, and by this function's contract points to a packet. It is copied at once.
    let packet = unsafe { packet.read() };
    if packet.len == 0 {
        misuse(&format!("{what}: found a packet of 0 bytes; accepted: 1 or more"));
    }
    let (packet, now) = (Held::new(packet, known), Instant::from_nanos(now_ns));
    // SAFETY: this function's contract is that of `with`.
    unsafe { with(qdisc, what, |inner| inner.qdisc.enqueue(now, packet, &mut inner.owner) as c_int) }
}

/// Takes the packet to send next.
///
/// # Safety
/// `qdisc` is as for [`goodqueue_free`]. `packet` is NULL or points to memory to which a packet can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn goodqueue_dequeue(
    qdisc: *mut Goodqueue,
    now_ns: u64,
    packet: *mut CPacket,
) -> c_int {
    if packet.is_null() {
        misuse("goodqueue_dequeue: the packet is NULL");
    }
    let now = Instant::from_nanos(now_ns);
    // SAFETY: this function's contract is that of `with`.
    let taken =
        unsafe { with(qdisc, "goodqueue_dequeue", |inner| inner.qdisc.dequeue(now, &mut inner.owner)) };
    let Some(taken) = taken else { return 0 };
    // SAFETY: `packet` is not NULL, and by this function's contract a packet can be written to it. Its old content is
    // plain data.
    unsafe { packet.write(CPacket::from(&taken)) };
    1
}

/// Writes the numbers of waiting packets and bytes.
///
/// # Safety
/// `qdisc` is as for [`goodqueue_free`]. Each of the other pointers is NULL or points to a writable integer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn goodqueue_backlog(qdisc: *const Goodqueue, packets: *mut u32, bytes: *mut u64) {
    // SAFETY: this function's contract is that of `with`.
    let backlog = unsafe { with(qdisc, "goodqueue_backlog", |inner| inner.qdisc.backlog()) };
    if !packets.is_null() {
        // SAFETY: `packets` is not NULL, and by this function's contract writable.
        unsafe { packets.write(backlog.packets) };
    }
    if !bytes.is_null() {
        // SAFETY: as for `packets`.
        unsafe { bytes.write(backlog.bytes) };
    }
}

/// Returns the time at which the timer is due.
///
/// # Safety
/// `qdisc` is as for [`goodqueue_free`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn goodqueue_next_timer(qdisc: *const Goodqueue) -> u64 {
    // SAFETY: this function's contract is that of `with`.
    let due = unsafe { with(qdisc, "goodqueue_next_timer", |inner| inner.qdisc.next_timer()) };
    due.map_or(u64::MAX, Instant::as_nanos)
}

/// Runs the discipline's timer.
///
/// # Safety
/// `qdisc` is as for [`goodqueue_free`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn goodqueue_on_timer(qdisc: *mut Goodqueue, now_ns: u64) {
    let now = Instant::from_nanos(now_ns);
    // SAFETY: this function's contract is that of `with`.
    unsafe { with(qdisc, "goodqueue_on_timer", |inner| inner.qdisc.on_timer(now, &mut inner.owner)) }
}

/// Reports the inner state.
///
/// # Safety
/// `qdisc` is as for [`goodqueue_free`]. The callbacks of `to` may be called with its context until this returns.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn goodqueue_probe(qdisc: *const Goodqueue, mut to: ProbeTo) {
    // SAFETY: this function's contract is that of `with`.
    unsafe { with(qdisc, "goodqueue_probe", |inner| inner.qdisc.probe(&mut to)) }
}

/// Returns the version of the library.
#[unsafe(no_mangle)]
pub extern "C" fn goodqueue_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}

/// Returns the word for a reason as a C string.
macro_rules! names {
    ($why:expr, $($reason:path => $name:literal),+ $(,)?) => {
        match $why {
            $(why if why == $reason as c_int => $name.as_ptr(),)+
            _ => c"?".as_ptr(),
        }
    };
}

/// Returns the word for a reason to drop.
#[unsafe(no_mangle)]
pub extern "C" fn goodqueue_drop_name(why: c_int) -> *const c_char {
    names!(why,
        Drop::Overlimit => c"overlimit", Drop::Memory => c"memory", Drop::Early => c"early",
        Drop::Forced => c"forced", Drop::Target => c"target", Drop::Flow => c"flow",
        Drop::Ack => c"ack", Drop::Loss => c"loss", Drop::Lifetime => c"lifetime",
    )
}

/// Returns the word for a reason to mark.
#[unsafe(no_mangle)]
pub extern "C" fn goodqueue_mark_name(why: c_int) -> *const c_char {
    names!(why,
        Mark::Early => c"early", Mark::Forced => c"forced", Mark::Target => c"target",
        Mark::CeThreshold => c"ce_threshold", Mark::Loss => c"loss",
    )
}
