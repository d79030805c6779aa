//! The URL buffer: orders on their way to the loops. Every order of a site goes to the same loop, so that the site's
//! open connections are found there.

use std::hash::{DefaultHasher, Hash, Hasher};

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use vernal_model::Order;

/// Its length is bounded by its writer: the crawler never has more orders out than its concurrency allows.
pub struct Buffer {
    loops: Vec<UnboundedSender<Order>>,
}

impl Buffer {
    pub fn new(loops: usize) -> (Self, Vec<UnboundedReceiver<Order>>) {
        let (senders, receivers) = (0..loops.max(1)).map(|_| unbounded_channel()).unzip();
        (Buffer { loops: senders }, receivers)
    }

    /// An order to a loop that has ended is dropped, as are those in flight there.
    pub fn send(&self, order: Order) {
        let place = place(order.url.site_text(), self.loops.len());
        let _ = self.loops[place].send(order);
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
