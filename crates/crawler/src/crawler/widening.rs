//! When the scope grows, the pages that we hold are met with it once more: links that led out of it are read again from
//! the kept bodies and announced, without a request. A pass goes through the held pages in the order of their keys, a few
//! at a time; how far it came is a deed, so that it goes on where a process ended.
//!
//! Whether the scope grew or shrank is not asked: any other scope than the last one begins a pass, and a link that is
//! counted already is not announced again.

use std::collections::{BTreeMap, HashSet};

use vernal_model::{
    CountedIn, Deed, DocumentRow, Fingerprint, Found, Moment, Page, PageState, ScopeMark, Seed, Span, Via,
};
use xxhash_rust::xxh3::xxh3_64;

use super::{Crawler, WHOLE};
use crate::intake::discovery::{self, FoundHere};
use crate::intake::record;
use crate::{Result, Settings};

/// Pages looked at in one turn, so that orders and reports do not wait for a pass.
const PAGES_PER_TURN: usize = 64;
/// While there is other work, a scope that changes again and again begins a new pass only so often.
const PASS_EVERY: Span = Span::from_secs(600);
/// A pass that is under way goes on after this.
const TURN_EVERY: Span = Span::from_millis(1);

/// Where the passes stand.
#[derive(Default)]
pub(super) struct Widening {
    /// The digest of the scope in force.
    scope: u64,
    mark: ScopeMark,
    begun: Moment,
    /// Pages looked at in the pass that is under way.
    looked_at: u64,
}

impl Widening {
    pub fn new(settings: &Settings, seeds: &[Seed], mark: ScopeMark) -> Self {
        Widening { scope: digest(settings, seeds), mark, ..Widening::default() }
    }

    /// A seed was given, or wishes something else now.
    pub fn seed_changed(&mut self, before: Option<&Seed>, after: &Seed) {
        let before = before.map_or(0, digest_of_seed);
        self.scope = self.scope.wrapping_sub(before).wrapping_add(digest_of_seed(after));
    }

    fn is_due(&self) -> bool {
        self.mark.followed != self.scope
    }

    /// Pages looked at so far, while a pass is due or under way.
    pub fn progress(&self) -> Option<u64> {
        self.is_due().then_some(self.looked_at)
    }
}

impl Crawler {
    pub(super) fn scope_may_have_changed(&mut self) {
        self.widening.scope = digest(&self.settings, self.dispatcher.seeds());
    }

    /// Whether held pages wait to be met with the scope in force.
    pub(super) fn scope_is_followed(&self) -> bool {
        !self.widening.is_due()
    }

    pub(super) fn next_widening(&self, now: Moment) -> Option<Moment> {
        let waits = self.widening.is_due() && !self.may_begin_pass(now);
        let at = if waits { self.widening.begun + PASS_EVERY } else { now + TURN_EVERY };
        self.widening.is_due().then_some(at)
    }

    fn may_begin_pass(&self, now: Moment) -> bool {
        let is_under_way = self.widening.mark.following.is_some_and(|(scope, _)| scope == self.widening.scope);
        let runs_low = (self.waiting() as usize) < self.settings.concurrency;
        is_under_way || runs_low || self.widening.begun == Moment::EPOCH || now.since(self.widening.begun) >= PASS_EVERY
    }

    /// One turn of a pass over the held pages, if the scope is another than the last that they were met with.
    pub fn follow_scope(&mut self, now: Moment) -> Result<()> {
        if !self.widening.is_due() || !self.started || self.paused || self.disk_full || !self.may_begin_pass(now) {
            return Ok(());
        }
        // Rows are read and written below: what is on its way to them comes first.
        self.commit(now)?;
        let scope = self.widening.scope;
        let after = match self.widening.mark.following {
            Some((following, after)) if following == scope => after,
            _ => {
                (self.widening.begun, self.widening.looked_at) = (now, 0);
                None
            }
        };
        let pages = self.reader.pages(after, PAGES_PER_TURN)?;
        for page in pages.iter().filter(|page| page.state == PageState::Held) {
            self.follow_scope_of(page)?;
        }
        self.widening.looked_at += pages.len() as u64;
        let mark = match pages.last() {
            Some(last) => ScopeMark { following: Some((scope, Some(last.key))), ..self.widening.mark },
            None => ScopeMark { followed: scope, following: None },
        };
        self.widening.mark = mark;
        self.group.push(WHOLE, Deed::ScopeFollowed(mark));
        self.commit(now)
    }

    /// Announces the links of one page that lead into the scope and are not counted yet.
    fn follow_scope_of(&mut self, page: &Page) -> Result<()> {
        let Some(location) = page.version.and_then(|version| version.location) else { return Ok(()) };
        let Some(mut row) = self.reader.document(page.key)?.filter(|row| !row.directives.nofollow) else {
            return Ok(());
        };
        let uncounted = uncounted(&row);
        if uncounted.is_empty() {
            return Ok(());
        }
        // A record that cannot be read says nothing; `verify` tells of it.
        let Ok(kept) = self.reader.body(&location) else { return Ok(()) };
        let Ok(mut report) = record::report(&kept) else { return Ok(()) };
        self.drop_sessions(&mut report);
        let Some(document) = report.document else { return Ok(()) };
        let depth = page.depth.saturating_add(1);
        let mut found: BTreeMap<_, FoundHere> = BTreeMap::new();
        for link in &document.links {
            let target = link.target.fingerprint();
            if !uncounted.contains(&target) || !self.dispatcher.in_scope(&link.target, depth) {
                continue;
            }
            let id = self.home_of(&link.target);
            let is_followed =
                |row: &&mut vernal_model::LinkRow| row.target == target && discovery::is_followed(row.kind, row.rel);
            let Some(link_row) = row.links.iter_mut().find(is_followed) else { continue };
            if link_row.counted != CountedIn::NOWHERE {
                continue;
            }
            link_row.counted = CountedIn::new(id);
            found.entry(id).or_default().urls.push(Found {
                url: link.target.clone(),
                via: Via::Link,
                depth,
                found_on: Some(page.key),
                forward: document.links.len() as u32,
            });
        }
        if found.is_empty() {
            return Ok(());
        }
        for (id, here) in found {
            self.group.push(id, Deed::Found { urls: here.urls, again: Vec::new() });
        }
        self.group.push(page.key.partition, Deed::Relinked { page: page.key, document: Box::new(row) });
        Ok(())
    }
}

/// Targets of followed links that are counted nowhere.
fn uncounted(row: &DocumentRow) -> HashSet<Fingerprint> {
    let followed = || row.links.iter().filter(|link| discovery::is_followed(link.kind, link.rel));
    let counted: HashSet<Fingerprint> =
        followed().filter(|link| link.counted != CountedIn::NOWHERE).map(|link| link.target).collect();
    followed().map(|link| link.target).filter(|target| !counted.contains(target)).collect()
}

/// Everything that decides what is within the scope. The seeds are summed up, so that one of many may change cheaply.
fn digest(settings: &Settings, seeds: &[Seed]) -> u64 {
    let Settings { depth, include, exclude, .. } = settings;
    let rules = xxh3_64(format!("{depth:?} {include:?} {exclude:?}").as_bytes());
    seeds.iter().map(digest_of_seed).fold(rules, u64::wrapping_add)
}

fn digest_of_seed(seed: &Seed) -> u64 {
    let Seed { url, scope, depth, moved_to, .. } = seed;
    xxh3_64(format!("{url} {scope} {depth:?} {moved_to:?}").as_bytes())
}
