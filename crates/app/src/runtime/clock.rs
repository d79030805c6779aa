//! Moment = origin + X · (wall − origin): the only place that reads the system clock.

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use vernal_model::{Moment, Span, TimeOrigin};

/// The repository's time. It never goes back, neither behind the last Moment of the journal nor when somebody sets the
/// wall clock.
#[derive(Debug)]
pub struct Clock {
    origin: TimeOrigin,
    began: Moment,
    latest: AtomicI64,
}

/// CPU seconds that the calling thread has used so far.
pub fn cpu_seconds() -> f64 {
    let used = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    used.tv_sec as f64 + used.tv_nsec as f64 / 1e9
}

/// The time of the system clock.
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

    /// Goes on as the repository's time was counted before. With another scale, or a system clock that was set back, time
    /// goes on from the last Moment of the journal.
    pub fn resume(stored: Option<TimeOrigin>, last: Moment, scale: f64) -> Clock {
        Clock::resume_at(wall(), stored, last, scale)
    }

    fn resume_at(wall: Moment, stored: Option<TimeOrigin>, last: Moment, scale: f64) -> Clock {
        match stored.filter(|origin| origin.scale == scale && origin.at(wall) >= last) {
            Some(origin) => Clock::of(origin, wall),
            None => Clock::from_wall(wall, last, scale),
        }
    }

    fn from_wall(wall: Moment, last: Moment, scale: f64) -> Clock {
        Clock::of(TimeOrigin { moment: wall.max(last), wall, scale }, wall)
    }

    fn of(origin: TimeOrigin, wall: Moment) -> Clock {
        let began = origin.at(wall);
        Clock { origin, began, latest: AtomicI64::new(began.micros()) }
    }

    pub fn now(&self) -> Moment {
        self.at(wall())
    }

    pub fn scale(&self) -> f64 {
        self.origin.scale
    }

    /// How Moments are counted, for the repository to remember.
    pub fn origin(&self) -> TimeOrigin {
        self.origin
    }

    /// When this clock began.
    pub fn began(&self) -> Moment {
        self.began
    }

    /// How long to wait in real time until this Moment.
    pub fn real_until(&self, moment: Moment) -> Duration {
        self.real(moment.since(self.now()))
    }

    /// How long a span of the repository's time takes in real time.
    pub fn real(&self, span: Span) -> Duration {
        Duration::from_secs_f64((span.secs_f64() / self.origin.scale).min(YEAR_SECS))
    }

    fn at(&self, wall: Moment) -> Moment {
        let moment = self.origin.at(wall);
        let before = self.latest.fetch_max(moment.micros(), Ordering::Relaxed);
        Moment::from_micros(before.max(moment.micros()))
    }
}

/// The longest single wait; `Duration` overflows far beyond it.
const YEAR_SECS: f64 = 365.0 * 86_400.0;

impl vernal_api::Clock for Clock {
    fn now(&self) -> Moment {
        Clock::now(self)
    }

    fn began(&self) -> Moment {
        Clock::began(self)
    }

    fn scale(&self) -> f64 {
        Clock::scale(self)
    }
}

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

    #[test]
    fn time_goes_on_as_it_was_counted_while_nobody_works() {
        let (wall, hour) = (Moment::from_secs(10_000), Span::from_hours(1));
        let first = Clock::resume_at(wall, None, Moment::EPOCH, 60.0);
        let last = first.at(wall + hour);
        assert_eq!(last, wall + Span::from_hours(60));
        let second = Clock::resume_at(wall + hour + hour, Some(first.origin()), last, 60.0);
        assert_eq!((second.began(), second.origin()), (wall + Span::from_hours(120), first.origin()));
    }

    #[test]
    fn another_scale_or_a_wall_set_back_begins_anew_at_the_last_moment() {
        let (wall, hour) = (Moment::from_secs(10_000), Span::from_hours(1));
        let first = Clock::resume_at(wall, None, Moment::EPOCH, 60.0);
        let last = first.at(wall + hour);
        let slower = Clock::resume_at(wall + hour + hour, Some(first.origin()), last, 1.0);
        assert_eq!((slower.began(), slower.at(wall + hour + hour + hour)), (last, last + hour));
        let again = Clock::resume_at(wall + hour + hour + hour, Some(slower.origin()), last, 1.0);
        assert_eq!(again.began(), last + hour);
        let set_back = Clock::resume_at(wall, Some(first.origin()), last, 60.0);
        assert_eq!(set_back.began(), last);
    }
}
