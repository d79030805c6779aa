//! Requests in a time: each asker has a bucket that fills steadily, and a request takes one piece out of it.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv6Addr};
use std::time::Duration;

use tokio::time::Instant;

/// Seconds of the rate of requests (`--api-rate`) that may be saved up and used at once.
pub const BURST_SECONDS: f64 = 5.0;
/// Wrong tokens, keys and signatures of one address at once; then one in [`FAILURE_EVERY`].
pub const FAILURES_AT_ONCE: f64 = 10.0;
pub const FAILURE_EVERY: Duration = Duration::from_secs(10);
/// Askers that are remembered. Beyond it those with the fullest buckets are forgotten: they asked least.
const BUCKETS_MAX: usize = 4_096;
/// Of an IPv6 address so many bits name a customer; the rest is theirs to choose.
const IPV6_NETWORK_BITS: u32 = 64;

/// How fast buckets fill, and how much they hold.
#[derive(Copy, Clone, Debug)]
pub struct Rate {
    pub per_second: f64,
    pub at_once: f64,
}

/// The buckets of all askers of one kind.
#[derive(Debug)]
pub struct Rates<K> {
    rate: Rate,
    buckets: BTreeMap<K, Bucket>,
}

#[derive(Copy, Clone, Debug)]
struct Bucket {
    filled: f64,
    since: Instant,
}

impl Rate {
    pub fn of_requests(per_second: f64) -> Rate {
        Rate { per_second, at_once: (per_second * BURST_SECONDS).max(1.0) }
    }

    pub fn of_failures() -> Rate {
        Rate { per_second: 1.0 / FAILURE_EVERY.as_secs_f64(), at_once: FAILURES_AT_ONCE }
    }

    fn filled(&self, bucket: &Bucket, now: Instant) -> f64 {
        let waited = now.saturating_duration_since(bucket.since).as_secs_f64();
        (bucket.filled + waited * self.per_second).min(self.at_once)
    }
}

impl<K: Ord + Clone> Rates<K> {
    pub fn new(rate: Rate) -> Rates<K> {
        Rates { rate, buckets: BTreeMap::new() }
    }

    /// Takes one request out of a bucket, or says after how long there will be one.
    pub fn take(&mut self, asker: &K, now: Instant) -> Result<(), Duration> {
        self.wait(asker, now)?;
        if !self.buckets.contains_key(asker) {
            self.make_room(now);
        }
        let full = Bucket { filled: self.rate.at_once, since: now };
        let bucket = self.buckets.entry(asker.clone()).or_insert(full);
        *bucket = Bucket { filled: self.rate.filled(bucket, now) - 1.0, since: now };
        Ok(())
    }

    /// The same question without taking anything.
    pub fn wait(&self, asker: &K, now: Instant) -> Result<(), Duration> {
        let Some(bucket) = self.buckets.get(asker) else { return Ok(()) };
        let lacks = 1.0 - self.rate.filled(bucket, now);
        if lacks <= 0.0 { Ok(()) } else { Err(Duration::from_secs_f64(lacks / self.rate.per_second)) }
    }

    /// A full bucket says nothing. Where none is full, the one that says least is forgotten.
    fn make_room(&mut self, now: Instant) {
        if self.buckets.len() < BUCKETS_MAX {
            return;
        }
        let rate = self.rate;
        self.buckets.retain(|_, bucket| rate.filled(bucket, now) < rate.at_once);
        if self.buckets.len() < BUCKETS_MAX {
            return;
        }
        let filled = |bucket: &Bucket| rate.filled(bucket, now);
        let fullest = self.buckets.iter().max_by(|(_, one), (_, other)| filled(one).total_cmp(&filled(other)));
        if let Some(fullest) = fullest.map(|(asker, _)| asker.clone()) {
            self.buckets.remove(&fullest);
        }
    }
}

/// Whose bucket an address takes from.
pub fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => {
            let mask = u128::MAX << (u128::BITS - IPV6_NETWORK_BITS);
            Ipv6Addr::from_bits(address.to_bits() & mask).into()
        }
        address => address,
    }
}

/// Whole seconds for a Retry-After header, rounded up.
pub fn seconds(wait: Duration) -> u64 {
    wait.as_millis().div_ceil(1_000).max(1) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    const RATE: Rate = Rate { per_second: 2.0, at_once: 4.0 };

    fn after(began: Instant, millis: u64) -> Instant {
        began + Duration::from_millis(millis)
    }

    #[test]
    fn a_burst_is_given_then_the_rate_and_never_more_than_the_burst() {
        let began = Instant::now();
        let mut rates = Rates::new(RATE);
        for _ in 0..4 {
            assert_eq!(rates.take(&"a", began), Ok(()));
        }
        assert_eq!(rates.take(&"a", began), Err(Duration::from_millis(500)));
        assert_eq!(rates.take(&"b", began), Ok(()), "others have buckets of their own");
        assert!(rates.take(&"a", after(began, 499)).is_err());
        assert_eq!(rates.take(&"a", after(began, 500)), Ok(()));
        assert!(rates.take(&"a", after(began, 501)).is_err(), "a refusal costs nothing, and a request its piece");
        let given = (0..100).filter(|_| rates.take(&"a", after(began, 3_600_000)).is_ok()).count();
        assert_eq!(given, 4);
    }

    #[test]
    fn over_any_time_no_asker_gets_more_than_burst_and_rate_together() {
        let began = Instant::now();
        let mut rates = Rates::new(RATE);
        let given = (0..60_000).step_by(7).filter(|&millis| rates.take(&(), after(began, millis)).is_ok()).count();
        assert!((123..=124).contains(&given), "{given} in a minute");
    }

    #[test]
    fn strangers_without_end_cost_bounded_memory_and_do_not_free_who_asked_too_much() {
        let began = Instant::now();
        let mut rates = Rates::new(RATE);
        while rates.take(&u32::MAX, began).is_ok() {}
        for stranger in 0..3 * BUCKETS_MAX as u32 {
            assert_eq!(rates.take(&stranger, began), Ok(()));
        }
        assert!(rates.buckets.len() <= BUCKETS_MAX);
        assert!(rates.take(&u32::MAX, began).is_err());
    }

    #[test]
    fn neighbours_in_one_ipv6_network_share_a_bucket() {
        let of = |text: &str| network(text.parse().unwrap());
        assert_eq!(of("2001:db8:1:2::1"), of("2001:db8:1:2:ffff::9"));
        assert_ne!(of("2001:db8:1:2::1"), of("2001:db8:1:3::1"));
        assert_eq!(of("::ffff:192.0.2.1"), of("192.0.2.1"));
        assert_ne!(of("192.0.2.1"), of("192.0.2.2"));
    }

    #[test]
    fn retry_after_is_never_too_soon_and_never_zero() {
        assert_eq!([0, 1, 999, 1_000, 1_001].map(|millis| seconds(Duration::from_millis(millis))), [1, 1, 1, 1, 2]);
    }
}
