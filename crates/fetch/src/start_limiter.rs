//! Limits the starts of requests per site and per address. It is the last check of politeness, made where the request
//! begins.
//!
//! The crawler spaces its orders, but a worker loop may begin one order late and the next in time, and only the worker knows
//! the address behind a name. So each start is decided and recorded here: the gap of the order has passed at the site, and
//! the limits of the address allow one more.

use std::collections::VecDeque;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use foldhash::HashMap;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use vernal_model::{AddressLimits, Moment, Order, Span};

use crate::Clock;

/// The last start at a site is remembered at least this long, so that a gap which has just become longer is kept too.
const SITE_KEPT_MIN: Span = Span::from_secs(120);
/// Starts remembered per address. A limit of more per second is applied to shorter periods.
const STARTS_MAX: f64 = 64.0;

/// The limit of an address as a number of starts within any period of the span.
fn starts(limits: AddressLimits) -> (usize, Span) {
    let starts = limits.per_second.clamp(1.0, STARTS_MAX).floor();
    (starts as usize, Span::from_secs_f64(starts / limits.per_second))
}

/// Limits the starts of all loops.
pub(crate) struct StartLimiter {
    limits: AddressLimits,
    clock: Arc<dyn Clock>,
    times: Mutex<StartTimes>,
}

#[derive(Default)]
struct StartTimes {
    /// The last start at each site whose orders have a gap, and that gap.
    sites: HashMap<Box<str>, (Moment, Span)>,
    addresses: HashMap<IpAddr, AddressStarts>,
}

struct AddressStarts {
    slots: Arc<Semaphore>,
    /// Those of them that orders with little patience may use.
    hurried_slots: Arc<Semaphore>,
    /// The latest starts, oldest first.
    starts: VecDeque<Moment>,
}

/// A request may run while it holds this permit. Dropping it frees a slot of the address.
pub(crate) struct StartPermit {
    pub started: Moment,
    _slots: (Option<OwnedSemaphorePermit>, Option<OwnedSemaphorePermit>),
}

impl StartLimiter {
    pub fn new(limits: AddressLimits, clock: Arc<dyn Clock>) -> Self {
        StartLimiter { limits, clock, times: Mutex::default() }
    }

    /// Waits until this order may begin at this address, and records its start. There is no address when the name has none.
    pub async fn take(&self, order: &Order, address: Option<IpAddr>) -> StartPermit {
        let slots = address.map(|address| {
            let mut times = self.times();
            let known = times.address(address, self.limits);
            (Arc::clone(&known.hurried_slots), Arc::clone(&known.slots))
        });
        let slots = match slots {
            Some((hurried, all)) => {
                // Sites that never answered leave some requests to the others behind their address.
                let hurried = if order.patience.is_some() { hurried.acquire_owned().await.ok() } else { None };
                (hurried, all.acquire_owned().await.ok())
            }
            None => (None, None),
        };
        loop {
            let now = self.clock.now();
            let free = self.begin(order, address, now);
            if free <= now {
                return StartPermit { started: now, _slots: slots };
            }
            tokio::time::sleep(self.clock.real(free.since(now))).await;
        }
    }

    /// The Moment from which the order may begin. If that is now, its start is recorded.
    fn begin(&self, order: &Order, address: Option<IpAddr>, now: Moment) -> Moment {
        let (starts_max, stretch) = starts(self.limits);
        let mut times = self.times();
        let site = order.url.site_text();
        let has_gap = order.gap > Span::ZERO;
        let last = if has_gap { times.sites.get(site) } else { None };
        let rested = last.map_or(now, |&(last, _)| last + order.gap);
        let mut starts = address.map(|address| &mut times.address(address, self.limits).starts);
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
            times.sites.insert(site.into(), (now, order.gap));
        }
        now
    }

    /// Forgets starts that no longer delay anything.
    pub fn sweep(&self) {
        let now = self.clock.now();
        let (_, stretch) = starts(self.limits);
        let mut times = self.times();
        times.sites.retain(|_, (last, gap)| now.since(*last) < SITE_KEPT_MIN.max(gap.scaled(2.0)));
        times.addresses.retain(|_, address| {
            let is_used = Arc::strong_count(&address.slots) > 1;
            is_used || address.starts.back().is_some_and(|&last| now.since(last) < stretch)
        });
    }

    fn times(&self) -> MutexGuard<'_, StartTimes> {
        self.times.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl StartTimes {
    fn address(&mut self, address: IpAddr, limits: AddressLimits) -> &mut AddressStarts {
        let slots = |at_once: u32| Arc::new(Semaphore::new((at_once.max(1) as usize).min(Semaphore::MAX_PERMITS)));
        self.addresses.entry(address).or_insert_with(|| AddressStarts {
            slots: slots(limits.at_once),
            hurried_slots: slots(limits.at_once_of_slow()),
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

    /// The paused time of tokio, so many times as fast.
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
            patience: None,
            public_only: false,
        }
    }

    /// Orders of several sites reach the worker in bursts and late. Returns their starts by site and by address.
    async fn life(scale: f64, limits: AddressLimits, gap: Span) -> Vec<(u64, IpAddr, Moment, Moment)> {
        let clock = Arc::new(Fast { begun: Instant::now(), scale });
        let limiter = Arc::new(StartLimiter::new(limits, Arc::clone(&clock) as Arc<dyn Clock>));
        let mut chance = Chance::new(7).stream("limiter");
        let mut asked = Vec::new();
        for _ in 0..400 {
            let site = chance.below(40);
            let address = IpAddr::from([192, 0, 2, (site % 2) as u8]);
            let (late, takes) = (chance.below(30_000), chance.below(900));
            let (limiter, clock) = (Arc::clone(&limiter), Arc::clone(&clock));
            asked.push(tokio::spawn(async move {
                tokio::time::sleep(clock.real(Span::from_millis(late))).await;
                let turn = limiter.take(&order(site, gap), Some(address)).await;
                tokio::time::sleep(clock.real(Span::from_millis(takes))).await;
                let ended = clock.now();
                drop(turn._slots);
                (site, address, turn.started, ended)
            }));
        }
        let mut turns_taken = Vec::new();
        for turn in asked {
            turns_taken.push(turn.await.unwrap());
        }
        limiter.sweep();
        tokio::time::sleep(clock.real(Span::from_secs(600))).await;
        limiter.sweep();
        assert!(limiter.times().sites.is_empty() && limiter.times().addresses.is_empty(), "nothing is kept for ever");
        turns_taken
    }

    #[tokio::test(start_paused = true)]
    async fn starts_of_one_site_are_never_closer_than_the_gap_whatever_the_scale_of_time() {
        let gap = Span::from_millis(750);
        for scale in [1.0, 60.0] {
            let mut limiter = life(scale, AddressLimits::default(), gap).await;
            limiter.sort_by_key(|&(site, _, started, _)| (site, started));
            for pair in limiter.windows(2).filter(|pair| pair[0].0 == pair[1].0) {
                assert!(pair[1].2.since(pair[0].2) >= gap, "{pair:?}");
            }
        }
    }

    #[tokio::test(start_paused = true)]
    async fn sites_that_never_answered_leave_requests_to_the_others_behind_their_address() {
        let clock = Arc::new(Fast { begun: Instant::now(), scale: 1.0 });
        let limiter = StartLimiter::new(AddressLimits { at_once: 8, per_second: 64.0 }, clock);
        let address = Some(IpAddr::from([192, 0, 2, 1]));
        let hurried = |site| Order { patience: Some(Span::from_secs(4)), ..order(site, Span::ZERO) };
        let mut taken = Vec::new();
        for site in 0..6 {
            taken.push(limiter.take(&hurried(site), address).await);
        }
        let soon = Duration::from_secs(60);
        assert!(tokio::time::timeout(soon, limiter.take(&hurried(7), address)).await.is_err());
        assert!(tokio::time::timeout(soon, limiter.take(&order(8, Span::ZERO), address)).await.is_ok());
        taken.pop();
        assert!(tokio::time::timeout(soon, limiter.take(&hurried(7), address)).await.is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn an_address_is_never_asked_more_than_its_limits_though_every_site_is_met_for_the_first_time() {
        let limits = AddressLimits { at_once: 5, per_second: 6.0 };
        let limiter = life(1.0, limits, Span::ZERO).await;
        let mut fullest = 0;
        for &(_, address, from, _) in &limiter {
            let here = || limiter.iter().filter(|turn| turn.1 == address);
            let in_a_second = here().filter(|turn| turn.2 >= from && turn.2.since(from) < Span::from_secs(1)).count();
            let under_way = here().filter(|turn| turn.2 <= from && turn.3 > from).count();
            assert!(in_a_second <= 6 && under_way <= 5, "{in_a_second} starts, {under_way} under way");
            fullest = fullest.max(in_a_second);
        }
        assert_eq!(fullest, 6, "the limit is used");
    }
}
