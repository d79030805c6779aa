//! What a crawl did in an hour or a day: one row of its history, kept for years.

use serde::{Deserialize, Serialize};

use crate::{Event, EventKind, Moment, Outcome, Site, Visit, Visited};

const HOUR_S: i64 = 3_600;
const HOURS_A_DAY: u32 = 24;

/// An hour of crawl time, counted from 1970 in UTC.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Hour(pub u32);

/// A day of crawl time, counted from 1970 in UTC.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Day(pub u32);

/// Visits and what they found, each counted once under what became of it.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct VisitCounts {
    /// Requests that were sent, including those for robots.txt.
    pub visits: u32,
    /// Pages that were read for the first time, or are back.
    pub new: u32,
    pub changed: u32,
    /// Something differed, and all of it was noise.
    pub noise_only: u32,
    /// A body was read, and nothing differed.
    pub same: u32,
    pub not_modified: u32,
    pub moved: u32,
    pub gone: u32,
    pub blocked: u32,
    pub failed: u32,
    /// Decided against without a request.
    pub refused: u32,
    /// Those of the visits above that were second looks, made to learn noise.
    pub second_looks: u32,
    pub wire_bytes: u64,
    /// Bodies of the versions that were kept.
    pub body_bytes: u64,
}

/// What is so at the end of an hour.
#[derive(Copy, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Gauges {
    /// The share of the held pages believed to be up to date; `None` where the policy has no model.
    pub freshness_believed: Option<f32>,
    /// Random samples that were up to date, and how many samples there are.
    pub measured: Option<(u32, u32)>,
    pub held: u64,
    pub waiting: u64,
    pub retries: u32,
}

/// What else was so at the end of an hour; `None` where nobody knew.
#[derive(Copy, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Measures {
    /// The best freshness that this budget could keep in the long run if the rates were as they are believed; once a day.
    pub bound: Option<f32>,
    /// The least value of a page that was worth a visit.
    pub price: Option<f32>,
    /// Spent since the row before, in the unit of the budget.
    pub spent: Option<f64>,
    /// Spent since the crawl began.
    pub spent_in_all: f64,
    pub disk: Option<DiskBytes>,
}

/// What the parts of a repository take on disk.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiskBytes {
    pub bodies: u64,
    pub journal: u64,
    pub tables: u64,
}

/// What was so at the end of an hour, beside its row.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HourMeasured {
    pub hour: Hour,
    pub measures: Measures,
    /// A day whose measures take the place of those of its hours.
    pub folded: Option<(Day, Measures)>,
}

/// The row of an hour, or of a day made of its hours.
#[derive(Copy, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SeriesRow {
    pub counts: VisitCounts,
    /// `None` of an hour that has not ended, and of a site.
    pub gauges: Option<Gauges>,
}

/// The hour that is being counted.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenHour {
    pub hour: Hour,
    pub counts: VisitCounts,
}

/// An hour ended and another one began.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HourClosed {
    /// The hour that ended; `None` in a repository that begins to count.
    pub closed: Option<(Hour, SeriesRow)>,
    pub opened: Hour,
    /// A day whose row takes the place of the rows of its hours.
    pub folded: Option<(Day, SeriesRow)>,
}

/// A day ended: what was counted at sites of one partition since the last one ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SiteDaysClosed {
    pub day: Day,
    pub sites: Vec<(Site, VisitCounts)>,
}

impl Hour {
    pub fn of(moment: Moment) -> Hour {
        Hour(u32::try_from(moment.secs().div_euclid(HOUR_S)).unwrap_or(0))
    }

    pub fn begins(self) -> Moment {
        Moment::from_secs(i64::from(self.0) * HOUR_S)
    }

    pub fn next(self) -> Hour {
        Hour(self.0.saturating_add(1))
    }

    pub fn day(self) -> Day {
        Day(self.0 / HOURS_A_DAY)
    }
}

impl Day {
    pub fn first_hour(self) -> Hour {
        Hour(self.0.saturating_mul(HOURS_A_DAY))
    }

    pub fn hours(self) -> impl Iterator<Item = Hour> {
        let first = self.first_hour().0;
        (first..first.saturating_add(HOURS_A_DAY)).map(Hour)
    }
}

impl VisitCounts {
    /// Counts the visit to a page.
    pub fn count_page(&mut self, visited: &Visited) {
        self.count_request(&visited.visit);
        self.second_looks += u32::from(visited.visit.second_look);
        *self.found(visited) += 1;
        self.body_bytes += visited.visit.version.map_or(0, |version| u64::from(version.body_bytes));
    }

    /// Counts a request that was not for a page.
    pub fn count_other(&mut self, visit: &Visit) {
        self.count_request(visit);
        self.failed += u32::from(matches!(visit.outcome, Outcome::Failed(_)));
    }

    /// Visits that found nothing that a reader would care about.
    pub fn wasted(&self) -> u32 {
        self.noise_only + self.same + self.not_modified
    }

    pub fn add(&mut self, other: &VisitCounts) {
        self.visits += other.visits;
        self.new += other.new;
        self.changed += other.changed;
        self.noise_only += other.noise_only;
        self.same += other.same;
        self.not_modified += other.not_modified;
        self.moved += other.moved;
        self.gone += other.gone;
        self.blocked += other.blocked;
        self.failed += other.failed;
        self.refused += other.refused;
        self.second_looks += other.second_looks;
        self.wire_bytes += other.wire_bytes;
        self.body_bytes += other.body_bytes;
    }

    pub fn is_empty(&self) -> bool {
        *self == VisitCounts::default()
    }

    fn count_request(&mut self, visit: &Visit) {
        self.visits += u32::from(visit.outcome.asked());
        self.wire_bytes += visit.wire_bytes;
    }

    fn found(&mut self, visited: &Visited) -> &mut u32 {
        match &visited.visit.outcome {
            Outcome::NotModified => &mut self.not_modified,
            Outcome::Moved { .. } => &mut self.moved,
            Outcome::Gone { .. } => &mut self.gone,
            Outcome::Blocked { .. } => &mut self.blocked,
            Outcome::Refused(_) => &mut self.refused,
            Outcome::Failed(_) => &mut self.failed,
            Outcome::Read { .. } => match visited.event.as_ref() {
                Some(Event { kind: EventKind::New | EventKind::Back, .. }) => &mut self.new,
                Some(event) if event.change.is_change() => &mut self.changed,
                Some(event) if event.change.is_noise() => &mut self.noise_only,
                _ => &mut self.same,
            },
        }
    }
}

impl SeriesRow {
    /// The row of a day made of the rows of its hours, oldest first: counts are added, freshness is the mean, and what waits
    /// is as at the end.
    pub fn folded<'a>(hours: impl Iterator<Item = &'a SeriesRow> + Clone) -> SeriesRow {
        let mut counts = VisitCounts::default();
        hours.clone().for_each(|row| counts.add(&row.counts));
        let gauges = || hours.clone().filter_map(|row| row.gauges.as_ref());
        let believed: Vec<f32> = gauges().filter_map(|gauge| gauge.freshness_believed).collect();
        let mean = (!believed.is_empty()).then(|| believed.iter().sum::<f32>() / believed.len() as f32);
        let last = gauges().last().map(|last| Gauges {
            freshness_believed: mean,
            measured: gauges().filter_map(|gauge| gauge.measured).last(),
            ..*last
        });
        SeriesRow { counts, gauges: last }
    }
}

impl Measures {
    /// Those of a day made of those of its hours, oldest first: what was spent is added, the price is the mean, and the rest is as
    /// it was known last.
    pub fn folded<'a>(hours: impl Iterator<Item = &'a Measures> + Clone) -> Option<Measures> {
        let last = hours.clone().last()?;
        let prices: Vec<f32> = hours.clone().filter_map(|one| one.price).collect();
        let spent: Vec<f64> = hours.clone().filter_map(|one| one.spent).collect();
        Some(Measures {
            bound: hours.clone().filter_map(|one| one.bound).last(),
            price: (!prices.is_empty()).then(|| prices.iter().sum::<f32>() / prices.len() as f32),
            spent: (!spent.is_empty()).then(|| spent.iter().sum()),
            spent_in_all: last.spent_in_all,
            disk: hours.filter_map(|one| one.disk).last(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_has_the_sum_of_its_hours_and_the_mean_of_their_freshness() {
        let hour = |visits, believed, held| SeriesRow {
            counts: VisitCounts { visits, wire_bytes: 10, ..VisitCounts::default() },
            gauges: Some(Gauges { freshness_believed: believed, held, ..Gauges::default() }),
        };
        let hours = [hour(3, Some(0.5), 7), hour(4, None, 8), hour(5, Some(1.0), 9)];
        let day = SeriesRow::folded(hours.iter());
        assert_eq!((day.counts.visits, day.counts.wire_bytes), (12, 30));
        let gauges = day.gauges.unwrap();
        assert_eq!((gauges.freshness_believed, gauges.held), (Some(0.75), 9));
        assert_eq!(SeriesRow::folded([].iter()), SeriesRow::default());
    }

    #[test]
    fn a_day_has_spent_what_its_hours_spent_and_the_last_bound() {
        let hour = |bound, spent, price| Measures { bound, spent, price, ..Measures::default() };
        let hours = [hour(Some(0.9), None, None), hour(None, Some(2.0), Some(1.0)), hour(None, Some(3.0), Some(2.0))];
        let day = Measures::folded(hours.iter()).unwrap();
        assert_eq!((day.bound, day.spent, day.price), (Some(0.9), Some(5.0), Some(1.5)));
        assert_eq!(Measures::folded([].iter()), None);
    }

    #[test]
    fn hours_and_days_begin_where_the_clock_says() {
        let moment = Moment::parse("2026-05-01T13:59:59Z", Moment::EPOCH).unwrap();
        assert_eq!(Hour::of(moment).begins().rfc3339(), "2026-05-01T13:00:00.000Z");
        assert_eq!(Hour::of(moment).day().first_hour().begins().rfc3339(), "2026-05-01T00:00:00.000Z");
        assert_eq!(Hour::of(moment).day().hours().count(), 24);
        assert_eq!(Hour::of(Moment::from_secs(-5)), Hour(0));
    }
}
