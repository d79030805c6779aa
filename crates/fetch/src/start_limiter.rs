//! Whose turn it is: the last look at politeness, taken where the request really begins.
//!
//! The crawler spaces its orders by what it knows; a worker's loop may be late with one order and in time with the next,
//! and only the worker knows which address a name led to. So the start of every request is stamped here, at a Moment at
//! which the site has rested for the order's gap and the address has room, exactly.

use std::collections::VecDeque;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use foldhash::HashMap;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use vernal_model::{AddressLimits, Moment, Order, Span};

use crate::Clock;

/// A site's last start is remembered at least this long, so that a gap that has just grown longer is kept too.
const SITE_KEPT_MIN: Span = Span::from_secs(120);
/// Starts remembered per address; a limit above so many a second is kept over shorter stretches of time.
const STARTS_MAX: f64 = 64.0;

/// So many starts in any stretch of so long.
fn starts(limits: AddressLimits) -> (usize, Span) {
    let starts = limits.per_second.clamp(1.0, STARTS_MAX).floor();
    (starts as usize, Span::from_secs_f64(starts / limits.per_second))
}

/// The turns of all loops.
pub(crate) struct Turns {
    limits: AddressLimits,
    clock: Arc<dyn Clock>,
    book: Mutex<Book>,
}

#[derive(Default)]
struct Book {
    /// When each site was last asked, and with which gap, where there is one.
    sites: HashMap<Box<str>, (Moment, Span)>,
    addresses: HashMap<IpAddr, Address>,
}

struct Address {
    room: Arc<Semaphore>,
    /// The latest starts, oldest first.
    starts: VecDeque<Moment>,
}

/// A turn that has come; the address has its room back when it is dropped.
pub(crate) struct Turn {
    pub started: Moment,
    _room: Option<OwnedSemaphorePermit>,
}

impl Turns {
    pub fn new(limits: AddressLimits, clock: Arc<dyn Clock>) -> Self {
        Turns { limits, clock, book: Mutex::default() }
    }

    /// Waits until this order may be carried out at this address (none if the name has none), and notes its start.
    pub async fn take(&self, order: &Order, address: Option<IpAddr>) -> Turn {
        let room = address.map(|address| Arc::clone(&self.book().address(address, self.limits).room));
        let room = match room {
            Some(room) => room.acquire_owned().await.ok(),
            None => None,
        };
        loop {
            let now = self.clock.now();
            let free = self.begin(order, address, now);
            if free <= now {
                return Turn { started: now, _room: room };
            }
            tokio::time::sleep(self.clock.real(free.since(now))).await;
        }
    }

    /// When the order may begin; if that is now, it has begun.
    fn begin(&self, order: &Order, address: Option<IpAddr>, now: Moment) -> Moment {
        let (starts_max, stretch) = starts(self.limits);
        let mut book = self.book();
        let site = order.url.site_text();
        let has_gap = order.gap > Span::ZERO;
        let last = if has_gap { book.sites.get(site) } else { None };
        let rested = last.map_or(now, |&(last, _)| last + order.gap);
        let mut starts = address.map(|address| &mut book.address(address, self.limits).starts);
        let open = match &starts {
            Some(starts) if starts.len() >= starts_max => starts.front().map_or(now, |&oldest| oldest + stretch),
            _ => now,
        };
        let free = rested.max(open);
        if free > now {
            return free;
        }
        if let Some(starts) = &mut starts {
            if starts.len() >= starts_max {
                starts.pop_front();
            }
            starts.push_back(now);
        }
        if has_gap {
            book.sites.insert(site.into(), (now, order.gap));
        }
        now
    }

    /// Forgets what no longer holds anybody back.
    pub fn sweep(&self) {
        let now = self.clock.now();
        let (_, stretch) = starts(self.limits);
        let mut book = self.book();
        book.sites.retain(|_, (last, gap)| now.since(*last) < SITE_KEPT_MIN.max(gap.scaled(2.0)));
        book.addresses.retain(|_, address| {
            let is_used = Arc::strong_count(&address.room) > 1;
            is_used || address.starts.back().is_some_and(|&last| now.since(last) < stretch)
        });
    }

    fn book(&self) -> MutexGuard<'_, Book> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Book {
    fn address(&mut self, address: IpAddr, limits: AddressLimits) -> &mut Address {
        self.addresses.entry(address).or_insert_with(|| Address {
            room: Arc::new(Semaphore::new((limits.at_once.max(1) as usize).min(Semaphore::MAX_PERMITS))),
            starts: VecDeque::new(),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::Instant;
    use vernal_model::{Chance, OrderId, OrderKind, PageKey, Url, Validators};

    use super::*;

    /// Tokio's paused time, so many times as fast.
    struct Fast {
        begun: Instant,
        scale: f64,
    }

    impl Clock for Fast {
        fn now(&self) -> Moment {
            Moment::from_secs(1_000) + Span::from_secs_f64(self.begun.elapsed().as_secs_f64() * self.scale)
        }

        fn real(&self, span: Span) -> Duration {
            Duration::from_secs_f64(span.secs_f64() / self.scale)
        }
    }

    fn order(site: u64, gap: Span) -> Order {
        Order {
            id: OrderId(1),
            page: PageKey::default(),
            url: Url::parse(&format!("http://s{site}.org/")).unwrap(),
            kind: OrderKind::Page,
            validators: Validators::default(),
            held: None,
            gap,
        }
    }

    /// Orders of several sites come to the worker in bursts and late; their turns, by site and by address.
    async fn life(scale: f64, limits: AddressLimits, gap: Span) -> Vec<(u64, IpAddr, Moment, Moment)> {
        let clock = Arc::new(Fast { begun: Instant::now(), scale });
        let turns = Arc::new(Turns::new(limits, Arc::clone(&clock) as Arc<dyn Clock>));
        let mut chance = Chance::new(7).stream("turns");
        let mut asked = Vec::new();
        for _ in 0..400 {
            let site = chance.below(40);
            let address = IpAddr::from([192, 0, 2, (site % 2) as u8]);
            let (late, takes) = (chance.below(30_000), chance.below(900));
            let (turns, clock) = (Arc::clone(&turns), Arc::clone(&clock));
            asked.push(tokio::spawn(async move {
                tokio::time::sleep(clock.real(Span::from_millis(late))).await;
                let turn = turns.take(&order(site, gap), Some(address)).await;
                tokio::time::sleep(clock.real(Span::from_millis(takes))).await;
                let ended = clock.now();
                drop(turn._room);
                (site, address, turn.started, ended)
            }));
        }
        let mut turns_taken = Vec::new();
        for turn in asked {
            turns_taken.push(turn.await.unwrap());
        }
        turns.sweep();
        tokio::time::sleep(clock.real(Span::from_secs(600))).await;
        turns.sweep();
        assert!(turns.book().sites.is_empty() && turns.book().addresses.is_empty(), "nothing is kept for ever");
        turns_taken
    }

    #[tokio::test(start_paused = true)]
    async fn starts_of_one_site_are_never_closer_than_the_gap_whatever_the_scale_of_time() {
        let gap = Span::from_millis(750);
        for scale in [1.0, 60.0] {
            let mut turns = life(scale, AddressLimits::default(), gap).await;
            turns.sort_by_key(|&(site, _, started, _)| (site, started));
            for pair in turns.windows(2).filter(|pair| pair[0].0 == pair[1].0) {
                assert!(pair[1].2.since(pair[0].2) >= gap, "{pair:?}");
            }
        }
    }

    #[tokio::test(start_paused = true)]
    async fn an_address_is_never_asked_more_than_its_limits_though_every_site_is_met_for_the_first_time() {
        let limits = AddressLimits { at_once: 5, per_second: 6.0 };
        let turns = life(1.0, limits, Span::ZERO).await;
        let mut fullest = 0;
        for &(_, address, from, _) in &turns {
            let here = || turns.iter().filter(|turn| turn.1 == address);
            let in_a_second = here().filter(|turn| turn.2 >= from && turn.2.since(from) < Span::from_secs(1)).count();
            let under_way = here().filter(|turn| turn.2 <= from && turn.3 > from).count();
            assert!(in_a_second <= 6 && under_way <= 5, "{in_a_second} starts, {under_way} under way");
            fullest = fullest.max(in_a_second);
        }
        assert_eq!(fullest, 6, "the limit is used");
    }
}
