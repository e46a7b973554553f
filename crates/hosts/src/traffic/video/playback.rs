//! What a player shows: a buffer that fills by segments and plays in real time.

use goodqueue_units::{Duration, Instant};

/// The player's buffer and what was seen of it.
#[derive(Clone, Debug)]
pub(super) struct Playback {
    /// The time up to which this state holds.
    at: Instant,
    /// Time that the buffer still plays.
    level: Duration,
    state: State,
    /// Time played and time waited, and stalls that began, since [`Playback::measure_from`].
    played: Duration,
    stalled: Duration,
    stalls: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Nothing was asked for.
    Idle,
    /// Nothing has been shown.
    Waits,
    Plays,
    /// The buffer ran empty, and more is to come.
    Stalls,
    /// The last segment is in the buffer, or was shown.
    Ends,
}

impl Playback {
    pub(super) fn new() -> Self {
        let (level, played, stalled) = (Duration::ZERO, Duration::ZERO, Duration::ZERO);
        Self { at: Instant::ZERO, level, state: State::Idle, played, stalled, stalls: 0 }
    }

    /// Begins to wait for the first segment.
    pub(super) fn begin(&mut self, now: Instant) {
        self.advance(now);
        self.state = State::Waits;
    }

    /// Moves on to `now`.
    pub(super) fn advance(&mut self, now: Instant) {
        let passed = now.since(self.at);
        self.at = now;
        let left = passed.saturating_sub(self.level);
        if matches!(self.state, State::Plays | State::Ends) {
            self.played = self.played + passed.saturating_sub(left);
            self.level = self.level.saturating_sub(passed);
        }
        match self.state {
            State::Plays if left > Duration::ZERO => {
                self.state = State::Stalls;
                self.stalls += 1;
                self.stalled = self.stalled + left;
            }
            State::Waits | State::Stalls => self.stalled = self.stalled + passed,
            State::Idle | State::Plays | State::Ends => {}
        }
    }

    /// Adds a segment that plays for `length`, and plays. Returns whether it is the first one.
    pub(super) fn add(&mut self, now: Instant, length: Duration) -> bool {
        self.advance(now);
        self.level = self.level + length;
        let first = matches!(self.state, State::Idle | State::Waits);
        if self.state != State::Ends {
            self.state = State::Plays;
        }
        first
    }

    /// Takes note that nothing more comes: an empty buffer is no stall any more. A wait for the first segment was one.
    pub(super) fn end(&mut self, now: Instant) {
        self.advance(now);
        self.stalls += u64::from(self.state == State::Waits);
        self.state = State::Ends;
    }

    /// Returns the time that the buffer still plays.
    pub(super) fn level(&self) -> Duration {
        self.level
    }

    pub(super) fn measure_from(&mut self, now: Instant) {
        self.advance(now);
        (self.played, self.stalled, self.stalls) = (Duration::ZERO, Duration::ZERO, 0);
    }

    /// Returns the time played, the time waited, and how many stalls began. A wait for the first segment is a stall if
    /// it lasts at `now`.
    pub(super) fn seen(&self, now: Instant) -> (Duration, Duration, u64) {
        let mut then = self.clone();
        then.advance(now);
        let lasts = u64::from(then.state == State::Waits);
        (then.played, then.stalled, then.stalls + lasts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(s: u64) -> Instant {
        Instant::ZERO + Duration::from_secs(s)
    }

    /// It is asked for at 2 s, and nothing comes until the run ends at 20 s.
    #[test]
    fn a_player_that_never_starts_waits_all_the_time() {
        let mut player = Playback::new();
        player.begin(at(2));
        assert_eq!(player.seen(at(20)), (Duration::ZERO, Duration::from_secs(18), 1));
        player.measure_from(at(5));
        assert_eq!(player.seen(at(20)), (Duration::ZERO, Duration::from_secs(15), 1));
        player.end(at(12));
        assert_eq!(player.seen(at(20)), (Duration::ZERO, Duration::from_secs(7), 1), "the viewer gave up");
    }

    /// The time before the first segment is waiting, and no stall of its own.
    #[test]
    fn a_start_is_waited_for() {
        let mut player = Playback::new();
        player.begin(at(2));
        assert!(player.add(at(5), Duration::from_secs(4)));
        assert_eq!(player.seen(at(8)), (Duration::from_secs(3), Duration::from_secs(3), 0));
    }

    /// A segment of 4 s at 1 s, the next one at 8 s: a stall from 5 s to 8 s.
    #[test]
    fn a_stall_lasts_until_the_next_segment() {
        let mut player = Playback::new();
        player.begin(at(1));
        let segment = Duration::from_secs(4);
        assert!(player.add(at(1), segment));
        assert_eq!(player.seen(at(5)), (segment, Duration::ZERO, 0), "the last moment of the buffer is no stall");
        assert_eq!(player.seen(at(6)), (segment, Duration::from_secs(1), 1));
        assert!(!player.add(at(8), segment));
        assert_eq!(player.seen(at(10)), (Duration::from_secs(6), Duration::from_secs(3), 1));
        player.measure_from(at(10));
        assert_eq!(player.seen(at(13)), (Duration::from_secs(2), Duration::from_secs(1), 1));
    }

    #[test]
    fn after_the_last_segment_an_empty_buffer_is_the_end() {
        let mut player = Playback::new();
        player.begin(at(0));
        player.add(at(0), Duration::from_secs(2));
        player.end(at(1));
        assert_eq!(player.seen(at(9)), (Duration::from_secs(2), Duration::ZERO, 0));
    }
}
