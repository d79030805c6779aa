//! The URL buffer hands orders to the worker loops. All orders of a site go to the same loop, which has the open
//! connections of that site.

use std::hash::{DefaultHasher, Hash, Hasher};

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use vernal_model::Order;

/// The queue of each loop. The crawler bounds the length: it never has more orders out than its concurrency allows.
pub struct Buffer {
    loops: Vec<UnboundedSender<Vec<Order>>>,
}

impl Buffer {
    pub fn new(loops: usize) -> (Self, Vec<UnboundedReceiver<Vec<Order>>>) {
        let (senders, receivers) = (0..loops.max(1)).map(|_| unbounded_channel()).unzip();
        (Buffer { loops: senders }, receivers)
    }

    /// Sends a batch, which wakes each loop once. Orders for a loop that has ended are dropped, as are those in flight
    /// there.
    pub fn send(&self, orders: Vec<Order>) {
        if let [only] = self.loops.as_slice() {
            let _ = only.send(orders);
            return;
        }
        let mut parts: Vec<Vec<Order>> = self.loops.iter().map(|_| Vec::new()).collect();
        for order in orders {
            parts[place(order.url.site_text(), self.loops.len())].push(order);
        }
        for (orders, to) in parts.into_iter().zip(&self.loops).filter(|(orders, _)| !orders.is_empty()) {
            let _ = to.send(orders);
        }
    }
}

fn place(site: &str, loops: usize) -> usize {
    if loops == 1 {
        return 0;
    }
    let mut hasher = DefaultHasher::new();
    site.hash(&mut hasher);
    (hasher.finish() % loops as u64) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_site_always_meets_the_same_loop_and_all_loops_have_sites() {
        let mut counts = [0; 4];
        for number in 0..400 {
            let site = format!("site{number}.org");
            assert_eq!(place(&site, 4), place(&site, 4));
            counts[place(&site, 4)] += 1;
        }
        assert!(counts.iter().all(|&count| count > 50), "{counts:?}");
    }
}
