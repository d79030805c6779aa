//! Turns a candidate into an order, if nothing prevents it; otherwise the reason is noted, and the page waits.

use vernal_model::{
    Found, Moment, Order, OrderId, OrderKind, Outcome, PageKey, Refusal, Report, Site, SiteListKind, Span, Url,
    Validators, Via,
};

use super::Planner;
use super::candidates::{Candidate, Chooser};
use crate::Result;
use crate::coordinator::Lane;
use crate::core::Core;
use crate::hints::Hints;
use crate::in_flight::{Asked, Request};
use crate::sites::robots::Gate;

/// The wait of a site that depends on another site, before it is checked again.
pub(crate) const LOOK_AGAIN: Span = Span::from_millis(200);

/// The result for a candidate.
pub(crate) enum Answer {
    Order(Order),
    /// The page may not be requested: no request leaves, but the visit book records the reason.
    Refused(Asked, Box<Report>),
    /// The page waits.
    NotNow,
}

impl Planner {
    /// Turns a candidate into an order, if nothing prevents it.
    pub fn order(
        &mut self,
        core: &mut Core,
        hints: &Hints,
        lane: Lane,
        candidate: Candidate,
        now: Moment,
    ) -> Result<Answer> {
        let (key, url) = match &candidate {
            Candidate::First(waiting) => (waiting.page, waiting.url.clone()),
            Candidate::Again { page, .. } => (page.key, page.url.clone()),
        };
        if core.in_flight.has(key) {
            return Ok(Answer::NotNow);
        }
        if core.scope.forgotten.entry_of(&url).is_some() {
            // It is about to be erased, or was erased while it waited here.
            core.partitions.of_mut(key.partition).waiting.visited(key);
            return Ok(Answer::NotNow);
        }
        if let Some(words) = trapped_since(core, hints, &candidate, &url) {
            announce_without_session(core, &candidate, &url);
            return Ok(self.refused(candidate, Refusal::Trap(words), now));
        }
        let site = core.partitions.of(key.partition).sites.site_of_url(key, &url);
        if let Some(until) = core.address_is_busy(&site, key.partition, now) {
            self.hold(core, &site, candidate, until, now);
            return Ok(Answer::NotNow);
        }
        let public_only = must_be_public(core, &candidate, &url)?;
        if public_only && let Some(why) = core.sites.robots.shut_to_public(&url, now) {
            let refusal = Refusal::Guard(why.to_owned());
            return Ok(self.refused(candidate, refusal, now));
        }
        match core.sites.robots.gate(&url, &core.work, now)? {
            Gate::Open if !core.has_slot(&site, key.partition) => {
                self.give_back(core, candidate, now);
                Ok(Answer::NotNow)
            }
            Gate::Open => Ok(Answer::Order(self.page_order(core, lane, candidate, (url, public_only), site, now))),
            Gate::Forbidden => Ok(self.refused(candidate, Refusal::Robots, now)),
            Gate::Unreachable { until, patient: true } => {
                self.hold(core, &site, candidate, until, now);
                Ok(Answer::NotNow)
            }
            Gate::Unreachable { patient: false, .. } => Ok(self.refused(candidate, Refusal::RobotsUnreachable, now)),
            Gate::Asking => {
                // The answer reopens the site; until then a short hold keeps this loop from trying it again.
                self.hold(core, &site, candidate, now + LOOK_AGAIN, now);
                Ok(Answer::NotNow)
            }
            Gate::Ask(robots_url) => {
                self.give_back(core, candidate, now);
                Ok(robots_order(core, lane, (&url, public_only), robots_url, now).map_or(Answer::NotNow, Answer::Order))
            }
        }
    }

    /// Holds all requests to the site until then.
    fn hold(&mut self, core: &mut Core, site: &Site, candidate: Candidate, until: Moment, now: Moment) {
        let id = match &candidate {
            Candidate::First(waiting) => waiting.page.partition,
            Candidate::Again { page, .. } => page.key.partition,
        };
        core.partitions.of_mut(id).sites.politeness.hold(site, until);
        self.give_back(core, candidate, now);
    }

    fn page_order(
        &mut self,
        core: &mut Core,
        lane: Lane,
        candidate: Candidate,
        (url, public_only): (Url, bool),
        site: Site,
        now: Moment,
    ) -> Order {
        let (key, validators, held, asked) = match candidate {
            Candidate::First(waiting) => (waiting.page, Validators::default(), None, Asked::First(waiting)),
            Candidate::Again { page, by } => {
                // Charged here and not earlier: a page whose robots.txt is asked for first would be charged to its
                // partition twice, and the visit reserved for it would go to another page, whose robots.txt would then
                // be asked for.
                if by == Chooser::Policy {
                    self.turns.charge(&mut core.partitions, page.key.partition);
                }
                // Validators are only worth sending when we hold the body that they belong to.
                let version = page.version.filter(|version| !version.is_lost());
                let validators = version.map(|_| page.validators.clone()).unwrap_or_default();
                let held = version.map(|version| version.payload);
                (page.key, validators, held, Asked::Again(page))
            }
        };
        if asked.may_become_held() {
            core.partitions.of_mut(key.partition).first_visit_began(&site);
        }
        let (id, kind, gap, patience) = (OrderId(0), OrderKind::Page, Span::ZERO, None);
        let order = Order { id, page: key, url, kind, validators, held, gap, patience, public_only };
        send(core, lane, site, order, asked, now)
    }

    fn refused(&mut self, candidate: Candidate, refusal: Refusal, now: Moment) -> Answer {
        let (key, url, asked) = match candidate {
            Candidate::First(waiting) => (waiting.page, waiting.url.clone(), Asked::First(waiting)),
            Candidate::Again { page, .. } => (page.key, page.url.clone(), Asked::Again(page)),
        };
        self.retry_turns.place_now();
        let order = Order {
            id: OrderId(0),
            page: key,
            url,
            kind: OrderKind::Page,
            validators: Validators::default(),
            held: None,
            gap: Span::ZERO,
            patience: None,
            public_only: false,
        };
        Answer::Refused(asked, Box::new(Report::unanswered(order, now, now, Outcome::Refused(refusal))))
    }
}

/// The trap that contains a page which was never held, if the trap was recognised after the admission. Seeds are
/// exempt.
fn trapped_since(core: &Core, hints: &Hints, candidate: &Candidate, url: &Url) -> Option<String> {
    let (id, found_on) = match candidate {
        Candidate::First(waiting) => (waiting.page.partition, waiting.found_on),
        Candidate::Again { page, .. } if page.version.is_some() => return None,
        Candidate::Again { page, .. } => (page.key.partition, page.found_on),
    };
    let traps = &core.partitions.of(id).sites.traps;
    let words = traps.closes(url).or_else(|| sitemaps_closed(core, hints, found_on?))?;
    core.scope.seed_at(url).is_none().then_some(words)
}

/// The reason why what this page names is not asked for, if it is an index of sitemaps without end.
fn sitemaps_closed(core: &Core, hints: &Hints, index: PageKey) -> Option<String> {
    let sites = &core.partitions.of(index.partition).sites;
    let site = &sites.life_of(index)?.site;
    let words = sites.traps.sitemaps_closed(site)?;
    let file = hints.book.file(site, index).filter(|file| file.kind == SiteListKind::SitemapIndex);
    file.map(|_| words.to_owned())
}

/// Whether no private address may be asked for this page: seeds may be private, and pages that private pages lead to.
fn must_be_public(core: &Core, candidate: &Candidate, url: &Url) -> Result<bool> {
    if !core.settings.allow_private || core.scope.seed_at(url).is_some() {
        return Ok(false);
    }
    let found_on = match candidate {
        // It was a seed when it was found.
        Candidate::First(waiting) if waiting.via == Via::Seed => return Ok(false),
        Candidate::First(waiting) => waiting.found_on,
        Candidate::Again { page, .. } => page.found_on,
    };
    let Some(found_on) = found_on else {
        // Nothing led to it: it was pushed or imported. Where a person named the site, its address may be what it is.
        let is_named = |site| core.scope.seeds().iter().any(|seed| seed.url.site_text() == site);
        return Ok(!core.is_private(url) && !is_named(url.site_text()));
    };
    let leads_here = core.work.page(found_on)?;
    Ok(!leads_here.is_some_and(|page| core.is_private(&page.url)))
}

/// Announces the URL without its session id in place of one that is not requested, like the target of a redirect.
fn announce_without_session(core: &mut Core, candidate: &Candidate, url: &Url) {
    let (id, depth, found_on) = match candidate {
        Candidate::First(waiting) => (waiting.page.partition, waiting.depth, waiting.found_on),
        Candidate::Again { page, .. } => (page.key.partition, page.depth, page.found_on),
    };
    let Some(bare) = core.partitions.of(id).sites.traps.without_sessions(url) else { return };
    if core.scope.contains(&bare, depth) {
        core.announce(Found { url: bare, via: Via::Redirect { hops: 1 }, depth, found_on, forward: 0 });
    }
}

/// An order for the robots.txt of the URL's origin. After redirects it may be on another site, which must be free too.
/// `public_only` as for the pages of the URL; a redirect to another site leads to private addresses from private ones only.
pub(crate) fn robots_order(
    core: &mut Core,
    lane: Lane,
    (url, public_only): (&Url, bool),
    robots_url: Url,
    now: Moment,
) -> Option<Order> {
    let asked_site = robots_url.site();
    let id = core.partitions.home_of(&robots_url);
    let home = url.site();
    let free = core.partitions.of(id).sites.politeness.earliest(&asked_site);
    let busy = core.address_is_busy(&asked_site, id, now);
    if free > now || busy.is_some() {
        // While a request to that site is under way, or the site is closed, nobody knows when it will be free.
        let until = if free == Moment::NEVER { now + LOOK_AGAIN } else { free.max(now + LOOK_AGAIN) };
        let until = busy.map_or(until, |busy| until.max(busy));
        let home_id = core.partitions.home_of(url);
        core.partitions.of_mut(home_id).sites.politeness.hold(&home, until);
        return None;
    }
    if !core.has_slot(&asked_site, id) {
        return None;
    }
    let origin = url.origin();
    core.sites.robots.asked(&origin);
    let is_led_away = core.settings.allow_private && asked_site != home && !core.is_private(url);
    let order = Order {
        id: OrderId(0),
        page: PageKey::new(id, u32::MAX),
        url: robots_url,
        kind: OrderKind::Robots,
        validators: Validators::default(),
        held: None,
        gap: Span::ZERO,
        patience: None,
        public_only: public_only || is_led_away,
    };
    let for_visit = core.coordinator.sent_for_robots(lane);
    Some(send(core, lane, asked_site, order, Asked::Robots { origin, home, for_visit }, now))
}

/// Records that an order leaves. `site` is that of the order's URL.
pub(crate) fn send(core: &mut Core, lane: Lane, site: Site, order: Order, asked: Asked, now: Moment) -> Order {
    if !matches!(asked, Asked::Robots { .. }) {
        core.coordinator.sent(lane);
    }
    let sites = &mut core.partitions.of_mut(order.page.partition).sites;
    let (gap, pace) = (sites.politeness.gap(&site), sites.site_mut(&site).pace);
    let slots = &mut core.sites.slots;
    let order = Order { id: core.in_flight.next_id(), gap, patience: slots.patience(pace), ..order };
    slots.began(pace.level());
    sites.politeness.asked(&site, now);
    let address = sites.site_mut(&site).profile.address;
    if let Some(address) = address {
        core.sites.addresses.asked(address, now);
    }
    let page = matches!(asked, Asked::First(_) | Asked::Again(_)).then_some(order.page);
    core.in_flight.sent(order.id, Request { page, site, address, asked, level: pace.level() });
    order
}

#[cfg(test)]
mod tests;
