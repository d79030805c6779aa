//! When the scope changes, the held pages are checked against it: links that led out of the old scope are read again
//! from the kept bodies and announced, without a request. A pass goes through the held pages in the order of their
//! keys, a few per turn. Its progress is a deed, so that the next process can resume it.
//!
//! A pass does not depend on whether the scope grew or shrank: every changed scope begins one, and a link that is
//! counted already is not announced again.

use std::collections::{BTreeMap, HashSet};

use vernal_model::{CountedIn, Deed, DocumentRow, Fingerprint, Found, Moment, Page, PageState, ScopeMark, Span, Via};

use super::{Pass, TURN_EVERY};
use crate::Result;
use crate::core::Core;
use crate::intake::discovery::{self, FoundHere};
use crate::intake::{archived_report, sessions};
use crate::plan::Planner;
use crate::work::WHOLE;

/// Pages examined in one turn, so that orders and reports do not wait for a pass.
const PAGES_PER_TURN: usize = 64;
/// While there is other work, new passes begin at most this often, however often the scope changes.
const PASS_EVERY: Span = Span::from_secs(600);

/// The state of the passes.
pub(crate) struct ScopeRescan {
    mark: ScopeMark,
    begun: Moment,
    /// Pages examined in the pass under way.
    looked_at: u64,
}

impl ScopeRescan {
    pub fn new(mark: ScopeMark) -> Self {
        ScopeRescan { mark, begun: Moment::EPOCH, looked_at: 0 }
    }

    /// Whether held pages still have to be checked against the scope in force.
    pub fn waits(&self, core: &Core) -> bool {
        self.mark.followed != core.scope.digest()
    }

    /// Pages examined so far, while a pass is due or under way.
    pub fn progress(&self, core: &Core) -> Option<u64> {
        self.waits(core).then_some(self.looked_at)
    }

    fn may_begin(&self, core: &Core, now: Moment) -> bool {
        let is_under_way = self.mark.following.is_some_and(|(scope, _)| scope == core.scope.digest());
        let runs_low = (core.partitions.waiting() as usize) < core.settings.concurrency;
        is_under_way || runs_low || self.begun == Moment::EPOCH || now.since(self.begun) >= PASS_EVERY
    }
}

impl Pass for ScopeRescan {
    fn is_due(&self, core: &Core, now: Moment) -> bool {
        self.waits(core) && self.may_begin(core, now)
    }

    fn next(&self, core: &Core, now: Moment) -> Option<Moment> {
        let at = if self.may_begin(core, now) { now + TURN_EVERY } else { self.begun + PASS_EVERY };
        self.waits(core).then_some(at)
    }

    fn reads_tables(&self) -> bool {
        true
    }

    fn turn(&mut self, core: &mut Core, _: &mut Planner, now: Moment) -> Result<()> {
        let scope = core.scope.digest();
        let after = match self.mark.following {
            Some((following, after)) if following == scope => after,
            _ => {
                (self.begun, self.looked_at) = (now, 0);
                None
            }
        };
        let pages = core.work.acknowledged().pages(after, PAGES_PER_TURN)?;
        for page in pages.iter().filter(|page| page.state == PageState::Held) {
            announce_links(core, page)?;
        }
        for page in pages.iter().filter(|page| page.visits == 0) {
            adopt(core, page, now)?;
        }
        self.looked_at += pages.len() as u64;
        self.mark = match pages.last() {
            Some(last) => ScopeMark { following: Some((scope, Some(last.key))), ..self.mark },
            None => ScopeMark { followed: scope, following: None },
        };
        core.work.push(WHOLE, Deed::ScopeFollowed(self.mark));
        Ok(())
    }

    /// Each turn writes its progress as a deed.
    fn checkpoint(&mut self, _: &Core) -> Result<()> {
        Ok(())
    }

    fn has_ended(&self) -> bool {
        self.mark.following.is_none()
    }
}

/// Gives a page that was only imported to the policy, now that the scope has it.
fn adopt(core: &mut Core, page: &Page, now: Moment) -> Result<()> {
    if core.in_flight.has(page.key) || !core.scope.contains(&page.url, page.depth) {
        return Ok(());
    }
    let importance = core.scope.importance_of(&core.work, page.key, &page.url, page.depth)?;
    let promise = core.scope.promise_of(&page.url, page.depth);
    let partition = core.partitions.of_mut(page.key.partition);
    partition.recall_page(&Page { importance, ..page.clone() }, promise, now);
    partition.refresh.invalidate();
    Ok(())
}

/// Announces the links of one page that lead into the scope and are not counted yet.
fn announce_links(core: &mut Core, page: &Page) -> Result<()> {
    let Some(location) = page.version.and_then(|version| version.body()) else { return Ok(()) };
    let Some(mut row) = core.work.document(page.key)?.filter(|row| !row.directives.nofollow) else {
        return Ok(());
    };
    let uncounted = uncounted(&row);
    if uncounted.is_empty() {
        return Ok(());
    }
    // A record that cannot be read is skipped; `verify` reports it.
    let Ok(kept) = core.work.acknowledged().body(&location) else { return Ok(()) };
    let Ok(mut report) = archived_report::report(&kept) else { return Ok(()) };
    sessions::drop_sessions(&core.partitions, &mut report);
    let Some(document) = report.document else { return Ok(()) };
    let depth = page.depth.saturating_add(1);
    let mut found: BTreeMap<_, FoundHere> = BTreeMap::new();
    for link in &document.links {
        let target = link.target.fingerprint();
        if !uncounted.contains(&target) || !core.scope.contains(&link.target, depth) {
            continue;
        }
        let id = core.partitions.home_of(&link.target);
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
        core.announce_all(id, here.urls, Vec::new());
    }
    core.work.push(page.key.partition, Deed::Relinked { page: page.key, document: Box::new(row) });
    Ok(())
}

/// Targets of followed links that no partition counts yet.
fn uncounted(row: &DocumentRow) -> HashSet<Fingerprint> {
    let followed = || row.links.iter().filter(|link| discovery::is_followed(link.kind, link.rel));
    let counted: HashSet<Fingerprint> =
        followed().filter(|link| link.counted != CountedIn::NOWHERE).map(|link| link.target).collect();
    followed().map(|link| link.target).filter(|target| !counted.contains(target)).collect()
}

#[cfg(test)]
mod tests {
    use vernal_model::Seed;

    use super::*;
    use crate::crawler::Crawler;
    use crate::testing::{Bench, START, after, held, html, seed, unhindered, url};

    const PAGE: &str = "http://a.example/x";

    /// Turns until none is due; says how many there were.
    fn turns(bench: &mut Bench) -> usize {
        let mut turns = 0;
        while bench.crawler.passes.scope_rescan.is_due(&bench.crawler.core, bench.now) {
            turn(bench);
            turns += 1;
        }
        turns
    }

    fn turn(bench: &mut Bench) {
        let Crawler { core, plan, passes, .. } = &mut bench.crawler;
        core.work.commit(bench.now).unwrap();
        passes.scope_rescan.turn(core, plan, bench.now).unwrap();
        core.work.commit(bench.now).unwrap();
    }

    /// A page that leads out of the scope, met with it.
    fn bench() -> Bench {
        let mut bench = Bench::seeded(unhindered(), &["http://a.example/"]);
        bench.admit(&[PAGE]);
        bench.read(PAGE, &html("Words.", &["/a", "http://b.example/1", "http://c.example/"]));
        turns(&mut bench);
        bench
    }

    #[test]
    fn links_that_a_wider_scope_covers_are_found_once_and_without_a_request() {
        let mut bench = bench();
        let found = bench.crawler.core.work.found();
        let requests = bench.crawler.core.work.requests();
        assert!(!bench.crawler.passes.scope_rescan.waits(&bench.crawler.core));
        bench.crawler.core.scope.put_seed(seed("http://b.example/"));
        assert!(bench.crawler.passes.scope_rescan.waits(&bench.crawler.core));
        assert_eq!(turns(&mut bench), 2, "one over the pages, and one that finds no more of them");
        assert_eq!(bench.crawler.core.work.found(), found + 1);
        assert_eq!(bench.crawler.core.work.requests(), requests);
        assert!(bench.crawler.passes.scope_rescan.has_ended());
        bench.crawler.core.scope.put_seed(Seed { depth: Some(7), ..seed("http://b.example/") });
        bench.now = after(700);
        turns(&mut bench);
        assert_eq!(bench.crawler.core.work.found(), found + 1, "a link that is counted is not found again");
        bench.admit(&[]);
        assert!(bench.crawler.core.work.key_of(&url("http://b.example/1")).unwrap().is_some());
        assert!(bench.crawler.core.work.key_of(&url("http://c.example/")).unwrap().is_none());
    }

    #[test]
    fn a_pass_goes_on_where_its_mark_says_in_the_next_process() {
        let mut bench = Bench::seeded(unhindered(), &["http://a.example/"]);
        for number in 0..PAGES_PER_TURN as u32 + 10 {
            bench.hold(&held(&format!("http://a.example/{number}"), number + 1));
        }
        turn(&mut bench);
        let mark = bench.crawler.passes.scope_rescan.mark;
        assert_eq!(bench.crawler.passes.scope_rescan.progress(&bench.crawler.core), Some(PAGES_PER_TURN as u64));
        let (scope, last) = mark.following.expect("it is under way");
        assert_eq!((scope, last.is_some()), (bench.crawler.core.scope.digest(), true));
        let mut bench = bench.reopened();
        assert_eq!(bench.crawler.passes.scope_rescan.mark, mark);
        turn(&mut bench);
        let pass = &bench.crawler.passes.scope_rescan;
        assert_eq!(pass.looked_at, 10, "the others were met before");
        turn(&mut bench);
        let pass = &bench.crawler.passes.scope_rescan;
        assert!(pass.has_ended() && !pass.waits(&bench.crawler.core));
        assert_eq!(pass.progress(&bench.crawler.core), None);
    }

    #[test]
    fn a_scope_that_changes_again_begins_a_new_pass_and_not_too_often() {
        let mut bench = bench();
        let page = held("http://w.example/", 0);
        let waits = |bench: &mut Bench| {
            let partition = bench.crawler.core.partitions.of_mut(page.key.partition);
            let site = partition.sites.number(&page.url.site());
            partition.waiting.recall(site, 1_000);
            bench.crawler.core.partitions.note_active();
        };
        bench.crawler.core.scope.put_seed(seed("http://b.example/"));
        turns(&mut bench);
        bench.crawler.core.scope.put_seed(seed("http://c.example/"));
        waits(&mut bench);
        let Crawler { core, passes, .. } = &bench.crawler;
        assert!(!passes.scope_rescan.is_due(core, START), "there is other work");
        assert_eq!(passes.scope_rescan.next(core, START), Some(START + PASS_EVERY));
        assert!(passes.scope_rescan.is_due(core, START + PASS_EVERY));
    }
}
