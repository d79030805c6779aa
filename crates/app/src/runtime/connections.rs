//! The connections of the network listener: how many there may be, which one gives way to a new one, and who reads too slowly.
//!
//! A full house never refuses a newcomer: the connection that is of least use makes room. So neither silent connections nor
//! answers that nobody reads can keep others out.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::Instant;
use vernal_api::ConnectionCounts;

/// Connections at a time, where descriptors are not scarce. Each may cost a thread and some hundred KiB.
const CONNECTIONS_MAX: usize = 128;
/// Threads for answers beyond one for each connection: for the socket, and for answers whose connections just ended.
const THREADS_SPARE: usize = 32;
/// Connections of one address: half of all, so that one address alone never fills the house.
const SHARE_PER_ADDRESS: usize = 2;
/// One descriptor in so many may be a connection of this listener.
const SHARE_OF_DESCRIPTORS: usize = 8;
/// Bytes of finished answers that may wait for their readers, over all connections.
const WAITING_BYTES_MAX: u64 = 64 << 20;
/// A reader that takes no byte for so long is cut off.
const READER_PATIENCE: Duration = Duration::from_secs(20);
/// A connection that made progress so lately gives way only when all did.
const FRESH_FOR: Duration = Duration::from_secs(1);

#[derive(Copy, Clone, Debug)]
pub struct ConnectionLimits {
    pub connections_max: usize,
    pub per_address_max: usize,
    pub waiting_bytes_max: u64,
    pub reader_patience: Duration,
}

impl ConnectionLimits {
    /// Threads that make answers. Without a limit, answers in quick succession would have hundreds on a busy machine.
    pub fn threads_max(&self) -> usize {
        self.connections_max + THREADS_SPARE
    }

    /// The limits of a process that may hold so many descriptors.
    pub fn of_descriptors(descriptors: usize) -> ConnectionLimits {
        let connections_max = (descriptors / SHARE_OF_DESCRIPTORS).clamp(2, CONNECTIONS_MAX);
        ConnectionLimits {
            connections_max,
            per_address_max: (connections_max / SHARE_PER_ADDRESS).max(1),
            waiting_bytes_max: WAITING_BYTES_MAX,
            reader_patience: READER_PATIENCE,
        }
    }
}

/// All connections of one listener.
pub struct Connections {
    limits: ConnectionLimits,
    began: Instant,
    counts: Arc<ConnectionCounts>,
    open: Mutex<OpenConnections>,
}

#[derive(Default)]
struct OpenConnections {
    next: u64,
    by_number: BTreeMap<u64, Arc<Connection>>,
}

/// One connection as its own task and the others see it. Times are milliseconds since the listener began.
pub struct Connection {
    address: IpAddr,
    began: Instant,
    progress: AtomicU64,
    /// Since when bytes wait to be written; `READS` while none do.
    blocked_since: AtomicU64,
    /// Whether a request came, ever.
    has_asked: AtomicBool,
    is_answered: AtomicBool,
    waiting_bytes: AtomicU64,
    end: Notify,
}

/// The reader takes what it is given.
const READS: u64 = u64::MAX;

/// A place among the connections; it is free again when this is dropped.
pub struct Place {
    connections: Arc<Connections>,
    number: u64,
    pub connection: Arc<Connection>,
}

impl Connections {
    pub fn new(limits: ConnectionLimits, counts: Arc<ConnectionCounts>, began: Instant) -> Connections {
        Connections { limits, began, counts, open: Mutex::default() }
    }

    /// Takes in a new connection; others give way when there are too many.
    pub fn take_in(self: &Arc<Self>, address: IpAddr, now: Instant) -> Place {
        let address = address.to_canonical();
        let mut open = self.open();
        if open.by_number.values().filter(|other| other.address == address).count() >= self.limits.per_address_max {
            self.make_room(&mut open, |other| other.address == address, now);
        }
        if open.by_number.len() >= self.limits.connections_max {
            let fullest = open.fullest_address();
            self.make_room(&mut open, |other| Some(other.address) == fullest, now);
        }
        let connection = Arc::new(Connection::new(address, self.began, now));
        let number = open.next;
        open.next += 1;
        open.by_number.insert(number, Arc::clone(&connection));
        self.counts.opened.fetch_add(1, Ordering::Relaxed);
        self.counts.open.store(open.by_number.len() as u64, Ordering::Relaxed);
        Place { connections: Arc::clone(self), number, connection }
    }

    /// No descriptor was left for a new connection.
    pub fn not_accepted(&self, now: Instant) {
        self.counts.not_accepted.fetch_add(1, Ordering::Relaxed);
        self.make_room(&mut self.open(), |_| true, now);
    }

    /// Cuts off those who do not read.
    pub fn cut_off_slow_readers(&self, now: Instant) {
        for connection in self.open().by_number.values() {
            if connection.blocked_for(now).is_some_and(|blocked| blocked >= self.limits.reader_patience) {
                self.counts.slow_readers.fetch_add(1, Ordering::Relaxed);
                connection.give_way();
            }
        }
    }

    /// Notes the bytes of a finished answer. Where too many wait, those of others are given up first.
    fn hold(&self, place: &Place, bytes: u64, now: Instant) {
        place.connection.waiting_bytes.store(bytes, Ordering::Relaxed);
        let mut open = self.open();
        while open.waiting_bytes() > self.limits.waiting_bytes_max {
            let own = Arc::as_ptr(&place.connection);
            let holds =
                |other: &Connection| other.waiting_bytes.load(Ordering::Relaxed) > 0 && !std::ptr::eq(own, other);
            if !self.make_room(&mut open, holds, now) {
                break;
            }
        }
    }

    /// Ends the connection that is of least use among those; false when there is none.
    fn make_room(&self, open: &mut OpenConnections, among: impl Fn(&Connection) -> bool, now: Instant) -> bool {
        let candidates = open.by_number.iter().filter(|(_, connection)| among(connection));
        let Some((&number, _)) = candidates.min_by_key(|(_, connection)| connection.use_of(now)) else { return false };
        if let Some(connection) = open.by_number.remove(&number) {
            connection.give_way();
            self.counts.gave_way.fetch_add(1, Ordering::Relaxed);
        }
        true
    }

    fn open(&self) -> MutexGuard<'_, OpenConnections> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl OpenConnections {
    fn waiting_bytes(&self) -> u64 {
        self.by_number.values().map(|connection| connection.waiting_bytes.load(Ordering::Relaxed)).sum()
    }

    fn fullest_address(&self) -> Option<IpAddr> {
        let mut counts: BTreeMap<IpAddr, usize> = BTreeMap::new();
        for connection in self.by_number.values() {
            *counts.entry(connection.address).or_default() += 1;
        }
        counts.into_iter().max_by_key(|(_, count)| *count).map(|(address, _)| address)
    }
}

impl Place {
    pub fn asked(&self, now: Instant) {
        self.connection.has_asked.store(true, Ordering::Relaxed);
        self.connection.is_answered.store(false, Ordering::Relaxed);
        self.connection.waiting_bytes.store(0, Ordering::Relaxed);
        self.connection.progressed(now);
    }

    /// An answer of so many bytes lies ready.
    pub fn holds(&self, bytes: u64, now: Instant) {
        self.connections.hold(self, bytes, now);
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut open = self.connections.open();
        open.by_number.remove(&self.number);
        self.connections.counts.open.store(open.by_number.len() as u64, Ordering::Relaxed);
    }
}

impl Connection {
    fn new(address: IpAddr, began: Instant, now: Instant) -> Connection {
        Connection {
            address,
            began,
            progress: AtomicU64::new(millis(began, now)),
            blocked_since: AtomicU64::new(READS),
            has_asked: AtomicBool::new(false),
            is_answered: AtomicBool::new(true),
            waiting_bytes: AtomicU64::new(0),
            end: Notify::new(),
        }
    }

    /// Bytes came or went.
    pub fn progressed(&self, now: Instant) {
        self.progress.store(millis(self.began, now), Ordering::Relaxed);
    }

    pub fn wrote(&self, now: Instant) {
        self.blocked_since.store(READS, Ordering::Relaxed);
        self.progressed(now);
    }

    /// Bytes are ready and the reader does not take them.
    pub fn write_waits(&self, now: Instant) {
        let since = millis(self.began, now);
        // It keeps the first moment.
        let _ = self.blocked_since.compare_exchange(READS, since, Ordering::Relaxed, Ordering::Relaxed);
    }

    /// The last byte of an answer was handed over.
    pub fn answered(&self) {
        self.is_answered.store(true, Ordering::Relaxed);
    }

    /// Returns once this connection must end.
    pub async fn must_end(&self) {
        self.end.notified().await;
    }

    fn give_way(&self) {
        self.end.notify_one();
    }

    fn blocked_for(&self, now: Instant) -> Option<Duration> {
        let since = self.blocked_since.load(Ordering::Relaxed);
        (since != READS).then(|| Duration::from_millis(millis(self.began, now).saturating_sub(since)))
    }

    /// The least is of least use: first whoever never asked, then whoever does not read, then whoever is between two
    /// requests, then whoever waits for news; in each group whoever made no progress for longest.
    fn use_of(&self, now: Instant) -> (bool, u8, u64) {
        let progress = self.progress.load(Ordering::Relaxed);
        let is_fresh = millis(self.began, now).saturating_sub(progress) < FRESH_FOR.as_millis() as u64;
        let group = if !self.has_asked.load(Ordering::Relaxed) {
            0
        } else if self.blocked_for(now).is_some() {
            1
        } else if self.is_answered.load(Ordering::Relaxed) {
            2
        } else {
            3
        };
        (is_fresh, group, progress)
    }
}

fn millis(began: Instant, now: Instant) -> u64 {
    u64::try_from(now.saturating_duration_since(began).as_millis()).unwrap_or(READS - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOME: IpAddr = IpAddr::V4(std::net::Ipv4Addr::LOCALHOST);
    const AWAY: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 1));

    struct House {
        connections: Arc<Connections>,
        counts: Arc<ConnectionCounts>,
        began: Instant,
    }

    fn house(connections_max: usize, per_address_max: usize) -> House {
        let (counts, began) = (Arc::<ConnectionCounts>::default(), super::super::live::now());
        let limits = ConnectionLimits {
            connections_max,
            per_address_max,
            waiting_bytes_max: 100,
            reader_patience: Duration::from_secs(20),
        };
        House { connections: Arc::new(Connections::new(limits, Arc::clone(&counts), began)), counts, began }
    }

    impl House {
        fn at(&self, secs: u64) -> Instant {
            self.began + Duration::from_secs(secs)
        }

        fn open(&self, place: &Place) -> bool {
            self.connections.open().by_number.contains_key(&place.number)
        }

        fn gave_way(&self) -> u64 {
            self.counts.gave_way.load(Ordering::Relaxed)
        }
    }

    #[test]
    fn a_newcomer_always_gets_in_and_the_oldest_silent_connection_gives_way() {
        let house = house(4, 4);
        let places: Vec<Place> = (0..4).map(|n| house.connections.take_in(HOME, house.at(n))).collect();
        places[0].asked(house.at(4));
        let newcomer = house.connections.take_in(HOME, house.at(10));
        assert!(house.open(&newcomer) && house.open(&places[0]) && !house.open(&places[1]));
        drop(places);
        assert_eq!((house.counts.open.load(Ordering::Relaxed), house.gave_way()), (1, 1));
    }

    #[test]
    fn one_address_has_its_own_limit_and_the_fullest_gives_way() {
        let house = house(4, 3);
        let mine: Vec<Place> = (0..3).map(|n| house.connections.take_in(HOME, house.at(n))).collect();
        let other = house.connections.take_in(AWAY, house.at(0));
        let fourth = house.connections.take_in(HOME, house.at(10));
        assert!(house.open(&other) && house.open(&fourth) && !house.open(&mine[0]));
        let from_third = house.connections.take_in("198.51.100.1".parse().unwrap(), house.at(20));
        assert!(house.open(&from_third) && house.open(&other) && !house.open(&mine[1]));
    }

    #[test]
    fn unread_answers_give_way_before_streams_that_are_read() {
        let house = house(2, 2);
        let (stream, unread) =
            (house.connections.take_in(HOME, house.at(0)), house.connections.take_in(HOME, house.at(0)));
        stream.asked(house.at(0));
        unread.asked(house.at(5));
        unread.connection.write_waits(house.at(5));
        let _newcomer = house.connections.take_in(HOME, house.at(10));
        assert!(house.open(&stream) && !house.open(&unread));
    }

    #[test]
    fn a_reader_that_takes_nothing_is_cut_off_and_counted() {
        let house = house(9, 9);
        let place = house.connections.take_in(HOME, house.at(0));
        let slow = || house.counts.slow_readers.load(Ordering::Relaxed);
        place.asked(house.at(0));
        place.connection.write_waits(house.at(1));
        place.connection.wrote(house.at(19));
        place.connection.write_waits(house.at(20));
        place.connection.write_waits(house.at(30));
        house.connections.cut_off_slow_readers(house.at(39));
        assert_eq!(slow(), 0);
        house.connections.cut_off_slow_readers(house.at(40));
        assert_eq!(slow(), 1);
    }

    #[test]
    fn answers_that_wait_for_their_readers_have_one_limit() {
        let house = house(9, 9);
        let places: Vec<Place> = (0..3).map(|n| house.connections.take_in(HOME, house.at(n))).collect();
        for place in &places {
            place.asked(house.at(3));
            place.holds(40, house.at(3));
        }
        assert_eq!(places.iter().filter(|place| house.open(place)).count(), 2);
        assert!(house.open(&places[2]), "the newest answer is given");
        places[2].holds(1_000, house.at(4));
        assert!(house.open(&places[2]), "a large answer alone is given too");
    }

    #[test]
    fn few_descriptors_mean_few_connections() {
        assert_eq!(ConnectionLimits::of_descriptors(256).connections_max, 32);
        assert_eq!(ConnectionLimits::of_descriptors(1 << 20).connections_max, CONNECTIONS_MAX);
        assert_eq!(ConnectionLimits::of_descriptors(0).per_address_max, 1);
    }
}
