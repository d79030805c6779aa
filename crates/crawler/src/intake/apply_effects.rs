//! Passes the effects of a visit to every part that learns from it: noise books, policy, hints, schedule, topics, and
//! last the journal.

use vernal_document::noise::Lesson;
use vernal_model::{Deed, DocumentRow, Page, PageState, Seed, Via, Visit, Visited};
use vernal_policy::Seen;

use super::page_life::{VisitOwner, visit_owner};
use super::sessions;
use super::verdict::Verdict;
use super::{VisitEffects, discovery, walls};
use crate::Result;
use crate::core::Core;
use crate::hints::{Hints, announce};
use crate::names::{self, VisitOfNames};
use crate::passes::eviction;
use crate::passes::topics::Topics;
use crate::plan::Planner;
use crate::work::WHOLE;

/// What a policy remembers of a site is journalled after this many visits to it, and at a clean shutdown. After a crash
/// the policy has lost at most so many observations of the site, and none of its pages.
const SITE_LEARNED_MAX: u32 = 64;

/// The parts that learn from visits.
pub(crate) struct Appliers<'a> {
    pub core: &'a mut Core,
    pub plan: &'a mut Planner,
    pub hints: &'a mut Hints,
    pub topics: &'a mut Topics,
}

impl Appliers<'_> {
    /// Pushes all deeds of the visit: its own is the last, except for the names that follow from it and for what its list
    /// announces.
    pub fn apply(&mut self, mut effects: VisitEffects) -> Result<()> {
        let core = &mut *self.core;
        if let Some(Lesson { rows, wants_look }) = effects.finding.noise.take() {
            self.plan.second_looks.hear(core, effects.page.key, &effects.report, wants_look);
            core.sites.noise.learn(&mut core.work, effects.page.key.partition, rows);
        }
        let (before, page) = (effects.before.as_ref(), &effects.page);
        walls::look_again_at_redirect(core, before, page, effects.report.finished)?;
        let moment = effects.report.started;
        self.plan.samples.hear(self.core, &effects.page, effects.finding.counted, moment);
        self.teach(&mut effects)?;
        self.hear(&effects)?;
        if effects.finding.verdict == Verdict::First {
            self.plan.second_looks.note(self.core, &effects.page, &effects.report);
        }
        self.announce(&mut effects);
        let was_held =
            effects.before.as_ref().is_some_and(|page| matches!(page.state, PageState::Held | PageState::Left));
        let document = effects.report.document.as_ref().filter(|_| effects.finding.is_new_version);
        self.topics.categorise(self.core, &effects.page, was_held, document)?;
        if self.core.settings.hints && effects.finding.is_new_version {
            announce::find_named_files(self.core, &effects.page, &effects.report);
        }
        self.follow_redirect(&mut effects);
        tell(&effects);
        let list = effects.list.take();
        let file = list.is_some().then(|| effects.page.clone());
        let partition = effects.page.key.partition;
        if let Some(told) = effects.told.take() {
            let deeds = told.deeds(&self.core.work, effects.event.as_ref())?;
            deeds.into_iter().for_each(|deed| self.core.work.push(partition, deed));
        }
        let names = VisitOfNames::of(&effects);
        self.core.work.push(partition, Deed::Visited(Box::new(visited(effects))));
        names::note_visit(&mut self.core.work, &names)?;
        match (file, list) {
            (Some(file), Some((list, delta))) => {
                self.hints.take_list(self.core, &mut self.plan.tables, &file, (&list, delta), moment)
            }
            _ => Ok(()),
        }
    }

    /// Passes the page to the part that decides its next visit, and lets the policy learn from this one.
    fn teach(&mut self, effects: &mut VisitEffects) -> Result<()> {
        let VisitEffects { report, before, page, finding, .. } = effects;
        let (before, core) = (before.as_ref(), &mut *self.core);
        let remembered = before.map(|page| eviction::remembered(core, page, report.started)).transpose()?.flatten();
        let last_modified = self.hints.believed_date(core, page, report);
        let once = core.settings.once;
        let promise = core.scope.promise_of(&page.url, page.depth);
        let partition = core.partitions.of_mut(page.key.partition);
        let was_held = before.is_some_and(|page| page.state == PageState::Held);
        match (was_held, page.state == PageState::Held) {
            (false, true) => partition.count_held(&page.url.site(), 1),
            (true, false) => partition.count_held(&page.url.site(), -1),
            _ => {}
        }
        partition.place(page);
        let was_with_policy = before.is_some_and(|page| visit_owner(page) == VisitOwner::Policy);
        if visit_owner(page) != VisitOwner::Policy {
            if was_with_policy {
                partition.refresh.policy.forget(page.key);
            }
            return Ok(());
        }
        if let Some(remembered) = remembered {
            partition.recall_page(&remembered, promise, report.started);
        }
        page.policy = partition.refresh.policy.learn(&Seen {
            page: page.key,
            moment: report.started,
            previous: before.and_then(|page| page.last_confirmed),
            changed: finding.learned,
            degree: finding.degree,
            last_modified,
            wire_bytes: report.wire_bytes,
        });
        if !was_with_policy {
            partition.recall_page(page, promise, report.started);
        }
        partition.refresh.invalidate();
        if let Some(site) = partition.sites.site_of(page.key) {
            let learned = &mut partition.sites.at_mut(site).learned;
            *learned += 1;
            if *learned >= SITE_LEARNED_MAX {
                core.remember_site(page.key.partition, site);
            }
        }
        if once {
            // The page was visited in this process; the next process loads it from its row.
            core.partitions.of_mut(page.key.partition).refresh.policy.forget(page.key);
        }
        Ok(())
    }

    /// Judges hints by what the visit found.
    fn hear(&mut self, effects: &VisitEffects) -> Result<()> {
        if !self.core.settings.hints {
            return Ok(());
        }
        let VisitEffects { report, before, page, finding, list, waiting, .. } = effects;
        // A list was found in the same way as the pages it lists, and gives no hints about itself.
        let via = waiting.as_ref().map(|waiting| waiting.via).filter(|_| list.is_none());
        self.hints.hear_visit(self.core, before.as_ref(), page, report, via, finding.learned)
    }

    /// Sends found URLs to the sieve, and notes that the page led to them.
    fn announce(&mut self, effects: &mut VisitEffects) {
        let VisitEffects { before, page, document, found, .. } = effects;
        let mut named_urls = false;
        for (id, here) in std::mem::take(found) {
            named_urls |= here.urls.iter().any(|found| found.via != Via::Requisite);
            push_found(self.core, id, here);
        }
        if let Some(document) = document {
            sessions::watch_for_traps(self.core, page, document);
        }
        self.plan.discovery_pages.note_visit(before.as_ref(), page, named_urls, self.core.settings.once);
    }

    /// Admits a redirect target like a link; a seed that redirects moves its scope to the target.
    fn follow_redirect(&mut self, effects: &mut VisitEffects) {
        let Some((found, is_in_scope)) = effects.redirect.take() else { return };
        let core = &mut *self.core;
        if core.scope.forgotten.entry_of(&found.url).is_some() {
            return;
        }
        let moved_seed = core.scope.seed_at(&effects.page.url);
        let mut is_in_scope = is_in_scope;
        if let Some(seed) = moved_seed.filter(|seed| seed.moved_to.as_ref() != Some(&found.url)) {
            let seed = Seed { moved_to: Some(found.url.clone()), ..seed.clone() };
            core.scope.put_seed(seed.clone());
            core.work.push(WHOLE, Deed::Seeded(seed));
            is_in_scope |= core.scope.contains(&found.url, found.depth);
        }
        if is_in_scope {
            core.announce(found);
        }
    }
}

/// Logs what became of the visit.
fn tell(effects: &VisitEffects) {
    let VisitEffects { page, finding, report, event, .. } = effects;
    tracing::debug!(
        url = page.url.as_str(),
        outcome = report.outcome.name(),
        state = page.state.name(),
        decided_by = ?finding.verdict.decided_by(),
        changed = finding.counted,
        version = page.version.map(|version| version.number),
        event = event.as_ref().map(|event| event.kind.name()),
        "visit taken"
    );
}

fn push_found(core: &mut Core, id: vernal_model::Partition, here: discovery::FoundHere) {
    if !here.urls.is_empty() || !here.again.is_empty() {
        core.announce_all(id, here.urls, here.again);
    }
    if !here.gone.is_empty() {
        core.work.push(id, Deed::Unlinked { gone: here.gone });
    }
}

pub(super) fn visited(effects: VisitEffects) -> Visited {
    let VisitEffects { report, before, waiting, page, finding, record, event, document, .. } = effects;
    let visit = Visit {
        started: report.started,
        finished: report.finished,
        address: report.exchange.as_ref().and_then(|exchange| exchange.address),
        wire_bytes: report.wire_bytes,
        version: page.version.filter(|_| finding.is_new_version),
        record,
        decided_by: finding.verdict.decided_by(),
        changed: finding.counted,
        second_look: finding.second_look,
        robots: None,
        outcome: report.outcome,
    };
    let was = before.as_ref().map(|page: &Page| page.state);
    let document: Option<DocumentRow> = document;
    Visited { was, left: waiting.map(|waiting| waiting.place), page, visit, document, event }
}
