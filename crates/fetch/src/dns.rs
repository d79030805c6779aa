//! Resolves host names through a bounded cache.

use std::collections::HashMap;
use std::future::Future;
use std::net::{IpAddr, ToSocketAddrs};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{OnceCell, Semaphore};
use tokio::time::{Instant, timeout};

pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// The addresses of a name, or the reason why there are none.
pub type Addresses = Result<Vec<IpAddr>, String>;

/// A resolver of host names. Its answers are not trusted: the guard judges each address before it is dialled.
pub trait Resolve: Send + Sync {
    fn resolve<'a>(&'a self, host: &'a str) -> BoxFuture<'a, Addresses>;
}

/// The resolver of a crawl: the system resolver behind a cache.
pub fn system() -> Arc<dyn Resolve> {
    Arc::new(Cached::new(System::default()))
}

/// Names looked up at once. The system resolver keeps a thread until it has an answer, also when nobody waits for it any
/// more, and the threads are needed for large bodies too.
pub(crate) const LOOKUPS_MAX: usize = 64;

/// The system resolver without a cache.
#[derive(Clone, Debug)]
pub struct System {
    lookups: Arc<Semaphore>,
}

impl Default for System {
    fn default() -> Self {
        System { lookups: Arc::new(Semaphore::new(LOOKUPS_MAX)) }
    }
}

impl Resolve for System {
    fn resolve<'a>(&'a self, host: &'a str) -> BoxFuture<'a, Addresses> {
        Box::pin(async move {
            let permit = Arc::clone(&self.lookups).acquire_owned().await.map_err(|error| error.to_string())?;
            let host = host.to_owned();
            let looked_up = tokio::task::spawn_blocking(move || {
                let found = (host.as_str(), 0).to_socket_addrs();
                drop(permit);
                found
            });
            let found = looked_up.await.map_err(|error| error.to_string())?.map_err(|error| error.to_string())?;
            let mut addresses: Vec<IpAddr> = Vec::new();
            for address in found.map(|address| address.ip()) {
                if !addresses.contains(&address) && addresses.len() < ADDRESSES_MAX {
                    addresses.push(address);
                }
            }
            if addresses.is_empty() { Err("the name has no address".into()) } else { Ok(addresses) }
        })
    }
}

/// Further addresses of a name are ignored: none is needed to reach a site.
const ADDRESSES_MAX: usize = 16;

/// So many names are cached. Beyond this, expired entries are evicted first, then any.
const NAMES_MAX: usize = 10_000;

/// `getaddrinfo` gives no time to live, so this one is chosen. It is short enough to follow a site that moves.
const GOOD_FOR: Duration = Duration::from_secs(300);
const BAD_FOR: Duration = Duration::from_secs(30);

/// Where a name that had addresses is not answered within this time, its last addresses are used for a while (RFC 8767), so
/// that names which are slow to look up do not keep known sites from being visited.
const OUTDATED_AFTER: Duration = Duration::from_secs(2);

/// A bounded cache in front of a resolver. Concurrent questions for one name become one question.
pub struct Cached<R> {
    inner: R,
    names: Mutex<HashMap<Box<str>, Arc<Slot>>>,
}

/// The first caller fills the cell and the others wait. If the first one is cancelled, another takes over.
#[derive(Default)]
struct Slot {
    cell: OnceCell<(Addresses, Instant)>,
    /// The last addresses of the name, which are outdated.
    before: Option<Vec<IpAddr>>,
}

impl Slot {
    fn is_outdated(&self, now: Instant) -> bool {
        self.cell.get().is_some_and(|(_, until)| *until <= now)
    }
}

impl<R: Resolve> Cached<R> {
    pub fn new(inner: R) -> Self {
        Cached { inner, names: Mutex::new(HashMap::new()) }
    }

    fn slot(&self, host: &str, now: Instant) -> Arc<Slot> {
        let mut names = self.names.lock().unwrap_or_else(PoisonError::into_inner);
        let known = names.get(host);
        if let Some(slot) = known.filter(|slot| !slot.is_outdated(now)) {
            return Arc::clone(slot);
        }
        let before = known.and_then(|slot| slot.cell.get()?.0.clone().ok());
        if names.len() >= NAMES_MAX {
            names.retain(|_, slot| !slot.is_outdated(now));
        }
        if names.len() >= NAMES_MAX
            && let Some(any) = names.keys().next().cloned()
        {
            names.remove(&any);
        }
        let slot = Arc::new(Slot { before, ..Slot::default() });
        names.insert(host.into(), Arc::clone(&slot));
        slot
    }
}

impl<R: Resolve> Resolve for Cached<R> {
    fn resolve<'a>(&'a self, host: &'a str) -> BoxFuture<'a, Addresses> {
        Box::pin(async move {
            let slot = self.slot(host, Instant::now());
            let ask = || async {
                let asked = self.inner.resolve(host);
                let addresses = match &slot.before {
                    None => asked.await,
                    Some(before) => match timeout(OUTDATED_AFTER, asked).await {
                        Ok(addresses) => addresses,
                        Err(_) => return (Ok(before.clone()), Instant::now() + BAD_FOR),
                    },
                };
                let lifetime = if addresses.is_ok() { GOOD_FOR } else { BAD_FOR };
                (addresses, Instant::now() + lifetime)
            };
            slot.cell.get_or_init(ask).await.0.clone()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// Yields once before it answers. Names that begin with `bad` have no address.
    #[derive(Default)]
    struct Counting {
        asked: AtomicUsize,
    }

    impl Resolve for Counting {
        fn resolve<'a>(&'a self, host: &'a str) -> BoxFuture<'a, Addresses> {
            Box::pin(async move {
                self.asked.fetch_add(1, Ordering::Relaxed);
                tokio::task::yield_now().await;
                if host.starts_with("bad") { Err("no such name".into()) } else { Ok(vec![IpAddr::from([8, 8, 8, 8])]) }
            })
        }
    }

    #[tokio::test]
    async fn a_name_asked_for_by_many_at_once_is_asked_for_once() {
        let cached = Cached::new(Counting::default());
        let (a, b, c) = tokio::join!(cached.resolve("a.org"), cached.resolve("a.org"), cached.resolve("a.org"));
        assert_eq!((a.clone(), b), (c, a));
        assert_eq!(cached.inner.asked.load(Ordering::Relaxed), 1);
    }

    #[tokio::test]
    async fn one_who_gives_up_does_not_keep_the_others_waiting() {
        let cached = Cached::new(Counting::default());
        let mut first = cached.resolve("a.org");
        tokio::select! {
            biased;
            _ = &mut first => panic!("answered at once"),
            () = std::future::ready(()) => {}
        }
        drop(first);
        assert!(cached.resolve("a.org").await.is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn good_answers_live_longer_than_bad_ones() {
        let cached = Cached::new(Counting::default());
        for (host, lifetime) in [("good.org", GOOD_FOR), ("bad.org", BAD_FOR)] {
            let before = cached.inner.asked.load(Ordering::Relaxed);
            let _ = cached.resolve(host).await;
            tokio::time::advance(lifetime - Duration::from_secs(1)).await;
            let _ = cached.resolve(host).await;
            assert_eq!(cached.inner.asked.load(Ordering::Relaxed), before + 1, "{host}");
            tokio::time::advance(Duration::from_secs(1)).await;
            let _ = cached.resolve(host).await;
            assert_eq!(cached.inner.asked.load(Ordering::Relaxed), before + 2, "{host}");
        }
    }

    /// Answers the first question about a name, and no other.
    #[derive(Default)]
    struct Tired {
        asked: AtomicUsize,
    }

    impl Resolve for Tired {
        fn resolve<'a>(&'a self, _host: &'a str) -> BoxFuture<'a, Addresses> {
            match self.asked.fetch_add(1, Ordering::Relaxed) {
                0 => Box::pin(std::future::ready(Ok(vec![IpAddr::from([8, 8, 8, 8])]))),
                _ => Box::pin(std::future::pending()),
            }
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_name_that_had_addresses_keeps_them_while_nobody_answers() {
        let cached = Cached::new(Tired::default());
        let first = cached.resolve("a.org").await;
        for asked in 2..5 {
            tokio::time::advance(GOOD_FOR).await;
            assert_eq!(cached.resolve("a.org").await, first);
            assert_eq!(cached.resolve("a.org").await, first, "and is not asked for again at once");
            assert_eq!(cached.inner.asked.load(Ordering::Relaxed), asked);
        }
        assert!(timeout(GOOD_FOR, cached.resolve("b.org")).await.is_err(), "what never had any has none");
    }

    #[tokio::test]
    async fn the_cache_never_grows_beyond_its_limit() {
        let cached = Cached::new(Counting::default());
        for number in 0..NAMES_MAX + 50 {
            let _ = cached.resolve(&format!("{number}.org")).await;
        }
        assert_eq!(cached.names.lock().unwrap().len(), NAMES_MAX);
    }
}
