//! Counts visits in the hour and in the days of the sites, and writes the rows of those that ended.

use vernal_model::{HourClosed, HourMeasured, OpenHour, Partition, SiteDaysClosed, SiteRow, VisitCounts};

use super::apply::Applying;
use super::keys;
use crate::Result;

/// The row of a site, with what is counted of the day.
pub(super) struct OpenSite {
    pub row: SiteRow,
    pub day: VisitCounts,
}

impl Applying<'_> {
    /// Counts a visit, if hours are counted yet: a folder of an older format has none before its first hour is opened, however
    /// its tables were made.
    pub(super) fn count_in_series(&mut self, partition: Partition, site: &str, count: impl Fn(&mut VisitCounts)) {
        let Some(open) = &mut self.state.hour else { return };
        count(&mut open.counts);
        if let Some(site) = self.open_site(partition, site) {
            count(&mut site.day);
        }
    }

    pub(super) fn hour_closed(&mut self, deed: &HourClosed) -> Result<()> {
        let table = &self.shared.tables.series;
        if let Some((hour, row)) = &deed.closed {
            self.rows.put(table, "series", keys::hour(*hour), row)?;
        }
        if let Some((day, row)) = &deed.folded {
            self.rows.put(table, "series", keys::day(*day), row)?;
            day.hours().for_each(|hour| self.rows.remove(table, keys::hour(hour)));
        }
        self.state.hour = Some(OpenHour { hour: deed.opened, counts: VisitCounts::default() });
        Ok(())
    }

    pub(super) fn hour_measured(&mut self, deed: &HourMeasured) -> Result<()> {
        let table = &self.shared.tables.series;
        self.rows.put(table, "series", keys::hour_measured(deed.hour), &deed.measures)?;
        if let Some((day, measures)) = &deed.folded {
            self.rows.put(table, "series", keys::day_measured(*day), measures)?;
            day.hours().for_each(|hour| self.rows.remove(table, keys::hour_measured(hour)));
        }
        Ok(())
    }

    pub(super) fn site_days_closed(&mut self, partition: Partition, deed: &SiteDaysClosed) -> Result<()> {
        let table = &self.shared.tables.series;
        for (site, counts) in &deed.sites {
            self.rows.put(table, "series", keys::site_day(partition, site, deed.day), counts)?;
            if let Some(open) = self.open_site(partition, site.as_str()) {
                open.day = VisitCounts::default();
            }
        }
        Ok(())
    }
}
