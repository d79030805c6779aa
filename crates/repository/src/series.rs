//! The history of the crawl by hour and day, as people and plots ask for it.

use std::collections::BTreeMap;

use vernal_model::{Day, DiskBytes, Gauges, Hour, Measures, Moment, OpenHour, SeriesRow, Site, Span, VisitCounts};

use crate::tables::rows::decode;
use crate::tables::{Row, keys};
use crate::{Error, Reader, Result};

/// Rows of one answer. Eighty years of days, or more than a year of hours, fit.
pub const SERIES_ROWS_MAX: usize = 30_000;
const HOUR_S: u64 = 3_600;
const DAY_S: u64 = 86_400;
/// The steps that `auto` chooses from.
const STEPS_S: [u64; 7] = [HOUR_S, 3 * HOUR_S, 6 * HOUR_S, DAY_S, 7 * DAY_S, 28 * DAY_S, 364 * DAY_S];

/// What can be asked for.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum SeriesName {
    FreshnessBelieved,
    FreshnessMeasured,
    MeasuredSamples,
    Held,
    Waiting,
    Retries,
    Visits,
    New,
    Changed,
    NoiseOnly,
    Same,
    NotModified,
    Wasted,
    NotModifiedShare,
    WastedShare,
    Moved,
    Gone,
    Blocked,
    Failed,
    Refused,
    SecondLooks,
    WireBytes,
    BodyBytes,
    Bound,
    Price,
    Spent,
    DiskBodies,
    DiskJournal,
    DiskTables,
}

/// A row of the history with what was measured at its end.
#[derive(Copy, Clone, Default)]
struct MeasuredRow {
    row: SeriesRow,
    measures: Option<Measures>,
}

/// A question about the history.
#[derive(Clone, Debug)]
pub struct SeriesQuery {
    pub names: Vec<SeriesName>,
    pub from: Moment,
    /// Rows begin before this.
    pub until: Moment,
    /// Whole hours; `None` chooses the smallest step with at most `points` rows.
    pub step: Option<Span>,
    /// Rows beyond so many are thinned: of each run those with the least and the greatest first value stay.
    pub points: usize,
    /// Days of one site in place of the whole crawl.
    pub site: Option<Site>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    pub from: Moment,
    pub until: Moment,
    pub step: Span,
    /// When each row begins, and its values in the order of the names. What was not kept is `None`.
    pub rows: Vec<(Moment, Vec<Option<f64>>)>,
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SeriesFault {
    #[error("{0} rows are more than {SERIES_ROWS_MAX}: give a later start or a larger step")]
    TooManyRows(u64),
    #[error("a step is at least one hour and a whole number of them")]
    Step,
    #[error("the history of a site is kept by day: give a step of whole days")]
    StepOfSite,
    #[error("the end lies before the start")]
    Backwards,
}

impl SeriesName {
    pub const ALL: [SeriesName; 29] = {
        use SeriesName::*;
        [
            FreshnessBelieved,
            FreshnessMeasured,
            MeasuredSamples,
            Held,
            Waiting,
            Retries,
            Visits,
            New,
            Changed,
            NoiseOnly,
            Same,
            NotModified,
            Wasted,
            NotModifiedShare,
            WastedShare,
            Moved,
            Gone,
            Blocked,
            Failed,
            Refused,
            SecondLooks,
            WireBytes,
            BodyBytes,
            Bound,
            Price,
            Spent,
            DiskBodies,
            DiskJournal,
            DiskTables,
        ]
    };

    pub fn name(self) -> &'static str {
        match self {
            SeriesName::FreshnessBelieved => "freshness_believed",
            SeriesName::FreshnessMeasured => "freshness_measured",
            SeriesName::MeasuredSamples => "measured_samples",
            SeriesName::Held => "held",
            SeriesName::Waiting => "waiting",
            SeriesName::Retries => "retries",
            SeriesName::Visits => "visits",
            SeriesName::New => "new",
            SeriesName::Changed => "changed",
            SeriesName::NoiseOnly => "noise_only",
            SeriesName::Same => "same",
            SeriesName::NotModified => "not_modified",
            SeriesName::Wasted => "wasted",
            SeriesName::NotModifiedShare => "not_modified_share",
            SeriesName::WastedShare => "wasted_share",
            SeriesName::Moved => "moved",
            SeriesName::Gone => "gone",
            SeriesName::Blocked => "blocked",
            SeriesName::Failed => "failed",
            SeriesName::Refused => "refused",
            SeriesName::SecondLooks => "second_looks",
            SeriesName::WireBytes => "wire_bytes",
            SeriesName::BodyBytes => "body_bytes",
            SeriesName::Bound => "bound",
            SeriesName::Price => "price",
            SeriesName::Spent => "spent",
            SeriesName::DiskBodies => "disk_bodies",
            SeriesName::DiskJournal => "disk_journal",
            SeriesName::DiskTables => "disk_tables",
        }
    }

    pub fn of_name(name: &str) -> Option<SeriesName> {
        SeriesName::ALL.into_iter().find(|one| one.name() == name)
    }

    fn of(self, MeasuredRow { row, measures }: &MeasuredRow) -> Option<f64> {
        let disk = |bytes: fn(&DiskBytes) -> u64| Some(bytes(&measures.as_ref()?.disk?) as f64);
        let VisitCounts { visits, new, changed, noise_only, same, not_modified, .. } = row.counts;
        let counts = &row.counts;
        let gauge = |value: fn(&Gauges) -> f64| row.gauges.as_ref().map(value);
        let samples = || row.gauges?.measured.filter(|(_, samples)| *samples > 0);
        let share = |part: u32, whole: u32| (whole > 0).then(|| f64::from(part) / f64::from(whole));
        let read = new + changed + noise_only + same + not_modified;
        match self {
            SeriesName::FreshnessBelieved => row.gauges?.freshness_believed.map(f64::from),
            SeriesName::FreshnessMeasured => samples().map(|(fresh, samples)| f64::from(fresh) / f64::from(samples)),
            SeriesName::MeasuredSamples => samples().map(|(_, samples)| f64::from(samples)),
            SeriesName::Held => gauge(|gauges| gauges.held as f64),
            SeriesName::Waiting => gauge(|gauges| gauges.waiting as f64),
            SeriesName::Retries => gauge(|gauges| f64::from(gauges.retries)),
            SeriesName::Visits => Some(f64::from(visits)),
            SeriesName::New => Some(f64::from(new)),
            SeriesName::Changed => Some(f64::from(changed)),
            SeriesName::NoiseOnly => Some(f64::from(noise_only)),
            SeriesName::Same => Some(f64::from(same)),
            SeriesName::NotModified => Some(f64::from(not_modified)),
            SeriesName::Wasted => Some(f64::from(counts.wasted())),
            SeriesName::NotModifiedShare => share(not_modified, read),
            SeriesName::WastedShare => share(counts.wasted(), read),
            SeriesName::Moved => Some(f64::from(counts.moved)),
            SeriesName::Gone => Some(f64::from(counts.gone)),
            SeriesName::Blocked => Some(f64::from(counts.blocked)),
            SeriesName::Failed => Some(f64::from(counts.failed)),
            SeriesName::Refused => Some(f64::from(counts.refused)),
            SeriesName::SecondLooks => Some(f64::from(counts.second_looks)),
            SeriesName::WireBytes => Some(counts.wire_bytes as f64),
            SeriesName::BodyBytes => Some(counts.body_bytes as f64),
            SeriesName::Bound => measures.as_ref()?.bound.map(f64::from),
            SeriesName::Price => measures.as_ref()?.price.map(f64::from),
            SeriesName::Spent => measures.as_ref()?.spent,
            SeriesName::DiskBodies => disk(|disk| disk.bodies),
            SeriesName::DiskJournal => disk(|disk| disk.journal),
            SeriesName::DiskTables => disk(|disk| disk.tables),
        }
    }
}

/// The history.
impl Reader {
    /// The hour that is being counted; `None` before the first.
    pub fn open_hour(&self) -> Option<OpenHour> {
        self.shared.live().state.hour
    }

    /// What was counted at each site since the last day was closed, without sites at which nothing was.
    pub fn open_site_days(&self) -> Vec<(Site, vernal_model::Partition, VisitCounts)> {
        let live = self.shared.live();
        let sites = live.sites.values().filter(|site| !site.day.is_empty());
        sites.map(|site| (site.row.site.clone(), site.row.partition, site.day)).collect()
    }

    /// The rows of hours that have ended and are not folded into days, oldest first.
    pub fn hours(&self, from: Hour, until: Hour) -> Result<Vec<(Hour, SeriesRow)>> {
        self.numbered_rows(keys::hour(from), keys::hour(until.max(from)), Hour)
    }

    /// The oldest hour that has a row.
    pub fn oldest_hour(&self) -> Result<Option<Hour>> {
        let mut rows = self.shared.tables.series.range(keys::hour(Hour(0))..keys::day(Day(0)));
        rows.next().map(|guard| numbered::<SeriesRow>(guard).map(|(number, _)| Hour(number))).transpose()
    }

    /// What was so at the end of hours that are not folded into days, oldest first.
    pub fn hours_measured(&self, from: Hour, until: Hour) -> Result<Vec<(Hour, Measures)>> {
        self.numbered_rows(keys::hour_measured(from), keys::hour_measured(until.max(from)), Hour)
    }

    /// The same of days into which hours were folded.
    pub fn days_measured(&self, from: Day, until: Day) -> Result<Vec<(Day, Measures)>> {
        self.numbered_rows(keys::day_measured(from), keys::day_measured(until.max(from)), Day)
    }

    /// What was measured last.
    pub fn last_measured(&self) -> Result<Option<(Hour, Measures)>> {
        let range = keys::hour_measured(Hour(0))..keys::day_measured(Day(0));
        let last = self.shared.tables.series.range(range).next_back();
        last.map(|guard| numbered(guard).map(|(number, row)| (Hour(number), row))).transpose()
    }

    fn numbered_rows<N, T: serde::de::DeserializeOwned>(
        &self,
        from: impl AsRef<[u8]>,
        until: impl AsRef<[u8]>,
        number: fn(u32) -> N,
    ) -> Result<Vec<(N, T)>> {
        let rows = self.shared.tables.series.range(from.as_ref().to_vec()..until.as_ref().to_vec());
        rows.map(|guard| numbered(guard).map(|(at, row)| (number(at), row))).collect()
    }

    /// The rows of days into which hours were folded, oldest first.
    pub fn days(&self, from: Day, until: Day) -> Result<Vec<(Day, SeriesRow)>> {
        self.numbered_rows(keys::day(from), keys::day(until.max(from)), Day)
    }

    /// The days of a site that have ended, oldest first.
    pub fn site_days(&self, site: &Site, from: Day, until: Day) -> Result<Vec<(Day, VisitCounts)>> {
        let Some(partition) = self.shared.live().partition_of(site.as_str()) else { return Ok(Vec::new()) };
        let key = |day| keys::site_day(partition, site, day);
        self.numbered_rows(key(from), key(until.max(from)), Day)
    }

    /// Answers a question about the history. The hour and the day that are running are in it with what they have so far.
    pub fn series(&self, query: &SeriesQuery) -> Result<Result<Series, SeriesFault>> {
        let (from, step_s) = match window(query) {
            Ok(window) => window,
            Err(fault) => return Ok(Err(fault)),
        };
        let mut steps: BTreeMap<u64, Vec<MeasuredRow>> = BTreeMap::new();
        for (begins, row) in self.rows_of(query.site.as_ref(), from, query.until)? {
            steps.entry(begins.since(from).secs_f64() as u64 / step_s).or_default().push(row);
        }
        let count = (query.until.since(from).secs_f64() / step_s as f64).ceil() as u64;
        let rows = (0..count).map(|place| {
            let row = steps.get(&place).map(|rows| MeasuredRow {
                row: SeriesRow::folded(rows.iter().map(|one| &one.row)),
                measures: Measures::folded(rows.iter().filter_map(|one| one.measures.as_ref())),
            });
            let value = |name: &SeriesName| row.as_ref().and_then(|row| name.of(row));
            (from + Span::from_secs(place * step_s), query.names.iter().map(value).collect())
        });
        let rows = thinned(rows.collect(), query.points);
        Ok(Ok(Series { from, until: query.until, step: Span::from_secs(step_s), rows }))
    }

    /// The rows that begin in this window, oldest first.
    fn rows_of(&self, site: Option<&Site>, from: Moment, until: Moment) -> Result<Vec<(Moment, MeasuredRow)>> {
        let end = Hour::of(until - Span::from_micros(1)).next();
        let open = self.open_hour();
        let is_inside = |begins: Moment| begins >= from && begins < until;
        if let Some(site) = site {
            let of_counts = |counts| MeasuredRow { row: SeriesRow { counts, gauges: None }, measures: None };
            let days = self.site_days(site, Hour::of(from).day(), Day(end.day().0.saturating_add(1)))?;
            let days = days.into_iter().map(|(day, counts)| (day.first_hour().begins(), of_counts(counts)));
            let counted = self.shared.live().sites.get(site).map(|site| site.day);
            let running = open.zip(counted).map(|(open, day)| (open.hour.day().first_hour().begins(), of_counts(day)));
            return Ok(days.chain(running).filter(|(begins, _)| is_inside(*begins)).collect());
        }
        let (first, last) = (Hour::of(from).day(), Day(end.day().0.saturating_add(1)));
        let of_days: BTreeMap<Day, Measures> = self.days_measured(first, last)?.into_iter().collect();
        let of_hours: BTreeMap<Hour, Measures> = self.hours_measured(Hour::of(from), end)?.into_iter().collect();
        let day = |(day, row): (Day, SeriesRow)| {
            (day.first_hour().begins(), MeasuredRow { row, measures: of_days.get(&day).copied() })
        };
        let hour = |(hour, row): (Hour, SeriesRow)| {
            (hour.begins(), MeasuredRow { row, measures: of_hours.get(&hour).copied() })
        };
        let days = self.days(first, last)?.into_iter().map(day);
        let hours = self.hours(Hour::of(from), end)?.into_iter().map(hour);
        let counted = |open: OpenHour| SeriesRow { counts: open.counts, gauges: None };
        let running = open.map(|open| (open.hour.begins(), MeasuredRow { row: counted(open), measures: None }));
        Ok(days.chain(hours).chain(running).filter(|(begins, _)| is_inside(*begins)).collect())
    }
}

/// Where the answer begins, and its step in seconds.
fn window(query: &SeriesQuery) -> std::result::Result<(Moment, u64), SeriesFault> {
    if query.until < query.from {
        return Err(SeriesFault::Backwards);
    }
    let least_s = if query.site.is_some() { DAY_S } else { HOUR_S };
    let long_s = query.until.since(query.from).secs_f64();
    let fitting = || {
        STEPS_S.into_iter().filter(|step| *step >= least_s).find(|step| {
            // The window may begin and end within a step.
            long_s / *step as f64 + 2.0 <= query.points as f64
        })
    };
    let step_s = match query.step {
        None => fitting().unwrap_or(STEPS_S[STEPS_S.len() - 1]),
        Some(step) => step.secs_f64() as u64,
    };
    if step_s == 0 || step_s % HOUR_S != 0 || query.step.is_some_and(|step| step != Span::from_secs(step_s)) {
        return Err(SeriesFault::Step);
    }
    if step_s % least_s != 0 {
        return Err(SeriesFault::StepOfSite);
    }
    let first_s = query.from.secs().max(0) as u64 / step_s * step_s;
    let rows = (long_s / step_s as f64) as u64 + 1;
    if rows > SERIES_ROWS_MAX as u64 {
        return Err(SeriesFault::TooManyRows(rows));
    }
    Ok((Moment::from_secs(first_s as i64), step_s))
}

/// Keeps at most so many rows: of each run those with the least and the greatest first value, in their order.
fn thinned(rows: Vec<(Moment, Vec<Option<f64>>)>, points: usize) -> Vec<(Moment, Vec<Option<f64>>)> {
    if rows.len() <= points || points < 2 {
        return rows;
    }
    let runs = points / 2;
    let run = rows.len().div_ceil(runs);
    let mut kept = Vec::with_capacity(points);
    for run in rows.chunks(run) {
        let valued = |place: &usize| run[*place].1.first().copied().flatten().unwrap_or(f64::NEG_INFINITY);
        let by_value = |one: &usize, other: &usize| valued(one).total_cmp(&valued(other));
        let known = || (0..run.len()).filter(|place| valued(place) > f64::NEG_INFINITY);
        let (least, greatest) = (known().min_by(by_value).unwrap_or(0), known().max_by(by_value).unwrap_or(0));
        kept.push(run[least.min(greatest)].clone());
        if least != greatest {
            kept.push(run[least.max(greatest)].clone());
        }
    }
    kept
}

fn numbered<T: serde::de::DeserializeOwned>(guard: Row) -> Result<(u32, T)> {
    let (key, value) = guard.into_inner().map_err(Error::tables("read the history"))?;
    let number = keys::series_number(&key).ok_or_else(|| Error::row("series", "its key is too short"))?;
    Ok((number, decode("series", &value)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn query(from_s: i64, until_s: i64, step: Option<Span>, points: usize) -> SeriesQuery {
        let (from, until) = (Moment::from_secs(from_s), Moment::from_secs(until_s));
        SeriesQuery { names: SeriesName::ALL.to_vec(), from, until, step, points, site: None }
    }

    #[test]
    fn every_name_is_found_by_itself() {
        for name in SeriesName::ALL {
            assert_eq!(SeriesName::of_name(name.name()), Some(name));
        }
        assert_eq!(SeriesName::of_name("visit"), None);
    }

    #[test]
    fn the_step_chosen_has_at_most_so_many_rows() {
        for (days, points) in [(1, 30), (30, 400), (400, 400), (4_000, 100), (40_000, 120)] {
            let (from, step_s) = window(&query(5_000, days * DAY_S as i64, None, points)).unwrap();
            let rows = (Moment::from_secs(days * DAY_S as i64).since(from).secs_f64() / step_s as f64).ceil() as usize;
            assert!(rows <= points, "{rows} rows of {step_s} s for {days} days");
            assert_eq!(from.secs() as u64 % step_s, 0);
        }
    }

    #[test]
    fn a_wrong_window_is_told() {
        assert_eq!(window(&query(10, 5, None, 9)), Err(SeriesFault::Backwards));
        assert_eq!(window(&query(0, 10, Some(Span::from_secs(60)), 9)), Err(SeriesFault::Step));
        assert_eq!(window(&query(0, 10, Some(Span::from_millis(3_600_001)), 9)), Err(SeriesFault::Step));
        let years = window(&query(0, 4_000_000_000, Some(Span::from_hours(1)), 9));
        assert!(matches!(years, Err(SeriesFault::TooManyRows(_))));
        let of_site =
            SeriesQuery { site: Some(Site::new("a.example")), ..query(0, 90_000, Some(Span::from_hours(1)), 9) };
        assert_eq!(window(&of_site), Err(SeriesFault::StepOfSite));
    }

    #[test]
    fn thinning_keeps_the_least_and_the_greatest() {
        let rows: Vec<_> = (0..1_000)
            .map(|place| {
                let value = if place == 371 {
                    99.0
                } else if place == 640 {
                    -7.0
                } else {
                    f64::from(place % 10)
                };
                (Moment::from_secs(i64::from(place)), vec![(place % 7 != 0 || place == 371).then_some(value)])
            })
            .collect();
        let kept = thinned(rows.clone(), 50);
        assert!(kept.len() <= 50);
        assert!(kept.contains(&rows[371]) && kept.contains(&rows[640]));
        assert!(kept.windows(2).all(|two| two[0].0 < two[1].0));
        assert_eq!(thinned(rows.clone(), 1_000), rows);
    }
}
