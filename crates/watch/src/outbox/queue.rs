//! Which deliveries are due. Each route has a queue of its own; within it each page keeps its order.

use std::collections::{BTreeMap, HashSet};

use vernal_model::Moment;

use super::delivery::Delivery;
use super::state::State;

/// Deliveries under way at a time on one route.
const AT_A_TIME_MAX: usize = 4;

/// The deliveries that may leave now. `under_way` have left already.
pub fn due(state: &State, under_way: &HashSet<String>, now: Moment) -> Vec<Delivery> {
    let mut queues: BTreeMap<&str, Vec<&Delivery>> = BTreeMap::new();
    for delivery in state.waiting() {
        queues.entry(&delivery.route).or_default().push(delivery);
    }
    let mut due = Vec::new();
    for (name, queue) in queues {
        let Some(route) = state.route(name).filter(|route| route.disabled.is_none()) else { continue };
        let leaving = queue.iter().filter(|delivery| under_way.contains(&delivery.id)).count();
        let room = match route.is_failing() {
            // One delivery shows whether the route works again.
            true if route.retry > now => 0,
            true => 1_usize.saturating_sub(leaving),
            false => AT_A_TIME_MAX.saturating_sub(leaving),
        };
        let mut pages_before: HashSet<&str> = HashSet::new();
        let mut free: Vec<&Delivery> = Vec::new();
        for delivery in queue {
            let is_first = delivery.pages().all(|page| !pages_before.contains(page));
            pages_before.extend(delivery.pages());
            let is_due = delivery.next <= now || route.is_failing();
            let is_quiet = || state.loud_at(&delivery.watch, route, now) > now;
            if is_first && is_due && !under_way.contains(&delivery.id) && !is_quiet() {
                free.push(delivery);
            }
        }
        if route.is_failing() {
            free.sort_by_key(|delivery| delivery.next);
        }
        due.extend(free.into_iter().take(room).cloned());
    }
    due
}
