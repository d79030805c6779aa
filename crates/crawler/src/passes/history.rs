//! The history of the crawl: each hour is closed with what was counted in it and how things stand, each day at every site.

use std::collections::BTreeMap;

use vernal_model::{
    Deed, Gauges, Hour, HourClosed, HourMeasured, Measures, Moment, OpenHour, Partition, SeriesRow, Site,
    SiteDaysClosed, VisitCounts,
};
use vernal_policy::measure::bound::freshness_bound;
use vernal_repository::Reader;

use super::{Pass, TURN_EVERY};
use crate::Result;
use crate::core::Core;
use crate::plan::Planner;
use crate::work::WHOLE;

/// Hours older than this are folded into days, so that a year takes less than a megabyte.
const HOURS_KEPT: u32 = 400 * 24;

/// Pages by which the bound is reckoned, a few hundredths of a second.
const BOUND_PAGES_MAX: usize = 20_000;

/// Closes hours and days. It makes two deeds an hour.
pub(crate) struct History {
    /// The hour that is being counted; `None` before the first.
    open: Option<Hour>,
}

impl History {
    pub fn new(reader: &Reader) -> Self {
        History { open: reader.open_hour().map(|open| open.hour) }
    }
}

impl Pass for History {
    fn is_due(&self, core: &Core, now: Moment) -> bool {
        core.settings.history && self.open.is_none_or(|open| Hour::of(now) > open)
    }

    fn next(&self, core: &Core, now: Moment) -> Option<Moment> {
        let next = if self.is_due(core, now) { now + TURN_EVERY } else { Hour::of(now).next().begins() };
        core.settings.history.then_some(next)
    }

    /// What was counted lies in the tables.
    fn reads_tables(&self) -> bool {
        true
    }

    fn turn(&mut self, core: &mut Core, plan: &mut Planner, now: Moment) -> Result<()> {
        let reader = core.work.acknowledged().clone();
        let opened = Hour::of(now);
        let ended = reader.open_hour();
        let mut row =
            |open: OpenHour| SeriesRow { counts: open.counts, gauges: Some(gauges(core, plan, &reader, now)) };
        let closed = ended.map(|open| (open.hour, row(open)));
        let folded = fold_of(&reader, opened)?;
        core.work.push(WHOLE, Deed::HourClosed(Box::new(HourClosed { closed, opened, folded })));
        if let Some(day) = ended.map(|open| open.hour.day()).filter(|day| *day < opened.day()) {
            let mut days: BTreeMap<Partition, Vec<(Site, VisitCounts)>> = BTreeMap::new();
            for (site, partition, counts) in reader.open_site_days() {
                days.entry(partition).or_default().push((site, counts));
            }
            for (partition, sites) in days {
                core.work.push(partition, Deed::SiteDaysClosed(Box::new(SiteDaysClosed { day, sites })));
            }
        }
        if let Some(hour) = ended.map(|open| open.hour) {
            let measures = self.measures(core, &reader, hour)?;
            let folded = measured_fold_of(&reader, opened)?;
            core.work.push(WHOLE, Deed::HourMeasured(Box::new(HourMeasured { hour, measures, folded })));
        }
        self.open = Some(opened);
        Ok(())
    }

    fn checkpoint(&mut self, _core: &Core) -> Result<()> {
        Ok(())
    }

    fn has_ended(&self) -> bool {
        true
    }
}

impl History {
    fn measures(&self, core: &mut Core, reader: &Reader, hour: Hour) -> Result<Measures> {
        let last = reader.last_measured()?;
        let spent_in_all = core.coordinator.account.spent;
        let is_new_day = last.is_none_or(|(last, _)| last.day() < hour.day());
        let prices: Vec<f64> =
            core.partitions.active().filter_map(|partition| partition.refresh.policy.believing()?.price()).collect();
        let paid: Vec<f64> = prices.iter().copied().filter(|price| *price > 0.0).collect();
        let mean = |prices: &[f64]| (prices.iter().sum::<f64>() / prices.len().max(1) as f64) as f32;
        Ok(Measures {
            bound: if is_new_day { bound(core) } else { None },
            price: (!prices.is_empty()).then(|| mean(&paid)),
            spent: last.map(|(_, before)| (spent_in_all - before.spent_in_all).max(0.0)),
            spent_in_all,
            // Whether files can be listed is no reason to end a crawl.
            disk: reader.disk_bytes().ok(),
        })
    }
}

/// The best freshness that the budget could keep in the long run if pages changed as often as they are believed to. Of
/// many pages every so-manieth stands for the others.
fn bound(core: &Core) -> Option<f32> {
    let sums = core.partitions.sums();
    let step = (sums.held as usize).div_ceil(BOUND_PAGES_MAX).max(1);
    let (mut met, mut pages) = (0, Vec::new());
    for partition in core.partitions.active() {
        let Some(policy) = partition.refresh.policy.believing() else { continue };
        policy.each_wanted(&mut |page| {
            if met % step == 0 {
                pages.push(page);
            }
            met += 1;
        });
    }
    let per_day = core.refresh_per_day(sums) * pages.len() as f64 / met.max(1) as f64;
    (!pages.is_empty()).then(|| freshness_bound(&pages, per_day) as f32)
}

fn gauges(core: &mut Core, plan: &Planner, reader: &Reader, now: Moment) -> Gauges {
    let believed = core.partitions.believed(now).all;
    let totals = reader.totals();
    Gauges {
        freshness_believed: believed.share().map(|share| share as f32),
        measured: plan.samples.measured().map(|measured| (measured.fresh, measured.samples)),
        held: totals.held,
        waiting: totals.waiting,
        retries: core.partitions.iter().map(|partition| partition.retries.len() as u32).sum(),
    }
}

/// The measures of the oldest day that has some by the hour, if all of them are old enough.
fn measured_fold_of(reader: &Reader, opened: Hour) -> Result<Option<(vernal_model::Day, Measures)>> {
    let old = Hour(opened.0.saturating_sub(HOURS_KEPT));
    let Some((oldest, _)) = reader.hours_measured(Hour(0), old)?.into_iter().next() else { return Ok(None) };
    let day = oldest.day();
    let end = vernal_model::Day(day.0.saturating_add(1)).first_hour();
    if end > old {
        return Ok(None);
    }
    let hours = reader.hours_measured(day.first_hour(), end)?;
    Ok(Measures::folded(hours.iter().map(|(_, measures)| measures)).map(|measures| (day, measures)))
}

/// The oldest day that has rows of hours, if all of them are old enough.
fn fold_of(reader: &Reader, opened: Hour) -> Result<Option<(vernal_model::Day, SeriesRow)>> {
    let Some(oldest) = reader.oldest_hour()? else { return Ok(None) };
    let day = oldest.day();
    let end = vernal_model::Day(day.0.saturating_add(1)).first_hour();
    if end.0.saturating_add(HOURS_KEPT) > opened.0 {
        return Ok(None);
    }
    let hours = reader.hours(day.first_hour(), end)?;
    Ok(Some((day, SeriesRow::folded(hours.iter().map(|(_, row)| row)))))
}

#[cfg(test)]
mod tests {
    use vernal_model::{Day, Span};
    use vernal_repository::{SeriesName, SeriesQuery};

    use super::*;
    use crate::Settings;
    use crate::testing::{Bench, START, Web, unhindered};

    #[test]
    fn each_hour_tells_what_was_spent_and_what_lies_on_disk_and_each_day_has_a_bound() {
        let web = Web::of_sites(&["a.example"], 5);
        let budget = "48/day".parse().unwrap();
        let settings = Settings { history: true, policy: "vernal".into(), budget, ..unhindered() };
        let mut bench = Bench::seeded(settings, &["http://a.example/"]);
        bench.run_for(&web, Span::from_hours(50));
        bench.commit();
        let reader = bench.crawler.reader();
        let measured = reader.hours_measured(Hour(0), Hour(u32::MAX)).unwrap();
        let closed = reader.hours(Hour(0), Hour(u32::MAX)).unwrap();
        assert!(measured.len() > 40, "{}", measured.len());
        assert_eq!(
            measured.iter().map(|(hour, _)| *hour).collect::<Vec<_>>(),
            closed.iter().map(|(hour, _)| *hour).collect::<Vec<_>>()
        );
        let days: Vec<Day> =
            measured.iter().filter(|(_, one)| one.bound.is_some()).map(|(hour, _)| hour.day()).collect();
        assert!(days.windows(2).all(|two| two[0] < two[1]) && days.len() >= 2, "a bound for each day: {days:?}");
        assert!(measured.iter().filter_map(|(_, one)| one.bound).all(|bound| (0.0..=1.0).contains(&bound)));
        let spent: f64 = measured.iter().filter_map(|(_, one)| one.spent).sum();
        let (first, last) = (measured[0].1.spent_in_all, measured[measured.len() - 1].1.spent_in_all);
        assert!(spent > 0.0 && (spent - (last - first)).abs() < 1e-6, "{spent}");
        let disk = measured[measured.len() - 1].1.disk.unwrap();
        assert!(disk.bodies > 0 && disk.journal > 0, "{disk:?}");
        let names = vec![SeriesName::Bound, SeriesName::Spent, SeriesName::DiskBodies, SeriesName::Price];
        let until = START + Span::from_hours(48);
        let query = SeriesQuery { names, from: START, until, step: Some(Span::from_days(1)), points: 100, site: None };
        let series = reader.series(&query).unwrap().unwrap();
        assert!(series.rows.iter().any(|(_, values)| values.iter().all(Option::is_some)), "{series:?}");
    }
}
