//! Asks the processor for memory that is read soon.
//!
//! The state of a thousand connections does not fit a core's caches, so that a packet's time would go by waiting for it. But
//! who knows whose turn is next can ask in time.

use core::ops::Range;

/// Bytes of a cache line.
const LINE: usize = 64;

/// Asks for `what`.
#[inline(always)]
pub fn prefetch<T>(what: &T) {
    prefetch_bytes(what, 0..size_of::<T>());
}

/// Asks for the cache lines of the `bytes` of `what`; where it does not begin one, its last bytes may be left out. Where the
/// processor is not known, nothing is done.
#[inline(always)]
pub fn prefetch_bytes<T>(what: &T, bytes: Range<usize>) {
    #[cfg(target_arch = "x86_64")]
    for line in bytes.start / LINE..bytes.end.min(size_of::<T>()).div_ceil(LINE) {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let line = core::ptr::from_ref(what).cast::<i8>().wrapping_add(line * LINE);
        // SAFETY: it reads and writes nothing that the program could see, and faults at no address (Intel's manual, volume 2,
        // PREFETCHh; AMD's, volume 3); besides, `line` points into `what`. The intrinsic is unsafe for its
        // raw pointer alone, and every x86-64 has it.
        #[allow(unsafe_code)]
        unsafe {
            _mm_prefetch::<_MM_HINT_T0>(line);
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (what, bytes);
}
