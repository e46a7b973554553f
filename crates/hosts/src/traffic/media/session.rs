//! A media flow: an encoder, the buffer behind it, and the packets and reports that both ends exchange.

use super::nada::{DELTA, Mode, Report, Sender, Wish};
use super::nada::receiver::{Arrival, Receiver};
use super::transit::Transit;
use super::video::{Frame, Video};
use super::{MediaResult, Pause};
use crate::direction::Side;
use crate::keys::FRAME_BYTES;
use crate::probe::histogram::Histogram;
use crate::probe::{percent, rounded};
use crate::traffic::application::{Application, Host, Message, SocketId};
use crate::traffic::isochronous::FRAME;
use crate::traffic::result::{self, Undone};
use goodqueue_units::{Duration, Ecn, Instant, Stream as Random};
use std::collections::VecDeque;
use std::sync::Arc;

/// Bytes of UDP, IPv4 and Ethernet, as `tc` counts them. Media packets also have RTP (RFC 3550, 5.1).
const UDP_BYTES: u64 = 8 + 20 + 14;
pub(super) const HEADER_BYTES: u64 = 12 + UDP_BYTES;
/// Bytes of a report: RTCP's header, both SSRCs, the range of packets and a timestamp. In addition there are 2 bytes
/// per packet, in whole words (RFC 8888, 3.1).
const REPORT_BYTES: u64 = 8 + 8 + 4;
/// How many reports under way are remembered: the reports of one minute.
const MOST_REPORTS: usize = 600;

/// What a scenario says of the flow.
pub(super) struct Setup {
    pub(super) wish: Wish,
    pub(super) tau_v: Duration,
    pub(super) packet_size: u64,
    pub(super) ecn: Ecn,
    pub(super) pause: Option<Pause>,
}

/// A report on its way.
struct Posted {
    number: u32,
    report: Report,
    /// When the last packet was sent that the report covers, and for how long the receiver has held that packet.
    t_sent: Instant,
    held: Duration,
}

/// A flow of media.
pub(super) struct Session {
    setup: Setup,
    /// The exchange of its packets and reports.
    exchange: u32,
    transit: Transit,
    is_over: bool,

    // The sender's state.
    video: Video,
    sender: Sender,
    next_frame: Instant,
    /// The rate-shaping buffer: the number of each frame and its remaining bytes; and the sum of these bytes.
    buffer: VecDeque<(u64, u64)>,
    buffer_len: u64,
    /// When the next packet may leave.
    next_packet: Instant,
    is_paused: bool,

    // The receiver's state.
    receiver: Receiver,
    /// The packet that arrived last: when it was sent, and when it arrived.
    last: (Instant, Instant),
    /// The number after the highest that arrived, now and at the last report.
    heard: (u64, u64),
    /// When the next report is due; none while there is nothing to report.
    report_at: Option<Instant>,
    t_last: Instant,
    posted: VecDeque<Posted>,
    reports: u32,

    /// The encoder's target, with one sample per frame.
    targets: Histogram<u32, 7>,
    /// Reports that arrived, and how many of them asked for a ramp-up.
    modes: (u64, u64),
}

impl Session {
    pub(super) fn new(setup: Setup, random: Random) -> Self {
        Self {
            exchange: 0,
            transit: Transit::new(),
            is_over: false,
            video: Video::new(random, setup.wish.fps, setup.tau_v),
            sender: Sender::new(setup.wish, Instant::ZERO),
            next_frame: Instant::ZERO,
            buffer: VecDeque::new(),
            buffer_len: 0,
            next_packet: Instant::ZERO,
            is_paused: true,
            receiver: Receiver::new(),
            last: (Instant::ZERO, Instant::ZERO),
            heard: (0, 0),
            report_at: None,
            t_last: Instant::ZERO,
            posted: VecDeque::new(),
            reports: 0,
            targets: Histogram::new(),
            modes: (0, 0),
            setup,
        }
    }

    /// Does what is due, and asks to be woken for what is next.
    fn act(&mut self, host: &mut dyn Host) {
        if self.is_over {
            return;
        }
        if self.report_at.is_some_and(|at| at <= host.now()) {
            self.report(host);
        }
        while self.next_frame <= host.now() {
            self.capture(host.now());
        }
        while self.next_packet() <= host.now() {
            self.send(host);
        }
        let report = self.report_at.unwrap_or(Instant::MAX);
        host.wake_at(self.next_frame.min(self.next_packet()).min(report));
    }

    /// Captures a frame, except in a pause. After a pause everything begins anew, except what the receiver knows of
    /// the path.
    fn capture(&mut self, now: Instant) {
        if let Some(pause) = self.setup.pause.filter(|pause| pause.has(now)) {
            (self.next_frame, self.is_paused) = (pause.end(), true);
            return;
        }
        if std::mem::take(&mut self.is_paused) {
            self.sender = Sender::new(self.setup.wish, now);
            self.video.restart();
        }
        let r_vin = self.sender.r_vin(self.buffer_len);
        self.targets.record(r_vin as u64);
        let Frame { bytes, interval } = self.video.frame(now, r_vin);
        self.buffer.push_back((self.transit.captured(now, bytes), bytes));
        self.buffer_len += bytes;
        self.next_frame = now + interval;
    }

    fn next_packet(&self) -> Instant {
        if self.buffer.is_empty() { Instant::MAX } else { self.next_packet }
    }

    /// Sends the next packet of the rate-shaping buffer. `r_send` determines when the packet after it may leave (RFC
    /// 8698, 5.2).
    fn send(&mut self, host: &mut dyn Host) {
        let Some((frame, left)) = self.buffer.front_mut() else { return };
        let (frame, bytes) = (*frame, self.setup.packet_size.min(*left));
        *left -= bytes;
        if *left == 0 {
            self.buffer.pop_front();
        }
        let gap = 8.0 * bytes as f64 / self.sender.r_send(self.buffer_len);
        self.next_packet = host.now() + Duration::from_secs_f64(gap);
        self.buffer_len -= bytes;
        let number = self.transit.sent(host.now(), frame, bytes);
        let len = (bytes + HEADER_BYTES).max(FRAME.0) as u16;
        host.send_datagram(host.sender(), self.exchange, Message { number, len, ecn: self.setup.ecn });
    }

    /// Takes a media packet. Its report is due `DELTA` after the last report (RFC 8698, 4.2).
    fn take(&mut self, message: Message, host: &mut dyn Host) {
        let Some(came) = self.transit.arrived(host.now(), message.number) else { return };
        host.count_delivered(u64::from(message.len));
        let (at, is_marked) = (host.now(), message.ecn == Ecn::Ce);
        self.receiver.on_packet(Arrival { at, number: came.number, t_sent: came.t_sent, bytes: came.bytes, is_marked });
        self.last = (came.t_sent, at);
        self.heard.0 = self.heard.0.max(came.number + 1);
        self.report_at.get_or_insert((self.t_last + DELTA).max(at));
    }

    /// Sends a report of the receiver.
    fn report(&mut self, host: &mut dyn Host) {
        (self.report_at, self.t_last) = (None, host.now());
        let (t_sent, came) = self.last;
        let (number, report) = (self.reports, self.receiver.report(host.now()));
        self.posted.push_back(Posted { number, report, t_sent, held: host.now().since(came) });
        if self.posted.len() > MOST_REPORTS {
            self.posted.pop_front();
        }
        let words = (self.heard.0 - self.heard.1).div_ceil(2);
        self.heard.1 = self.heard.0;
        self.reports = self.reports.wrapping_add(1);
        let len = (UDP_BYTES + REPORT_BYTES + 4 * words).clamp(FRAME.0, u64::from(FRAME_BYTES)) as u16;
        host.send_datagram(host.receiver(), self.exchange, Message { number, len, ecn: Ecn::NotEct });
    }

    /// Takes a report. Earlier reports that have not arrived are taken as lost: a report that arrives out of order
    /// is too old.
    fn hear(&mut self, number: u32, now: Instant) {
        let Some(place) = self.posted.iter().position(|posted| posted.number == number) else { return };
        let Some(Posted { report, t_sent, held, .. }) = self.posted.drain(..=place).next_back() else { return };
        self.sender.on_report(now, report, now.since(t_sent + held));
        self.modes.0 += 1;
        self.modes.1 += u64::from(report.rmode == Mode::RampUp);
    }

    /// Returns the mean, and the 0th to 100th percentiles, of the encoder's target in Mbit/s.
    fn rates(&self) -> (Option<f64>, Option<Vec<f64>>) {
        let count = self.targets.total();
        let mean = (count > 0).then(|| rounded(self.targets.sum() as f64 / count as f64 / 1e6));
        let ranks = (0..=100_u64).map(|percent| (percent * count).div_ceil(100));
        let percentile = |rank| Some(rounded(self.targets.value_at_rank(rank)? as f64 / 1e6));
        (mean, ranks.map(percentile).collect())
    }
}

impl Application for Session {
    fn start(&mut self, host: &mut dyn Host) {
        self.exchange = host.exchange();
        self.next_frame = host.now();
        self.act(host);
    }

    fn wake(&mut self, host: &mut dyn Host) {
        self.act(host);
    }

    fn notice(&mut self, _socket: SocketId, _end: Side, _host: &mut dyn Host) {
        unreachable!("it has no connection");
    }

    fn datagram(&mut self, message: Message, end: Side, host: &mut dyn Host) {
        if end == host.receiver() {
            self.take(message, host);
        } else {
            self.hear(message.number, host.now());
        }
        self.act(host);
    }

    /// Stops sending, even of what the buffer holds.
    fn stop(&mut self, _host: &mut dyn Host) {
        self.is_over = true;
    }

    fn measure_from(&mut self, _now: Instant) {
        self.transit.measure_from_now();
        self.targets.reset();
        self.modes = (0, 0);
    }

    fn result(&self, now: Instant) -> Option<result::Result> {
        let (sent, received, settled) = self.transit.counts(now);
        let (rate_mbps, rate_percentiles_mbps) = self.rates();
        Some(Arc::new(MediaResult {
            rate_mbps,
            rate_percentiles_mbps,
            delay_ms: self.transit.delays.summary(),
            frame_delay_ms: self.transit.frame_delays.summary(),
            frames: self.transit.frames(),
            frames_completed: self.transit.frame_delays.count(),
            sent,
            received,
            loss_percent: (sent > 0).then(|| percent(settled - received, settled)),
            ramp_up_percent: (self.modes.0 > 0).then(|| percent(self.modes.1, self.modes.0)),
        }))
    }

    /// Returns whether it never started. Media have no end, and what was lost on the way has its own number.
    fn undone(&self) -> Undone {
        Undone::of_one(self.transit.has_sent(), self.transit.has_come, false)
    }
}
