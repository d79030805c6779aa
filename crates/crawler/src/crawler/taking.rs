//! What a report changes: rows, records, the schedule, the site's standing, and what was found.

use vernal_document::noise::FoldingKind;
use vernal_model::{
    Deed, DocumentRow, Event, EventKind, Failure, Location, Moment, Operation, Origin, Outcome, Page, PageState,
    ParagraphChange, ParagraphMark, Report, Site, Span, Via, Visit, Visited, Wall,
};
use vernal_policy::Seen;
use vernal_repository::bodies::{Keep, KeepKind};

use super::judging::number_paragraphs;
use super::restoring::Restoring;
use super::{Asked, Crawler, InFlight};
use crate::intake::page_life::Hands;
use crate::intake::verdict::Verdict;
use crate::intake::{discovery, keeping, listing, page_life, telling, verdict};
use crate::{Error, Result};

/// A site that fails is left alone for its delay, doubled with each failure in a row, up to this.
const BACK_OFF_MAX: Span = Span::from_hours(1);
/// The least first step of a back-off, so that a crawl without delay backs off too.
const BACK_OFF_MIN: Span = Span::from_secs(1);
/// What a policy remembers of a site is written down after so many visits to it, and at a clean end: after a crash it has
/// forgotten at most so many observations of the site, and none of its pages.
const SITE_LEARNED_MAX: u32 = 64;

impl Crawler {
    pub fn report(&mut self, report: Report, now: Moment) -> Result<()> {
        let stray = Error::StrayReport(report.order.id.0);
        let in_flight = self.in_flight.remove(&report.order.id).ok_or(stray)?;
        self.reports_taken += 1;
        self.coordinator.weighed(report.wire_bytes);
        if in_flight.what.may_become_held() {
            self.new_in_flight = self.new_in_flight.saturating_sub(1);
            self.partition(report.order.page.partition).first_visit_ended(&in_flight.site);
        }
        self.settle_site(&in_flight, &report, now);
        match in_flight.what {
            Asked::Robots { origin, home, for_visit } => {
                self.take_robots(&origin, &home, &report, None, now)?;
                if for_visit {
                    self.keep_visit(&home, now);
                }
            }
            Asked::Subscription { file } => self.take_subscription(file, &report, now),
            page => self.take_page(page, report, None)?,
        }
        if self.group.is_full(self.settings.group) {
            self.commit(now)?;
        }
        Ok(())
    }

    /// A visit waited for the robots.txt of this site: it is kept until the site is free, and no longer than the usual delay.
    fn keep_visit(&mut self, home: &Site, now: Moment) {
        let earliest = self.home.get(home).map(|&id| self.partitions[usize::from(id.0)].politeness.earliest(home));
        let free = earliest.unwrap_or(now).min(now + self.settings.delay);
        self.coordinator.robots_answered(free);
    }

    /// Frees the site's slot and notes how the site behaves.
    fn settle_site(&mut self, in_flight: &InFlight, report: &Report, now: Moment) {
        if let Some(address) = in_flight.address {
            self.coordinator.addresses.answered(address);
        }
        let id = self.home_of(&report.order.url);
        let delay = self.settings.delay.max(BACK_OFF_MIN);
        let partition = self.partition(id);
        partition.politeness.answered(&in_flight.site, report.finished);
        let profile = &mut partition.site_mut(&in_flight.site).profile;
        let address = report.exchange.as_ref().and_then(|exchange| exchange.address).or(profile.address);
        let has_moved = std::mem::replace(&mut profile.address, address) != address;
        let trouble = site_trouble(&report.outcome);
        if trouble.is_none() && profile.failures == 0 && !has_moved {
            return;
        }
        match trouble {
            None => {
                profile.failures = 0;
                profile.trouble = None;
            }
            Some(retry_after) => {
                profile.trouble = Some(report.outcome.detail().into());
                profile.failures = profile.failures.saturating_add(1);
                let back_off = delay.scaled(2f64.powi(i32::from(profile.failures.min(16)))).min(BACK_OFF_MAX);
                profile.not_before = now + retry_after.unwrap_or_default().max(back_off);
                let until = profile.not_before;
                partition.politeness.hold(&in_flight.site, until);
            }
        }
        if self.home.contains_key(&in_flight.site) {
            self.note_site(&in_flight.site, id);
        }
    }

    /// `kept` is where the record lies already, if it does.
    pub(super) fn take_robots(
        &mut self,
        origin: &Origin,
        home: &Site,
        report: &Report,
        kept: Option<Location>,
        now: Moment,
    ) -> Result<()> {
        let (row, crawl_delay) = self.robots.answered(origin, report, now);
        let record = match &report.exchange {
            _ if kept.is_some() => kept,
            Some(exchange) => {
                let payload = keeping::digest_of(&exchange.body);
                let keep = Keep {
                    url: &report.order.url,
                    moment: report.started,
                    exchange,
                    payload,
                    what: KeepKind::Robots { origin },
                };
                self.group.kept(exchange.body.len());
                Some(self.repository.keep(&keep)?)
            }
            None => None,
        };
        let Some(&id) = self.home.get(home) else { return Ok(()) };
        let partition = self.partition(id);
        let life = partition.site_mut(home);
        let delay_changed = life.profile.crawl_delay != crawl_delay;
        life.profile.crawl_delay = crawl_delay;
        partition.politeness.set_crawl_delay(home, crawl_delay);
        if delay_changed {
            self.note_site(home, id);
        }
        let visit = visit_beside_pages(report, record);
        if self.settings.hints && kept.is_none() {
            self.find_sitemaps(origin, &row);
        }
        self.group.push(id, Deed::RobotsRead { site: home.clone(), row, visit });
        Ok(())
    }

    /// `restoring`: the report was made of a record that lies in the archive already.
    pub(super) fn take_page(
        &mut self,
        what: Asked,
        mut report: Report,
        restoring: Option<&Restoring<'_>>,
    ) -> Result<()> {
        self.drop_sessions(&mut report);
        let hears = self.settings.hints;
        let listing = report.document.as_mut().and_then(|document| document.listing.take()).filter(|_| hears);
        let listing = listing.map(|listing| listing::with_hub(listing, &report));
        if listing.is_some() {
            self.settle_site_of(&report.order.url, report.started)?;
        }
        let (before, waiting) = match what {
            Asked::First(waiting) => (None, Some(waiting)),
            Asked::Again(page) => (Some(*page), None),
            Asked::Robots { .. } | Asked::Subscription { .. } => return Ok(()),
        };
        let key = report.order.page;
        let second_look = self.second_looks.ended(key);
        let mut old = None;
        let (mut folding, mut noisy) = (FoldingKind::Own, None);
        let mut verdict = match (verdict::by_cheap_tests(before.as_ref(), &report), &before) {
            (Some(verdict), before) => {
                if let (Verdict::Same(_), Some(page)) = (&verdict, before) {
                    noisy = self.learn_quiet(page, report.started, second_look)?;
                }
                verdict
            }
            (None, Some(page)) => {
                old = self.reader.document(key)?;
                let judged = self.judge(page, old.as_ref(), &mut report, second_look)?;
                (folding, noisy) = (judged.folding, judged.noisy);
                judged.verdict
            }
            (None, None) => Verdict::Silent,
        };
        let record = match keeping::record(&report, &verdict, before.as_ref()) {
            _ if restoring.is_some() => restoring.map(|restoring| restoring.location),
            Some(keep) => {
                self.group.kept(keep.exchange.body.len());
                Some(self.repository.keep(&keep)?)
            }
            None => None,
        };
        let row = match (&before, &waiting) {
            (Some(page), _) => page.clone(),
            (None, Some(waiting)) => page_life::first_row(waiting, &report),
            (None, None) => return Ok(()),
        };
        let mut page = page_life::after(row, &report, &verdict, record);
        page.noisy = noisy.unwrap_or(page.noisy);
        page.importance = self.importance_of(page.key, &page.url, page.depth)?;
        let counted = verdict.changed_in(self.settings.counts);
        self.samples.hear(key, counted, page.importance);
        let delta = listing.as_deref().map(|listing| self.listing_delta(key, listing)).transpose()?;
        // A list has changed when what it lists has moved, whatever else its file says.
        let moved = delta.as_ref().zip(counted).map(|(delta, _)| !delta.is_empty());
        let learned = moved.or(counted).filter(|_| !second_look);
        self.teach(before.as_ref(), &mut page, &report, learned, verdict.degree())?;
        if hears {
            // A list was found like what it lists, and does not speak of itself.
            let via = waiting.as_ref().map(|waiting| waiting.via).filter(|_| listing.is_none());
            self.hear_visit(before.as_ref(), &page, &report, via, learned)?;
        }
        let is_new_version = matches!(verdict, Verdict::First | Verdict::Differs(_));
        let mut next_paragraph = 1;
        if let Some(signature) = report.signature.as_mut().filter(|_| is_new_version) {
            next_paragraph = number_paragraphs(old.as_ref(), signature, &mut verdict);
        }
        let event = telling::event(before.as_ref(), &page, &report, &mut verdict, folding);
        let event = match event {
            Some(event) if event.kind == EventKind::Gone => Some(self.with_all_paragraphs(event)?),
            event => event,
        };
        let document = report.document.as_ref().zip(report.signature.as_ref()).filter(|_| is_new_version);
        let mut document = document.map(|(document, signature)| DocumentRow {
            signature: signature.clone(),
            next_paragraph,
            content_before: old.as_ref().map(|old| old.signature.content),
            media: document.media,
            content_type: document.content_type.as_str().into(),
            title: document.title.as_str().into(),
            language: document.language.as_str().into(),
            directives: document.directives,
            links: discovery::packed(document),
        });
        if verdict == Verdict::First {
            self.note_second_look(&page, &report);
        }
        // The links of a page that left the collection count on: we know of no others.
        let was_held = before.as_ref().is_some_and(|page| matches!(page.state, PageState::Held | PageState::Left));
        let spelled_before = self.group.spelled;
        if let Some(document) = &mut document {
            let content = document.signature.content;
            let is_copy = before.is_none() && self.partition(key.partition).traps.is_copy(&page.url, content);
            if !is_copy {
                self.discover(&report, document, old.as_ref().filter(|_| was_held), page.depth, restoring);
            }
            self.watch_for_traps(&page, document);
        } else {
            self.count_links_again(key, was_held, matches!(page.state, PageState::Held | PageState::Left))?;
        }
        let named_urls = self.group.spelled > spelled_before;
        self.note_signpost(before.as_ref(), &page, named_urls);
        self.categorise(&page, was_held, report.document.as_ref().filter(|_| is_new_version))?;
        if hears && is_new_version {
            self.find_named_files(&page, &report);
        }
        let hops = waiting.as_ref().map_or(0, |waiting| match waiting.via {
            Via::Redirect { hops } => hops,
            _ => 0,
        });
        self.follow_redirect(&report, hops, &page, restoring);
        let visit = Visit {
            started: report.started,
            finished: report.finished,
            outcome: report.outcome.clone(),
            address: report.exchange.as_ref().and_then(|exchange| exchange.address),
            wire_bytes: report.wire_bytes,
            version: page.version.filter(|_| is_new_version),
            record,
            decided_by: verdict.decided_by(),
            changed: counted,
            second_look,
            robots: None,
        };
        let file = delta.is_some().then(|| page.clone());
        let visited = Visited {
            was: before.as_ref().map(|page| page.state),
            left: waiting.map(|waiting| waiting.place),
            page,
            visit,
            document,
            event,
        };
        self.group.push(key.partition, Deed::Visited(Box::new(visited)));
        match (file, listing.as_deref(), delta) {
            (Some(file), Some(listing), Some(delta)) => self.take_listing(&file, listing, delta, report.started),
            _ => Ok(()),
        }
    }

    /// Puts the page into the right hands and lets the policy learn from the visit.
    fn teach(
        &mut self,
        before: Option<&Page>,
        page: &mut Page,
        report: &Report,
        changed: Option<bool>,
        degree: f32,
    ) -> Result<()> {
        let remembered = before.map(|page| self.remembered(page, report.started)).transpose()?.flatten();
        let last_modified = self.believed_date(page, report);
        let once = self.settings.once;
        let promise = self.promise_of(&page.url, page.depth);
        let partition = self.partition(page.key.partition);
        let was_held = before.is_some_and(|page| page.state == PageState::Held);
        match (was_held, page.state == PageState::Held) {
            (false, true) => partition.count_held(&page.url.site(), 1),
            (true, false) => partition.count_held(&page.url.site(), -1),
            _ => {}
        }
        partition.place(page);
        let was_with_policy = before.is_some_and(|page| page_life::hands(page) == Hands::Policy);
        if page_life::hands(page) != Hands::Policy {
            if was_with_policy {
                partition.policy.forget(page.key);
            }
            return Ok(());
        }
        if let Some(remembered) = remembered {
            partition.recall_page(&remembered, promise, report.started);
        }
        page.policy = partition.policy.learn(&Seen {
            page: page.key,
            moment: report.started,
            previous: before.and_then(|page| page.last_confirmed),
            changed,
            degree,
            last_modified,
            wire_bytes: report.wire_bytes,
        });
        if !was_with_policy {
            partition.recall_page(page, promise, report.started);
        }
        partition.stir();
        if let Some(site) = partition.site_of(page.key) {
            let learned = &mut partition.sites[site as usize].learned;
            *learned += 1;
            if *learned >= SITE_LEARNED_MAX {
                self.remember_site(page.key.partition, site);
            }
        }
        let partition = self.partition(page.key.partition);
        if once {
            // It has had its visit in this process; the next process takes it up again from its row.
            partition.policy.forget(page.key);
        }
        Ok(())
    }

    /// A page that is gone takes its paragraphs with it: consumers drop them by their numbers.
    fn with_all_paragraphs(&self, mut event: Event) -> Result<Event> {
        let Some(document) = self.reader.document(event.page)? else { return Ok(event) };
        let marks = document.signature.paragraphs.iter().enumerate();
        event.change.paragraphs = marks.map(|(place, mark)| removed(place, mark)).collect();
        Ok(event)
    }
}

fn removed(place: usize, mark: &ParagraphMark) -> ParagraphChange {
    ParagraphChange {
        operation: Operation::Removed,
        id: mark.id,
        digest: mark.digest,
        role: mark.role,
        position: place as u32,
        from: None,
        others: Vec::new(),
        headings: Vec::new(),
        before: None,
        after: None,
    }
}

/// Whether the site itself, not only this page, is in trouble; with the wait that it asked for.
fn site_trouble(outcome: &Outcome) -> Option<Option<Span>> {
    match outcome {
        Outcome::Failed(Failure::Status { status, retry_after }) if *status == 429 || *status >= 500 => {
            Some(*retry_after)
        }
        Outcome::Failed(Failure::Dns(_) | Failure::Connect(_) | Failure::Tls(_) | Failure::Timeout(_)) => Some(None),
        Outcome::Blocked { wall: Wall::Bot, .. } => Some(None),
        _ => None,
    }
}

/// A visit that is to no page of the books: to a robots.txt or a hub.
pub(super) fn visit_beside_pages(report: &Report, record: Option<Location>) -> Visit {
    Visit {
        started: report.started,
        finished: report.finished,
        outcome: report.outcome.clone(),
        address: report.exchange.as_ref().and_then(|exchange| exchange.address),
        wire_bytes: report.wire_bytes,
        version: None,
        record,
        decided_by: None,
        changed: None,
        second_look: false,
        robots: Some(report.order.url.clone()),
    }
}
