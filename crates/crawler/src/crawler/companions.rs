//! Table before page (paper 004): a page that names a table of its changing parts waits for the table. When the policy wants
//! the page, the table is asked first, and the page only when its table moved, when a person's promise is due, or
//! when the table has answered for it long enough.

use std::collections::{BTreeSet, HashMap};

use vernal_model::{HintSource, Moment, Page, PageKey, SiteListKind, Span, TrustRow};
use vernal_policy::estimate::trust;

use super::Crawler;
use super::hint_places::{TABLE_REST, is_proved};
use super::sending::LOOK_AGAIN;
use crate::Result;
use crate::intake::page_life::{Hands, hands};

/// A table of which little is known answers for its page no longer than this.
const UNPROVED_REST: Span = Span::from_days(7);
/// A table that misses most changes is not asked first. Before anything is known three in ten are expected to be told, and
/// six missed in a row are enough to fall below this.
const RECALL_MIN: f64 = 0.2;

/// Pages that the policy chose and that wait for their tables.
#[derive(Default)]
pub(super) struct Companions {
    until: BTreeSet<(Moment, PageKey)>,
    of: HashMap<PageKey, Moment>,
}

impl Companions {
    pub(super) fn next(&self) -> Option<Moment> {
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
}

impl Crawler {
    /// Whom to visit where the policy chose this page: the page, its table, or nobody for now.
    pub(super) fn table_first(&mut self, key: PageKey, now: Moment) -> Result<Option<PageKey>> {
        if !self.hints.has_tables() || self.settings.once || !self.settings.hints {
            return Ok(Some(key));
        }
        if self.group.touches(key) {
            self.commit(now)?;
        }
        let Some((page, table)) = self.table_of(key, now)? else { return Ok(Some(key)) };
        let asked = table.last_visit;
        if self.out.contains(&table.key) || !self.partition(table.key.partition).may_ask(table.key, now) {
            self.companions.wait(page.key, now + LOOK_AGAIN);
            return Ok(None);
        }
        if now.since(asked) < self.settings.refresh_min {
            // It was asked just now and has not moved.
            self.companions.wait(page.key, asked + self.settings.refresh_min);
            return Ok(None);
        }
        self.companions.wait(page.key, now + self.settings.refresh_min);
        self.chosen.retain(|chosen| *chosen != table.key);
        Ok(Some(table.key))
    }

    /// The page and the table that answers for it, if one does now.
    fn table_of(&mut self, key: PageKey, now: Moment) -> Result<Option<(Page, Page)>> {
        let hints = self.hints.page(key, &self.reader)?;
        let has_moved = hints.pending_of(HintSource::Companion).is_some();
        let Some(table) = hints.companion.filter(|_| !has_moved) else { return Ok(None) };
        let Some(page) = self.reader.page(key)? else { return Ok(None) };
        let site = page.url.site();
        let is_table = self.hints.file(&site, table).is_some_and(|file| file.kind == SiteListKind::VolatileTable);
        let unknown = TrustRow::default();
        let row = self.hints.trust(&site, HintSource::Companion).unwrap_or(&unknown);
        if !is_table || row.muted.is_some() || trust::recall(row) < RECALL_MIN {
            return Ok(None);
        }
        let rest = if is_proved(row) { TABLE_REST } else { UNPROVED_REST };
        let promised = self.promise_of(&page.url, page.depth).at_least_every;
        if now.since(page.last_visit) >= promised.map_or(rest, |least| rest.min(least)) {
            return Ok(None);
        }
        if self.group.touches(table) {
            self.commit(now)?;
        }
        let table = self.reader.page(table)?.filter(|table| hands(table) == Hands::Policy);
        Ok(table.map(|table| (page, table)))
    }

    /// Gives pages back to the policy whose tables did not move in time.
    pub(super) fn release_companions(&mut self, now: Moment) {
        while let Some(&(until, page)) = self.companions.until.first()
            && until <= now
        {
            self.release_companion(page);
        }
    }

    /// Gives a page back to the policy: its table moved, or its time has come.
    pub(super) fn release_companion(&mut self, page: PageKey) {
        if self.companions.take(page) {
            let partition = self.partition(page.partition);
            partition.put_back(page);
            partition.stir();
        }
    }
}
