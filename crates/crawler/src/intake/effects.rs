//! The stages of a visit in their order, and the effects they produce. Only caches change here, and the archive, which
//! gets the record.

use std::collections::{BTreeMap, HashSet};

use vernal_document::noise::Lesson;
use vernal_frontier::Waiting;
use vernal_model::{
    DocumentRow, Event, EventKind, Found, Location, Moment, Outcome, Page, PageState, ParagraphChange,
    Partition as PartitionId, Report, Site, SiteList, SiteListKind, Url, Via,
};

use super::discovery::FoundHere;
use super::judging::{Intake, learn_quiet, number_paragraphs};
use super::verdict::Verdict;
use super::{archive_record, discovery, events, folding, page_life, requisites, sessions, verdict, walls};
use crate::Result;
use crate::core::Core;
use crate::hints::moved_entries::{self, Delta};

/// A report of a page, with what was known of the page before.
pub(crate) struct Arrived<'a> {
    pub report: Report,
    /// The page's row, if it was visited before.
    pub before: Option<Page>,
    /// How the URL waited, if it was not visited before.
    pub waiting: Option<Box<Waiting>>,
    /// The visit is a second look, from which only noise is learned.
    pub second_look: bool,
    /// The report was made from a record that is already in the archive.
    pub restored: Option<&'a Restored<'a>>,
}

/// The context of a report that is restored from the archive.
pub(crate) struct Restored<'a> {
    /// Where its record is; `None` where it is still to be kept.
    pub location: Option<Location>,
    /// The sites that were ever visited, used as the scope when no seed is known; none at all for what is imported.
    pub sites: Option<&'a HashSet<Site>>,
}

/// All changes that a visit makes, worked out before anything is changed.
pub(crate) struct VisitEffects {
    pub report: Report,
    pub before: Option<Page>,
    pub waiting: Option<Box<Waiting>>,
    /// The page's row after the visit, still without the policy's state.
    pub page: Page,
    pub finding: Finding,
    /// Where the archive keeps the visit.
    pub record: Option<Location>,
    pub event: Option<Event>,
    /// What is kept of a later version for those who follow the feed.
    pub told: Option<folding::Told>,
    /// The row of a new version.
    pub document: Option<DocumentRow>,
    /// URLs that the page names, by partition, and links that it no longer has.
    pub found: BTreeMap<PartitionId, FoundHere>,
    /// The target of a redirect, and whether it is within the scope.
    pub redirect: Option<(Found, bool)>,
    /// The entries that moved in a file of hints.
    pub list: Option<(Box<SiteList>, Delta)>,
}

/// What a visit says of the page's content.
pub(crate) struct Finding {
    pub verdict: Verdict,
    pub noise: Option<Lesson>,
    pub second_look: bool,
    pub is_new_version: bool,
    /// Whether something changed that counts for the schedule, and whether something changed that the policy may learn.
    pub counted: Option<bool>,
    pub learned: Option<bool>,
    pub degree: f32,
}

impl Intake {
    /// Works out what this report changes; `None` for a report of a page that is not known, which should not occur.
    pub fn effects(&mut self, core: &mut Core, arrived: Arrived<'_>) -> Result<Option<VisitEffects>> {
        let Arrived { mut report, before, waiting, second_look, restored } = arrived;
        sessions::drop_sessions(&core.partitions, &mut report);
        walls::see_through_redirect(core, &mut report)?;
        let list = list_of(core, &mut report);
        let (mut verdict, noise, old) = self.judged(core, before.as_ref(), &mut report, second_look)?;
        let keep = archive_record::record(&report, &verdict, before.as_ref());
        let record = match (restored.and_then(|restored| restored.location), keep) {
            (Some(location), _) => Some(location),
            (None, Some(keep)) => Some(core.work.keep(&keep)?),
            (None, None) => None,
        };
        let row = match (&before, &waiting) {
            (Some(page), _) => page.clone(),
            (None, Some(waiting)) => page_life::first_row(waiting, &report),
            (None, None) => return Ok(None),
        };
        let mut page = page_life::after(row, &report, &verdict, record);
        number_version(core, before.as_ref(), &mut page)?;
        let noisy = noise.as_ref().and_then(|lesson| lesson.rows.page.as_ref()).map(|(_, noise)| !noise.is_empty());
        page.noisy = noisy.unwrap_or(page.noisy);
        page.importance = core.scope.importance_of(&core.work, page.key, &page.url, page.depth)?;
        let counted = verdict.changed_in(core.settings.counts);
        let list = list.map(|list| compared(core, list, &page, &verdict, report.started)).transpose()?;
        // A list has changed when its entries have moved, whatever else differs in the file.
        let moved = list.as_ref().zip(counted).map(|((delta, _), _)| !delta.is_empty());
        let learned = moved.or(counted).filter(|_| !second_look);
        let degree = verdict.degree();
        let is_new_version = matches!(verdict, Verdict::First | Verdict::Differs(_));
        let mut next_paragraph = 1;
        if let Some(signature) = report.signature.as_mut().filter(|_| is_new_version) {
            next_paragraph = number_paragraphs(old.as_ref(), signature, &mut verdict);
        }
        let (event, told) = told_in_feed(core, (before.as_ref(), old.as_ref()), &page, &report, &mut verdict)?;
        let mut document = is_new_version.then(|| document_row(&report, old.as_ref(), next_paragraph)).flatten();
        let found = found_urls(core, before.as_ref(), &page, &report, (document.as_mut(), old.as_ref()), restored)?;
        let hops = waiting.as_ref().map_or(0, |waiting| match waiting.via {
            Via::Redirect { hops } => hops,
            _ => 0,
        });
        let redirect = discovery::redirect(&report, hops, page.depth, page.key);
        let redirect = redirect.map(|found| {
            let is_in_scope = in_scope(core, restored, &found.url, found.depth);
            (found, is_in_scope)
        });
        let list = list.map(|(delta, list)| (list, delta));
        let finding = Finding { verdict, noise, second_look, is_new_version, counted, learned, degree };
        Ok(Some(VisitEffects {
            report,
            before,
            waiting,
            page,
            finding,
            record,
            event,
            told,
            document,
            found,
            redirect,
            list,
        }))
    }

    /// The verdict, what was learned of noise, and the row of the older version if it was read.
    fn judged(
        &mut self,
        core: &mut Core,
        before: Option<&Page>,
        report: &mut Report,
        second_look: bool,
    ) -> Result<(Verdict, Option<Lesson>, Option<DocumentRow>)> {
        match (verdict::by_cheap_tests(before, report), before) {
            (Some(verdict), before) => {
                let quiet = before.filter(|_| matches!(verdict, Verdict::Same(_)));
                let rows =
                    quiet.map(|page| learn_quiet(core, page, report.started, second_look)).transpose()?.flatten();
                Ok((verdict, rows.map(|rows| Lesson { rows, wants_look: false }), None))
            }
            (None, Some(page)) => {
                let old = core.work.document(report.order.page)?;
                let judged = self.judge(core, page, old.as_ref(), report, second_look)?;
                Ok((judged.verdict, judged.noise, old))
            }
            (None, None) => Ok((Verdict::Silent, None, None)),
        }
    }
}

/// The event of the visit, and what is kept of the version for those who follow the feed. A change of a requisite is told as one of
/// the page that uses it.
fn told_in_feed(
    core: &Core,
    (before, old): (Option<&Page>, Option<&DocumentRow>),
    page: &Page,
    report: &Report,
    verdict: &mut Verdict,
) -> Result<(Option<Event>, Option<folding::Told>)> {
    let was_blocked = was_blocked(core, before)?;
    let told = folding::Told::of((before, old), page, report, verdict);
    let event = events::event(before, page, report, verdict, was_blocked);
    if let Some(user) = requisites::user_of(core, page)? {
        return Ok((event.and_then(|event| user.event(&event)), told.map(folding::Told::without_folds)));
    }
    Ok(match event {
        Some(event) if event.kind == EventKind::Gone => (Some(with_all_paragraphs(core, event)?), told),
        event => (event, told),
    })
}

/// Whether the last that the feed said of a page is that it is blocked. Failures and misses since then say nothing of the wall.
fn was_blocked(core: &Core, before: Option<&Page>) -> Result<bool> {
    let Some(page) = before.filter(|page| page.version.is_some()) else { return Ok(false) };
    match page.last_outcome {
        Outcome::Blocked { .. } => Ok(true),
        Outcome::Read { .. } | Outcome::NotModified => Ok(false),
        _ => Ok(core.work.last_event_kind(page.key)? == Some(EventKind::Blocked)),
    }
}

/// The list in a file of hints, if hints are enabled.
fn list_of(core: &Core, report: &mut Report) -> Option<Box<SiteList>> {
    let list = report.document.as_mut().and_then(|document| document.listing.take()).filter(|_| core.settings.hints)?;
    Some(moved_entries::with_hub(list, report))
}

/// A list with what has moved in it since it was read last.
fn compared(
    core: &Core,
    mut list: Box<SiteList>,
    page: &Page,
    verdict: &Verdict,
    now: Moment,
) -> Result<(Delta, Box<SiteList>)> {
    let before = core.work.listed(page.key)?;
    if list.kind == SiteListKind::VolatileTable && list.entries.is_empty() {
        let named_by = page.found_on.map(|on| core.work.page(on)).transpose()?.flatten();
        moved_entries::name_page(&mut list, named_by.map(|page| page.url), &before, verdict, now);
    }
    Ok((moved_entries::delta(page.key, &list, before), list))
}

/// A new version gets a number that no imported version of the page has: those from before the first own visit came later and are
/// numbered behind it.
fn number_version(core: &Core, before: Option<&Page>, page: &mut Page) -> Result<()> {
    let Some(version) = page.version.as_mut() else { return Ok(()) };
    let Some(old) = before.and_then(|page| page.version).filter(|old| old.number < version.number) else {
        return Ok(());
    };
    // Numbers are used one after another, so that the search ends at the first that is free.
    for number in old.number + 1..u32::MAX {
        version.number = number;
        if core.work.acknowledged().version_row(page.key, number)?.is_none() {
            break;
        }
    }
    Ok(())
}

/// The row of a version whose record was read again.
pub(crate) fn imported_document(report: &Report) -> Option<DocumentRow> {
    document_row(report, None, 1)
}

/// The row that the tables keep of a new version.
pub(super) fn document_row(report: &Report, old: Option<&DocumentRow>, next_paragraph: u32) -> Option<DocumentRow> {
    let (document, signature) = report.document.as_ref().zip(report.signature.as_ref())?;
    Some(DocumentRow {
        signature: signature.clone(),
        next_paragraph,
        content_before: old.map(|old| old.signature.content),
        media: document.media,
        content_type: document.content_type.as_str().into(),
        title: document.title.as_str().into(),
        language: document.language.as_str().into(),
        directives: document.directives,
        links: discovery::packed(document),
    })
}

/// The URLs that the page names and did not name before, marked as counted in the row of the new version. Without a new
/// version, the links of a page are no longer counted when the page goes, and counted again when it comes back.
fn found_urls(
    core: &mut Core,
    before: Option<&Page>,
    page: &Page,
    report: &Report,
    (row, old): (Option<&mut DocumentRow>, Option<&DocumentRow>),
    restored: Option<&Restored<'_>>,
) -> Result<BTreeMap<PartitionId, FoundHere>> {
    // The links of a page that left the collection stay counted: its later links are unknown.
    let counts = |state: PageState| matches!(state, PageState::Held | PageState::Left);
    let counted_before = before.is_some_and(|page| counts(page.state));
    let Some(row) = row else {
        return links_counted_again(core, page, counted_before, counts(page.state));
    };
    let sites = &mut core.partitions.of_mut(page.key.partition).sites;
    if before.is_none() && sites.traps.is_copy(&page.url, row.signature.content) {
        sites.trap_pages.put_into_trap(page.key);
        return Ok(BTreeMap::new());
    }
    let Core { scope, partitions, recent, settings, .. } = core;
    let mut found = discovery::links(
        report,
        &mut row.links,
        old.filter(|_| counted_before),
        page.depth,
        recent,
        &|url, depth| match restored.and_then(|restored| restored.sites) {
            Some(sites) => sites.contains(url.site_text()) && scope.forgotten.entry_of(url).is_none(),
            None => scope.contains(url, depth),
        },
        &|url| partitions.home_of(url),
    );
    let requisites = requisites::named(report, page, settings.requisites, recent);
    if !requisites.is_empty() {
        found.entry(page.key.partition).or_default().urls.extend(requisites);
    }
    Ok(found)
}

fn links_counted_again(
    core: &Core,
    page: &Page,
    counted_before: bool,
    counts_now: bool,
) -> Result<BTreeMap<PartitionId, FoundHere>> {
    let mut found = BTreeMap::new();
    if counted_before == counts_now {
        return Ok(found);
    }
    let Some(row) = core.work.document(page.key)? else { return Ok(found) };
    for (id, links) in discovery::counted(&row) {
        let here = match counts_now {
            true => FoundHere { again: links, ..FoundHere::default() },
            false => FoundHere { gone: links, ..FoundHere::default() },
        };
        found.insert(id, here);
    }
    Ok(found)
}

/// When the seeds are lost, every site that was visited once is within the scope.
fn in_scope(core: &Core, restored: Option<&Restored<'_>>, url: &Url, depth: u16) -> bool {
    match restored.and_then(|restored| restored.sites) {
        Some(sites) => sites.contains(url.site_text()),
        None => core.scope.contains(url, depth),
    }
}

/// Adds all paragraphs of a page that is gone to its event: consumers drop them by their numbers.
fn with_all_paragraphs(core: &Core, mut event: Event) -> Result<Event> {
    let Some(document) = core.work.document(event.page)? else { return Ok(event) };
    let marks = document.signature.paragraphs.iter().enumerate();
    event.change.paragraphs = marks.map(|(place, mark)| ParagraphChange::removed(place, mark)).collect();
    Ok(event)
}
