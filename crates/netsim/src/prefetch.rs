//! Asks the processor for memory that is read soon.
//!
//! The state of a thousand connections does not fit a core's caches, so that a packet's time would go by waiting for it. But
//! a pipe tells whose turn is next.

/// Asks for the cache lines of `what`. Where the processor is not known, nothing is done.
#[inline(always)]
pub(crate) fn prefetch<T>(what: &T) {
    #[cfg(target_arch = "x86_64")]
    for offset in (0..size_of::<T>()).step_by(64) {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let line = core::ptr::from_ref(what).cast::<i8>().wrapping_add(offset);
        // SAFETY: it reads and writes nothing that the program could see, and faults at no address (Intel's manual, volume 2,
        // PREFETCHh; AMD's, volume 3); besides, `line` points into `what`. The intrinsic is unsafe for its
        // raw pointer alone, and every x86-64 has it.
        #[allow(unsafe_code)]
        unsafe {
            _mm_prefetch::<_MM_HINT_T0>(line);
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = what;
}

#[cfg(test)]
mod tests {
    use crate::{Scenario, Simulation};

    /// For a sanitizer, which would report a read beyond the last connection: `RUSTC_BOOTSTRAP=1
    /// RUSTFLAGS=-Zsanitizer=address cargo test -p goodqueue-netsim --lib --target x86_64-unknown-linux-gnu prefetch`.
    #[test]
    fn more_flows_than_stay_in_a_cache_are_moved_both_ways() {
        let bulk = |count, direction| {
            format!(r#"{{"kind": "bulk", "count": {count}, "direction": "{direction}", "cc": "reno"}}"#)
        };
        let scenario = format!(
            r#"{{"duration": "2s", "bottleneck": {{"rate": "100mbit", "qdisc": "pfifo"}}, "path": {{"rtt": "10ms"}},
                "traffic": [{}, {}, {{"kind": "transfer", "size": "10kB", "interval": "1ms"}}]}}"#,
            bulk(160, "down"),
            bulk(160, "up"),
        );
        let mut simulation = Simulation::new(Scenario::from_json(&scenario).unwrap()).unwrap();
        simulation.run();
        let record = simulation.record();
        assert!(record.flows.iter().all(|flow| flow.bytes_sent.unwrap() > 0), "a flow was never served");
    }
}
