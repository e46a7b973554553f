//! The departure rate (RFC 8033, 5.2), from which the delay may be derived. Linux averages the rate, with a weight of
//! 1/8 for a new measurement. The packet that begins a measurement is part of it. The RFC averages the time that the
//! bytes take, with a weight of 1/4. The packet that begins a measurement is not part of it.

use super::{Params, Rules, Vars};

impl Vars {
    /// Measures the departure rate, but only while enough packets wait to keep the link busy (5.2). Returns the
    /// length of the measurement that has just ended, or 0.
    pub(super) fn measure_rate(&mut self, rules: &Rules, tick: u64, len: u32, backlog: u64) -> u64 {
        if backlog >= rules.dq_threshold && self.dq_count.is_none() {
            self.dq_tstamp = Some(tick);
            self.dq_count = Some(0);
        }
        let Some(count) = &mut self.dq_count else { return 0 };
        *count += u64::from(len);
        let elapsed = tick.saturating_sub(self.dq_tstamp.unwrap_or(tick));
        if *count < rules.dq_threshold || elapsed == 0 {
            return 0;
        }
        let rate = (*count << rules.rate_bits) / elapsed;
        let average = self.avg_dq_rate;
        self.avg_dq_rate = if average == 0 { rate } else { average - (average >> 3) + (rate >> 3) };
        if backlog < rules.dq_threshold {
            self.dq_count = None;
        } else {
            self.dq_count = Some(0);
            self.dq_tstamp = Some(tick);
        }
        elapsed
    }

    /// Measures the average time that [`Rules::dq_threshold`] bytes take to leave, as RFC 8033 does (5.2). The packet
    /// whose departure begins a measurement is not part of it.
    pub(super) fn measure_time(&mut self, params: &Params, tick: u64, len: u32, backlog: u64) {
        let threshold = params.rules.dq_threshold;
        if let Some(count) = &mut self.dq_count {
            *count += u64::from(len);
            if *count >= threshold {
                let time = tick.saturating_sub(self.dq_tstamp.unwrap_or(tick));
                let time = time.saturating_mul(1 << params.rules.rate_bits);
                let average = self.avg_dq_rate;
                self.avg_dq_rate = if average == 0 { time } else { average - average / 4 + time / 4 };
                self.dq_count = None;
            }
        }
        if self.dq_count.is_none() && backlog >= threshold {
            (self.dq_tstamp, self.dq_count) = (Some(tick), Some(0));
        }
    }
}
