//! Packets with any content from programs: they cross the path or are counted as odd, and the counters of every queue
//! add up.
#![no_main]

use arbitrary::Arbitrary;
use goodqueue_gateway::{Offload, Path};
use goodqueue_netsim::{Direction, ScenarioError};
use goodqueue_units::Duration;
use libfuzzer_sys::fuzz_target;

#[derive(Arbitrary, Debug)]
struct Sent<'a> {
    after_us: u16,
    is_up: bool,
    offload: [u8; 10],
    /// Selects the first byte, so that more than one input in a hundred is an IP packet.
    first: u8,
    bytes: &'a [u8],
}

const SCENARIO: &str = r#"{"duration": "1000s", "path": {"rtt": "1ms"},
    "bottleneck": {"rate": "10mbit", "qdisc": "fq_codel limit 20",
        "up": {"rate": "1mbit", "qdisc": "cake ack-filter bandwidth 1mbit"}},
    "hop": [{"name": "wire", "kind": "wire", "after": "bottleneck", "delay": "1ms", "loss": "5%", "duplicate": "5%"}]}"#;

/// Tells LeakSanitizer to report no leaks: a path's envelopes are never freed (`netsim::Envelope`), and each input has
/// a path of its own.
#[unsafe(no_mangle)]
extern "C" fn __lsan_is_turned_off() -> i32 {
    1
}

fuzz_target!(|sent: Vec<Sent<'_>>| {
    let mut refuse = |_: goodqueue_netsim::foreign::Request<'_>| {
        Err(ScenarioError { key: String::new(), message: String::new() })
    };
    let Ok(mut path) = Path::new(SCENARIO, Vec::new(), &mut refuse) else { unreachable!() };
    let mut now = Duration::ZERO;
    for Sent { after_us, is_up, offload, first, bytes } in sent {
        now = now + Duration::from_micros(after_us.into());
        let mut packet = bytes.to_vec();
        if let Some(byte) = packet.first_mut() {
            *byte = [0x45, 0x46, 0x60, first][usize::from(first & 3)];
        }
        let direction = if is_up { Direction::Up } else { Direction::Down };
        path.offer(now, direction, &packet, Offload::read(offload, 0));
        path.deliver(|_, parts, _| {
            assert!(!parts[0].is_empty());
            Some(now)
        });
    }
    path.advance(now + Duration::from_secs(100));
    path.deliver(|_, _, _| None);
    let Ok(record) = path.record() else { unreachable!("a record is JSON") };
    assert_eq!(record["live"]["slots_in_use"], 0, "a packet never came to its end");
});
