//! Compares the error rate with figures that others computed, and the spectra with the codes.

use super::*;
use crate::wifi::mode::{DSSS, Ht, OFDM};

fn ht(mcs: u8) -> Mode {
    Mode::Ht(Ht { mcs, is_wide: false, has_short_guard: false })
}

/// The expected shares of 2000-byte frames that arrive are those of ns-3's tests of its NIST model
/// (`wifi-error-rate-models-test.cc`).
#[test]
fn frames_of_ofdm_arrive_as_often_as_in_ns3() {
    for (rate, points) in [
        (6, [(3.0, 0.020), (4.0, 0.885), (5.0, 0.997)]),
        (9, [(6.0, 0.097), (7.0, 0.918), (8.0, 0.998)]),
        (12, [(6.0, 0.0174), (7.0, 0.881), (8.0, 0.997)]),
        (18, [(9.5, 0.623), (10.5, 0.985), (11.5, 0.999)]),
        (24, [(13.0, 0.495), (14.0, 0.974), (15.0, 0.999)]),
        (36, [(15.5, 0.012), (16.5, 0.818), (17.5, 0.993)]),
        (48, [(21.0, 0.649), (22.0, 0.983), (23.0, 0.999)]),
        (54, [(22.0, 0.410), (23.0, 0.958), (24.0, 0.999)]),
    ] {
        for (snr, arrived) in points {
            let got = 1.0 - error_rate(Mode::Ofdm(rate), snr, 2000);
            assert!((got - arrived).abs() <= 0.001, "{rate} Mbit/s at {snr} dB: {got}, not {arrived}");
        }
    }
}

/// The same test for 802.11b with frames of 1078 bytes. ns-3 states the power in dBm; the noise is at -93.55 dBm.
#[test]
fn frames_of_dsss_and_cck_arrive_as_often_as_in_ns3() {
    for (rate, points) in [
        (10, [(-98.0, 0.202), (-97.0, 0.813), (-96.0, 0.984)]),
        (20, [(-94.0, 0.036), (-93.0, 0.519), (-92.0, 0.915)]),
        (55, [(-91.0, 0.132), (-90.0, 0.744), (-89.0, 0.974)]),
        (110, [(-88.0, 0.128), (-87.0, 0.739), (-86.0, 0.973)]),
    ] {
        for (dbm, arrived) in points {
            let got = 1.0 - error_rate(Mode::Dsss(rate), dbm + 93.552_278_6, 1078);
            assert!((got - arrived).abs() <= 0.005, "{rate} at {dbm} dBm: {got}, not {arrived}");
        }
    }
}

/// Returns the number of wrong data bits of all words at each distance. The words are followed through the trellis of
/// the code with 64 states (generators 133 and 171), from every place of the puncturing's period. `kept` says which
/// bits of the two outputs are sent (figures 18-9 and 20-11 of the standard).
fn spectrum(kept: [&[bool]; 2], distances: usize) -> Vec<f64> {
    let parity = |bits: u32| bits.count_ones() % 2 == 1;
    let period = kept[0].len();
    let mut wrong_bits = vec![0.0; distances];
    for start in 0..period {
        // Words that have left the all-zero word, and their wrong bits, by state and distance.
        let mut here = vec![vec![(0.0, 0.0); distances]; 64];
        for step in 0..400 {
            let place = (start + step) % period;
            let mut next = vec![vec![(0.0, 0.0); distances]; 64];
            for (state, bit) in (0..64_u32).flat_map(|state| [(state, 0), (state, 1)]) {
                let register = bit << 6 | state;
                let mut weight = usize::from(parity(register & 0o133) && kept[0][place]);
                weight += usize::from(parity(register & 0o171) && kept[1][place]);
                let to = &mut next[(register >> 1) as usize];
                for distance in weight..distances {
                    let leaves = step == 0 && state == 0 && bit == 1 && distance == weight;
                    let (words, wrong) =
                        if leaves { (1.0, 0.0) } else { here[state as usize][distance - weight] };
                    to[distance].0 += words;
                    to[distance].1 += wrong + words * f64::from(bit);
                }
            }
            // Words that came back to the all-zero word by the end of a period are over. (The literature takes one
            // period for one step.)
            let is_end = place + 1 == period;
            for (sum, ended) in wrong_bits.iter_mut().zip(&mut next[0]).filter(|_| is_end) {
                *sum += ended.1;
                *ended = (0.0, 0.0);
            }
            here = next;
        }
        assert!(here.iter().flatten().all(|(words, _)| *words == 0.0), "words that have not ended");
    }
    wrong_bits
}

#[test]
fn the_spectra_are_those_of_the_code() {
    let (yes, no) = (true, false);
    let codes: [(&Code, [&[bool]; 2]); 4] = [
        (&HALF, [&[yes], &[yes]]),
        (&TWO_THIRDS, [&[yes, yes], &[yes, no]]),
        (&THREE_QUARTERS, [&[yes, yes, no], &[yes, no, yes]]),
        (&FIVE_SIXTHS, [&[yes, yes, no, yes, no], &[yes, no, yes, no, yes]]),
    ];
    for (code, kept) in codes {
        let least = code.least_distance as usize;
        let end = least + code.weights.len() * code.step as usize;
        let found = spectrum(kept, end);
        assert!(found[..least].iter().all(|wrong| *wrong == 0.0), "{code:?}: nearer words: {found:?}");
        let of_code: Vec<f64> = found[least..].iter().copied().step_by(code.step as usize).collect();
        assert_eq!(of_code, code.weights, "{code:?}");
    }
}

/// Returns the signal-to-noise ratio in dB at which half the frames are lost.
fn half_lost_db(mode: Mode, bytes: u32) -> f64 {
    let (mut low, mut high) = (-20.0, 60.0);
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        *(if error_rate(mode, middle, bytes) > 0.5 { &mut low } else { &mut high }) = middle;
    }
    low
}

#[test]
fn more_noise_longer_frames_and_faster_modes_lose_more() {
    let modes = (0..8).map(ht).chain(OFDM.map(Mode::Ofdm)).chain(DSSS.map(Mode::Dsss));
    for mode in modes {
        let rates: Vec<f64> =
            (-200..500).map(|tenth| error_rate(mode, f64::from(tenth) / 10.0, 1500)).collect();
        assert!(rates.windows(2).all(|pair| pair[0] >= pair[1]), "{mode:?}: {rates:?}");
        assert_eq!(rates[0], 1.0, "{mode:?} at -20 dB");
        assert!(rates[699] < 1e-12, "{mode:?} at 50 dB: {}", rates[699]);
        let at = half_lost_db(mode, 1500);
        let by_bytes = [14, 100, 400, 1500, 1540].map(|bytes| error_rate(mode, at, bytes));
        assert!(by_bytes.is_sorted() && by_bytes[0] < by_bytes[4], "{mode:?}: {by_bytes:?}");
    }
    for snr in (-50..400).map(|tenth| f64::from(tenth) / 10.0) {
        let by_mcs: Vec<f64> = (0..8).map(|mcs| error_rate(ht(mcs), snr, 1500)).collect();
        assert!(by_mcs.is_sorted(), "at {snr} dB: {by_mcs:?}");
        let by_rate = DSSS.map(|rate| error_rate(Mode::Dsss(rate), snr, 1500));
        assert!(by_rate.is_sorted(), "at {snr} dB: {by_rate:?}");
    }
}

/// The steps from one MCS to the next agree within 2 dB with the sensitivities that the standard asks of a receiver
/// (table 20-23: -82, -79, -77, -74, -70, -66, -65, -64 dBm). The standard's margin for implementations is the same
/// for all MCSs.
#[test]
fn half_the_frames_are_lost_where_the_standards_sensitivities_say() {
    let sensitivities = [-82.0, -79.0, -77.0, -74.0, -70.0, -66.0, -65.0, -64.0];
    let points: Vec<f64> = (0..8).map(|mcs| half_lost_db(ht(mcs), 4096)).collect();
    for (mcs, pair) in points.windows(2).enumerate() {
        let (step, want) = (pair[1] - pair[0], sensitivities[mcs + 1] - sensitivities[mcs]);
        assert!((step - want).abs() < 2.0, "MCS {mcs} to {}: {step:.2} dB, not {want}: {points:?}", mcs + 1);
    }
}

/// Two streams share the power, and a channel of twice the width has twice the noise. Both need twice the signal.
#[test]
fn two_streams_and_a_wide_channel_need_twice_the_signal() {
    let wide = Mode::Ht(Ht { mcs: 3, is_wide: true, has_short_guard: false });
    for snr in [8.0, 13.0, 16.0] {
        let narrow = error_rate(ht(3), snr, 1500);
        let twice = snr + 10.0 * 2_f64.log10();
        for mode in [ht(11), wide] {
            let got = error_rate(mode, twice, 1500);
            assert!((got - narrow).abs() < 1e-9, "{mode:?}: {got}, not {narrow}");
        }
    }
}
