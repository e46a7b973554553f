//! Datagrams at a constant rate, one way. The receiver does not answer, and only what arrives is counted.

use super::isochronous::{DATAGRAM_KEYS, FRAME, Far, Pace, ecn_of};
use super::kind::{Kind, Make, Shorthand};
use crate::keys::{FRAME_BYTES, Key, MOST_RATE, RateText};
use goodqueue_units::Duration;
use serde_json::json;

const RATE: Key<RateText> = Key::required("rate", "\"10mbit\"")
    .range(MOST_RATE.0, MOST_RATE.1)
    .help("rate of the datagrams, headers included");
const PACKET_SIZE: Key<u64> =
    Key::with_default("packet_size", "1514").unit("bytes").range(FRAME.0, FRAME.1).help("bytes of each packet as `tc` counts them");

const _: () = assert!(FRAME_BYTES == 1514, "the default of packet_size is a full frame");

pub(crate) const KIND: Kind = Kind {
    keys: &[&RATE, &PACKET_SIZE],
    transport: DATAGRAM_KEYS,
    outline: |values| {
        let (rate, size) = (values.get(&RATE).0, values.get(&PACKET_SIZE));
        let interval_s = 8.0 * size as f64 / rate.as_bps() as f64;
        vec![("interval_s", json!(interval_s))]
    },
    option: Shorthand { detail: "rate", example: "1mbit", sets: &[] },
    ..Kind::new(
        "cbr",
        "datagrams at a constant rate, one way",
        Make::Datagrams(|values| {
            let len = values.get(&PACKET_SIZE);
            // `rate` packets take 8 * len seconds, whatever the rate.
            Pace {
                interval: Duration::from_secs(8 * len),
                packets: values.get(&RATE).0.as_bps(),
                len: len as u16,
                ecn: ecn_of(values),
                far: Far::Takes,
            }
        }),
    )
};
