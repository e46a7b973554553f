//! Functions that serve only the processor: without them the program would do the same, more slowly.
//!
//! Cases i to iv are those of `goodqueue bench`: 1, 10, 100 and 1000 flows. The state of a thousand connections does
//! not fit into a core's caches, so waiting for memory would take most of the time of a packet. A mispredicted branch
//! costs as much as a dozen instructions.

use core::hint::{black_box, select_unpredictable};
use core::ops::Range;

/// Bytes of a cache line.
pub const LINE: usize = 64;

/// Whether [`prefetch`] does anything on this processor. Where it does not, a look ahead would find what to prefetch
/// for nothing.
pub const PREFETCHES: bool = cfg!(target_arch = "x86_64");

/// Prefetches `what` into the cache, for a read soon after.
///
/// Gain: not measured for all places together. In case iv prefetching the queue that a packet is going to gains 1 to
/// 2 % (`e3e9221`), and prefetching the queue and the packet that are served next 2 to 3 % (`93fd2b7`). With the
/// calendar that says whose timer fires next, 10,000 flows run 1.2 times as fast, and 100,000 flows 1.4 times
/// (`537df8e`). If all state stays in a cache, prefetching only costs time: in every dequeue of case ii, as much as
/// it gains in case iv.
#[inline(always)]
pub fn prefetch<T>(what: &T) {
    prefetch_bytes(what, 0..size_of::<T>());
}

/// Prefetches the cache lines of the `bytes` of `what`, as [`prefetch`] does for all of it. If `what` does not begin
/// a cache line, its last bytes may be left out. On a processor other than x86-64 nothing is done.
#[inline(always)]
pub fn prefetch_bytes<T: ?Sized>(what: &T, bytes: Range<usize>) {
    #[cfg(target_arch = "x86_64")]
    for line in bytes.start / LINE..bytes.end.min(size_of_val(what)).div_ceil(LINE) {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let line = core::ptr::from_ref(what).cast::<i8>().wrapping_add(line * LINE);
        // SAFETY: the prefetch reads and writes nothing that the program could see, and faults at no address (Intel's
        // manual, volume 2, PREFETCHh; AMD's, volume 3). Besides, `line` points into `what`. The intrinsic is unsafe
        // only because of its raw pointer, and every x86-64 has it.
        #[allow(unsafe_code)]
        unsafe {
            _mm_prefetch::<_MM_HINT_T0>(line);
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (what, bytes);
}

/// Returns `yes` or `no` without a branch, for a condition that branch prediction cannot know.
///
/// Both values are computed, so it is for values that cost little. Examples: which segment of a burst has a new
/// timestamp, and which packet is above CoDel's target.
///
/// Gain: not measured alone. Together with links that are settled only when they are next used, a packet of case ii
/// took 174 ns instead of 181, and one of case iii 217 instead of 227. In a model of a core, two of four mispredicted
/// branches per packet were these (`811db01`).
#[inline(always)]
pub fn select<T>(condition: bool, yes: T, no: T) -> T {
    select_unpredictable(condition, yes, no)
}

/// Keeps the branch in which it stands.
///
/// The compiler would remove a branch with nothing else in it. This function is for a condition that is known early
/// and on which later branches depend: branch prediction learns the condition here, once, and then predicts those
/// branches well.
///
/// Gain: without it, a packet of case iii takes 4.8 % more time in the median of 12 pairs of runs on a busy machine,
/// and 1.5 % more by the smallest times. In case ii the two disagree. It costs 4 instructions per packet.
#[inline(always)]
pub fn branch_here() {
    black_box(());
}

/// Refuses to compile unless a `T` fills exactly `lines` cache lines and begins with the first one. Then its fields
/// come with as few cache misses as possible. `#[repr(align(64))]` on the type gives the alignment.
///
/// Gain: not measured alone. To keep the fields that each packet needs beside the flows saves 4 % of the cache misses
/// of 1000 flows (`5e57b4e`).
pub const fn fills_lines<T>(lines: usize) {
    assert!(align_of::<T>() == LINE && size_of::<T>() == lines * LINE, "it does not fill its cache lines");
}
