//! Handles what sites say of their own changes: their files are named, found and read as pages; an entry that moves in
//! them is a hint; and every visit shows how far hints can be trusted.

use std::collections::BTreeMap;

use vernal_model::{
    Deed, Found, HintFile, HintRows, HintSource, LinkKind, Moment, Outcome, Page, PageHints, PageKey, PageState,
    Partition as PartitionId, PendingHint, Report, Site, SiteList, SiteListKind, Span, Url, Via,
};
use vernal_policy::estimate::trust;

use super::announce;
use super::book::HintBook;
use super::dates;
use super::moved_entries::{self, Delta};
use super::subscription_book::SubscriptionBook;
use crate::core::Core;
use crate::intake::page_life::{VisitOwner, visit_owner};
use crate::plan::volatile_tables::VolatileTables;
use crate::{Acted, Result};

/// URLs accepted in one push.
const PUSHED_MAX: usize = 10_000;

/// The hints that this process knows.
pub(crate) struct Hints {
    pub book: HintBook,
    pub subscriptions: SubscriptionBook,
    /// When the files of hints were last scheduled.
    pub files_placed: Moment,
}

impl Default for Hints {
    fn default() -> Self {
        let (book, subscriptions) = (HintBook::default(), SubscriptionBook::default());
        Hints { book, subscriptions, files_placed: Moment::EPOCH }
    }
}

impl Hints {
    /// Restores hints that wait for visits, and reschedules the files and pages whose schedule depends on hints.
    pub fn recall(&mut self, core: &mut Core, now: Moment) -> Result<()> {
        if !core.settings.hints {
            return Ok(());
        }
        self.book.recall(core.work.acknowledged())?;
        for row in core.work.acknowledged().clone().all_page_hints() {
            let (key, hints) = row?;
            self.book.note(key, &hints);
            let may_rest = !hints.cadence.is_empty() || hints.companion.is_some();
            if let Some(page) = may_rest.then(|| core.work.page(key)).transpose()?.flatten()
                && visit_owner(&page) == VisitOwner::Policy
                && self.rest_by_hints(&page.url.site(), &hints).is_some()
            {
                self.place_page(core, &page, &hints, now);
            }
            for hint in hints.pending.iter().filter(|hint| hint.worth > Span::ZERO) {
                core.partitions.of_mut(key.partition).refresh.hint(key, hint.worth);
            }
        }
        self.files_placed = Moment::EPOCH;
        self.place_files(core, &|_| false, now)
    }

    /// Handles the entries that moved in a file: URLs for the sieve, hints for the policy, and statistics of the file.
    pub fn take_list(
        &mut self,
        core: &mut Core,
        tables: &mut VolatileTables,
        page: &Page,
        (listing, mut delta): (&SiteList, Delta),
        now: Moment,
    ) -> Result<()> {
        let site = page.url.site();
        let source = moved_entries::source_of(listing.kind);
        let is_first = self.book.file(&site, page.key).is_none();
        let files = self.book.files_of(&site, source);
        if page.state != PageState::Held || (is_first && files >= announce::FILES_MAX) {
            return Ok(());
        }
        if is_first {
            announce::watch_for_traps(core, page, listing);
        }
        announce::find_listed(core, page, listing, &delta);
        if listing.kind == SiteListKind::SitemapIndex {
            announce::find_indexed(core, page, listing, &delta, files);
            // What no index may name need not be remembered.
            delta.rows.put.truncate(announce::FILES_MAX);
        }
        let mut rows = HintRows::of(&site);
        if listing.kind != SiteListKind::SitemapIndex {
            let mut row = self.book.trust(&site, source).cloned().unwrap_or_default();
            if source == HintSource::Sitemap {
                trust::judge_by_look(&mut row, moved_entries::look(listing, now), now);
            }
            rows.sources.push((source, row));
            self.hear_listed(core, tables, &mut rows, (listing, &delta, is_first), now)?;
        }
        let file = HintFile {
            url: page.url.clone(),
            kind: listing.kind,
            source,
            read: now,
            entries: listing.entries.len() as u32,
            dated: listing.entries.iter().filter(|entry| entry.stamp.is_some()).count() as u32,
            dropped: listing.dropped,
            moved: delta.moved.len() as u32,
            depth: page.depth.min(u16::from(u8::MAX)) as u8,
            note: listing.note.clone(),
            hub: listing.hub.clone(),
            topic: listing.topic.clone(),
        };
        self.want_subscription(core, page.key, &site, &file, None, now);
        rows.files.push((page.key, file));
        rows.listed = (!delta.is_empty()).then_some(delta.rows);
        self.push(core, page.key.partition, rows);
        if visit_owner(page) == VisitOwner::Policy && !core.settings.once {
            self.place_file(core, page, now);
        }
        Ok(())
    }

    /// Uses entries as evidence if they are about pages of the file's own site that we know.
    fn hear_listed(
        &mut self,
        core: &mut Core,
        tables: &mut VolatileTables,
        rows: &mut HintRows,
        (listing, delta, is_first): (&SiteList, &Delta, bool),
        now: Moment,
    ) -> Result<()> {
        let (kind, source) = (listing.kind, moved_entries::source_of(listing.kind));
        for moved in &delta.moved {
            let entry = &listing.entries[moved.place];
            let url = &entry.url;
            if url.site_text() != rows.site.as_str() {
                continue;
            }
            let Some(key) = core.work.key_of(url)?.and_then(|known| known.key) else { continue };
            let mut hints = self.book.page(key, core.work.acknowledged())?;
            let before = hints.clone();
            hints.spoken_of |= source.bit();
            if kind == SiteListKind::VolatileTable {
                hints.companion = Some(delta.rows.file);
            }
            if let Some(page) = core.work.page(key)?.filter(|page| page.url == *url)
                && let Some(seen) = page.last_confirmed.filter(|_| page.state == PageState::Held)
                && let Some(said) = moved_entries::said(kind, (entry.stamp, moved.was_listed), is_first, seen, now)
            {
                self.place_hint(core, tables, &page, (&mut hints, rows), (source, said), now);
            }
            if hints != before {
                rows.pages.push((key, hints));
            }
        }
        Ok(())
    }

    /// Stores one hint until the page's next visit, weighted by the trust in its source. A second hint of the same
    /// source adds nothing, so that a source gains nothing by repeating itself.
    fn place_hint(
        &mut self,
        core: &mut Core,
        tables: &mut VolatileTables,
        page: &Page,
        (hints, rows): (&mut PageHints, &mut HintRows),
        (source, said): (HintSource, Moment),
        now: Moment,
    ) {
        let mean_rate = core.partitions.mean_rate();
        let Some((_, row)) = rows.sources.iter_mut().find(|(known, _)| *known == source) else { return };
        row.heard += 1;
        row.last_heard = now;
        if let Some(waiting) = hints.pending.iter_mut().find(|hint| hint.source == source) {
            waiting.said = said;
            return;
        }
        let days = now.since(page.first_visit).days_f64();
        let rate = trust::page_rate(row, mean_rate, page.changes, days);
        let worth = trust::worth(row, rate, mean_rate);
        let was_resting = self.rest_by_hints(&rows.site, hints).is_some();
        hints.pending.push(PendingHint { source, said, heard: now, worth });
        if worth == Span::ZERO || core.in_flight.has(page.key) {
            return;
        }
        if was_resting {
            self.place_page(core, page, hints, now);
        }
        let partition = core.partitions.of_mut(page.key.partition);
        partition.refresh.hint(page.key, worth);
        tables.release(&mut core.partitions, page.key);
    }

    /// Judges by a visit the hints that were given about its page, and records what the page says of itself.
    pub fn hear_visit(
        &mut self,
        core: &mut Core,
        before: Option<&Page>,
        page: &Page,
        report: &Report,
        via: Option<Via>,
        changed: Option<bool>,
    ) -> Result<()> {
        let site = page.url.site();
        let document = report.document.as_ref();
        let said = document.map(|document| moved_entries::cadences(document, report));
        let by_list = via.and_then(source_of_via).filter(|_| page.state == PageState::Held);
        let is_silent = said.as_ref().is_none_or(Vec::is_empty) && by_list.is_none();
        let names_table =
            document.and_then(|document| document.links.iter().find(|link| link.kind == LinkKind::Companion));
        let bears_date = changed.is_some() && dates::date_of(report).is_some();
        if is_silent && names_table.is_none() && !bears_date && self.book.site(&site).is_none() {
            return Ok(());
        }
        let old = self.book.page(page.key, core.work.acknowledged())?;
        let mut hints = old.clone();
        hints.spoken_of |= by_list.map_or(0, HintSource::bit);
        let mut rows = HintRows::of(&site);
        if let (Some(changed), Some(seen)) = (changed, before.and_then(|page| page.last_confirmed)) {
            self.judge(core.partitions.mean_rate(), &mut rows, &hints, (changed, seen), report.started);
            self.judge_date(&mut rows, report, changed, seen);
        }
        if matches!(report.outcome, Outcome::Read { .. } | Outcome::NotModified) {
            hints.pending.clear();
        }
        if let Some(said) = said {
            hints.cadence = said;
            let table = names_table.map(|link| core.work.key_of(&link.target)).transpose()?.flatten();
            hints.companion = table.and_then(|known| known.key);
        }
        if hints != old {
            rows.pages.push((page.key, hints.clone()));
        }
        let was_resting = self.rest_by_hints(&site, &old).is_some();
        if !rows.is_empty() {
            self.push(core, page.key.partition, rows);
        }
        let rests = self.rest_by_hints(&site, &hints).is_some();
        if (rests || was_resting) && visit_owner(page) == VisitOwner::Policy && !core.settings.once {
            self.place_page(core, page, &hints, report.started);
        }
        Ok(())
    }

    /// Judges every source that lists the page by what the visit found, whether or not the source gave a hint.
    fn judge(
        &self,
        mean_rate: f64,
        rows: &mut HintRows,
        hints: &PageHints,
        (changed, seen): (bool, Moment),
        now: Moment,
    ) {
        let elapsed = now.since(seen);
        let known = self.book.site(&rows.site);
        for source in HintSource::ALL.into_iter().filter(|source| !source.is_cadence()) {
            let pending = hints.pending_of(source);
            let row = known.and_then(|known| known.trust(source));
            // A source that pushes covers every page of the site.
            let is_push = matches!(source, HintSource::IndexNow | HintSource::WebSub) && row.is_some();
            // A list that was not read since the previous visit could not have given a hint.
            let read = known.and_then(|known| known.last_read(source));
            let was_asked = is_push || read.is_some_and(|read| read > seen);
            let speaks = is_push || hints.spoken_of & source.bit() != 0;
            if pending.is_none() && !(speaks && was_asked) {
                continue;
            }
            let mut row = row.cloned().unwrap_or_default();
            let outcome = trust::Outcome {
                elapsed_days: elapsed.days_f64(),
                hinted_after_days: pending.map(|hint| hint.heard.since(seen).days_f64()),
                changed,
            };
            trust::hear(&mut row, outcome, mean_rate, now);
            trust::judge_by_outcomes(&mut row, now);
            rows.sources.push((source, row));
        }
        for cadence in &hints.cadence {
            let mut row = known.and_then(|known| known.trust(cadence.source)).cloned().unwrap_or_default();
            trust::hear_cadence(&mut row, elapsed, cadence.period, changed, now);
            rows.sources.push((cadence.source, row));
        }
    }

    fn push(&mut self, core: &mut Core, id: PartitionId, rows: HintRows) {
        core.partitions.settle(&rows.site, id);
        let rows = self.book.take(rows);
        if !rows.is_empty() {
            core.work.push(id, Deed::Hinted(Box::new(rows)));
        }
    }

    /// Lets go of a page that was erased.
    pub fn forget_page(&mut self, site: &Site, page: PageKey) {
        self.book.forget(site, page);
        self.subscriptions.forget(page);
    }

    /// Turns what visits taught about hints since the last commit into deeds.
    pub fn flush(&mut self, core: &mut Core) {
        for rows in self.book.untold() {
            let home =
                core.partitions.home_of_site(&rows.site).or_else(|| rows.pages.first().map(|(key, _)| key.partition));
            if let Some(id) = home {
                core.work.push(id, Deed::Hinted(Box::new(rows)));
            }
        }
    }

    /// Handles URLs that were pushed to us: known pages get a hint, other URLs in the scope go to the sieve.
    pub fn take_push(
        &mut self,
        core: &mut Core,
        tables: &mut VolatileTables,
        source: HintSource,
        urls: Vec<Url>,
        now: Moment,
    ) -> Result<Acted> {
        let (mut hinted, mut found, mut ignored) = (0, 0, 0);
        let mut by_site: BTreeMap<Site, HintRows> = BTreeMap::new();
        for url in urls.into_iter().take(PUSHED_MAX) {
            let known = core.work.key_of(&url)?.and_then(|known| known.key);
            let page = known.map(|key| core.work.page(key)).transpose()?.flatten();
            let page = page.filter(|page| page.url == url && page.state == PageState::Held);
            let Some(page) = page else {
                if known.is_none() && core.scope.contains(&url, 0) && core.settings.hints {
                    found += 1;
                    let id = core.partitions.home_of(&url);
                    let row = Found { url, via: Via::Told, depth: 0, found_on: None, forward: 0 };
                    core.announce_all(id, vec![row], Vec::new());
                } else {
                    ignored += 1;
                }
                continue;
            };
            if !core.settings.hints {
                ignored += 1;
                continue;
            }
            hinted += 1;
            let site = url.site();
            let trust = self.book.trust(&site, source).cloned().unwrap_or_default();
            let mut rows = by_site
                .remove(&site)
                .unwrap_or_else(|| HintRows { sources: vec![(source, trust)], ..HintRows::of(&site) });
            let mut hints = match rows.pages.iter().position(|(key, _)| *key == page.key) {
                Some(place) => rows.pages.swap_remove(place).1,
                None => self.book.page(page.key, core.work.acknowledged())?,
            };
            self.place_hint(core, tables, &page, (&mut hints, &mut rows), (source, now), now);
            rows.pages.push((page.key, hints));
            by_site.insert(site, rows);
        }
        for (site, rows) in by_site {
            if let Some(id) = core.partitions.home_of_site(&site) {
                self.push(core, id, rows);
            }
        }
        Ok(Acted::Hinted { hinted, found, ignored })
    }
}

/// The source that lists a page which was found this way.
fn source_of_via(via: Via) -> Option<HintSource> {
    match via {
        Via::Sitemap => Some(HintSource::Sitemap),
        Via::Feed => Some(HintSource::Feed),
        _ => None,
    }
}
