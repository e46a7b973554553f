//! The departure rate (RFC 8033, 5.2), from which the delay may be derived. Linux averages the rate, with an eighth of
//! each measurement, and the packet that begins one is part of it; the RFC averages the time that the bytes take, with
//! a quarter, and it is not.

use super::{Params, Rules, Vars};

impl Vars {
    /// The departure rate, measured only while enough waits to keep the link busy (5.2). Gives the length of
    /// the measurement, if one has just ended.
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

    /// How long it takes to drain [`Rules::dq_threshold`] bytes, RFC 8033's average (5.2). The packet whose departure
    /// begins a measurement is not part of it.
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
