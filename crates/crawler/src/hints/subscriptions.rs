//! Asks the hubs of feeds to send what is new (WebSub, W3C 2018): the only request by which this crawl sends data. It
//! passes budget, delay, robots.txt and guard like every request, and is recorded in the visit book.

use vernal_model::{
    Deed, Form, HintFile, HintSource, Moment, Order, OrderId, OrderKind, Outcome, PageKey, Partition, Report, Site,
    Span, Subscription, SubscriptionRow, SubscriptionState, Url, Validators, escaped,
};

use super::Hints;
use super::hmac::{callback_key, hub_secret};
use crate::coordinator::Lane;
use crate::core::Core;
use crate::in_flight::Asked;
use crate::intake::visit_beside_pages;
use crate::plan::orders::{LOOK_AGAIN, robots_order, send};
use crate::settings::Callback;
use crate::sites::robots::Gate;
use crate::{Acted, HubWord, Result};

/// The lease that hubs are asked for; most grant ten days whatever they are asked for.
const LEASE_WISHED: Span = Span::from_days(10);
/// A hub's lease is clamped to this range: a shorter lease would need constant renewal, a longer one would be
/// forgotten.
const LEASE_MIN: Span = Span::from_hours(1);
const LEASE_MAX: Span = Span::from_days(60);
/// The lease is renewed after this share of it.
const RENEWED_AT: f64 = 0.9;
/// A hub that accepted the request must verify it within this time; then it is asked again.
const VERIFIED_WITHIN: Span = Span::from_days(1);
/// The wait before a hub that failed is asked again; it doubles with each failure up to the maximum below.
const AGAIN_AFTER: Span = Span::from_hours(1);
const AGAIN_AFTER_MAX: Span = Span::from_days(7);
/// Redirects followed for one request to a hub.
const HOPS_MAX: u8 = 5;

impl Hints {
    /// Restores the feeds that name hubs.
    pub fn recall_subscriptions(&mut self, core: &Core, now: Moment) {
        if !subscribes(core) {
            return;
        }
        let sites = self.book.sites().flat_map(|(site, hints)| {
            let row = |key| hints.subscriptions.iter().find(|(known, _)| *known == key).map(|(_, row)| row.clone());
            hints.files.iter().map(move |(key, file)| (*key, site.clone(), file.clone(), row(*key)))
        });
        let files: Vec<_> = sites.collect();
        for (key, site, file, row) in files {
            self.want_subscription(core, key, &site, &file, row, now);
        }
    }

    /// Notes the hub of a feed that was read: it is asked once, and again before the lease ends.
    pub fn want_subscription(
        &mut self,
        core: &Core,
        key: PageKey,
        site: &Site,
        file: &HintFile,
        row: Option<SubscriptionRow>,
        now: Moment,
    ) {
        if !subscribes(core) || file.source != HintSource::Feed {
            return;
        }
        let hub = file.hub.as_ref().filter(|hub| matches!(hub.scheme(), "http" | "https"));
        let Some(hub) = hub else { return self.subscriptions.forget(key) };
        // A feed may only name a topic on its own site: with another site's topic, its hub could speak for that site.
        let topic = file.topic.as_ref().filter(|topic| topic.site_text() == site.as_str()).unwrap_or(&file.url);
        self.subscriptions.want(key, site, hub, topic, row, now);
    }

    /// The next request to a hub that may leave now, or the request for its robots.txt.
    pub fn subscription_order(&mut self, core: &mut Core, now: Moment) -> Result<Option<Order>> {
        while core.coordinator.can_spend(Lane::Due)
            && let Some(file) = self.subscriptions.first_due(now)
        {
            let Some(callback) = core.settings.callback.clone() else { return Ok(None) };
            let Some(feed) = self.subscriptions.feed(file) else { return Ok(None) };
            let (hub, topic) = (feed.sent_to.clone().unwrap_or_else(|| feed.hub.clone()), feed.topic.clone());
            let (site, id) = (hub.site(), core.partitions.home_of(&hub));
            let free = core.partitions.of_mut(id).sites.politeness.earliest(&site);
            let busy = core.address_is_busy(&site, id, now);
            if free > now || busy.is_some() {
                // While a request to the hub is under way, or the hub's site is closed, nobody knows when the site will
                // be free.
                let free = if free == Moment::NEVER { now } else { free };
                self.subscriptions.place(file, free.max(busy.unwrap_or(now)).max(now + LOOK_AGAIN));
                continue;
            }
            match core.sites.robots.gate(&hub, &core.work, now)? {
                Gate::Open => return Ok(Some(self.ask_hub(core, file, hub, &topic, &callback, now))),
                Gate::Forbidden => self.end_subscription(core, file, "robots.txt forbids it".into(), now),
                Gate::Unreachable { until, .. } => self.subscriptions.place(file, until.max(now + LOOK_AGAIN)),
                Gate::Asking => self.subscriptions.place(file, now + LOOK_AGAIN),
                Gate::Ask(robots) => {
                    self.subscriptions.place(file, now + LOOK_AGAIN);
                    know_hub(core, &site, id);
                    let public_only = core.settings.allow_private && !core.is_private(&topic);
                    return Ok(robots_order(core, Lane::Due, (&hub, public_only), robots, now));
                }
            }
        }
        Ok(None)
    }

    fn ask_hub(
        &mut self,
        core: &mut Core,
        file: PageKey,
        hub: Url,
        topic: &Url,
        callback: &Callback,
        now: Moment,
    ) -> Order {
        let site = hub.site();
        let id = core.partitions.home_of(&hub);
        know_hub(core, &site, id);
        self.subscriptions.take(file);
        let order = Order {
            id: OrderId(0),
            page: PageKey::new(id, u32::MAX),
            url: hub,
            kind: OrderKind::Subscription(form(topic, callback)),
            validators: Validators::default(),
            held: None,
            gap: Span::ZERO,
            patience: None,
            public_only: core.settings.allow_private && !core.is_private(topic),
        };
        if let Some(feed) = self.subscriptions.feed(file) {
            // A hub that accepted the last request and never verified it has failed.
            let failures = feed.row.as_ref().map_or(0, |row| match row.standing {
                SubscriptionState::Asked => row.failures.saturating_add(1),
                _ => row.failures,
            });
            feed.row = Some(SubscriptionRow {
                hub: feed.hub.clone(),
                topic: feed.topic.clone(),
                standing: SubscriptionState::Asked,
                asked: now,
                answer: "".into(),
                until: feed.row.as_ref().and_then(|row| row.until),
                next: now + VERIFIED_WITHIN,
                failures,
            });
        }
        send(core, Lane::Due, site, order, Asked::Subscription { file }, now)
    }

    /// Handles the answer of a hub. The hub may have verified the request already, or may do so later.
    pub fn take_subscription(&mut self, core: &mut Core, file: PageKey, report: &Report, now: Moment) {
        // The request carried a secret, and the answer is meant for people: neither is archived.
        let visit = visit_beside_pages(report, None);
        let id = core.partitions.home_of(&report.order.url);
        core.work.push(id, Deed::HubAsked { site: report.order.url.site(), visit });
        let answer: Box<str> = report.outcome.detail().into();
        let Some(feed) = self.subscriptions.feed(file) else { return };
        feed.sent_to = None;
        match &report.outcome {
            Outcome::Moved { to: Some(to), .. } if feed.hops < HOPS_MAX && matches!(to.scheme(), "http" | "https") => {
                feed.sent_to = Some(to.clone());
                feed.hops += 1;
                self.subscriptions.place(file, now);
            }
            Outcome::Read { status } => {
                feed.hops = 0;
                let answer = format!("status {status}").into();
                let Some(row) = &mut feed.row else { return };
                row.answer = answer;
                if row.standing == SubscriptionState::Asked {
                    row.next = now + waited(VERIFIED_WITHIN, row.failures);
                }
                let next = row.next;
                self.subscriptions.place(file, next);
                self.tell_subscription(core, file);
            }
            _ => {
                feed.hops = 0;
                self.end_subscription(core, file, answer, now);
            }
        }
    }

    /// The request failed: it is retried later, with a wait that grows.
    fn end_subscription(&mut self, core: &mut Core, file: PageKey, answer: Box<str>, now: Moment) {
        let Some(feed) = self.subscriptions.feed(file) else { return };
        let failures = feed.row.as_ref().map_or(0, |row| row.failures);
        let next = now + waited(AGAIN_AFTER, failures);
        feed.row = Some(SubscriptionRow {
            hub: feed.hub.clone(),
            topic: feed.topic.clone(),
            standing: SubscriptionState::Failed,
            asked: now,
            answer,
            until: feed.row.as_ref().and_then(|row| row.until),
            next,
            failures: failures.saturating_add(1),
        });
        self.subscriptions.place(file, next);
        self.tell_subscription(core, file);
    }

    /// Handles a hub's verification or denial. Only a subscription that we asked for is confirmed.
    pub fn hear_hub(&mut self, core: &mut Core, topic: &Url, word: HubWord, now: Moment) -> Acted {
        let mut is_meant = false;
        for file in self.subscriptions.of_topic(topic) {
            let Some(row) = self.subscriptions.feed(file).and_then(|feed| feed.row.as_mut()) else { continue };
            is_meant = true;
            row.next = match word {
                HubWord::Verifies { lease } => {
                    let lease = lease.unwrap_or(LEASE_WISHED).clamp(LEASE_MIN, LEASE_MAX);
                    row.standing = SubscriptionState::Verified;
                    row.failures = 0;
                    row.until = Some(now + lease);
                    now + lease.scaled(RENEWED_AT)
                }
                HubWord::Denies => {
                    row.standing = SubscriptionState::Denied;
                    row.until = None;
                    now + AGAIN_AFTER_MAX
                }
            };
            let next = row.next;
            self.subscriptions.place(file, next);
            self.tell_subscription(core, file);
        }
        Acted::Subscribed(is_meant)
    }

    fn tell_subscription(&mut self, core: &mut Core, file: PageKey) {
        let Some(feed) = self.subscriptions.feed(file) else { return };
        let Some(row) = feed.row.clone() else { return };
        let subscription = Subscription { site: feed.site.clone(), file, row };
        core.work.push(file.partition, Deed::Subscribed(Box::new(subscription)));
    }
}

/// A process that ends when idle cannot receive what hubs send.
fn subscribes(core: &Core) -> bool {
    core.settings.hints && !core.settings.once && core.settings.callback.is_some()
}

/// A hub is a site like any other: what is known of it is journalled.
fn know_hub(core: &mut Core, site: &Site, id: Partition) {
    if core.partitions.settle(site, id) {
        core.note_site(site, id);
    }
}

fn waited(first: Span, failures: u16) -> Span {
    first.scaled(2f64.powi(i32::from(failures.min(16)))).min(AGAIN_AFTER_MAX)
}

fn form(topic: &Url, callback: &Callback) -> Form {
    let base = callback.url.as_str();
    let and = if callback.url.path_and_query().contains('?') { '&' } else { '?' };
    let key = callback_key(callback.secret(), topic);
    let address = format!("{base}{and}topic={}&key={key}", escaped(topic.as_str()));
    let secret = hub_secret(callback.secret(), topic);
    let lease = (LEASE_WISHED.secs_f64() as u64).to_string();
    Form::new(&[
        ("hub.mode", "subscribe"),
        ("hub.topic", topic.as_str()),
        ("hub.callback", &address),
        ("hub.lease_seconds", &lease),
        ("hub.secret", &secret),
    ])
}
