//! RFC 8593's statistical model of a live encoder (section 5): frames of varying size at varying intervals. The
//! encoder follows a target rate with a delay.

use goodqueue_units::{Duration, Instant, Stream as Random};
use libm::log;

/// The number of frames in a transient, and the bytes of its first frame (5.2; Figure 2).
const K_D: u32 = 8;
const K_B: f64 = 13_500.0;
/// The scales by which frame intervals and sizes vary (5.3; Figure 2).
const SCALE_T: f64 = 0.15;
const SCALE_B: f64 = 0.15;
/// The relative change of the target beyond which it is abrupt; and the least size of a frame in a transient, as a
/// share of the mean frame. Both are our choice, because the RFC gives no values.
const ABRUPT: f64 = 0.5;
const LEAST_SHARE: f64 = 0.2;

/// An encoder. [`Sender::r_vin`](super::nada::Sender::r_vin) keeps its target within R_min and R_max (5.4).
#[derive(Clone, Debug)]
pub(super) struct Video {
    random: Random,
    fps: f64,
    tau_v: Duration,
    /// The encoder's rate; 0 before the first frame.
    r_o: f64,
    /// When the encoder adopted that rate.
    reacted: Instant,
    /// Frames of the transient that are still to be made.
    transient: u32,
}

/// One encoded picture.
pub(super) struct Frame {
    pub(super) bytes: u64,
    /// Time from this frame to the next.
    pub(super) interval: Duration,
}

impl Video {
    pub(super) fn new(random: Random, fps: f64, tau_v: Duration) -> Self {
        Self { random, fps, tau_v, r_o: 0.0, reacted: Instant::ZERO, transient: 0 }
    }

    /// Starts a transient with the next frame, which does not depend on the frames before it.
    pub(super) fn restart(&mut self) {
        self.r_o = 0.0;
    }

    /// Makes a frame, for the target `r_v`. Each frame takes the same draws, whatever the target does.
    pub(super) fn frame(&mut self, now: Instant, r_v: f64) -> Frame {
        let [of_interval, of_size] = [SCALE_T, SCALE_B].map(|scale| deviation(scale, self.random.next_f64()));
        self.react(now, r_v);
        let b0 = self.r_o / 8.0 / self.fps;
        let bytes = match self.transient {
            0 => b0 * (1.0 + of_size),
            K_D => burst(b0),
            _ => (f64::from(K_D) * b0 - burst(b0)) / f64::from(K_D - 1),
        };
        self.transient = self.transient.saturating_sub(1);
        let interval = Duration::from_secs_f64((1.0 + of_interval) / self.fps);
        Frame { bytes: (bytes.round() as u64).max(1), interval }
    }

    /// Adopts a new target, at least `tau_v` after the last adoption (5.1).
    fn react(&mut self, now: Instant, r_v: f64) {
        let is_first = self.r_o == 0.0;
        if is_first || r_v != self.r_o && now.since(self.reacted) >= self.tau_v {
            if is_first || (r_v / self.r_o - 1.0).abs() > ABRUPT {
                self.transient = K_D;
            }
            (self.r_o, self.reacted) = (r_v, now);
        }
    }
}

/// Returns the size of a transient's first frame. All frames of a transient together have the bytes of `K_D` mean
/// frames (5.2), and no frame is tiny.
fn burst(b0: f64) -> f64 {
    K_B.min((f64::from(K_D) - f64::from(K_D - 1) * LEAST_SHARE) * b0).max(b0)
}

/// Returns a draw of the Laplace distribution with mean 0, from a uniform number in [0, 1). Draws beyond ±1 are cut,
/// which keeps the mean. At scale 0.15 that is 1 of 800 draws.
fn deviation(scale: f64, even: f64) -> f64 {
    let off = even - 0.5;
    (-scale * off.signum() * log(1.0 - 2.0 * off.abs())).clamp(-1.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use goodqueue_units::Streams;

    fn video(tau_v_ms: u64) -> Video {
        Video::new(Streams::new(1).stream("video", 0), 30.0, Duration::from_millis(tau_v_ms))
    }

    /// Returns the frames of `seconds` from `now` on.
    fn frames(video: &mut Video, now: &mut Instant, r_v: f64, seconds: u64) -> Vec<Frame> {
        let until = *now + Duration::from_secs(seconds);
        let mut frames = Vec::new();
        while *now < until {
            let frame = video.frame(*now, r_v);
            *now += frame.interval;
            frames.push(frame);
        }
        frames
    }

    fn deviations(values: impl Iterator<Item = f64> + Clone, of: f64) -> (f64, f64) {
        let n = values.clone().count() as f64;
        let mean = values.clone().map(|x| x / of - 1.0).sum::<f64>() / n;
        (mean, (values.map(|x| (x / of - 1.0) * (x / of - 1.0)).sum::<f64>() / n).sqrt())
    }

    /// The standard deviation of a Laplace distribution is its scale times the root of 2: 0.2121.
    #[test]
    fn sizes_and_intervals_vary_as_asked_and_make_the_target() {
        for target in [150e3, 1e6, 1.5e6] {
            let (mut video, mut now) = (video(200), Instant::ZERO);
            frames(&mut video, &mut now, target, 1);
            let began = now;
            let frames = frames(&mut video, &mut now, target, 2000);
            let bits: f64 = frames.iter().map(|frame| 8.0 * frame.bytes as f64).sum();
            let rate = bits / now.since(began).as_secs_f64();
            assert!((rate / target - 1.0).abs() < 0.01, "{rate}, not {target}");
            let sizes = deviations(frames.iter().map(|frame| frame.bytes as f64), target / 240.0);
            let intervals = deviations(frames.iter().map(|frame| frame.interval.as_secs_f64()), 1.0 / 30.0);
            for (mean, deviation) in [sizes, intervals] {
                assert!(mean.abs() < 0.005 && (deviation / 0.2121 - 1.0).abs() < 0.02, "{mean}, {deviation}");
            }
        }
    }

    /// The quartiles are at 0.15 ln 2 = 0.104.
    #[test]
    fn deviations_are_those_of_laplace() {
        let quartile = 0.15 * 2.0_f64.ln();
        for (even, wanted) in [(0.5, 0.0), (0.25, -quartile), (0.75, quartile), (0.0, -1.0), (0.999_999, 1.0)] {
            assert!((deviation(0.15, even) - wanted).abs() < 1e-9, "{even}");
        }
    }

    /// If no change was made for 200 ms, a target is adopted at once, else when these 200 ms are over.
    #[test]
    fn a_target_is_followed_tau_v_after_the_one_before() {
        let at = |ms: u64| Instant::from_nanos(ms * 1_000_000);
        let mut video = video(200);
        video.frame(at(0), 1e6);
        for (ms, asked, made) in [(150, 1.1e6, 1e6), (210, 1.2e6, 1.2e6), (350, 0.9e6, 1.2e6), (409, 0.9e6, 1.2e6), (410, 0.9e6, 0.9e6)] {
            video.frame(at(ms), asked);
            assert_eq!(video.r_o, made, "{ms} ms");
        }
    }

    /// At 1.5 Mbit/s a mean frame has 6250 bytes: the first has 13 500, and seven others have
    /// (8 * 6250 - 13 500) / 7 = 5214. At 150 kbit/s a mean frame has 625 bytes: the burst is limited to 6.6 mean
    /// frames, so that the others have 125 bytes. A change by a half or less makes no burst.
    #[test]
    fn an_abrupt_change_begins_with_a_large_frame_and_keeps_the_mean() {
        let sizes = |video: &mut Video, from_ms: u64, rate: f64| -> Vec<u64> {
            let at = |n: u64| Instant::from_nanos((from_ms + 33 * n) * 1_000_000);
            (0..8).map(|n| video.frame(at(n), rate).bytes).collect()
        };
        let mut video = video(200);
        assert_eq!(sizes(&mut video, 0, 1.5e6), [13_500, 5214, 5214, 5214, 5214, 5214, 5214, 5214]);
        assert_eq!(sizes(&mut video, 1000, 150e3), [4125, 125, 125, 125, 125, 125, 125, 125]);
        let steady = sizes(&mut video, 2000, 225e3);
        assert!(steady.iter().all(|bytes| (470..1880).contains(bytes)), "{steady:?}");
        video.restart();
        assert_eq!(sizes(&mut video, 3000, 150e3)[0], 4125, "after a pause");
    }
}
