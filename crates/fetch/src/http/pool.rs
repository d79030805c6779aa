//! Connections that wait for their site's next order. One pool per loop: a site's orders all come to one loop.

use std::time::Duration;

use foldhash::HashMap;
use tokio::time::Instant;

use super::body::Room;
use super::connection::Connection;
use super::http2::Session;

/// A site is asked one thing at a time as a rule; where a person allows more, they must not be dialled anew each time.
const IDLE_PER_ORIGIN_MAX: usize = 32;
/// Open files are limited; the connection idle longest goes first.
const IDLE_MAX: usize = 512;
/// Most sites close earlier than this.
const IDLE_FOR: Duration = Duration::from_secs(60);

#[derive(Default)]
pub struct Pool {
    origins: HashMap<Box<str>, Origin>,
    idle: usize,
    room: Room,
}

#[derive(Default)]
struct Origin {
    connections: Vec<(Connection, Instant)>,
    session: Option<(Session, Instant)>,
}

/// A way to a site that is open already.
pub enum Open {
    Http1(Connection),
    Http2(Session),
}

impl Pool {
    /// What the loop's connections read into.
    pub fn room(&self) -> Room {
        self.room.clone()
    }

    /// A connection that seems alive, taken out of the pool; or a handle on the multiplexed one, which stays.
    pub fn take(&mut self, origin: &str, now: Instant) -> Option<Open> {
        let found = self.origins.get_mut(origin)?;
        if let Some((session, used)) = &mut found.session {
            if now.duration_since(*used) < IDLE_FOR {
                *used = now;
                return Some(Open::Http2(session.again()));
            }
            found.session = None;
            self.idle -= 1;
        }
        while let Some((connection, since)) = found.connections.pop() {
            self.idle -= 1;
            if now.duration_since(since) < IDLE_FOR && connection.is_quiet() {
                return Some(Open::Http1(connection));
            }
        }
        self.origins.remove(origin);
        None
    }

    pub fn put(&mut self, origin: &str, open: Open, now: Instant) {
        if self.idle >= IDLE_MAX {
            self.drop_oldest();
        }
        // Its name is spelled out only for an origin that has no place yet.
        let place = match self.origins.get_mut(origin) {
            Some(place) => place,
            None => self.origins.entry(origin.into()).or_default(),
        };
        match open {
            Open::Http1(connection) if place.connections.len() < IDLE_PER_ORIGIN_MAX => {
                place.connections.push((connection, now));
                self.idle += 1;
            }
            Open::Http1(_) => {}
            Open::Http2(session) => {
                if place.session.replace((session, now)).is_none() {
                    self.idle += 1;
                }
            }
        }
    }

    /// Forgets a multiplexed connection that turned out dead.
    pub fn forget_session(&mut self, origin: &str) {
        if self.origins.get_mut(origin).and_then(|found| found.session.take()).is_some() {
            self.idle -= 1;
        }
    }

    /// Closes what has been idle too long.
    pub fn sweep(&mut self, now: Instant) {
        let is_live = |since: &Instant| now.duration_since(*since) < IDLE_FOR;
        self.idle = 0;
        self.origins.retain(|_, origin| {
            origin.connections.retain(|(_, since)| is_live(since));
            origin.session = origin.session.take().filter(|(_, used)| is_live(used));
            let left = origin.connections.len() + usize::from(origin.session.is_some());
            self.idle += left;
            left > 0
        });
    }

    pub fn idle(&self) -> usize {
        self.idle
    }

    fn drop_oldest(&mut self) {
        let age = |origin: &Origin| {
            let connections = origin.connections.iter().map(|(_, since)| *since);
            connections.chain(origin.session.iter().map(|(_, used)| *used)).min()
        };
        let oldest = self.origins.iter().filter_map(|(name, origin)| Some((age(origin)?, name.clone()))).min();
        if let Some((_, name)) = oldest
            && let Some(origin) = self.origins.remove(&name)
        {
            self.idle -= origin.connections.len() + usize::from(origin.session.is_some());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stream::Stream;
    use tokio::net::{TcpListener, TcpStream};

    /// An open connection and its other end, which must live as long.
    async fn connection() -> (Open, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (here, there) = tokio::join!(TcpStream::connect(address), listener.accept());
        (Open::Http1(Connection::new(Stream::Plain(here.unwrap()), Room::default(), address.ip())), there.unwrap().0)
    }

    #[tokio::test]
    async fn a_site_keeps_few_connections_and_none_for_long() {
        let (mut pool, now, mut ends) = (Pool::default(), Instant::now(), Vec::new());
        for _ in 0..IDLE_PER_ORIGIN_MAX + 3 {
            let (open, end) = connection().await;
            pool.put("http://a.org", open, now);
            ends.push(end);
        }
        assert_eq!(pool.idle(), IDLE_PER_ORIGIN_MAX);
        assert!(pool.take("http://a.org", now).is_some());
        assert!(pool.take("https://a.org", now).is_none(), "another origin");
        assert!(pool.take("http://a.org", now + IDLE_FOR).is_none(), "too old");
        assert_eq!(pool.idle(), 0);
    }

    #[tokio::test]
    async fn a_full_pool_gives_up_what_was_idle_longest() {
        let (mut pool, now, mut ends) = (Pool::default(), Instant::now(), Vec::new());
        for number in 0..3u32 {
            let (open, end) = connection().await;
            pool.put(&format!("http://{number}.org"), open, now + Duration::from_secs(number.into()));
            ends.push(end);
        }
        pool.drop_oldest();
        assert_eq!(pool.idle(), 2);
        assert!(pool.take("http://0.org", now).is_none());
        pool.sweep(now + IDLE_FOR + Duration::from_secs(1));
        assert_eq!(pool.idle(), 1, "only the youngest is young enough");
    }
}
