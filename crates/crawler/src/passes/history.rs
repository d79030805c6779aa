//! The history of the crawl: each hour is closed with what was counted in it and how things stand, each day at every site.

use std::collections::BTreeMap;

use vernal_model::{
    Deed, Gauges, Hour, HourClosed, Moment, OpenHour, Partition, SeriesRow, Site, SiteDaysClosed, VisitCounts,
};
use vernal_repository::Reader;

use super::{Pass, TURN_EVERY};
use crate::Result;
use crate::core::Core;
use crate::plan::Planner;
use crate::work::WHOLE;

/// Hours older than this are folded into days, so that a year takes less than a megabyte.
const HOURS_KEPT: u32 = 400 * 24;

/// Closes hours and days. It makes one deed an hour.
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
