//! The wiring: reports, ticks and acts come in, orders go out. The parts do the work.

use std::sync::Arc;

use vernal_model::{BudgetAccount, Chance, Deed, Moment, Order, Page, PageState, Report, Site};
use vernal_repository::{Reader, Repository};

use crate::coordinator::{Coordinator, Lane};
use crate::core::Core;
use crate::disk::DiskWatch;
use crate::forget::{Forgetting, Forgotten, forget_on};
use crate::hints::Hints;
use crate::in_flight::{Asked, InFlight};
use crate::intake::discovery::Recent;
use crate::intake::{Appliers, Arrived, Intake, Restored, take_robots};
use crate::partition::{Facts, Partitions};
use crate::passes::link_scores::Weighed;
use crate::passes::topics::TopicWork;
use crate::passes::{Pass, Passes};
use crate::plan::Planner;
use crate::plan::candidates::Candidate;
use crate::plan::orders::Answer;
use crate::plan::sieve;
use crate::scope::Scope;
use crate::sites::{Sites, conduct};
use crate::work::{WHOLE, Work};
use crate::{DiskFreeMin, Error, Result, Settings};

/// Candidates examined for one order. A rejected candidate leaves a deed or a hold, so this limit only bounds one tick.
const LOOKS_PER_ORDER: usize = 64;

/// A deterministic state machine over a repository. The live loop, the simulator and the tests call [`Crawler::step`],
/// carry out the orders, and hand in the reports.
pub struct Crawler {
    pub(crate) core: Core,
    pub(crate) plan: Planner,
    pub(crate) intake: Intake,
    pub(crate) hints: Hints,
    pub(crate) passes: Passes,
    pub(crate) disk: DiskWatch,
    /// Whether this process has made a step.
    pub(crate) started: bool,
    pub(crate) paused: bool,
    /// The digest of the promises that the policies were told.
    pub(crate) promised: u64,
    pub(crate) forgetting: Forgetting,
}

impl Crawler {
    /// Restores the state from the tables. Nothing is written before the first step or act.
    pub fn open(repository: Repository, settings: Settings, now: Moment) -> Result<Crawler> {
        let settings = Arc::new(settings);
        let reader = repository.reader();
        let partitions = Partitions::new(&settings, now)?;
        let forgotten = reader.forgotten()?;
        let has_unerased = forgotten.iter().any(|row| row.bars() && !row.is_erased);
        let core = Core {
            work: Work::new(Box::new(repository), reader.clone(), settings.group),
            coordinator: Coordinator::new(&settings, account(&settings, &reader, &partitions, now)),
            partitions,
            scope: Scope::new(&settings, reader.seeds()?)?,
            sites: Sites::new(&settings),
            in_flight: InFlight::default(),
            recent: Recent::new(),
            site_ran_dry: false,
            chance: Chance::new(settings.chance).stream("crawler"),
            settings: Arc::clone(&settings),
        };
        let mut crawler = Crawler {
            core,
            plan: Planner::default(),
            intake: Intake::default(),
            hints: Hints::default(),
            passes: Passes::new(&reader, now)?,
            disk: DiskWatch::new(settings.disk_free_min),
            started: false,
            paused: reader.paused_all(),
            promised: 0,
            forgetting: Forgetting::new(has_unerased, !reader.to_rewrite()?.is_done()),
        };
        crawler.core.scope.forgotten = Forgotten::new(forgotten);
        crawler.recall(&reader, now)?;
        crawler.promised = crawler.core.scope.promise_digest();
        Ok(crawler)
    }

    fn recall(&mut self, reader: &Reader, now: Moment) -> Result<()> {
        let Crawler { core, plan, hints, passes, .. } = self;
        core.partitions.recall_sites(reader);
        for page in reader.pages_after(None) {
            let mut page = page?;
            page.importance = core.scope.importance_of(&core.work, page.key, &page.url, page.depth)?;
            let promise = core.scope.promise_of(&page.url, page.depth);
            let partition = core.partitions.of_mut(page.key.partition);
            // A page that was only imported is visited once the scope has it.
            if page.visits > 0 || core.scope.contains(&page.url, page.depth) {
                partition.recall_page(&page, promise, now);
            }
            if page.state == PageState::Held {
                let site = partition.sites.site_of_url(page.key, &page.url);
                partition.count_held(&site, 1);
            }
            plan.discovery_pages.recall(&page, core.settings.once);
        }
        core.partitions.recall_numbers(reader);
        core.partitions.note_active();
        passes.topics.recall(core)?;
        hints.recall(core, now)?;
        hints.recall_subscriptions(core, now);
        Ok(())
    }

    /// One step: returns the orders that may leave now, and gives each pass that is due one turn.
    pub fn step(&mut self, now: Moment) -> Result<Vec<Order>> {
        self.renew_promises(now)?;
        forget_on(self, now)?;
        let orders = self.tick(now)?;
        self.run_passes(now)?;
        Ok(orders)
    }

    /// The orders that may leave now.
    fn tick(&mut self, now: Moment) -> Result<Vec<Order>> {
        self.begin(now);
        self.plan.begin_tick();
        if self.core.work.is_full() {
            self.commit(now)?;
        }
        self.disk.check(&self.core.work, now)?;
        let mut orders = Vec::new();
        if self.paused || self.disk.is_full() {
            return Ok(orders);
        }
        self.fill_account(now);
        if self.plan.sieve.next(&self.core).is_some_and(|next| next <= now) {
            self.commit(now)?;
            self.plan.sieve(&mut self.core, now)?;
            self.commit(now)?;
            self.plan.sieved(&mut self.core);
        }
        self.core.call_up();
        sieve::draw(&mut self.core, now)?;
        let plan = &self.plan;
        self.hints.place_files(&mut self.core, &|key| plan.is_chosen(key), now)?;
        self.plan.tables.release_due(&mut self.core.partitions, now);
        while self.may_send()
            && let Some(order) = self.hints.subscription_order(&mut self.core, now)?
        {
            orders.push(order);
        }
        let mut looks = 0;
        while self.may_send() && looks < LOOKS_PER_ORDER * (orders.len() + 1) {
            looks += 1;
            let Some((lane, candidate)) = self.plan.candidate(&mut self.core, &self.hints, now)? else { break };
            orders.extend(self.order(lane, candidate, now)?);
        }
        Ok(orders)
    }

    fn begin(&mut self, now: Moment) {
        if std::mem::replace(&mut self.started, true) {
            return;
        }
        let Core { work, settings, .. } = &mut self.core;
        work.push(WHOLE, Deed::Started { moment: now });
        if let Some(origin) = settings.time_origin.filter(|&origin| work.acknowledged().time_origin() != Some(origin)) {
            work.push(WHOLE, Deed::Clocked(origin));
        }
    }

    fn fill_account(&mut self, now: Moment) {
        let Core { coordinator, partitions, settings, .. } = &mut self.core;
        let paid_for = coordinator.pages_paid_for(partitions.held());
        coordinator.account.fill(&settings.budget, paid_for, partitions.saves_up(), now);
        coordinator.release(now);
    }

    /// Whether another order may leave.
    fn may_send(&self) -> bool {
        let Core { in_flight, settings, .. } = &self.core;
        in_flight.len() < settings.concurrency && in_flight.orders() < settings.visits_max.unwrap_or(u64::MAX)
    }

    fn order(&mut self, lane: Lane, candidate: Candidate, now: Moment) -> Result<Option<Order>> {
        match self.plan.order(&mut self.core, &self.hints, lane, candidate, now)? {
            Answer::Order(order) => Ok(Some(order)),
            Answer::NotNow => Ok(None),
            Answer::Refused(asked, report) => {
                self.take_page(asked, *report, None)?;
                Ok(None)
            }
        }
    }

    /// Gives each pass that is due one turn.
    fn run_passes(&mut self, now: Moment) -> Result<()> {
        if !self.started || self.paused || self.disk.is_full() {
            return Ok(());
        }
        for place in 0..self.passes.all().len() {
            let pass = self.passes.all()[place];
            if !pass.is_due(&self.core, now) {
                continue;
            }
            if pass.reads_tables() {
                self.commit(now)?;
            }
            let pass = self.passes.at(place);
            pass.turn(&mut self.core, &mut self.plan, now)?;
            if pass.reads_tables() || pass.has_ended() || self.core.work.is_full() {
                self.commit(now)?;
            }
            self.passes.at(place).checkpoint(&self.core)?;
            self.passes.hand_over();
        }
        Ok(())
    }

    /// Handles a report.
    pub fn report(&mut self, report: Report, now: Moment) -> Result<()> {
        let core = &mut self.core;
        let stray = Error::StrayReport(report.order.id.0);
        let request = core.in_flight.ended(report.order.id).ok_or(stray)?;
        core.coordinator.weighed(report.wire_bytes);
        if request.asked.may_become_held() {
            core.partitions.of_mut(report.order.page.partition).first_visit_ended(&request.site);
        }
        conduct::answered(core, &request, &report, now);
        match request.asked {
            Asked::Robots { origin, home, for_visit } => {
                if core.scope.forgotten.entry_of(&report.order.url).is_none() {
                    take_robots(core, (&origin, &home), &report, None, now)?;
                }
                if for_visit {
                    keep_visit(core, &home, now);
                }
            }
            Asked::Subscription { file } => self.hints.take_subscription(core, file, &report, now),
            page => self.take_page(page, report, None)?,
        }
        if self.core.work.is_full() {
            self.commit(now)?;
        }
        Ok(())
    }

    /// Works out what the report of a page changes, and applies it.
    pub(crate) fn take_page(&mut self, asked: Asked, report: Report, restored: Option<&Restored<'_>>) -> Result<()> {
        let (before, waiting): (Option<Page>, _) = match asked {
            Asked::First(waiting) => (None, Some(waiting)),
            Asked::Again(page) => (Some(*page), None),
            Asked::Robots { .. } | Asked::Subscription { .. } => return Ok(()),
        };
        let second_look = self.plan.second_looks.ended(report.order.page);
        if self.core.scope.forgotten.entry_of(&report.order.url).is_some() {
            return Ok(()); // It was forgotten while it was asked for: nothing of the answer is kept.
        }
        let arrived = Arrived { report, before, waiting, second_look, restored };
        let Some(effects) = self.intake.effects(&mut self.core, arrived)? else { return Ok(()) };
        let Crawler { core, plan, hints, passes, .. } = self;
        Appliers { core, plan, hints, topics: &mut passes.topics }.apply(effects)
    }

    pub fn has_uncommitted(&self) -> bool {
        !self.core.work.is_empty()
    }

    /// Writes, syncs and applies all pending deeds. Nothing else commits.
    pub fn commit(&mut self, now: Moment) -> Result<()> {
        let Core { coordinator, work, .. } = &mut self.core;
        if std::mem::take(&mut coordinator.account_moved) {
            work.push(WHOLE, Deed::Spent { account: coordinator.account });
        }
        self.hints.flush(&mut self.core);
        self.core.work.commit(now)?;
        self.core.partitions.note_active();
        Ok(())
    }

    /// Shuts down cleanly.
    pub fn close(mut self, now: Moment) -> Result<()> {
        self.core.remember_sites();
        self.commit(now)?;
        self.core.work.close()
    }

    /// Whether nothing waits, nothing is under way and nothing is due. What waits for a site that no request of this process
    /// has reached does not count.
    pub fn is_idle(&self, now: Moment) -> bool {
        let Crawler { core, plan, passes, .. } = self;
        let may_discover = core.may_discover();
        let nothing_waits = core.in_flight.is_empty()
            && !plan.has_chosen()
            && core.work.found() == 0
            && !passes.scope_rescan.waits(core)
            && !passes.topics.is_due(core, now)
            && (plan.wanted.is_empty() || !may_discover);
        if !nothing_waits {
            return false;
        }
        let all = core.all_facts(1, core.partitions.sums());
        core.partitions.iter().all(|partition| {
            let due = partition.next_due(Facts { any_site: true, ..all.of(partition) }, now);
            let nothing_due = due.is_none_or(|due| due > now);
            let nothing_new = !partition.has_reachable_urls() && !partition.has_quick_retries(Lane::New);
            (nothing_new || !may_discover) && !partition.has_quick_retries(Lane::Due) && nothing_due
        })
    }

    /// When a step is worth calling again if no report comes first.
    pub fn next_wake(&self, now: Moment) -> Option<Moment> {
        self.next_wake_or_soon(now, now)
    }

    /// Like `next_wake`, for a caller that will not step before `soon`: any wake up to then will do.
    pub fn next_wake_or_soon(&self, now: Moment, soon: Moment) -> Option<Moment> {
        if self.paused {
            return None;
        }
        let Crawler { core, plan, hints, passes, disk, .. } = self;
        let mut wakes: Vec<Moment> = Vec::new();
        wakes.extend(core.coordinator.next_money(core.partitions.held(), now));
        wakes.extend(core.coordinator.next_release());
        wakes.extend(plan.second_looks.next());
        wakes.extend(hints.subscriptions.next());
        wakes.extend(plan.tables.next());
        wakes.extend(plan.sieve.next(core));
        wakes.extend(self.forgetting.next(now));
        if disk.is_full() {
            wakes.push(disk.next());
        } else {
            wakes.extend(passes.next(core, now));
            wakes.extend(plan.wanted.next().filter(|_| core.may_discover()));
        }
        wakes.retain(|&wake| wake > now);
        if let Some(first) = wakes.iter().copied().min().filter(|&first| first <= soon) {
            return Some(first);
        }
        let all = core.all_facts(1, core.partitions.sums());
        for partition in core.partitions.active() {
            wakes.extend(partition.sites.politeness.next_free(now));
            wakes.extend(partition.retries.first());
            wakes.extend(partition.next_due(all.of(partition), now));
        }
        wakes.into_iter().filter(|&wake| wake > now).min()
    }

    /// The work that this process has done in passes over all links.
    pub fn weighed(&self) -> Weighed {
        self.passes.link_scores.weighed()
    }

    /// The work that this process has done in topic passes.
    pub fn topic_work(&self) -> TopicWork {
        self.passes.topics.work()
    }

    pub fn reader(&self) -> Reader {
        self.core.work.acknowledged().clone()
    }

    pub fn settings(&self) -> &Settings {
        &self.core.settings
    }

    /// Changes the least free disk space; below it fetching stops.
    pub fn set_disk_free_min(&mut self, least: DiskFreeMin) {
        self.disk.set_free_min(least);
    }

    /// For trials, which know the truth: sets how many pages are online. A percentage of the held pages counts no more
    /// than these.
    pub fn set_pages_online(&mut self, pages: u64) {
        self.core.coordinator.pages_online = Some(pages);
    }
}

/// The budget account as it was journalled last.
fn account(settings: &Settings, reader: &Reader, partitions: &Partitions, now: Moment) -> BudgetAccount {
    let mut account = reader.account();
    let begun = BudgetAccount::begun(&settings.budget, reader.totals().held, now);
    if account.filled == Moment::EPOCH {
        account = begun;
    }
    // The budget may have another unit now: the balance, positive or negative, is cut to what the account can hold.
    let most = begun.in_hand * (partitions.saves_up().secs_f64() / BudgetAccount::IN_HAND_MAX.secs_f64());
    account.in_hand = account.in_hand.clamp(-begun.in_hand, most);
    account
}

/// Reserves the visit that waited for this site's robots.txt until the site is free, at most for the usual delay.
fn keep_visit(core: &mut Core, home: &Site, now: Moment) {
    let home_id = core.partitions.home_of_site(home);
    let earliest = home_id.map(|id| core.partitions.of(id).sites.politeness.earliest(home));
    let free = earliest.unwrap_or(now).min(now + core.settings.delay);
    core.coordinator.robots_answered(free);
}

#[cfg(test)]
mod tests;
