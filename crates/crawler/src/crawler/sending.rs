//! Which orders may leave now. Choose late: a page is chosen when its visit can really be sent.

use vernal_frontier::Waiting;
use vernal_model::{
    Deed, Moment, Order, OrderId, OrderKind, Outcome, Page, PageKey, Partition as PartitionId, Refusal, Report, Site,
    Span, Url, Validators,
};

use super::{Asked, Crawler, DISK_CHECK_EVERY, InFlight, WHOLE};
use crate::Result;
use crate::coordinator::{Coordinator, Lane};
use crate::partition::Partition;
use crate::refresh_view::Facts;
use crate::robots_book::Gate;

/// Candidates looked at for one order: each turned down leaves a deed or a hold behind, so this only bounds one tick.
const LOOKS_PER_ORDER: usize = 64;

/// A site that waits for another one looks again after this.
const LOOK_AGAIN: Span = Span::from_millis(200);

/// A page that may be visited next.
enum Candidate {
    First(Box<Waiting>),
    Again { page: Box<Page>, retry: bool },
}

impl Crawler {
    /// The orders that may leave now.
    pub fn tick(&mut self, now: Moment) -> Result<Vec<Order>> {
        self.begin(now);
        if self.group.is_full(self.settings.group) {
            self.commit(now)?;
        }
        self.check_disk(now)?;
        let mut orders = Vec::new();
        if self.paused || self.disk_full {
            return Ok(orders);
        }
        self.coordinator.account.fill(&self.settings.budget, self.held(), now);
        self.feed_frontier(now)?;
        let mut looks = 0;
        let orders_max = self.settings.visits_max.unwrap_or(u64::MAX);
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
        }
    }

    fn check_disk(&mut self, now: Moment) -> Result<()> {
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
        let share = Coordinator::discovery_share(self.waiting(), self.held());
        let first = self.coordinator.lane(share);
        let second = if first == Lane::New { Lane::Due } else { Lane::New };
        for lane in [first, second] {
            if !self.coordinator.can_spend(lane) {
                continue;
            }
            let candidate = match lane {
                Lane::New => self.new_candidate(now)?,
                Lane::Due => self.due_candidate(now)?,
            };
            if let Some(candidate) = candidate {
                return Ok(Some((lane, candidate)));
            }
        }
        Ok(None)
    }

    fn new_candidate(&mut self, now: Moment) -> Result<Option<Candidate>> {
        if !self.may_discover() {
            return Ok(None);
        }
        if let Some(key) = self.next_retry(Lane::New, now) {
            return self.again(key, true, now);
        }
        for step in 0..self.partitions.len() {
            let index = (self.turn + step) % self.partitions.len();
            if !self.is_lively(index) {
                continue;
            }
            let partition = &mut self.partitions[index];
            if let Some(waiting) = partition.next_new(now) {
                self.turn = index + 1;
                return Ok(Some(Candidate::First(Box::new(waiting))));
            }
        }
        Ok(None)
    }

    fn next_retry(&mut self, lane: Lane, now: Moment) -> Option<PageKey> {
        let bits = self.lively;
        let lively = self.partitions.iter_mut().enumerate().filter(|(index, _)| bits >> index & 1 == 1);
        lively.map(|(_, partition)| partition).find_map(|partition| partition.next_retry(lane, now))
    }

    fn due_candidate(&mut self, now: Moment) -> Result<Option<Candidate>> {
        if let Some(key) = self.next_retry(Lane::Due, now) {
            return self.again(key, true, now);
        }
        if self.chosen.is_empty() {
            self.choose(now);
        }
        while let Some(key) = self.chosen.pop() {
            if !self.partition(key.partition).may_ask(key, now) {
                self.partition(key.partition).policy.put_back(key);
                continue;
            }
            self.charge(key.partition);
            return self.again(key, false, now);
        }
        Ok(None)
    }

    /// A visit to a held page of one partition: the others are owed one by their share of the held pages.
    fn charge(&mut self, id: PartitionId) {
        self.uncredited += 1.0;
        self.partition(id).credit -= 1.0;
    }

    /// Gives the partitions what they are owed for the visits since last time.
    fn credit(&mut self) {
        let each = std::mem::take(&mut self.uncredited) / self.held().max(1) as f64;
        for partition in &mut self.partitions {
            partition.credit += partition.held as f64 * each;
        }
    }

    /// Asks the policies, the partition that is owed the most visits first.
    fn choose(&mut self, now: Moment) {
        let left = self.coordinator.visits_left(Lane::Due).min(self.settings.concurrency - self.in_flight.len());
        if left == 0 || self.held() == 0 {
            return;
        }
        self.credit();
        let mut order: Vec<usize> = (0..self.partitions.len()).filter(|&at| self.partitions[at].held > 0).collect();
        order.sort_by(|&a, &b| self.partitions[b].credit.total_cmp(&self.partitions[a].credit).then(a.cmp(&b)));
        for index in order {
            let facts = self.facts(&self.partitions[index], left);
            let mut chance = self.chance.numbered(self.next_order).numbered(index as u64);
            let partition = &mut self.partitions[index];
            let (policy, view) = partition.policy_and_view(facts, now);
            let mut chosen = policy.choose(&view, now, &mut chance);
            if chosen.is_empty() {
                continue;
            }
            chosen.reverse();
            self.chosen = chosen;
            return;
        }
    }

    fn again(&mut self, key: PageKey, retry: bool, now: Moment) -> Result<Option<Candidate>> {
        if self.group.touches(key) {
            self.commit(now)?;
        }
        let page = self.reader.page(key)?;
        Ok(page.map(|page| Candidate::Again { page: Box::new(page), retry }))
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
        let site = url.site();
        if let Some(until) = self.address_is_busy(&site, key.partition, now) {
            self.partition(key.partition).politeness.hold(&site, until);
            self.give_back(candidate, now);
            return Ok(None);
        }
        match self.robots.gate(&url, &self.reader, now)? {
            Gate::Open => Ok(Some(self.page_order(lane, candidate, now))),
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

    /// When the site's address may be asked, if not now.
    fn address_is_busy(&mut self, site: &Site, id: PartitionId, now: Moment) -> Option<Moment> {
        let address = self.partition(id).site_mut(site).address?;
        match self.coordinator.addresses.earliest(address) {
            None => Some(now + Span::from_millis(50)),
            Some(at) if at > now => Some(at),
            Some(_) => None,
        }
    }

    fn give_back(&mut self, candidate: Candidate, now: Moment) {
        match candidate {
            Candidate::First(waiting) => self.partition(waiting.page.partition).frontier.put_back(*waiting),
            Candidate::Again { page, retry: true } => {
                self.partition(page.key.partition).retries.place_now(&page, now);
            }
            Candidate::Again { page, retry: false } => self.partition(page.key.partition).policy.put_back(page.key),
        }
    }

    fn page_order(&mut self, lane: Lane, candidate: Candidate, now: Moment) -> Order {
        let (key, url, validators, held, what) = match candidate {
            Candidate::First(waiting) => {
                (waiting.page, waiting.url.clone(), Validators::default(), None, Asked::First(waiting))
            }
            Candidate::Again { page, .. } => {
                // Validators are only worth sending when we hold the body that they speak of.
                let validators = page.version.map(|_| page.validators.clone()).unwrap_or_default();
                let held = page.version.map(|version| version.payload);
                (page.key, page.url.clone(), validators, held, Asked::Again(page))
            }
        };
        self.out.insert(key);
        if what.may_become_held() {
            self.new_in_flight += 1;
            self.partition(key.partition).first_visit_began(&url.site());
        }
        self.send(
            lane,
            key.partition,
            Order { id: OrderId(0), page: key, url, kind: OrderKind::Page, validators, held },
            what,
            now,
        )
    }

    /// The robots.txt of the URL's origin, which may lie elsewhere after redirects; then that site must be free too.
    fn robots_order(&mut self, lane: Lane, url: &Url, robots_url: Url, now: Moment) -> Option<Order> {
        let asked_site = robots_url.site();
        let id = self.home_of(&robots_url);
        let home = url.site();
        if !self.partition(id).politeness.may_ask(&asked_site, now) {
            let free = self.partition(id).politeness.earliest(&asked_site);
            // While that site is asked something, or is closed, nobody can say when it will be free.
            let until = if free == Moment::NEVER { now + LOOK_AGAIN } else { free.max(now + LOOK_AGAIN) };
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
        };
        Some(self.send(lane, id, order, Asked::Robots { origin, home }, now))
    }

    fn send(&mut self, lane: Lane, id: PartitionId, order: Order, what: Asked, now: Moment) -> Order {
        self.next_order += 1;
        let order = Order { id: OrderId(self.next_order), ..order };
        let site = order.url.site();
        self.coordinator.sent(lane);
        let partition = self.partition(id);
        partition.politeness.asked(&site, now);
        let address = partition.site_mut(&site).address;
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
        let validators = Validators::default();
        let order = Order { id: OrderId(0), page: key, url, kind: OrderKind::Page, validators, held: None };
        let report = Report::unanswered(order, now, now, Outcome::Refused(refusal));
        self.take_page(what, report, None)
    }

    /// The numbers that a policy of this partition may see.
    pub(super) fn facts(&self, partition: &Partition, left: usize) -> Facts {
        let held = self.held();
        let per_day = self.coordinator.refresh_per_day(self.waiting(), held, self.mean_visit_bytes());
        // A process that ends when nothing is due takes a page up only when its turn has come: when the budget would have
        // come round to it. One that goes on for ever spends its budget as it flows, on the pages whose turn is next.
        let turn = Span::from_secs_f64(held as f64 / per_day.max(f64::MIN_POSITIVE) * 86_400.0);
        let refresh_min = self.settings.refresh_min;
        Facts {
            visits_left: left,
            refresh_min: if self.settings.once { refresh_min.max(turn) } else { refresh_min },
            held: partition.held,
            any_site: false,
            per_day: if held == 0 { 0.0 } else { per_day * partition.held as f64 / held as f64 },
        }
    }

    fn mean_visit_bytes(&self) -> f64 {
        let totals = self.reader.totals();
        totals.wire_bytes as f64 / totals.visits.max(1) as f64
    }
}
