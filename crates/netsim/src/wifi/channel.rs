//! How often noise destroys a frame: the frame error rate in a mode, at a signal-to-noise ratio.
//!
//! For OFDM and HT, the model takes the bit error rate of the modulation over white Gaussian noise, then the union
//! bound of the convolutional code over its distance spectrum. It assumes hard decisions and takes the Chernoff bound
//! of each distance. ns-3 calls this model `NistErrorRateModel` (Pei and Henderson, "Validation of OFDM error rate
//! model in ns-3", 2010). The model errs on the safe side: a receiver with soft decisions needs about 3 dB less.
//!
//! The distance spectra are from Frenger, Orten and Ottosson, "Convolutional codes with optimum distance spectrum",
//! IEEE Communications Letters 3(11), 1999, for code rate 1/2, and from Haccoun and Begin, "High-rate punctured
//! convolutional codes for Viterbi and sequential decoding", IEEE Transactions on Communications 37(11), 1989, for
//! the other code rates. A test derives them from the code.
//!
//! For DSSS and CCK the source is Pei and Henderson, "Validation of ns-3 802.11b PHY model", 2009.

use super::mode::Mode;
use libm::{erfc, exp, expm1, log1p, pow, sqrt};
use std::f64::consts::{PI, SQRT_2};

/// A modulation of OFDM.
#[derive(Clone, Copy, Debug)]
enum Modulation {
    Bpsk,
    Qpsk,
    Qam16,
    Qam64,
}

/// The properties of a convolutional code that decide how many errors it corrects.
#[derive(Debug)]
struct Code {
    /// Data bits per period of the puncturing.
    data_bits: f64,
    /// The free distance (the least distance between two code words), and the step from one distance to the next.
    least_distance: f64,
    step: i32,
    /// The wrong data bits of all code words at each distance, from the free distance on.
    weights: &'static [f64],
}

const HALF: Code = Code {
    data_bits: 1.0,
    least_distance: 10.0,
    step: 2,
    weights: &[36.0, 211.0, 1404.0, 11633.0, 77433.0, 502_690.0, 3_322_763.0, 21_292_910.0, 134_365_911.0],
};
const TWO_THIRDS: Code = Code {
    data_bits: 2.0,
    least_distance: 6.0,
    step: 1,
    weights: &[3.0, 70.0, 285.0, 1276.0, 6160.0, 27128.0, 117_019.0, 498_860.0, 2_103_891.0, 8_784_123.0],
};
const THREE_QUARTERS: Code = Code {
    data_bits: 3.0,
    least_distance: 5.0,
    step: 1,
    weights: &[
        42.0,
        201.0,
        1492.0,
        10469.0,
        62935.0,
        379_644.0,
        2_253_373.0,
        13_073_811.0,
        75_152_755.0,
        428_005_675.0,
    ],
};
const FIVE_SIXTHS: Code = Code {
    data_bits: 5.0,
    least_distance: 4.0,
    step: 1,
    weights: &[
        92.0,
        528.0,
        8694.0,
        79453.0,
        792_114.0,
        7_375_573.0,
        67_884_974.0,
        610_875_423.0,
        5_427_275_376.0,
        47_664_215_639.0,
    ],
};

/// Modulation and code of MCS 0 to 7.
const HT: [(Modulation, &Code); 8] = [
    (Modulation::Bpsk, &HALF),
    (Modulation::Qpsk, &HALF),
    (Modulation::Qpsk, &THREE_QUARTERS),
    (Modulation::Qam16, &HALF),
    (Modulation::Qam16, &THREE_QUARTERS),
    (Modulation::Qam64, &TWO_THIRDS),
    (Modulation::Qam64, &THREE_QUARTERS),
    (Modulation::Qam64, &FIVE_SIXTHS),
];

/// The spreading gain at 1 Mbit/s: the noise bandwidth of 22 MHz over the bit rate.
const DSSS_GAIN: f64 = 22.0;

/// Returns the share of frames of `bytes` bytes, FCS included, that are lost in `mode`. `snr_db` is the
/// signal-to-noise ratio of a 20 MHz channel when one stream has all the power. A 40 MHz channel has twice the noise,
/// and several streams share the power.
pub(crate) fn error_rate(mode: Mode, snr_db: f64, bytes: u32) -> f64 {
    let bits = 8.0 * f64::from(bytes);
    let snr = pow(10.0, snr_db / 10.0);
    match mode {
        Mode::Dsss(10) => any_of(bits, exp(-DSSS_GAIN * snr) / 2.0),
        Mode::Dsss(20) => any_of(bits, dqpsk(DSSS_GAIN / 2.0 * snr)),
        // At 5.5 Mbit/s a CCK symbol is one of 16 biorthogonal symbols of eight chips at 11 MHz: 4 bits. At 11 Mbit/s
        // a CCK symbol counts as two such symbols, each with half the energy.
        Mode::Dsss(55) => any_of(bits / 4.0, biorthogonal16(16.0 * snr)),
        Mode::Dsss(_) => any_of(bits / 4.0, biorthogonal16(8.0 * snr)),
        Mode::Ofdm(rate) => any_of(bits, coded(ofdm(rate), snr)),
        Mode::Ht(ht) => {
            let shares = f64::from(ht.streams()) * if ht.is_wide { 2.0 } else { 1.0 };
            any_of(bits, coded(HT[usize::from(ht.mcs % 8)], snr / shares))
        }
    }
}

/// Returns the probability that at least one of `count` independent trials goes wrong, each with `probability`.
fn any_of(count: f64, probability: f64) -> f64 {
    if probability >= 1.0 { 1.0 } else { -expm1(count * log1p(-probability)) }
}

/// Returns modulation and code of OFDM at `rate` Mbit/s.
fn ofdm(rate: u8) -> (Modulation, &'static Code) {
    match rate {
        6 => (Modulation::Bpsk, &HALF),
        9 => (Modulation::Bpsk, &THREE_QUARTERS),
        12 => (Modulation::Qpsk, &HALF),
        18 => (Modulation::Qpsk, &THREE_QUARTERS),
        24 => (Modulation::Qam16, &HALF),
        36 => (Modulation::Qam16, &THREE_QUARTERS),
        48 => (Modulation::Qam64, &TWO_THIRDS),
        _ => (Modulation::Qam64, &THREE_QUARTERS),
    }
}

/// Returns an upper bound of the probability that a bit is wrong after decoding.
fn coded((modulation, code): (Modulation, &Code), snr: f64) -> f64 {
    let wrong = modulation.bit_error_rate(snr);
    let bound = sqrt(4.0 * wrong * (1.0 - wrong));
    let step = if code.step == 2 { bound * bound } else { bound };
    let sum = code.weights.iter().rev().fold(0.0, |sum, weight| sum * step + weight);
    (sum * pow(bound, code.least_distance) / (2.0 * code.data_bits)).min(1.0)
}

impl Modulation {
    /// Returns the probability that a bit is wrong before decoding. `snr` is the signal-to-noise ratio of a symbol.
    fn bit_error_rate(self, snr: f64) -> f64 {
        // In square QAM with Gray coding only the nearest neighbours count.
        let (factor, divisor) = match self {
            Self::Bpsk => (1.0 / 2.0, 1.0),
            Self::Qpsk => (1.0 / 2.0, 2.0),
            Self::Qam16 => (3.0 / 8.0, 10.0),
            Self::Qam64 => (7.0 / 24.0, 42.0),
        };
        factor * erfc(sqrt(snr / divisor))
    }
}

/// Returns the probability that a bit of differential QPSK is wrong, where errors are few. `snr` is the
/// signal-to-noise ratio of a bit.
fn dqpsk(snr: f64) -> f64 {
    let factor = (SQRT_2 + 1.0) / sqrt(8.0 * PI * SQRT_2);
    (factor / sqrt(snr) * exp(-(2.0 - SQRT_2) * snr)).min(1.0)
}

/// Returns the probability that one of 16 biorthogonal symbols is taken for another. `energy` is the square of the
/// symbol's length over the variance of the noise. The noise adds `x` to the output of the right one of eight
/// correlators. Each of the seven wrong correlators has a greater output of either sign with the probability of the
/// two tails.
fn biorthogonal16(energy: f64) -> f64 {
    const STEP: f64 = 0.125;
    let length = sqrt(energy);
    let weighted = |x: f64| any_of(7.0, erfc((x + length) / SQRT_2)) * exp(-x * x / 2.0);
    let sum: f64 = (-64..=64).map(|number| weighted(f64::from(number) * STEP)).sum();
    (sum * STEP / sqrt(2.0 * PI)).min(1.0)
}

#[cfg(test)]
mod tests;
