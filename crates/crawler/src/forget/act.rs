//! The acts of people: forget, try out, and take back. What is erased is erased in turns, and so are the files.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use vernal_model::{Deed, ErasedCounts, ForgetRule, ForgottenRow, Found, Moment, PageKey, Seed, Span, Via};

use super::covered::{covered, other_names};
use super::{page, site};
use crate::core::Core;
use crate::crawler::Crawler;
use crate::passes::TURN_EVERY;
use crate::work::WHOLE;
use crate::{Acted, ForgetWord, Result};

/// Pages erased in one turn, so that orders and reports do not wait long.
const PAGES_PER_TURN: usize = 256;
/// How often the files are looked at while a part of them is rewritten beside the crawl.
const REWRITE_EVERY: Span = Span::from_millis(20);

/// What is still to be erased of the rules in force.
pub(crate) struct Forgetting {
    /// Pages, each with the entry of the ledger that it falls under.
    queue: VecDeque<(u32, PageKey)>,
    /// Whether entries of an earlier process may have pages left.
    resumes: bool,
    /// When the files are looked at next; `None` where nothing is left to rewrite.
    rewrites: Option<Moment>,
}

impl Forgetting {
    /// `resumes`: an earlier process ended while it erased. `rewrites`: it ended before all files were rewritten.
    pub fn new(resumes: bool, rewrites: bool) -> Self {
        Forgetting { queue: VecDeque::new(), resumes, rewrites: rewrites.then_some(Moment::EPOCH) }
    }

    /// When the next turn is due.
    pub fn next(&self, now: Moment) -> Option<Moment> {
        if self.is_erasing() { Some(now + TURN_EVERY) } else { self.rewrites.map(|at| at.max(now + TURN_EVERY)) }
    }

    fn is_erasing(&self) -> bool {
        self.resumes || !self.queue.is_empty()
    }
}

/// Forgets the pages of some rules, or tells what that would erase.
pub(crate) fn forget(crawler: &mut Crawler, word: ForgetWord, now: Moment) -> Result<Acted> {
    crawler.commit(now)?;
    let ForgetWord { mut rules, reason, dry_run } = word;
    let core = &mut crawler.core;
    let mut keys = covered(core, &rules)?;
    let names = other_names(core, &keys, &rules)?;
    keys.extend(covered(core, &names)?);
    rules.extend(names);
    let counts = page::counts(core, &keys)?;
    if dry_run {
        return Ok(Acted::WouldForget { rules, counts });
    }
    let mut ids = Vec::with_capacity(rules.len());
    for rule in &rules {
        let id = match core.scope.forgotten.in_force(rule) {
            Some(known) => known.id,
            None => enter(core, rule, &reason, now),
        };
        ids.push(id);
    }
    unseed(core, &rules);
    site::unfind(core, &rules)?;
    site::erase(core, &rules)?;
    crawler.forgetting.resumes = true;
    crawler.commit(now)?;
    erase_on(crawler, now)?;
    // Where nothing is crawled, there is nobody who would go on with it.
    while !crawler.started && crawler.forgetting.is_erasing() {
        erase_on(crawler, now)?;
    }
    let forgotten = &crawler.core.scope.forgotten;
    let entries = ids.iter().filter_map(|id| forgotten.row(*id).cloned()).collect();
    Ok(Acted::Forgot { entries, counts })
}

/// Makes an entry of the ledger.
fn enter(core: &mut Core, rule: &ForgetRule, reason: &str, now: Moment) -> u32 {
    let row = ForgottenRow {
        id: core.scope.forgotten.next_id(),
        rule: rule.clone(),
        moment: now,
        reason: reason.into(),
        erased: ErasedCounts::default(),
        is_erased: false,
        lifted: None,
    };
    core.work.push(WHOLE, Deed::Forgot(Box::new(row.clone())));
    core.scope.forgotten.put(row.clone());
    row.id
}

/// Removes seeds that are forgotten, and the targets that others have moved to.
fn unseed(core: &mut Core, rules: &[ForgetRule]) {
    let is_covered = |url: &vernal_model::Url| rules.iter().any(|rule| rule.covers(url));
    let (mut left, mut deeds) = (Vec::new(), Vec::new());
    for seed in core.scope.seeds() {
        if is_covered(&seed.url) {
            deeds.push(Deed::Unseeded(seed.url.clone()));
        } else if seed.moved_to.as_ref().is_some_and(is_covered) {
            let seed = Seed { moved_to: None, ..seed.clone() };
            deeds.push(Deed::Seeded(seed.clone()));
            left.push(seed);
        } else {
            left.push(seed.clone());
        }
    }
    if !deeds.is_empty() {
        core.scope.set_seeds(left);
        deeds.into_iter().for_each(|deed| core.work.push(WHOLE, deed));
    }
}

/// Takes an entry back: what was erased stays erased, and from now on its pages may come again.
pub(crate) fn lift(core: &mut Core, id: u32, now: Moment) -> Acted {
    let Some(row) = core.scope.forgotten.row(id).filter(|row| row.bars()) else { return Acted::NotForgotten(id) };
    let row = ForgottenRow { lifted: Some(now), ..row.clone() };
    core.work.push(WHOLE, Deed::Forgot(Box::new(row.clone())));
    core.scope.forgotten.put(row.clone());
    // Links that led to it were counted before, so none of them would be announced again.
    if let ForgetRule::Page(url) = &row.rule
        && core.scope.contains(url, 0)
    {
        core.announce(Found { url: url.clone(), via: Via::Told, depth: 0, found_on: None, forward: 0 });
    }
    Acted::Lifted(Box::new(row))
}

/// Rewrites all files that may have what was erased, for a folder that nobody crawls.
pub(crate) fn rewrite_erased(crawler: &mut Crawler, now: Moment) -> Result<Acted> {
    crawler.commit(now)?;
    crawler.core.work.durable().rewrite(true, now)?;
    crawler.forgetting.rewrites = None;
    Ok(Acted::Done)
}

/// Takes up the ledger of a damaged folder, before anything is restored.
pub(crate) fn take_up_ledger(core: &mut Core, rows: Vec<ForgottenRow>) -> Acted {
    for row in rows {
        core.work.push(WHOLE, Deed::Forgot(Box::new(row.clone())));
        core.scope.forgotten.put(row);
    }
    Acted::Done
}

/// One turn of what is still to be erased or rewritten.
pub(crate) fn forget_on(crawler: &mut Crawler, now: Moment) -> Result<()> {
    if crawler.forgetting.is_erasing() {
        return erase_on(crawler, now);
    }
    if crawler.forgetting.rewrites.is_some_and(|at| at <= now) {
        crawler.commit(now)?;
        let is_more = crawler.core.work.durable().rewrite(false, now)?;
        crawler.forgetting.rewrites = is_more.then_some(now + REWRITE_EVERY);
    }
    Ok(())
}

/// Erases some pages.
fn erase_on(crawler: &mut Crawler, now: Moment) -> Result<()> {
    crawler.commit(now)?;
    if std::mem::take(&mut crawler.forgetting.resumes) {
        queue_covered(crawler)?;
    }
    let queue = &mut crawler.forgetting.queue;
    let turn: Vec<(u32, PageKey)> = queue.drain(..queue.len().min(PAGES_PER_TURN)).collect();
    let keys: BTreeSet<PageKey> = turn.iter().map(|(_, key)| *key).collect();
    let mut retold: BTreeMap<PageKey, Vec<_>> = BTreeMap::new();
    for (page, position, event) in page::retold(&crawler.core, &keys, now)? {
        retold.entry(page).or_default().push((position, event));
    }
    let mut erased: BTreeMap<u32, ErasedCounts> = BTreeMap::new();
    for (id, key) in turn {
        let Crawler { core, plan, hints, .. } = &mut *crawler;
        let Some(row) = core.work.url(key)? else { continue };
        let retold = retold.remove(&key).unwrap_or_default();
        let counts = page::erase(core, plan, hints, row, retold, now)?;
        erased.entry(id).or_default().add(counts);
    }
    let is_last = crawler.forgetting.queue.is_empty();
    note_erased(crawler, erased, is_last);
    crawler.commit(now)?;
    if is_last {
        crawler.passes.topics.begin_anew(&mut crawler.core, now)?;
        crawler.forgetting.rewrites = Some(now);
    }
    Ok(())
}

/// Queues the pages of all entries that have some left.
fn queue_covered(crawler: &mut Crawler) -> Result<()> {
    let core = &crawler.core;
    let open = core.scope.forgotten.rows().iter().filter(|row| row.bars() && !row.is_erased);
    let rules: Vec<ForgetRule> = open.map(|row| row.rule.clone()).collect();
    let mut queue = VecDeque::new();
    for key in covered(core, &rules)? {
        let row = core.work.url(key)?;
        let id = row.and_then(|row| core.scope.forgotten.entry_of(&row.url));
        queue.extend(id.map(|id| (id, key)));
    }
    crawler.forgetting.queue = queue;
    Ok(())
}

/// Writes into the ledger what was erased by each entry. With the last pages, all entries are done.
fn note_erased(crawler: &mut Crawler, erased: BTreeMap<u32, ErasedCounts>, is_last: bool) {
    let forgotten = &mut crawler.core.scope.forgotten;
    let rows: Vec<ForgottenRow> = forgotten.rows().to_vec();
    for mut row in rows.into_iter().filter(ForgottenRow::bars) {
        let counts = erased.get(&row.id);
        if counts.is_none() && (row.is_erased || !is_last) {
            continue;
        }
        row.erased.add(counts.copied().unwrap_or_default());
        row.is_erased |= is_last;
        crawler.core.work.push(WHOLE, Deed::Forgot(Box::new(row.clone())));
        crawler.core.scope.forgotten.put(row);
    }
}
