//! Watches and routes of the settings: made, changed and removed until the log agrees with them.
//!
//! A watch is known by its name, so that it keeps its place in the feed and what was delivered, whatever else changes of it.
//! Watches and routes that were made by a command or through the API are left alone.

use std::collections::{BTreeMap, BTreeSet};

use vernal_model::Moment;
use vernal_repository::Cursor;

use crate::alerts::{ROUTES_MAX, WATCHES_MAX};
use crate::found::released;
use crate::outbox::{Record, RouteEntry, State, WatchEntry};
use crate::route::{Route, RouteKind};
use crate::secret::Secret;
use crate::watch::Watch;
use crate::{Error, Result};

/// What the settings want, and where they stand: a file, the environment or a flag.
#[derive(Clone, Debug, Default)]
pub struct OfSettings {
    pub watches: Vec<Watch>,
    pub watches_from: String,
    /// Routes that are kept in the log; those to programs are not.
    pub routes: Vec<Route>,
    pub routes_from: String,
}

/// What makes the log agree, and what cannot be for now.
pub struct Agreed {
    pub records: Vec<Record>,
    pub told: Vec<String>,
}

/// Compares what is wanted with what is there. New watches tell what comes behind `end`.
pub fn agreed(state: &State, wanted: &OfSettings, end: Cursor, (crawl_now, now): (Moment, Moment)) -> Result<Agreed> {
    let mut agreeing = Agreeing { state, wanted, end, crawl_now, now, records: Vec::new(), told: Vec::new() };
    agreeing.routes()?;
    agreeing.watches()?;
    agreeing.routes_left();
    Ok(Agreed { records: agreeing.records, told: agreeing.told })
}

struct Agreeing<'a> {
    state: &'a State,
    wanted: &'a OfSettings,
    end: Cursor,
    crawl_now: Moment,
    now: Moment,
    records: Vec<Record>,
    told: Vec<String>,
}

impl Agreeing<'_> {
    fn routes(&mut self) -> Result<()> {
        let (state, wanted) = (self.state, self.wanted);
        let from = &wanted.routes_from;
        let made_here = state.routes.values().filter(|entry| entry.from.is_none()).count();
        if made_here + wanted.routes.len() > ROUTES_MAX {
            return Err(wrong(from, "the routes", format!("are more than {ROUTES_MAX}, with those made by commands")));
        }
        let mut names = BTreeSet::new();
        for route in &wanted.routes {
            let name = &route.name;
            let refused = |what: &str| Err(wrong(from, &format!("the route `{name}`"), what.to_owned()));
            route.check()?;
            if !names.insert(name) || state.programs.contains_key(name) {
                return refused("is named twice");
            }
            let known = state.routes.get(name);
            if known.is_some_and(|known| known.from.is_none()) {
                return refused(
                    "was made by a command or through the API; remove that one, or name this one otherwise",
                );
            }
            let route = with_secret(route.clone(), known)?;
            if known.is_none_or(|known| known.route != route || known.from.as_ref() != Some(from)) {
                let entry = RouteEntry { from: Some(from.clone()), ..RouteEntry::new(route) };
                self.records.push(Record::Route(Box::new(entry)));
            }
        }
        Ok(())
    }

    fn watches(&mut self) -> Result<()> {
        let (state, wanted) = (self.state, self.wanted);
        let from = &wanted.watches_from;
        let of_settings = state.watches.values().filter(|entry| entry.from.is_some());
        let mut known: BTreeMap<&str, &WatchEntry> =
            of_settings.map(|entry| (entry.watch.name.as_str(), entry)).collect();
        if state.watches.len() - known.len() + wanted.watches.len() > WATCHES_MAX {
            return Err(wrong(
                from,
                "the watches",
                format!("are more than {WATCHES_MAX}, with those made by commands"),
            ));
        }
        let mut names = BTreeSet::new();
        let mut number = state.next_watch;
        for watch in &wanted.watches {
            let name = &watch.name;
            let refused = |what: String| Err(wrong(from, &format!("the watch `{name}`"), what));
            watch.check()?;
            if name.is_empty() || !names.insert(name) {
                return refused("needs a name of its own, by which it is known from one run to the next".to_owned());
            }
            if let Some(to) = watch.to.iter().find(|to| !self.has_route(&to.route)) {
                return refused(format!("tells the route `{}`, which there is not", to.route));
            }
            match known.remove(name.as_str()) {
                Some(entry) => self.keep(entry, watch),
                None => {
                    number += 1;
                    self.make(Watch { id: format!("w{number}"), ..watch.clone() });
                }
            }
        }
        let gone = known.into_values().map(|entry| Record::WatchRemoved(entry.watch.id.clone()));
        self.records.extend(gone);
        Ok(())
    }

    /// Whether there will be a route of this name.
    fn has_route(&self, name: &str) -> bool {
        let made_here = self.state.routes.get(name).is_some_and(|entry| entry.from.is_none());
        let is_wanted = self.wanted.routes.iter().any(|route| route.name == name);
        made_here || is_wanted || self.state.programs.contains_key(name)
    }

    fn make(&mut self, watch: Watch) {
        let from = Some(self.wanted.watches_from.clone());
        let (trouble, held) = (None, BTreeMap::new());
        let entry = WatchEntry { watch, seen: self.end, made: self.now, heard: self.crawl_now, trouble, held, from };
        self.records.push(Record::Watch(Box::new(entry)));
    }

    fn keep(&mut self, entry: &WatchEntry, wanted: &Watch) {
        let from = Some(self.wanted.watches_from.clone());
        let watch = Watch { id: entry.watch.id.clone(), ..wanted.clone() };
        if entry.watch == watch && entry.from == from {
            return;
        }
        let mut held = entry.held.clone();
        // What waits for a route that the watch has no more is told there now, for it would never be.
        for (route, waits) in &entry.held {
            if !watch.to.iter().any(|to| to.route == *route) {
                self.records.extend(released(entry, route, waits, self.now));
                held.remove(route);
            }
        }
        // As with a watch that is resumed, what happened while it was off is not told.
        let was_off = !entry.watch.enabled && watch.enabled;
        let seen = if was_off { entry.seen.max(self.end) } else { entry.seen };
        self.records.push(Record::Watch(Box::new(WatchEntry { watch, seen, held, from, ..entry.clone() })));
    }

    /// Routes that the settings name no more go, unless a watch that was made here tells them.
    fn routes_left(&mut self) {
        let is_wanted = |name: &str| self.wanted.routes.iter().any(|route| route.name == name);
        let left = self.state.routes.values().filter(|entry| entry.from.is_some() && !is_wanted(&entry.route.name));
        for RouteEntry { route, from, .. } in left {
            let made_here = self.state.watches.values().filter(|entry| entry.from.is_none());
            let mut users = made_here.filter(|entry| entry.watch.to.iter().any(|to| to.route == route.name));
            match users.next() {
                Some(user) => self.told.push(format!(
                    "the route `{}` is no more in {}, and stays because the watch {} tells it",
                    route.name,
                    from.as_deref().unwrap_or_default(),
                    user.watch.id
                )),
                None => self.records.push(Record::RouteRemoved(route.name.clone())),
            }
        }
    }
}

/// Every webhook is signed: where the settings name no secret, one is made once and kept.
fn with_secret(mut route: Route, known: Option<&RouteEntry>) -> Result<Route> {
    let RouteKind::Webhook(hook) = &mut route.to else { return Ok(route) };
    if !hook.secrets.is_empty() {
        return Ok(route);
    }
    hook.secrets = match known.map(|known| &known.route.to) {
        Some(RouteKind::Webhook(old)) if !old.secrets.iter().any(Secret::is_named) => old.secrets.clone(),
        _ => Vec::new(),
    };
    if hook.secrets.is_empty() {
        hook.secrets.push(Secret::fresh()?);
    }
    Ok(route)
}

fn wrong(from: &str, thing: &str, what: String) -> Error {
    Error::Wrong(format!("{from}: {thing} {what}"))
}
