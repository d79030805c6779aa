//! When files of hints are read, and which pages are visited less often because their site's hints have proved right.

use vernal_model::{HintSource, Moment, Page, PageHints, PageKey, Site, SiteListKind, Span, TrustRow};
use vernal_policy::estimate::trust;

use super::Hints;
use crate::Result;
use crate::core::Core;
use crate::intake::page_life::{VisitOwner, visit_owner};
use crate::settings::Promise;

/// A file of hints gets one of so many visits to its site: while nothing is known of the site's files, when they have
/// proved right, and when they are muted.
const VISITS_PER_FILE: f64 = 20.0;
const VISITS_PER_TRUSTED_FILE: f64 = 8.0;
const VISITS_PER_MUTED_FILE: f64 = 100.0;
/// How often files of hints are rescheduled.
const PLACED_EVERY: Span = Span::from_hours(6);
/// A source is proved when at least this many of its hints were judged and at least this share of them was right.
const PROVED_OUTCOMES_MIN: f64 = 5.0;
const PROVED_PRECISION_MIN: f64 = 0.5;
/// A table covers its page once it has announced this share of the page's changes; the page is then visited this
/// seldom.
const TABLE_RECALL_MIN: f64 = 0.4;
pub(crate) const TABLE_REST: Span = Span::from_days(30);

impl Hints {
    /// Reschedules a page, with the promise that its hints make.
    pub fn place_page(&self, core: &mut Core, page: &Page, hints: &PageHints, now: Moment) {
        let mut promise = core.scope.promise_of(&page.url, page.depth);
        if let Some(rest) = self.rest_by_hints(&page.url.site(), hints) {
            // A person's wish overrides what a site says.
            let rest = promise.at_least_every.map_or(rest, |least| rest.min(least));
            promise.at_most_every = promise.at_most_every.max(Some(rest));
        }
        core.partitions.of_mut(page.key.partition).recall_page(page, promise, now);
    }

    /// How long a page needs no visit, by its own hints or those of its table, as far as they are trusted. A hint that
    /// the page has changed ends this.
    pub fn rest_by_hints(&self, site: &Site, hints: &PageHints) -> Option<Span> {
        let is_hinted = hints.pending.iter().any(|hint| hint.worth > Span::ZERO);
        if is_hinted || (hints.cadence.is_empty() && hints.companion.is_none()) {
            return None;
        }
        let own = hints.cadence.iter();
        let own = own.filter_map(|cadence| trust::rest(self.book.trust(site, cadence.source)?, cadence.period));
        let table = hints.companion.and_then(|_| self.book.trust(site, HintSource::Companion));
        let table = table.filter(|row| is_proved(row) && trust::recall(row) >= TABLE_RECALL_MIN);
        own.chain(table.map(|_| TABLE_REST)).max()
    }

    /// Schedules a file of hints: its importance is that of the changes it announces, and it is read no more often than
    /// its share of the site's visits allows.
    pub fn place_file(&self, core: &mut Core, page: &Page, now: Moment) {
        let Some((importance, every)) = self.worth_of_file(core, page) else { return };
        let wished = core.scope.promise_of(&page.url, page.depth);
        let every = wished.at_least_every.map_or(every, |least| every.min(least));
        let promise = Promise { at_most_every: wished.at_most_every.max(Some(every)), ..wished };
        let page = Page { importance: page.importance.max(importance), ..page.clone() };
        core.partitions.of_mut(page.key.partition).recall_page(&page, promise, now);
    }

    /// Reschedules all files now and then: sites grow, budgets change, and trust changes between readings.
    pub fn place_files(&mut self, core: &mut Core, is_chosen: &dyn Fn(PageKey) -> bool, now: Moment) -> Result<()> {
        if !core.settings.hints || core.settings.once || now.since(self.files_placed) < PLACED_EVERY {
            return Ok(());
        }
        self.files_placed = now;
        let mut files: Vec<PageKey> =
            self.book.sites().flat_map(|(_, hints)| hints.files.iter().map(|file| file.0)).collect();
        files.sort_unstable();
        for key in files {
            if core.in_flight.has(key) || is_chosen(key) {
                continue;
            }
            if let Some(page) = core.work.page(key)?.filter(|page| visit_owner(page) == VisitOwner::Policy) {
                self.place_file(core, &page, now);
            }
        }
        Ok(())
    }

    fn worth_of_file(&self, core: &Core, page: &Page) -> Option<(f32, Span)> {
        let site = page.url.site();
        let file = self.book.file(&site, page.key)?;
        let row = self.book.trust(&site, file.source).cloned().unwrap_or_default();
        if file.kind == SiteListKind::VolatileTable && row.muted.is_none() {
            // A table covers its pages, and is read before them.
            return Some((file.entries.max(1) as f32, core.settings.refresh_min));
        }
        let files = self.book.files_of(&site, file.source).max(1) as f64;
        let partition = core.partitions.of(page.key.partition);
        // A list is read before its pages are held, so the site counts as at least as large as its lists.
        let expected = u64::from(file.entries) * self.book.files_of(&site, file.source) as u64;
        let pages = partition.sites.held_of(&site).max(expected).max(1) as f64;
        let sums = core.partitions.sums();
        let per_day = core.refresh_per_day(sums);
        let visits_per_file = match () {
            () if row.muted.is_some() => VISITS_PER_MUTED_FILE,
            () if is_proved(&row) => VISITS_PER_TRUSTED_FILE,
            () => VISITS_PER_FILE,
        };
        let site_visits_per_day = per_day * pages / sums.held.max(1) as f64;
        let every_days = visits_per_file * files / site_visits_per_day.max(f64::MIN_POSITIVE);
        let every = Span::from_secs_f64(every_days * 86_400.0).max(core.settings.refresh_min);
        let announced = if row.muted.is_some() { 0.0 } else { trust::recall(&row) };
        Some(((pages / files * announced).max(1.0) as f32, every))
    }

    /// The hints about a page and how far they are trusted, in words.
    pub fn words(&self, core: &Core, page: &Page) -> Result<Vec<(String, String)>> {
        let mut words = Vec::new();
        let site = page.url.site();
        let Some(known) = self.book.site(&site) else { return Ok(words) };
        let hints = self.book.page(page.key, core.work.acknowledged())?;
        for hint in &hints.pending {
            let worth =
                if hint.worth == Span::ZERO { "nothing".to_owned() } else { format!("{} of waiting", hint.worth) };
            let text = format!("it changed at {}, heard {}, worth {worth}", hint.said, hint.heard);
            words.push((format!("hint by {}", hint.source.name()), text));
        }
        for cadence in &hints.cadence {
            let text = format!("it stays as it is for {}", cadence.period);
            words.push((format!("said by {}", cadence.source.name()), text));
        }
        if let Some(every) = self.rest_by_hints(&site, &hints) {
            words.push(("left alone".to_owned(), format!("for {every}, because such words proved good at this site")));
        }
        for (source, row) in &known.sources {
            words.push((format!("trust in {}", source.name()), trust_words(*source, row)));
        }
        if let Some(file) = self.book.file(&site, page.key) {
            let text = format!(
                "{} entries, {} with a date, {} moved at the last reading",
                file.entries, file.dated, file.moved
            );
            words.push(("lists".to_owned(), text));
        }
        Ok(words)
    }
}

pub(crate) fn is_proved(row: &TrustRow) -> bool {
    row.muted.is_none() && row.right + row.wrong >= PROVED_OUTCOMES_MIN && trust::precision(row) >= PROVED_PRECISION_MIN
}

/// How far a source is trusted, in words.
pub fn trust_words(source: HintSource, row: &TrustRow) -> String {
    if let Some(muted) = &row.muted {
        return format!("muted since {}: {}", muted.since, muted.why);
    }
    if source.is_cadence() {
        let judged = row.right + row.wrong;
        return format!("right in {:.1} of {judged:.1} periods watched", row.right);
    }
    format!(
        "announces {:.0} % of the changes, and {:.0} % of its hints are right ({:.1} judged)",
        100.0 * trust::recall(row),
        100.0 * trust::precision(row),
        row.right + row.wrong
    )
}
