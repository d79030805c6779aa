//! Watches, routes, deliveries and places in the feed: the records of the log applied, one after the other.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use vernal_model::{Moment, Span};
use vernal_repository::Cursor;

use super::delivery::{Delivery, DeliveryState, Try, delay};
use super::digest::Held;
use super::record::Record;
use crate::route::Route;
use crate::told::Told;
use crate::watch::Watch;

/// How long the deliveries that ended are kept.
pub const KEPT_FOR: Span = Span::from_days(90);
/// Deliveries that ended; the oldest go first.
const ENDED_MAX: usize = 20_000;
/// After so many failures in a row a route gets one delivery at a time.
pub const FAILING_AT: u32 = 3;

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct State {
    pub watches: BTreeMap<String, WatchEntry>,
    pub routes: BTreeMap<String, RouteEntry>,
    /// By number, in the order in which they were made.
    pub deliveries: BTreeMap<u64, Delivery>,
    pub next_watch: u64,
    next_delivery: u64,
    /// Routes of the settings, which are never kept.
    #[serde(skip)]
    pub programs: BTreeMap<String, RouteEntry>,
    #[serde(skip)]
    numbers: HashMap<String, u64>,
}

/// A watch and where it is in the feed.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct WatchEntry {
    pub watch: Watch,
    pub seen: Cursor,
    pub made: Moment,
    /// When something of what is watched was seen last, in the time of the crawl.
    pub heard: Moment,
    pub trouble: Option<Trouble>,
    /// By route.
    pub held: BTreeMap<String, Held>,
    /// The settings that made it, and that alone change it.
    #[serde(default)]
    pub from: Option<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RouteEntry {
    pub route: Route,
    pub disabled: Option<String>,
    /// Since one was taken.
    pub failures: u32,
    /// A failing route is not asked before this.
    pub retry: Moment,
    /// The settings that made it, and that alone change it.
    #[serde(default)]
    pub from: Option<String>,
}

/// That a watch has lost what it is over, until it is back or somebody acknowledges it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Trouble {
    pub kind: TroubleKind,
    pub event: Option<Told>,
    pub says: String,
    pub since: Moment,
    /// How often it was told.
    pub told: u32,
    /// When it is told again.
    pub next: Moment,
    pub acknowledged: bool,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TroubleKind {
    /// The page is gone, blocked or moved.
    Page,
    /// What matched is no longer on the page.
    Region,
    /// Nothing was seen for long.
    Silent,
}

impl RouteEntry {
    pub fn new(route: Route) -> RouteEntry {
        RouteEntry { route, disabled: None, failures: 0, retry: Moment::EPOCH, from: None }
    }

    pub fn is_failing(&self) -> bool {
        self.failures >= FAILING_AT
    }
}

impl State {
    /// A route of the log or of the settings.
    pub fn route(&self, name: &str) -> Option<&RouteEntry> {
        self.programs.get(name).or_else(|| self.routes.get(name))
    }

    pub fn all_routes(&self) -> impl Iterator<Item = &RouteEntry> {
        self.programs.values().chain(self.routes.values())
    }

    /// When something for this route may be sent: now, or when the quiet of the route and of the watch is over.
    pub fn loud_at(&self, watch: &str, route: &RouteEntry, now: Moment) -> Moment {
        let zone = route.route.zone();
        let of_watch = self.watches.get(watch).and_then(|entry| entry.watch.quiet);
        let quiets = [route.route.quiet, of_watch];
        // Where one quiet ends in the other, the other one goes on.
        (0..quiets.len()).fold(now, |at, _| quiets.into_iter().flatten().fold(at, |at, quiet| quiet.end(at, &zone)))
    }

    pub fn delivery(&self, id: &str) -> Option<&Delivery> {
        self.deliveries.get(self.numbers.get(id)?)
    }

    pub fn waiting(&self) -> impl Iterator<Item = &Delivery> {
        self.deliveries.values().filter(|delivery| delivery.is_waiting())
    }

    pub(super) fn apply(&mut self, record: Record) {
        match record {
            Record::Whole(state) => {
                let programs = std::mem::take(&mut self.programs);
                *self = State { programs, ..*state };
                self.numbers = self.deliveries.iter().map(|(number, one)| (one.id.clone(), *number)).collect();
            }
            Record::Watch(entry) => {
                let number = entry.watch.id.trim_start_matches('w').parse().unwrap_or(0);
                self.next_watch = self.next_watch.max(number);
                self.watches.insert(entry.watch.id.clone(), *entry);
            }
            Record::WatchRemoved(id) => {
                self.watches.remove(&id);
                self.deliveries.retain(|_, delivery| delivery.watch != id || !delivery.is_waiting());
                let deliveries = &self.deliveries;
                self.numbers.retain(|_, number| deliveries.contains_key(number));
            }
            Record::Route(entry) => drop(self.routes.insert(entry.route.name.clone(), *entry)),
            Record::RouteRemoved(name) => drop(self.routes.remove(&name)),
            Record::Seen { watches, upto } => {
                for id in watches {
                    let Some(entry) = self.watches.get_mut(&id) else { continue };
                    entry.seen = entry.seen.max(upto);
                }
            }
            Record::Heard { watch, at } => {
                if let Some(entry) = self.watches.get_mut(&watch) {
                    entry.heard = entry.heard.max(at);
                }
            }
            Record::Deliver(delivery) => self.deliver(*delivery),
            Record::Held { watch, route, told, due } => {
                if let Some(entry) = self.watches.get_mut(&watch) {
                    entry.held.entry(route).or_insert_with(|| Held::new(due)).take(*told, due);
                }
            }
            Record::Released { watch, route } => {
                if let Some(entry) = self.watches.get_mut(&watch) {
                    entry.held.remove(&route);
                }
            }
            Record::Tried { delivery, tried, state, next } => self.tried(&delivery, tried, (state, next)),
            Record::Again { delivery, at } => self.again(&delivery, at),
            Record::Disabled { route, why } => {
                if let Some(entry) = self.route_mut(&route) {
                    (entry.disabled, entry.failures, entry.retry) = (why, 0, Moment::EPOCH);
                }
            }
            Record::Trouble { watch, trouble } => {
                if let Some(entry) = self.watches.get_mut(&watch) {
                    entry.trouble = trouble.map(|trouble| *trouble);
                }
            }
            Record::Forgot { url } => self.forget(&url),
        }
    }

    fn route_mut(&mut self, name: &str) -> Option<&mut RouteEntry> {
        match self.programs.get_mut(name) {
            Some(entry) => Some(entry),
            None => self.routes.get_mut(name),
        }
    }

    /// A delivery that is known already is not made again.
    fn deliver(&mut self, delivery: Delivery) {
        if self.numbers.contains_key(&delivery.id) {
            return;
        }
        self.next_delivery += 1;
        self.numbers.insert(delivery.id.clone(), self.next_delivery);
        self.deliveries.insert(self.next_delivery, delivery);
    }

    fn tried(&mut self, id: &str, tried: Try, (state, next): (DeliveryState, Moment)) {
        let Some(delivery) = self.numbers.get(id).and_then(|number| self.deliveries.get_mut(number)) else { return };
        let (at, is_taken, name) = (tried.at, tried.taken, delivery.route.clone());
        delivery.note(tried);
        (delivery.state, delivery.next) = (state, next);
        let Some(route) = self.route_mut(&name) else { return };
        let was_failing = route.is_failing();
        if !is_taken {
            route.failures = route.failures.saturating_add(1);
            route.retry = at + delay(route.failures);
            return;
        }
        (route.failures, route.retry) = (0, Moment::EPOCH);
        if was_failing {
            // The route works again, so that what waited for it goes at once.
            let waiting = self.deliveries.values_mut().filter(|one| one.is_waiting() && one.route == name);
            waiting.for_each(|one| one.next = one.next.min(at));
        }
    }

    fn again(&mut self, id: &str, at: Moment) {
        if let Some(delivery) = self.numbers.get(id).and_then(|number| self.deliveries.get_mut(number)) {
            // The three days begin anew.
            (delivery.state, delivery.made, delivery.next, delivery.tries) = (DeliveryState::Waiting, at, at, 0);
        }
    }

    /// The addresses of pages whose words are kept here.
    pub fn urls_told(&self) -> BTreeSet<String> {
        let held = self.watches.values().flat_map(|entry| entry.held.values().flat_map(|held| &held.events));
        let kept = self.deliveries.values().flat_map(|delivery| &delivery.alert.events);
        let troubles = self.watches.values().filter_map(|entry| entry.trouble.as_ref()?.event.as_ref());
        held.chain(kept).chain(troubles).map(|told| told.url.clone()).collect()
    }

    fn forget(&mut self, url: &str) {
        let held =
            self.watches.values_mut().flat_map(|entry| entry.held.values_mut().flat_map(|held| &mut held.events));
        let kept = self.deliveries.values_mut().flat_map(|delivery| &mut delivery.alert.events);
        held.chain(kept).filter(|told| told.url == url).for_each(Told::forget_words);
        for trouble in self.watches.values_mut().filter_map(|entry| entry.trouble.as_mut()) {
            trouble.event.iter_mut().filter(|told| told.url == url).for_each(Told::forget_words);
        }
    }

    /// Lets go what ended long ago.
    pub(super) fn trim(&mut self, now: Moment) {
        let ended: Vec<u64> =
            self.deliveries.iter().filter(|(_, one)| !one.is_waiting()).map(|(number, _)| *number).collect();
        let too_many = ended.len().saturating_sub(ENDED_MAX);
        for (place, number) in ended.iter().enumerate() {
            if place < too_many || self.deliveries[number].made + KEPT_FOR < now {
                self.deliveries.remove(number);
            }
        }
        let deliveries = &self.deliveries;
        self.numbers.retain(|_, number| deliveries.contains_key(number));
    }
}
