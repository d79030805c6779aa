//! Moment = origin + X · (wall − origin): the only place that asks the wall for the hour.

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use vernal_model::{Moment, Span};

/// The repository's time. It never goes back, neither behind the last Moment of the journal nor when somebody sets the
/// wall clock.
#[derive(Debug)]
pub struct Clock {
    origin: Moment,
    wall_origin: Moment,
    scale: f64,
    latest: AtomicI64,
}

/// The hour on the wall.
#[expect(clippy::disallowed_methods, reason = "this is the one place that asks")]
pub fn wall() -> Moment {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Moment::from_micros(i64::try_from(since.as_micros()).unwrap_or(i64::MAX))
}

impl Clock {
    /// Begins now, or at the last Moment of the journal if that is later.
    pub fn start(last: Moment, scale: f64) -> Clock {
        Clock::from_wall(wall(), last, scale)
    }

    fn from_wall(wall: Moment, last: Moment, scale: f64) -> Clock {
        let origin = wall.max(last);
        Clock { origin, wall_origin: wall, scale, latest: AtomicI64::new(origin.micros()) }
    }

    pub fn now(&self) -> Moment {
        self.at(wall())
    }

    pub fn scale(&self) -> f64 {
        self.scale
    }

    /// When this clock began.
    pub fn origin(&self) -> Moment {
        self.origin
    }

    /// How long to wait in real time until this Moment.
    pub fn real_until(&self, moment: Moment) -> Duration {
        self.real(moment.since(self.now()))
    }

    /// How long a span of the repository's time takes in real time.
    pub fn real(&self, span: Span) -> Duration {
        Duration::from_secs_f64((span.secs_f64() / self.scale).min(YEAR_SECS))
    }

    fn at(&self, wall: Moment) -> Moment {
        let passed = wall.since(self.wall_origin).scaled(self.scale);
        let moment = self.origin + passed;
        let before = self.latest.fetch_max(moment.micros(), Ordering::Relaxed);
        Moment::from_micros(before.max(moment.micros()))
    }
}

/// Nobody waits longer than this at once, and `Duration` overflows far beyond it.
const YEAR_SECS: f64 = 365.0 * 86_400.0;

impl vernal_fetch::Clock for Clock {
    fn now(&self) -> Moment {
        Clock::now(self)
    }

    fn real(&self, span: Span) -> Duration {
        Clock::real(self, span)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scaled_second_counts_as_many() {
        let clock = Clock::from_wall(Moment::from_secs(1_000), Moment::EPOCH, 60.0);
        assert_eq!(clock.at(Moment::from_secs(1_001)), Moment::from_secs(1_060));
        assert_eq!(clock.real(Span::from_secs(60)), Duration::from_secs(1));
    }

    #[test]
    fn time_never_goes_back_behind_the_journal_or_the_wall() {
        let clock = Clock::from_wall(Moment::from_secs(1_000), Moment::from_secs(5_000), 1.0);
        assert_eq!(clock.at(Moment::from_secs(1_010)), Moment::from_secs(5_010));
        assert_eq!(clock.at(Moment::from_secs(900)), Moment::from_secs(5_010));
    }
}
