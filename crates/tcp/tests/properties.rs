//! Whatever the path does, within reason, the stream arrives complete. Debug assertions recount the scoreboard on the
//! way.

use crate::common::{Pair, Path};
use goodqueue_tcp::{Cc, CcOptions, Config, EcnMode, SeqNumber, Stack};
use goodqueue_units::{Duration, Instant};
use proptest::collection::{btree_map, hash_set};
use proptest::prelude::*;

fn config() -> impl Strategy<Value = Config> {
    (
        proptest::sample::select(Cc::ALL),
        proptest::sample::select(Stack::ALL),
        proptest::sample::select(vec![EcnMode::Off, EcnMode::Classic, EcnMode::Accurate]),
        prop_oneof![Just(0_u32), Just(u32::MAX - 40_000), any::<u32>()],
        proptest::sample::select(vec![(1448_u16, 64 << 20), (100, 64 << 20), (1448, 20_000), (1448, 0)]),
        1..20_u32,
        (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>()),
        (
            proptest::option::of(1..50_u32),
            proptest::option::of(1..=100_u32),
            proptest::option::of(1..=100_u32),
        ),
    )
        .prop_map(|(cc, stack, ecn, initial, (mss, receive_window), initial_window, words, numbers)| {
            Config {
                cc,
                cc_options: CcOptions {
                    hystart_plus_plus: words.0,
                    abe: words.1,
                    no_hystart: words.2,
                    abc: words.3,
                    no_virtual_rtt: words.0,
                    module: words.1,
                    fallback: words.3,
                    any_rtt: words.3,
                    no_aggregation: words.2,
                    cwnd: numbers.0,
                    target_ms: numbers.1,
                    gain: numbers.2,
                },
                stack,
                ecn,
                mss,
                initial_window,
                receive_window,
                initial_sequence: SeqNumber(initial),
                ..Config::default()
            }
        })
}

fn path() -> impl Strategy<Value = Path> {
    let late = (0..120_000_u64).prop_map(Duration::from_micros);
    (
        hash_set(0..400_u64, 0..60),
        hash_set(0..300_u64, 0..60),
        hash_set(0..400_u64, 0..10),
        btree_map(0..400_u64, late, 0..20),
        hash_set(0..400_u64, 0..20),
        proptest::option::of((0..3000_u64, 1..5000_u64)),
    )
        .prop_map(|(drop_data, drop_acks, mark_data, late_data, twice, pause)| Path {
            drop_data,
            drop_acks,
            mark_data,
            late_data,
            twice,
            pause: pause.map(|(start, ms)| {
                let start = Instant::from_nanos(start * 1_000_000);
                (start, start + Duration::from_millis(ms))
            }),
            ..Path::default()
        })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn every_stream_completes(
        client in config(), server in config(), up in path(), down in path(),
        sent in 0..400_000_u64, answered in 0..200_000_u64,
    ) {
        let mut pair = Pair::new(client, server);
        (pair.up, pair.down) = (up, down);
        pair.client.write(sent);
        pair.server.write(answered);
        pair.client.close();
        pair.server.close();
        prop_assert!(pair.run(100_000).is_some(), "the transfer does not end");
        prop_assert_eq!(pair.server.delivered_bytes(), sent);
        prop_assert_eq!(pair.client.acked_bytes(), sent);
        prop_assert_eq!(pair.client.delivered_bytes(), answered);
        prop_assert_eq!(pair.server.acked_bytes(), answered);
        prop_assert!(pair.client.is_closed() && pair.server.is_closed());
        prop_assert_eq!((pair.client.in_flight(), pair.server.in_flight()), (0, 0));
    }

    /// On a path that only loses segments, every segment that SACKs mark as lost was lost. F-RTO, after a timeout, may
    /// err. Guards against a window that does not fall although something was lost.
    #[test]
    fn nothing_is_undone_where_nothing_overtakes(
        lost in hash_set(0..2000_u64, 0..60), config in config(), spacing in 100..3000_u64,
    ) {
        let mut pair = Pair::alike(config);
        pair.up = Path::drop(lost);
        pair.up.spacing = Some(Duration::from_micros(spacing));
        pair.client.write_unlimited();
        // Only segments among the first 2000 are lost. Without a loss a window grows to what takes seconds to check.
        let end = Instant::ZERO + Duration::from_secs(3);
        while pair.client.stats().segments_sent < 6000 && pair.step(end) {}
        let stats = pair.client.stats();
        prop_assert!(stats.undos == 0 || stats.timeouts > 0, "{:?}", stats);
    }

    /// Without reordering, SACKs say exactly what is missing, even if only one ACK in `thinned` arrives and a block has
    /// grown at both ends since the last one. It would be wrong to send again what the receiver has. (Probes and
    /// timeouts may. Each block is in three ACKs in a row, RFC 2018. Segments come 1 ms apart or more: Linux compresses
    /// the ACKs of faster ones, up to 1 ms, and such an ACK may have news for more blocks than it has room for.)
    #[test]
    fn nothing_is_sent_again_that_was_not_lost(
        lost in hash_set(0..800_u64, 0..30), config in config(), spacing in 1000..3000_u64, thinned in 1..4_u64,
    ) {
        let mut pair = Pair::alike(config);
        pair.up = Path::drop(lost);
        pair.up.spacing = Some(Duration::from_micros(spacing));
        pair.down.drop_acks = (0..8000).filter(|number| number % thinned != 0).collect();
        pair.client.write_unlimited();
        pair.run_until(1200);
        let stats = pair.client.stats();
        if stats.timeouts == 0 && stats.tlp_probes == 0 {
            prop_assert_eq!(stats.spurious_retransmissions, 0, "{:?}", stats);
        }
    }

    /// At any time, the bytes delivered in order are at most the bytes sent, and at least the bytes that the sender
    /// knows to be acknowledged.
    #[test]
    fn nothing_is_acknowledged_that_was_not_delivered(up in path(), down in path(), config in config()) {
        let mut pair = Pair::alike(config);
        (pair.up, pair.down) = (up, down);
        pair.client.write_unlimited();
        for _ in 0..2000 {
            let end = pair.now + Duration::from_secs(200);
            pair.step(end);
            prop_assert!(pair.client.acked_bytes() <= pair.server.delivered_bytes());
            prop_assert!(pair.client.cwnd() >= 1 && pair.client.ssthresh() >= 2);
        }
    }
}

/// Each congestion control with each stack and feedback at least once, which the random cases above do not guarantee:
/// single and bursty losses, marks, reordering by half a round trip, duplicates, lost ACKs.
#[test]
fn every_combination_completes() {
    for &cc in Cc::ALL {
        for &stack in Stack::ALL {
            for ecn in [EcnMode::Off, EcnMode::Classic, EcnMode::Accurate] {
                let config = Config { cc, stack, ecn, ..Config::default() };
                let mut pair = Pair::alike(config);
                pair.up = Path::drop((40..48).chain([3, 90, 91, 150, 222, 223, 224]));
                pair.up.mark_data = (20..300).step_by(7).collect();
                pair.up.late_data = (60..70).map(|number| (number, Duration::from_millis(50))).collect();
                pair.up.twice = [5, 75, 180].into();
                pair.down.drop_acks = (10..14).chain([30, 77]).collect();
                pair.client.write(500_000);
                pair.client.close();
                pair.server.close();
                assert!(pair.run(1000).is_some(), "{cc:?} {stack:?} {ecn:?} does not end");
                assert_eq!(pair.server.delivered_bytes(), 500_000, "{cc:?} {stack:?} {ecn:?}");
                assert!(pair.client.cwnd() >= 1 && pair.client.ssthresh() >= 2);
            }
        }
    }
}
