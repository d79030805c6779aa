//! Second looks: a page is visited once more some minutes after its first visit, once per template of a site. What differs
//! then differs without meaning. They take at most two per cent of the requests and tell the policy nothing of rates.

use std::collections::{BTreeMap, BTreeSet};

use vernal_document::noise::template_key;
use vernal_model::{Media, Moment, Page, PageKey, Report, Span};

use crate::core::Core;

/// The second look comes so long after the first visit: long enough for a clock or a counter, too short for news.
const LOOK_AFTER: Span = Span::from_secs(300);
/// One request in so many is a second look at most.
const LOOK_EVERY: u64 = 50;
/// Second looks that wait; more are not noted.
const WAITING_MAX: usize = 1_000;
/// Templates of one site that are looked at.
const TEMPLATES_MAX: usize = 32;

#[derive(Default)]
pub(crate) struct SecondLooks {
    waiting: BTreeSet<(Moment, PageKey)>,
    sent: u64,
    /// Those under way, and when each was due.
    out: BTreeMap<PageKey, Moment>,
}

impl SecondLooks {
    /// Whether this visit was a second look; from now on it is over.
    pub fn ended(&mut self, page: PageKey) -> bool {
        self.out.remove(&page).is_some()
    }

    /// It could not be sent now, and keeps its turn: its robots.txt may have been asked for, and if the others went before it
    /// theirs would be as well.
    pub fn put_back(&mut self, page: PageKey) {
        if let Some(due) = self.out.remove(&page) {
            self.sent -= 1;
            self.waiting.insert((due, page));
        }
    }

    /// A record does not say that its visit was a second look. The first one after that was due most likely was.
    pub fn suppose(&mut self, page: PageKey, started: Moment) {
        let mut due = self.waiting.iter().take_while(|&&(at, _)| at <= started);
        if let Some(&found) = due.find(|&&(_, waiting)| waiting == page) {
            self.waiting.remove(&found);
            self.out.insert(page, found.0);
        }
    }

    /// Whether a second look at this page waits or is under way.
    pub fn concern(&self, page: PageKey) -> bool {
        self.out.contains_key(&page) || self.waiting.iter().any(|&(_, waiting)| waiting == page)
    }

    pub fn next(&self) -> Option<Moment> {
        self.waiting.first().map(|&(at, _)| at)
    }

    /// Notes a second look at a page that was read for the first time, if its template had none yet.
    pub fn note(&mut self, core: &mut Core, page: &Page, report: &Report) {
        let is_markup = report.document.as_ref().is_some_and(|document| document.media == Media::Html);
        let Some(signature) = report.signature.as_ref().filter(|_| is_markup && !core.settings.once) else { return };
        let template = template_key(&signature.paragraphs);
        if template == 0 || self.waiting.len() >= WAITING_MAX {
            return;
        }
        let (site, id) = (page.url.site(), page.key.partition);
        let looked_at = &mut core.partitions.of_mut(id).sites.site_mut(&site).profile.looked_at;
        if looked_at.len() >= TEMPLATES_MAX || looked_at.contains(&template) {
            return;
        }
        looked_at.push(template);
        core.note_site(&site, id);
        self.waiting.insert((report.started + LOOK_AFTER, page.key));
    }

    /// The page whose second look has come and whose site may be asked, where so many orders have left.
    pub fn next_look(&mut self, orders: u64, may_ask: impl Fn(PageKey) -> bool, now: Moment) -> Option<PageKey> {
        if self.sent * LOOK_EVERY > orders {
            return None;
        }
        let mut due = self.waiting.iter().copied().take_while(|&(at, _)| at <= now);
        let found = due.find(|&(_, key)| may_ask(key))?;
        self.waiting.remove(&found);
        self.sent += 1;
        self.out.insert(found.1, found.0);
        Some(found.1)
    }
}
