//! The callbacks of a caller in C: the fates of packets and the dice, and the inner state.

use crate::misuse;
use crate::packet::{CPacket, Held};
use goodqueue_qdisc::{Drop, Mark, Owner, Probe};
use std::ffi::{c_char, c_int, c_void};

type Fate = unsafe extern "C" fn(*mut c_void, *const CPacket, c_int);

/// The C type `goodqueue_owner`.
///
/// Whoever builds one promises that each callback may be called with `context`, as the header says, for as long as
/// the discipline lives: see the safety section of [`goodqueue_new`](crate::goodqueue_new).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct CallBacks {
    /// The first argument of each callback.
    pub context: *mut c_void,
    /// A packet will not be delivered.
    pub dropped: Option<Fate>,
    /// A packet was marked.
    pub marked: Option<Fate>,
    /// Returns 64 random bits.
    pub random: Option<unsafe extern "C" fn(*mut c_void) -> u64>,
}

impl Owner<Held> for CallBacks {
    fn dropped(&mut self, packet: Held, why: Drop) {
        if let Some(dropped) = self.dropped {
            // SAFETY: goodqueue_new's caller promised that this may be called with this context until the discipline
            // is freed. The packet is a local variable that outlives the call.
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
        (self.random_u64() >> 32) as u32 // the high bits of a generator are the better ones
    }

    fn random_u64(&mut self) -> u64 {
        let Some(random) = self.random else {
            misuse("goodqueue: this discipline draws random bits; accepted: an owner with `random`");
        };
        // SAFETY: as in `dropped`. The context is the only pointer that is passed.
        unsafe { random(self.context) }
    }
}

/// The C type `goodqueue_probe_to`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ProbeTo {
    /// The first argument of each callback.
    pub context: *mut c_void,
    /// Receives an integer.
    pub integer: Option<unsafe extern "C" fn(*mut c_void, *const c_char, i64)>,
    /// Receives a real number.
    pub real: Option<unsafe extern "C" fn(*mut c_void, *const c_char, f64)>,
}

/// Returns `name` as a C string. Names are short words of ours. A longer name is truncated.
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
            // SAFETY: goodqueue_probe's caller promised that this may be called with this context. The name ends with
            // a zero byte and lives until the call returns.
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
