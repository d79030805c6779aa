//! What people are shown of alerts: routes, deliveries and the feeds of watches.

use std::collections::HashMap;

use crate::alerts::Alerts;
use crate::outbox::{Delivery, DeliveryState, RouteEntry};
use crate::route::RouteShown;
use crate::watch::Watch;
use crate::{Error, Result};

/// Which deliveries are asked for, newest first.
#[derive(Clone, Debug, Default)]
pub struct DeliveryQuery {
    pub watch: Option<String>,
    pub route: Option<String>,
    pub state: Option<DeliveryState>,
    /// Only those made before this one.
    pub after: Option<u64>,
    pub limit: usize,
}

impl Alerts {
    pub fn routes_shown(&self) -> Vec<RouteShown> {
        let mut waiting: HashMap<&str, usize> = HashMap::new();
        self.state().waiting().for_each(|delivery| *waiting.entry(&delivery.route).or_default() += 1);
        let shown = |entry: &RouteEntry| RouteShown {
            disabled: entry.disabled.clone(),
            failures: entry.failures,
            waiting: waiting.get(entry.route.name.as_str()).copied().unwrap_or(0),
            from: entry.from.clone(),
            ..entry.route.shown()
        };
        self.state().all_routes().map(shown).collect()
    }

    /// Deliveries with their numbers, the newest first.
    pub fn deliveries(&self, query: &DeliveryQuery) -> Vec<(u64, Delivery)> {
        let is_asked = |asked: &Option<String>, is: &str| asked.as_ref().is_none_or(|asked| asked == is);
        let asked = self.state().deliveries.range(..query.after.unwrap_or(u64::MAX)).rev().filter(|(_, one)| {
            is_asked(&query.watch, &one.watch)
                && is_asked(&query.route, &one.route)
                && query.state.is_none_or(|state| state == one.state)
        });
        asked.take(query.limit).map(|(number, one)| (*number, one.clone())).collect()
    }

    /// Whether what a watch tells is in a feed of its own.
    pub fn has_feed(&self, watch: &Watch) -> bool {
        watch.to.iter().any(|to| self.is_atom(&to.route))
    }

    /// What a watch told on its feed, the newest first.
    pub fn fed(&self, watch: &str, limit: usize) -> Result<Vec<Delivery>> {
        let entry = self.watch(watch)?;
        if !self.has_feed(&entry.watch) {
            return Err(Error::Unknown { noun: "feed of the watch", name: watch.to_owned() });
        }
        let of_feed = |one: &&Delivery| one.watch == watch && self.is_atom(&one.route);
        Ok(self.state().deliveries.values().rev().filter(of_feed).take(limit).cloned().collect())
    }

    fn is_atom(&self, route: &str) -> bool {
        self.state().route(route).is_some_and(|entry| entry.route.is_atom())
    }
}
