//! Watches, routes and the outbox behind one value: what people change, what events become, and what came of deliveries.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;
use std::sync::Arc;

use vernal_model::Moment;
use vernal_repository::Cursor;

use crate::agreement::{Agreed, OfSettings, agreed};
use crate::found::{Found, digests_due, records_of};
use crate::matching::{Matcher, matchers};
use crate::outbox::{Delivery, DeliveryState, Outbox, Record, RouteEntry, State, Try, WatchEntry, due, next_try};
use crate::route::{Route, RouteKind};
use crate::secret::Secret;
use crate::send::Outcome;
use crate::watch::Watch;
use crate::{Error, Result, trouble};

pub const WATCHES_MAX: usize = 1_000;
pub const ROUTES_MAX: usize = 200;

/// What is said of a route when a delivery is given up.
const GIVEN_UP: &str = "has not taken a delivery for three days";

/// All of it, as one process holds it.
pub struct Alerts {
    outbox: Outbox,
    matchers: BTreeMap<String, Arc<Matcher>>,
}

/// What a person does to a watch.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum WatchChange {
    Pause,
    /// What happened meanwhile is told only where `missed` asks for it.
    Resume {
        missed: bool,
    },
    Acknowledge,
}

/// A watch that asks, and from where on.
#[derive(Clone, Debug)]
pub struct Question {
    pub id: String,
    pub seen: Cursor,
    pub matcher: Arc<Matcher>,
}

impl Alerts {
    /// Opens what lies in a data folder. Routes of the settings are there as long as the process. The text says what was
    /// damaged.
    pub fn open(data: &Path, programs: Vec<Route>, end: Cursor) -> Result<(Alerts, Option<String>)> {
        let opened = Outbox::open(data)?;
        let mut alerts = Alerts { outbox: opened.outbox, matchers: BTreeMap::new() };
        for route in programs {
            route.check()?;
            let entry = RouteEntry { from: Some("the settings".to_owned()), ..RouteEntry::new(route) };
            alerts.outbox.state.programs.insert(entry.route.name.clone(), entry);
        }
        let own = Route::atom();
        if alerts.outbox.state.route(&own.name).is_none() {
            alerts.outbox.state.programs.insert(own.name.clone(), RouteEntry::new(own));
        }
        let mut damage = opened.damage;
        for entry in alerts.outbox.state.watches.values_mut() {
            if entry.seen > end {
                damage = Some(format!("the watch {} was ahead of the feed, and goes on at its end", entry.watch.id));
                entry.seen = end;
            }
        }
        alerts.matchers = matchers(alerts.state())?;
        Ok((alerts, damage))
    }

    pub fn state(&self) -> &State {
        &self.outbox.state
    }

    fn commit(&mut self, records: Vec<Record>, now: Moment) -> Result<()> {
        self.outbox.commit(records, now)
    }

    pub fn watch(&self, id: &str) -> Result<&WatchEntry> {
        let unknown = || Error::Unknown { noun: "watch", name: id.to_owned() };
        self.state().watches.get(id).ok_or_else(unknown)
    }

    /// Makes a watch. It tells what comes behind the cursor.
    pub fn add(&mut self, watch: Watch, seen: Cursor, (crawl_now, now): (Moment, Moment)) -> Result<Watch> {
        self.check(&watch)?;
        if self.state().watches.len() >= WATCHES_MAX {
            return Err(Error::Wrong(format!("there are {WATCHES_MAX} watches already; remove one first")));
        }
        let id = format!("w{}", self.state().next_watch + 1);
        let watch = Watch { id: id.clone(), ..watch };
        let entry = WatchEntry {
            watch: watch.clone(),
            seen,
            made: now,
            heard: crawl_now,
            trouble: None,
            held: BTreeMap::new(),
            from: None,
        };
        self.put(entry, now)?;
        Ok(watch)
    }

    /// Puts a watch in the place of the one with its id.
    pub fn change(&mut self, watch: Watch, now: Moment) -> Result<()> {
        let entry = WatchEntry { watch: watch.clone(), ..self.own_watch(&watch.id)?.clone() };
        self.check(&watch)?;
        // What was held for a route that the watch no longer has would never be sent.
        let left = entry.held.keys().find(|route| !watch.to.iter().any(|to| to.route == **route));
        if let Some(route) = left {
            return Err(Error::Wrong(format!("a digest waits for the route `{route}`; remove it once that was sent")));
        }
        self.put(entry, now)
    }

    /// A watch that people change here, and not in the settings.
    fn own_watch(&self, id: &str) -> Result<&WatchEntry> {
        let entry = self.watch(id)?;
        Error::unless_own("watch", id, entry.from.as_ref())?;
        Ok(entry)
    }

    fn put(&mut self, entry: WatchEntry, now: Moment) -> Result<()> {
        let matcher = Arc::new(Matcher::of(&entry.watch)?);
        let id = entry.watch.id.clone();
        self.commit(vec![Record::Watch(Box::new(entry))], now)?;
        self.matchers.insert(id, matcher);
        Ok(())
    }

    fn check(&self, watch: &Watch) -> Result<()> {
        watch.check()?;
        match watch.to.iter().find(|to| self.state().route(&to.route).is_none()) {
            Some(to) => Err(Error::Unknown { noun: "route", name: to.route.clone() }),
            None => Ok(()),
        }
    }

    /// Removes a watch, and what waits to be sent because of it.
    pub fn remove(&mut self, id: &str, now: Moment) -> Result<()> {
        self.own_watch(id)?;
        self.commit(vec![Record::WatchRemoved(id.to_owned())], now)?;
        self.matchers.remove(id);
        Ok(())
    }

    pub fn act(&mut self, id: &str, change: WatchChange, end: Cursor, now: Moment) -> Result<()> {
        let mut entry = match change {
            WatchChange::Acknowledge => self.watch(id)?.clone(),
            WatchChange::Pause | WatchChange::Resume { .. } => self.own_watch(id)?.clone(),
        };
        match change {
            WatchChange::Pause => entry.watch.enabled = false,
            WatchChange::Resume { missed } => {
                if !entry.watch.enabled && !missed {
                    entry.seen = entry.seen.max(end);
                }
                entry.watch.enabled = true;
            }
            WatchChange::Acknowledge => match &mut entry.trouble {
                Some(trouble) => trouble.acknowledged = true,
                None => return Err(Error::Wrong(format!("the watch {id} has lost nothing"))),
            },
        }
        self.put(entry, now)
    }

    /// Makes a route or puts it in the place of the one with its name.
    pub fn put_route(&mut self, route: Route, now: Moment) -> Result<()> {
        route.check()?;
        if route.is_command() {
            return Err(Error::wrong("a route to a command is made in vernal.toml or with --command-route alone"));
        }
        if route.is_atom() {
            return Err(Error::wrong("feeds need no route of their own: give a watch the route `atom`"));
        }
        let name = &route.name;
        if let Some(known) = self.state().route(name) {
            Error::unless_own("route", name, known.from.as_ref())?;
        } else if self.state().routes.len() >= ROUTES_MAX {
            return Err(Error::Wrong(format!("there are {ROUTES_MAX} routes already; remove one first")));
        }
        self.commit(vec![Record::Route(Box::new(RouteEntry::new(route)))], now)
    }

    /// Puts these secrets in force. Those that the settings name are changed where they lie.
    pub fn put_secrets(&mut self, name: &str, secrets: Vec<Secret>, now: Moment) -> Result<()> {
        let mut entry = self.route(name)?.clone();
        let RouteKind::Webhook(hook) = &mut entry.route.to else {
            return Err(Error::wrong("only webhooks have secrets that can be changed here"));
        };
        if hook.secrets.iter().any(Secret::is_named) {
            Error::unless_own("route", name, entry.from.as_ref())?;
        }
        hook.secrets = secrets;
        entry.route.check()?;
        self.commit(vec![Record::Route(Box::new(entry))], now)
    }

    pub fn remove_route(&mut self, name: &str, now: Moment) -> Result<()> {
        Error::unless_own("route", name, self.route(name)?.from.as_ref())?;
        let uses = |entry: &&WatchEntry| entry.watch.to.iter().any(|to| to.route == name);
        if let Some(entry) = self.state().watches.values().find(uses) {
            return Err(Error::Wrong(format!("the watch {} uses the route `{name}`", entry.watch.id)));
        }
        self.commit(vec![Record::RouteRemoved(name.to_owned())], now)
    }

    /// Sends on a route again that was switched off.
    pub fn enable_route(&mut self, name: &str, now: Moment) -> Result<()> {
        self.route(name)?;
        self.commit(vec![Record::Disabled { route: name.to_owned(), why: None }], now)
    }

    pub fn route(&self, name: &str) -> Result<&RouteEntry> {
        self.state().route(name).ok_or_else(|| Error::Unknown { noun: "route", name: name.to_owned() })
    }

    /// Sends a delivery anew, with the same id.
    pub fn again(&mut self, id: &str, now: Moment) -> Result<()> {
        if self.state().delivery(id).is_none() {
            return Err(Error::Unknown { noun: "delivery", name: id.to_owned() });
        }
        self.commit(vec![Record::Again { delivery: id.to_owned(), at: now }], now)
    }

    /// Brings watches and routes into agreement with the settings. The texts say what could not be.
    pub fn agree(
        &mut self,
        named: &OfSettings,
        end: Cursor,
        (crawl_now, now): (Moment, Moment),
    ) -> Result<Vec<String>> {
        let Agreed { records, told } = agreed(self.state(), named, end, (crawl_now, now))?;
        self.commit(records, now)?;
        self.matchers = matchers(self.state())?;
        Ok(told)
    }

    /// The watches that ask now.
    pub fn questions(&self) -> Vec<Question> {
        let enabled = self.state().watches.values().filter(|entry| entry.watch.enabled);
        let question = |entry: &WatchEntry| {
            let matcher = Arc::clone(self.matchers.get(&entry.watch.id)?);
            Some(Question { id: entry.watch.id.clone(), seen: entry.seen, matcher })
        };
        enabled.filter_map(question).collect()
    }

    /// Takes what these watches found up to a cursor: places and deliveries are on disk together when this returns.
    pub fn take(
        &mut self,
        asked: &[Question],
        found: Vec<Found>,
        erased: Vec<String>,
        (upto, now): (Cursor, Moment),
    ) -> Result<()> {
        // What was held back came before, and is queued before.
        let mut records = digests_due(self.state(), now);
        records.extend(records_of(self.state(), found, now));
        records.extend(erased.into_iter().map(|url| Record::Forgot { url }));
        let has_more = !records.is_empty();
        let is_asking =
            |question: &&Question| self.state().watches.get(&question.id).is_some_and(|one| one.seen < upto);
        let watches: Vec<String> = asked.iter().filter(is_asking).map(|question| question.id.clone()).collect();
        if watches.is_empty() {
            return Ok(());
        }
        if !has_more {
            return self.outbox.pass(watches, upto);
        }
        records.push(Record::Seen { watches, upto });
        self.commit(records, now)
    }

    /// Takes the words of erased pages out of all that is kept, without waiting for the feed to tell of them.
    pub fn forget(&mut self, is_erased: &dyn Fn(&str) -> bool, now: Moment) -> Result<()> {
        let told = self.state().urls_told();
        let records = told.into_iter().filter(|url| is_erased(url)).map(|url| Record::Forgot { url });
        self.commit(records.collect(), now)
    }

    /// Makes the digests that are due, tells again what nobody has acknowledged, and notices silence.
    pub fn tick(
        &mut self,
        read: &dyn Fn(&WatchEntry) -> Option<Moment>,
        (crawl_now, now): (Moment, Moment),
    ) -> Result<()> {
        let mut records = digests_due(self.state(), now);
        records.extend(trouble::reminders(self.state(), now));
        records.extend(trouble::silences(self.state(), read, crawl_now, now));
        records.extend(self.stranded(now));
        self.commit(records, now)
    }

    /// Deliveries that waited longer than anything is tried, because their route is gone, off or failing.
    fn stranded(&self, now: Moment) -> Vec<Record> {
        let is_off = |delivery: &&Delivery| {
            let route = self.state().route(&delivery.route);
            route.is_none_or(|route| route.disabled.is_some() || route.is_failing())
                && next_try(0, delivery.made, now).is_none()
        };
        let mut records = Vec::new();
        let mut told: HashSet<&str> = HashSet::new();
        for delivery in self.state().waiting().filter(is_off) {
            let answer = "the route took nothing for three days".to_owned();
            records.push(Record::Tried {
                delivery: delivery.id.clone(),
                tried: Try { at: now, took_ms: 0, status: None, taken: false, answer },
                state: DeliveryState::GivenUp,
                next: Moment::NEVER,
            });
            if told.insert(&delivery.route) {
                records.extend(trouble::told_elsewhere(self.state(), delivery, GIVEN_UP, now));
            }
        }
        records
    }

    /// Deliveries that may leave now, with their routes.
    pub fn due(&self, under_way: &HashSet<String>, now: Moment) -> Vec<(Delivery, Route)> {
        let route = |delivery: Delivery| {
            let route = self.state().route(&delivery.route)?.route.clone();
            Some(match self.state().watches.get(&delivery.watch) {
                Some(entry) => (delivery, route.written_for(&entry.watch)),
                None => (delivery, route),
            })
        };
        due(self.state(), under_way, now).into_iter().filter_map(route).collect()
    }

    /// Notes what came of a try.
    pub fn tried(&mut self, id: &str, outcome: Outcome, (began, now): (Moment, Moment)) -> Result<()> {
        let Some(delivery) = self.state().delivery(id).filter(|delivery| delivery.is_waiting()) else {
            // Its watch was removed meanwhile.
            return Ok(());
        };
        let mut records = Vec::new();
        let next = next_try(delivery.tries + 1, delivery.made, now);
        let state = match (outcome.taken, next) {
            (true, _) => DeliveryState::Sent,
            (false, Some(_)) => DeliveryState::Waiting,
            (false, None) => DeliveryState::GivenUp,
        };
        let why = match (outcome.gone, state) {
            (true, _) => Some("switched itself off: its receiver answered 410 Gone".to_owned()),
            (false, DeliveryState::GivenUp) => Some(GIVEN_UP.to_owned()),
            _ => None,
        };
        let took_ms = now.since(began).micros() / 1_000;
        let tried = Try { at: began, took_ms, status: outcome.status, taken: outcome.taken, answer: outcome.answer };
        let next = next.unwrap_or(Moment::NEVER);
        records.push(Record::Tried { delivery: id.to_owned(), tried, state, next });
        if let Some(why) = why {
            tracing::warn!("the route {} {why}", delivery.route);
            records.extend(trouble::told_elsewhere(self.state(), delivery, &why, now));
            if outcome.gone {
                records.push(Record::Disabled { route: delivery.route.clone(), why: Some(why) });
            }
        }
        self.commit(records, now)
    }
}
