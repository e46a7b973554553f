//! The C interface of `goodqueue-qdisc`; `include/goodqueue_qdisc.h` is its documentation.
//!
//! All unsafe code of the project is here. Each function first turns what C handed it into a reference or a value, with
//! the proof beside it, and is safe Rust from there on. Two mistakes of a caller are caught instead of trusted: a NULL,
//! and a callback that calls its own discipline again (a [`RefCell`] notices). Both end the process with a line. Were
//! there a panic, it would end it too: none leaves an `extern "C"` function.

mod packet;

use goodqueue_qdisc::{AnyQdisc, Drop, Link, Mark, Owner, Probe, Qdisc, TcpHeader};
use goodqueue_units::{Instant, Rate};
pub use packet::CPacket;
use packet::Held;
use std::cell::RefCell;
use std::ffi::{CStr, c_char, c_int, c_void};

/// `goodqueue`: the discipline and its owner.
pub struct Goodqueue(RefCell<Inner>);

struct Inner {
    qdisc: AnyQdisc<Held>,
    owner: CallBacks,
}

type Fate = unsafe extern "C" fn(*mut c_void, *const CPacket, c_int);

/// `goodqueue_owner`.
///
/// Who makes one promises that each callback may be called with `context`, as the header says, for as long as the
/// discipline lives: [`goodqueue_new`]'s safety section.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct CallBacks {
    /// Handed to each.
    pub context: *mut c_void,
    /// A packet will not be delivered.
    pub dropped: Option<Fate>,
    /// A packet was marked.
    pub marked: Option<Fate>,
    /// 64 random bits.
    pub random: Option<unsafe extern "C" fn(*mut c_void) -> u64>,
}

impl Owner<Held> for CallBacks {
    fn dropped(&mut self, packet: Held, why: Drop) {
        if let Some(dropped) = self.dropped {
            // SAFETY: goodqueue_new's caller promised that this may be called with this context until the discipline
            // is freed; the packet is a live local for the time of the call.
            unsafe { dropped(self.context, &CPacket::from(&packet), why as c_int) }
        }
    }

    fn marked(&mut self, packet: &Held, why: Mark) {
        if let Some(marked) = self.marked {
            // SAFETY: as in `dropped`.
            unsafe { marked(self.context, &CPacket::from(packet), why as c_int) }
        }
    }

    fn random_u32(&mut self) -> u32 {
        (self.random_u64() >> 32) as u32 // of a generator's bits, the high ones are the better
    }

    fn random_u64(&mut self) -> u64 {
        let Some(random) = self.random else {
            misuse("goodqueue: this discipline draws random bits; accepted: an owner with `random`");
        };
        // SAFETY: as in `dropped`; no pointer but the context is handed over.
        unsafe { random(self.context) }
    }
}

/// `goodqueue_probe_to`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ProbeTo {
    /// Handed to each.
    pub context: *mut c_void,
    /// An integer.
    pub integer: Option<unsafe extern "C" fn(*mut c_void, *const c_char, i64)>,
    /// A real number.
    pub real: Option<unsafe extern "C" fn(*mut c_void, *const c_char, f64)>,
}

/// `name` as C takes it. Names are short words of ours; a longer one is cut.
fn c_name(name: &str) -> [u8; 64] {
    let mut text = [0; 64];
    let len = name.len().min(63);
    text[..len].copy_from_slice(&name.as_bytes()[..len]);
    text
}

impl Probe for ProbeTo {
    fn integer(&mut self, name: &'static str, value: i128) {
        if let Some(integer) = self.integer {
            let value = value.clamp(i64::MIN.into(), i64::MAX.into()) as i64;
            // SAFETY: goodqueue_probe's caller promised that this may be called with this context; the name ends with
            // a zero byte and lives to the end of the call.
            unsafe { integer(self.context, c_name(name).as_ptr().cast(), value) }
        }
    }

    fn real(&mut self, name: &'static str, value: f64) {
        if let Some(real) = self.real {
            // SAFETY: as in `integer`.
            unsafe { real(self.context, c_name(name).as_ptr().cast(), value) }
        }
    }
}

/// Ends the process with a line: there is nobody to return an error to.
fn misuse(what: &str) -> ! {
    eprintln!("{what}");
    std::process::abort()
}

/// What a call works on; NULL, and a call from inside a callback, end the process with a line.
///
/// # Safety
/// `qdisc` is NULL or a pointer from [`goodqueue_new`] that was not freed, and no other thread uses it until the
/// reference is gone.
unsafe fn with<T>(qdisc: *const Goodqueue, what: &str, work: impl FnOnce(&mut Inner) -> T) -> T {
    // SAFETY: by this function's contract it is NULL or points to a live `Goodqueue`. Only shared references to one are
    // ever made while it lives, and exclusive access to what is inside is the RefCell's to give; the caller keeps
    // other threads away.
    let qdisc =
        unsafe { qdisc.as_ref() }.unwrap_or_else(|| misuse(&format!("{what}: the discipline is NULL")));
    let Ok(mut inner) = qdisc.0.try_borrow_mut() else {
        misuse(&format!("{what}: called from inside a callback of the same discipline"));
    };
    work(&mut inner)
}

/// Makes a discipline, or writes why not into `error`.
///
/// # Safety
/// `line` is NULL or a string that ends with a zero byte. `error` is NULL or `error_size` bytes long and writable. The
/// callbacks of `owner` may be called with its context, as the header declares them, until the discipline is freed.
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
    // SAFETY: not NULL, and by this function's contract a string that ends with a zero byte; it is read only here.
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

/// Writes `why` into `error`, cut to fit.
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
    // SAFETY: `error` is not NULL and has `error_size` writable bytes; len <= error_size - 1, so that the text and its
    // zero byte are inside. It cannot overlap `why`, which is ours.
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

/// Changes parameters: 1, or 0 where it is refused, and then `error` says why.
///
/// # Safety
/// `qdisc` as [`goodqueue_free`]; `line` is NULL or a string that ends with a zero byte; `error` is NULL or
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
    // SAFETY: not NULL, and by this function's contract a string that ends with a zero byte; it is read only here.
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

/// Tells another rate of the link: 1, or 0 where it is refused, and then `error` says why.
///
/// # Safety
/// `qdisc` as [`goodqueue_free`]; `error` is NULL or `error_size` bytes long and writable.
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

/// 1 for a change that was made, 0 for one that was refused, with the reason in `error`.
///
/// # Safety
/// As [`tell`].
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

/// Ends a discipline.
///
/// # Safety
/// `qdisc` is NULL or a pointer from [`goodqueue_new`] that was not freed, and no other thread uses it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn goodqueue_free(qdisc: *mut Goodqueue) {
    if qdisc.is_null() {
        return;
    }
    // SAFETY: handed on; this takes the borrow that a running call would hold, and gives it back.
    unsafe { with(qdisc, "goodqueue_free", |_| ()) };
    // SAFETY: it came from Box::into_raw in goodqueue_new, was not freed, and, as just seen, no call runs on it.
    drop(unsafe { Box::from_raw(qdisc) });
}

/// Offers a packet.
///
/// # Safety
/// `qdisc` as [`goodqueue_free`]; `packet` is NULL or points to a packet.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn goodqueue_enqueue(
    qdisc: *mut Goodqueue,
    now_ns: u64,
    packet: *const CPacket,
) -> c_int {
    // SAFETY: this function's contract is that of `offer`.
    unsafe { offer(qdisc, now_ns, packet, None, "goodqueue_enqueue") }
}

/// Offers a packet with its first bytes.
///
/// # Safety
/// As [`goodqueue_enqueue`]; `ip` is NULL or points to `ip_size` bytes that can be read, which nobody writes
/// meanwhile.
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
    // IP's longest header and TCP's, 60 bytes each: nothing beyond is looked at, however large a size is claimed.
    let len = ip_size.min(120);
    let bytes: &[u8] = if len == 0 {
        &[]
    } else {
        // SAFETY: not NULL, since `ip_size` is not 0, and by this function's contract `ip_size` bytes, of which these
        // are the first, can be read; u8 needs no alignment, and 120 is less than isize::MAX. The slice is last used
        // in the next line.
        unsafe { std::slice::from_raw_parts(ip.cast(), len) }
    };
    let tcp = TcpHeader::from_ip(bytes);
    // SAFETY: this function's contract is that of `offer`.
    unsafe { offer(qdisc, now_ns, packet, tcp, "goodqueue_enqueue_ip") }
}

/// Offers a packet, of which `tcp` is known.
///
/// # Safety
/// As [`goodqueue_enqueue`].
unsafe fn offer(
    qdisc: *mut Goodqueue,
    now_ns: u64,
    packet: *const CPacket,
    tcp: Option<TcpHeader>,
    what: &str,
) -> c_int {
    if packet.is_null() {
        misuse(&format!("{what}: the packet is NULL"));
    }
    // SAFETY: not NULL, and by this function's contract a packet; copied at once.
    let packet = unsafe { packet.read() };
    if packet.len == 0 {
        misuse(&format!("{what}: found a packet of 0 bytes; accepted: 1 or more"));
    }
    let (packet, now) = (Held::new(packet, tcp), Instant::from_nanos(now_ns));
    // SAFETY: this function's contract is that of `with`.
    unsafe { with(qdisc, what, |inner| inner.qdisc.enqueue(now, packet, &mut inner.owner) as c_int) }
}

/// Takes a packet.
///
/// # Safety
/// `qdisc` as [`goodqueue_free`]; `packet` is NULL or points to memory that a packet can be written to.
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
    // SAFETY: not NULL, and by this function's contract writable for a packet; what was there is plain data.
    unsafe { packet.write(CPacket::from(&taken)) };
    1
}

/// What waits.
///
/// # Safety
/// `qdisc` as [`goodqueue_free`]; each of the others is NULL or points to an integer that can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn goodqueue_backlog(qdisc: *const Goodqueue, packets: *mut u32, bytes: *mut u64) {
    // SAFETY: this function's contract is that of `with`.
    let backlog = unsafe { with(qdisc, "goodqueue_backlog", |inner| inner.qdisc.backlog()) };
    if !packets.is_null() {
        // SAFETY: not NULL, and by this function's contract writable.
        unsafe { packets.write(backlog.packets) };
    }
    if !bytes.is_null() {
        // SAFETY: as above.
        unsafe { bytes.write(backlog.bytes) };
    }
}

/// When the timer is due.
///
/// # Safety
/// `qdisc` as [`goodqueue_free`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn goodqueue_next_timer(qdisc: *const Goodqueue) -> u64 {
    // SAFETY: this function's contract is that of `with`.
    let due = unsafe { with(qdisc, "goodqueue_next_timer", |inner| inner.qdisc.next_timer()) };
    due.map_or(u64::MAX, Instant::as_nanos)
}

/// The timer.
///
/// # Safety
/// `qdisc` as [`goodqueue_free`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn goodqueue_on_timer(qdisc: *mut Goodqueue, now_ns: u64) {
    let now = Instant::from_nanos(now_ns);
    // SAFETY: this function's contract is that of `with`.
    unsafe { with(qdisc, "goodqueue_on_timer", |inner| inner.qdisc.on_timer(now, &mut inner.owner)) }
}

/// Shows the inner state.
///
/// # Safety
/// `qdisc` as [`goodqueue_free`]; the callbacks of `to` may be called with its context until this returns.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn goodqueue_probe(qdisc: *const Goodqueue, mut to: ProbeTo) {
    // SAFETY: this function's contract is that of `with`.
    unsafe { with(qdisc, "goodqueue_probe", |inner| inner.qdisc.probe(&mut to)) }
}

/// The version of the library.
#[unsafe(no_mangle)]
pub extern "C" fn goodqueue_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}

/// The words of a list of reasons as C strings.
macro_rules! names {
    ($why:expr, $($reason:path => $name:literal),+ $(,)?) => {
        match $why {
            $(why if why == $reason as c_int => $name.as_ptr(),)+
            _ => c"?".as_ptr(),
        }
    };
}

/// The word for a reason to drop.
#[unsafe(no_mangle)]
pub extern "C" fn goodqueue_drop_name(why: c_int) -> *const c_char {
    names!(why,
        Drop::Overlimit => c"overlimit", Drop::Memory => c"memory", Drop::Early => c"early",
        Drop::Forced => c"forced", Drop::Target => c"target", Drop::Flow => c"flow",
        Drop::Ack => c"ack",
    )
}

/// The word for a reason to mark.
#[unsafe(no_mangle)]
pub extern "C" fn goodqueue_mark_name(why: c_int) -> *const c_char {
    names!(why,
        Mark::Early => c"early", Mark::Forced => c"forced", Mark::Target => c"target",
        Mark::CeThreshold => c"ce_threshold",
    )
}
