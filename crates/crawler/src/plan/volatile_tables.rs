//! Table before page (paper 004): a page that names a table of its changing parts waits for the table. When the policy
//! chooses the page, the table is read first. The page is visited only when its table moved, when a person's promise is
//! due, or when the table has replaced visits to it for long enough.

use std::collections::{BTreeSet, HashMap};

use vernal_model::{HintSource, Moment, Page, PageKey, SiteListKind, Span, TrustRow};
use vernal_policy::estimate::trust;

use super::Planner;
use super::orders::LOOK_AGAIN;
use crate::Result;
use crate::core::Core;
use crate::hints::Hints;
use crate::hints::schedule::{TABLE_REST, is_proved};
use crate::intake::page_life::{VisitOwner, visit_owner};
use crate::partition::Partitions;

/// A table of which little is known replaces visits to its page for at most this long.
const UNPROVED_REST: Span = Span::from_days(7);
/// A table that misses most changes is not read first. Before anything is known, it is expected to announce three
/// changes in ten; six missed in a row are enough to fall below this.
const RECALL_MIN: f64 = 0.2;

/// Pages that the policy chose and that wait for their tables.
#[derive(Default)]
pub(crate) struct VolatileTables {
    until: BTreeSet<(Moment, PageKey)>,
    of: HashMap<PageKey, Moment>,
}

impl VolatileTables {
    pub fn next(&self) -> Option<Moment> {
        self.until.first().map(|(until, _)| *until)
    }

    fn wait(&mut self, page: PageKey, until: Moment) {
        self.take(page);
        self.of.insert(page, until);
        self.until.insert((until, page));
    }

    fn take(&mut self, page: PageKey) -> bool {
        let until = self.of.remove(&page);
        until.is_some_and(|until| self.until.remove(&(until, page)))
    }

    /// Returns pages to the policy whose tables did not move in time.
    pub fn release_due(&mut self, partitions: &mut Partitions, now: Moment) {
        while let Some(&(until, page)) = self.until.first()
            && until <= now
        {
            self.release(partitions, page);
        }
    }

    /// Returns a page to the policy: its table moved, or its time has come.
    pub fn release(&mut self, partitions: &mut Partitions, page: PageKey) {
        if self.take(page) {
            let refresh = &mut partitions.of_mut(page.partition).refresh;
            refresh.put_back(page);
            refresh.invalidate();
        }
    }
}

impl Planner {
    /// The page to visit when the policy chose this one: the page itself, its table, or none for now.
    pub fn table_first(&mut self, core: &Core, hints: &Hints, key: PageKey, now: Moment) -> Result<Option<PageKey>> {
        if !hints.book.has_tables() || core.settings.once || !core.settings.hints {
            return Ok(Some(key));
        }
        let Some((page, table)) = table_of(core, hints, key, now)? else { return Ok(Some(key)) };
        let refresh_min = core.settings.refresh_min;
        if core.in_flight.has(table.key) || !core.partitions.may_ask(table.key, now) {
            self.tables.wait(page.key, now + LOOK_AGAIN);
            return Ok(None);
        }
        if now.since(table.last_visit) < refresh_min {
            // The table was read just now and has not moved.
            self.tables.wait(page.key, table.last_visit + refresh_min);
            return Ok(None);
        }
        self.tables.wait(page.key, now + refresh_min);
        self.drop_chosen(table.key);
        Ok(Some(table.key))
    }
}

/// The page and its table, if the table is to be read first now.
fn table_of(core: &Core, hints: &Hints, key: PageKey, now: Moment) -> Result<Option<(Page, Page)>> {
    let known = hints.book.page(key, core.work.acknowledged())?;
    let has_moved = known.pending_of(HintSource::Companion).is_some();
    let Some(table) = known.companion.filter(|_| !has_moved) else { return Ok(None) };
    let Some(page) = core.work.page(key)? else { return Ok(None) };
    let site = page.url.site();
    let is_table = hints.book.file(&site, table).is_some_and(|file| file.kind == SiteListKind::VolatileTable);
    let unknown = TrustRow::default();
    let row = hints.book.trust(&site, HintSource::Companion).unwrap_or(&unknown);
    if !is_table || row.muted.is_some() || trust::recall(row) < RECALL_MIN {
        return Ok(None);
    }
    let rest = if is_proved(row) { TABLE_REST } else { UNPROVED_REST };
    let promised = core.scope.promise_of(&page.url, page.depth).at_least_every;
    if now.since(page.last_visit) >= promised.map_or(rest, |least| rest.min(least)) {
        return Ok(None);
    }
    let table = core.work.page(table)?.filter(|table| visit_owner(table) == VisitOwner::Policy);
    Ok(table.map(|table| (page, table)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Settings;
    use crate::settings::Promise;
    use crate::testing::{START, after, held};

    #[test]
    fn a_page_waits_for_its_table_once_and_until_the_newest_word() {
        let (mut tables, page) = (VolatileTables::default(), held("http://a.example/", 1).key);
        tables.wait(page, after(10));
        tables.wait(page, after(5));
        assert_eq!((tables.next(), tables.until.len()), (Some(after(5)), 1));
        assert!(tables.take(page) && !tables.take(page));
        assert_eq!(tables.next(), None);
    }

    #[test]
    fn a_page_whose_time_has_come_or_whose_table_moved_is_with_its_policy_again() {
        let mut partitions = Partitions::new(&Settings::default(), START).unwrap();
        let pages = [held("http://a.example/1", 1), held("http://a.example/2", 2)];
        let (id, now) = (pages[0].key.partition, after(86_400));
        let choose = |partitions: &mut Partitions| {
            let facts = crate::partition::Facts {
                visits_left: 9,
                refresh_min: Span::ZERO,
                held: 2,
                per_day: 1e6,
                mean_rate: 1.0,
                counts_bytes: false,
                may_abandon: false,
                any_site: false,
            };
            let crate::partition::Partition { refresh, sites, .. } = partitions.of_mut(id);
            let (policy, view) = refresh.with_view(sites, facts, now);
            policy.choose(&view, now, &mut vernal_model::Chance::new(1))
        };
        for page in &pages {
            partitions.of_mut(id).recall_page(page, Promise::default(), START);
        }
        assert_eq!(choose(&mut partitions).len(), 2);
        let mut tables = VolatileTables::default();
        tables.wait(pages[0].key, after(10));
        tables.wait(pages[1].key, after(20));
        tables.release_due(&mut partitions, after(9));
        assert_eq!(choose(&mut partitions), []);
        tables.release_due(&mut partitions, after(10));
        assert_eq!(choose(&mut partitions), [pages[0].key]);
        tables.release(&mut partitions, pages[1].key);
        assert_eq!(choose(&mut partitions), [pages[1].key]);
        tables.release(&mut partitions, pages[1].key);
        assert_eq!(choose(&mut partitions), [], "a page that waits for nothing is not given back");
    }
}
