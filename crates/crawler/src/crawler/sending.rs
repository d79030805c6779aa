//! Which orders may leave now. Choose late: a page is chosen when its visit can really be sent.

use vernal_frontier::Waiting;
use vernal_model::{
    Deed, Found, Moment, Order, OrderId, OrderKind, Outcome, Page, PageKey, PageState, Partition as PartitionId,
    Refusal, Report, Site, Span, Url, Validators, Via,
};

use super::choosing::saves_up;
use super::{Asked, Crawler, DISK_CHECK_EVERY, InFlight, Sums, WHOLE, places};
use crate::coordinator::{Coordinator, Lane};
use crate::intake::page_life::{Hands, hands};
use crate::robots_book::Gate;
use crate::{DiskFreeMin, Result};

/// Candidates looked at for one order: each turned down leaves a deed or a hold behind, so this only bounds one tick.
const LOOKS_PER_ORDER: usize = 64;

/// A site that waits for another one looks again after this.
pub(super) const LOOK_AGAIN: Span = Span::from_millis(200);

/// The part of the visits to held pages that goes to pages which could not be read the last time, while others are due:
/// where many pages go away, their going would else be all that is seen. A few visits may be saved up.
const RETRIES_SHARE: f64 = 0.25;
const RETRIES_SAVED_MAX: f64 = 8.0;

/// A page that may be visited next.
pub(super) enum Candidate {
    First(Box<Waiting>),
    Again { page: Box<Page>, by: Chooser },
}

/// Who chose a page that was visited before.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Chooser {
    Policy,
    /// It could not be read the last time.
    Retry,
    Signposts,
    /// Second looks, samples and passes over all links.
    Other,
}

impl Crawler {
    /// The orders that may leave now.
    pub fn tick(&mut self, now: Moment) -> Result<Vec<Order>> {
        self.begin(now);
        self.ticks += 1;
        if self.group.is_full(self.settings.group) {
            self.commit(now)?;
        }
        self.check_disk(now)?;
        let mut orders = Vec::new();
        if self.paused || self.disk_full {
            return Ok(orders);
        }
        let paid_for = self.coordinator.pages_paid_for(self.held());
        self.coordinator.account.fill(&self.settings.budget, paid_for, saves_up(&self.partitions), now);
        self.coordinator.release(now);
        self.feed_frontier(now)?;
        self.place_files(now)?;
        self.release_companions(now);
        let mut looks = 0;
        let orders_max = self.settings.visits_max.unwrap_or(u64::MAX);
        while self.in_flight.len() < self.settings.concurrency && self.next_order < orders_max {
            let Some(order) = self.subscription_order(now)? else { break };
            orders.push(order);
        }
        while self.in_flight.len() < self.settings.concurrency
            && self.next_order < orders_max
            && looks < LOOKS_PER_ORDER * (orders.len() + 1)
        {
            looks += 1;
            let Some((lane, candidate)) = self.candidate(now)? else { break };
            if let Some(order) = self.order(lane, candidate, now)? {
                orders.push(order);
            }
        }
        Ok(orders)
    }

    fn begin(&mut self, now: Moment) {
        if !self.started {
            self.started = true;
            self.group.push(WHOLE, Deed::Started { moment: now });
            if let Some(origin) = self.settings.time_origin.filter(|&origin| self.reader.time_origin() != Some(origin))
            {
                self.group.push(WHOLE, Deed::Clocked(origin));
            }
        }
    }

    fn check_disk(&mut self, now: Moment) -> Result<()> {
        if self.settings.disk_free_min == DiskFreeMin::NOTHING {
            self.disk_full = false;
            return Ok(());
        }
        if now.since(self.disk_checked) < DISK_CHECK_EVERY && self.disk_checked != Moment::EPOCH {
            return Ok(());
        }
        self.disk_checked = now;
        let disk = self.reader.disk_free()?;
        let limit = self.settings.disk_free_min;
        let least = limit.bytes.min((disk.total_bytes as f64 * limit.share) as u64);
        self.disk_full = disk.free_bytes < least;
        Ok(())
    }

    /// The next page worth a visit, from the lane that is behind its share or else from the other.
    fn candidate(&mut self, now: Moment) -> Result<Option<(Lane, Candidate)>> {
        let sums = self.sums();
        let share = Coordinator::discovery_share(sums.waiting, sums.held);
        let first = self.coordinator.lane(share);
        let second = if first == Lane::New { Lane::Due } else { Lane::New };
        for lane in [first, second] {
            if !self.coordinator.can_spend(lane) {
                continue;
            }
            let candidate = match lane {
                Lane::New => self.new_candidate(sums, now)?,
                Lane::Due => self.due_candidate(sums, now)?,
            };
            if let Some(candidate) = candidate {
                if lane == Lane::Due {
                    self.samples.count_visit();
                }
                return Ok(Some((lane, candidate)));
            }
        }
        Ok(None)
    }

    fn new_candidate(&mut self, sums: Sums, now: Moment) -> Result<Option<Candidate>> {
        if !self.may_discover_beside(sums.held) {
            return Ok(None);
        }
        if let Some(candidate) = self.retry_candidate(Lane::New, now)? {
            return Ok(Some(candidate));
        }
        if let Some(candidate) = self.wanted_candidate(now)? {
            return Ok(Some(candidate));
        }
        if self.wanted.alone && !self.wanted.is_empty() {
            return Ok(None);
        }
        let turn = self.turn % self.partitions.len();
        // From the partition whose turn it is to the last, then from the first.
        for step in places(self.lively.rotate_right(turn as u32)) {
            let index = (turn + step) % self.partitions.len();
            let partition = &mut self.partitions[index];
            if let Some(waiting) = partition.next_new(now) {
                self.turn = index + 1;
                return Ok(Some(Candidate::First(Box::new(waiting))));
            }
        }
        Ok(None)
    }

    /// The most important URL that the last pass over all links named and whose site is free.
    fn wanted_candidate(&mut self, now: Moment) -> Result<Option<Candidate>> {
        while !self.wanted.is_empty() {
            let partitions = &self.partitions;
            let earliest = |key: PageKey, site: &Site| partitions[usize::from(key.partition.0)].earliest_new(site);
            let Some((key, waiting)) = self.wanted.take(now, earliest) else { return Ok(None) };
            if let Some(waiting) = waiting {
                return Ok(Some(Candidate::First(waiting)));
            }
            if self.out.contains(&key) {
                continue;
            }
            match self.reader.page(key)? {
                None => {
                    let partition = &mut self.partitions[usize::from(key.partition.0)];
                    if let Some(waiting) = partition.take_waiting(key, &self.reader)? {
                        return Ok(Some(Candidate::First(Box::new(waiting))));
                    }
                }
                Some(page) if page.state == PageState::Left => {
                    return Ok(Some(Candidate::Again { page: Box::new(page), by: Chooser::Other }));
                }
                Some(_) => {}
            }
        }
        Ok(None)
    }

    /// The next page that is tried again. One that left the collection meanwhile, or was read again, is not.
    fn retry_candidate(&mut self, lane: Lane, now: Moment) -> Result<Option<Candidate>> {
        while let Some(key) = self.next_retry(lane, now) {
            let candidate = self.again(key, Chooser::Retry, now)?;
            let is_wanted = |candidate: &Candidate| match candidate {
                Candidate::Again { page, .. } => matches!(hands(page), Hands::Retry { .. }),
                Candidate::First(_) => true,
            };
            if candidate.as_ref().is_some_and(is_wanted) {
                return Ok(candidate);
            }
        }
        Ok(None)
    }

    /// Where none was due, nobody is asked again within the tick, unless a page came back meanwhile.
    fn next_retry(&mut self, lane: Lane, now: Moment) -> Option<PageKey> {
        if self.retries_in_vain[lane as usize] == Some(self.ticks) {
            return None;
        }
        let found = places(self.lively).find_map(|index| self.partitions[index].next_retry(lane, now));
        if found.is_none() && !self.lively().any(|partition| partition.retries.is_due(lane, now)) {
            self.retries_in_vain[lane as usize] = Some(self.ticks);
        }
        found
    }

    fn due_candidate(&mut self, sums: Sums, now: Moment) -> Result<Option<Candidate>> {
        self.retries_saved = (self.retries_saved + RETRIES_SHARE).min(RETRIES_SAVED_MAX);
        if self.retries_saved >= 1.0
            && let Some(candidate) = self.retry_candidate(Lane::Due, now)?
        {
            self.retries_saved -= 1.0;
            return Ok(Some(candidate));
        }
        if let Some(key) = self.second_look(now) {
            return self.again(key, Chooser::Other, now);
        }
        if let Some(key) = self.sample(now)? {
            return self.again(key, Chooser::Other, now);
        }
        if let Some(candidate) = self.signpost_candidate(now)? {
            return Ok(Some(candidate));
        }
        if self.chosen.is_empty() {
            self.choose(sums, now);
        }
        while let Some(key) = self.chosen.pop() {
            let Some(key) = self.table_first(key, now)? else { continue };
            if !self.partition(key.partition).may_ask(key, now) {
                self.partition(key.partition).put_back(key);
                continue;
            }
            return self.again(key, Chooser::Policy, now);
        }
        // What the policy leaves.
        self.retry_candidate(Lane::Due, now)
    }

    pub(super) fn again(&mut self, key: PageKey, by: Chooser, now: Moment) -> Result<Option<Candidate>> {
        if self.group.touches(key) {
            self.commit(now)?;
        }
        let page = self.reader.page(key)?;
        Ok(page.map(|page| Candidate::Again { page: Box::new(page), by }))
    }

    /// Turns a candidate into an order, if nothing stands in the way; what does is noted, and the page waits.
    fn order(&mut self, lane: Lane, candidate: Candidate, now: Moment) -> Result<Option<Order>> {
        let (key, url) = match &candidate {
            Candidate::First(waiting) => (waiting.page, waiting.url.clone()),
            Candidate::Again { page, .. } => (page.key, page.url.clone()),
        };
        if self.out.contains(&key) {
            return Ok(None);
        }
        if let Some(words) = self.trapped_since(&candidate, &url) {
            self.find_without_session(&candidate, &url);
            self.refuse(candidate, Refusal::Trap(words), now)?;
            return Ok(None);
        }
        let site = self.partition(key.partition).site_of_url(key, &url);
        if let Some(until) = self.address_is_busy(&site, key.partition, now) {
            self.partition(key.partition).politeness.hold(&site, until);
            self.give_back(candidate, now);
            return Ok(None);
        }
        match self.robots.gate(&url, &self.reader, now)? {
            Gate::Open => Ok(Some(self.page_order(lane, candidate, url, site, now))),
            Gate::Forbidden => {
                self.refuse(candidate, Refusal::Robots, now)?;
                Ok(None)
            }
            Gate::Unreachable { until, patient: true } => {
                self.partition(key.partition).politeness.hold(&site, until);
                self.give_back(candidate, now);
                Ok(None)
            }
            Gate::Unreachable { patient: false, .. } => {
                self.refuse(candidate, Refusal::RobotsUnreachable, now)?;
                Ok(None)
            }
            Gate::Asking => {
                // The answer reopens the site; until then a short hold keeps this loop from looking again.
                self.partition(key.partition).politeness.hold(&site, now + LOOK_AGAIN);
                self.give_back(candidate, now);
                Ok(None)
            }
            Gate::Ask(robots_url) => {
                self.give_back(candidate, now);
                Ok(self.robots_order(lane, &url, robots_url, now))
            }
        }
    }

    /// Why a page that we never held lies in a trap that was understood after it was admitted. Seeds lie in none.
    fn trapped_since(&self, candidate: &Candidate, url: &Url) -> Option<String> {
        let (id, was_held) = match candidate {
            Candidate::First(waiting) => (waiting.page.partition, false),
            Candidate::Again { page, .. } => (page.key.partition, page.version.is_some()),
        };
        let words = self.partitions[usize::from(id.0)].traps.closes(url).filter(|_| !was_held)?;
        self.dispatcher.seed_at(url).is_none().then_some(words)
    }

    /// A URL that is not asked because of its session is found without it, like the target of a redirect.
    fn find_without_session(&mut self, candidate: &Candidate, url: &Url) {
        let (id, depth, found_on) = match candidate {
            Candidate::First(waiting) => (waiting.page.partition, waiting.depth, waiting.found_on),
            Candidate::Again { page, .. } => (page.key.partition, page.depth, page.found_on),
        };
        let Some(bare) = self.partition(id).traps.without_sessions(url) else { return };
        if self.dispatcher.in_scope(&bare, depth) {
            let found = Found { url: bare, via: Via::Redirect { hops: 1 }, depth, found_on, forward: 0 };
            self.group.push(id, Deed::Found { urls: vec![found], again: Vec::new() });
        }
    }

    /// When the site's address may be asked, if not now.
    pub(super) fn address_is_busy(&mut self, site: &Site, id: PartitionId, now: Moment) -> Option<Moment> {
        let address = self.partition(id).site_mut(site).profile.address?;
        match self.coordinator.addresses.earliest(address) {
            None => Some(now + Span::from_millis(50)),
            Some(at) if at > now => Some(at),
            Some(_) => None,
        }
    }

    fn give_back(&mut self, candidate: Candidate, now: Moment) {
        match candidate {
            Candidate::First(waiting) if self.partition(waiting.page.partition).is_taken(waiting.page) => {
                self.wanted.put_back(*waiting, now);
            }
            Candidate::First(waiting) => self.partition(waiting.page.partition).frontier.put_back(*waiting),
            // It stays where it is; the next pass may want it again.
            Candidate::Again { page, .. } if page.state == PageState::Left => {}
            Candidate::Again { page, by: Chooser::Retry } => {
                self.retries_in_vain = Default::default();
                self.partition(page.key.partition).retries.place_now(&page, now);
            }
            Candidate::Again { page, by } => {
                if by == Chooser::Signposts {
                    self.signposts.put_back(page.key);
                }
                self.samples.put_back(page.key);
                self.second_looks.put_back(page.key);
                self.partition(page.key.partition).put_back(page.key);
            }
        }
    }

    fn page_order(&mut self, lane: Lane, candidate: Candidate, url: Url, site: Site, now: Moment) -> Order {
        let (key, validators, held, what) = match candidate {
            Candidate::First(waiting) => (waiting.page, Validators::default(), None, Asked::First(waiting)),
            Candidate::Again { page, by } => {
                // Not before: a page whose robots.txt is asked for first would cost its partition two turns, and the visit
                // that was kept for it would go to another one, whose robots.txt is asked for in its place.
                if by == Chooser::Policy {
                    self.charge(page.key.partition);
                }
                // Validators are only worth sending when we hold the body that they speak of.
                let validators = page.version.map(|_| page.validators.clone()).unwrap_or_default();
                let held = page.version.map(|version| version.payload);
                (page.key, validators, held, Asked::Again(page))
            }
        };
        self.out.insert(key);
        if what.may_become_held() {
            self.new_in_flight += 1;
            self.partition(key.partition).first_visit_began(&site);
        }
        let order = Order { id: OrderId(0), page: key, url, kind: OrderKind::Page, validators, held, gap: Span::ZERO };
        self.send(lane, site, order, what, now)
    }

    /// The robots.txt of the URL's origin, which may lie elsewhere after redirects; then that site must be free too.
    pub(super) fn robots_order(&mut self, lane: Lane, url: &Url, robots_url: Url, now: Moment) -> Option<Order> {
        let asked_site = robots_url.site();
        let id = self.home_of(&robots_url);
        let home = url.site();
        let free = self.partition(id).politeness.earliest(&asked_site);
        let busy = self.address_is_busy(&asked_site, id, now);
        if free > now || busy.is_some() {
            // While that site is asked something, or is closed, nobody can say when it will be free.
            let until = if free == Moment::NEVER { now + LOOK_AGAIN } else { free.max(now + LOOK_AGAIN) };
            let until = busy.map_or(until, |busy| until.max(busy));
            let home_id = self.home_of(url);
            self.partition(home_id).politeness.hold(&home, until);
            return None;
        }
        let origin = url.origin();
        self.robots.asked(&origin);
        let order = Order {
            id: OrderId(0),
            page: PageKey::new(id, u32::MAX),
            url: robots_url,
            kind: OrderKind::Robots,
            validators: Validators::default(),
            held: None,
            gap: Span::ZERO,
        };
        let for_visit = self.coordinator.sent_for_robots(lane);
        Some(self.send(lane, asked_site, order, Asked::Robots { origin, home, for_visit }, now))
    }

    /// `site` is that of the order's URL.
    pub(super) fn send(&mut self, lane: Lane, site: Site, order: Order, what: Asked, now: Moment) -> Order {
        self.next_order += 1;
        if !matches!(what, Asked::Robots { .. }) {
            self.coordinator.sent(lane);
        }
        let next_order = self.next_order;
        let partition = self.partition(order.page.partition);
        let order = Order { id: OrderId(next_order), gap: partition.politeness.gap(&site), ..order };
        partition.politeness.asked(&site, now);
        let address = partition.site_mut(&site).profile.address;
        if let Some(address) = address {
            self.coordinator.addresses.asked(address, now);
        }
        self.in_flight.insert(order.id, InFlight { site, address, what });
        order
    }

    /// A page that we may not ask for: no request, but the visit book knows why.
    fn refuse(&mut self, candidate: Candidate, refusal: Refusal, now: Moment) -> Result<()> {
        let (key, url, what) = match candidate {
            Candidate::First(waiting) => (waiting.page, waiting.url.clone(), Asked::First(waiting)),
            Candidate::Again { page, .. } => (page.key, page.url.clone(), Asked::Again(page)),
        };
        self.out.insert(key);
        self.retries_in_vain = Default::default();
        let validators = Validators::default();
        let order =
            Order { id: OrderId(0), page: key, url, kind: OrderKind::Page, validators, held: None, gap: Span::ZERO };
        let report = Report::unanswered(order, now, now, Outcome::Refused(refusal));
        self.take_page(what, report, None)
    }
}
