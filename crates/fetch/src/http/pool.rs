//! Idle connections, kept for the next order to their site. Each loop has a pool, because all orders of a site go to one
//! loop.

use std::time::Duration;

use foldhash::HashMap;
use tokio::time::Instant;

use super::body::SharedBuffer;
use super::connection::Connection;
use super::http2::Session;

/// A site usually gets one request at a time. Where more are allowed, their connections are kept as well.
const IDLE_PER_ORIGIN_MAX: usize = 32;
/// Most sites close earlier than this.
const IDLE_FOR: Duration = Duration::from_secs(60);

pub struct Pool {
    /// Open files are limited. The origin whose connection was idle longest is evicted first.
    idle_max: usize,
    origins: HashMap<Box<str>, Origin>,
    idle: usize,
    buffer_source: SharedBuffer,
}

#[derive(Default)]
struct Origin {
    connections: Vec<(Connection, Instant)>,
    session: Option<(Session, Instant)>,
}

/// An open connection to a site.
pub enum OpenConnection {
    Http1(Connection),
    Http2(Session),
}

impl Pool {
    pub fn new(idle_max: usize) -> Pool {
        Pool { idle_max, origins: HashMap::default(), idle: 0, buffer_source: SharedBuffer::default() }
    }

    /// The read buffer that the connections of this loop share.
    pub fn buffer_source(&self) -> SharedBuffer {
        self.buffer_source.clone()
    }

    /// Takes a connection that seems usable out of the pool, or a handle on the multiplexed one, which stays.
    pub fn take(&mut self, origin: &str, now: Instant) -> Option<OpenConnection> {
        let found = self.origins.get_mut(origin)?;
        if let Some((session, used)) = &mut found.session {
            if now.duration_since(*used) < IDLE_FOR {
                *used = now;
                return Some(OpenConnection::Http2(session.again()));
            }
            found.session = None;
            self.idle -= 1;
        }
        while let Some((connection, since)) = found.connections.pop() {
            self.idle -= 1;
            if now.duration_since(since) < IDLE_FOR && connection.is_quiet() {
                return Some(OpenConnection::Http1(connection));
            }
        }
        self.origins.remove(origin);
        None
    }

    pub fn put(&mut self, origin: &str, open: OpenConnection, now: Instant) {
        if self.idle >= self.idle_max {
            self.drop_oldest();
        }
        // The name is copied only for an origin without an entry.
        let place = match self.origins.get_mut(origin) {
            Some(place) => place,
            None => self.origins.entry(origin.into()).or_default(),
        };
        match open {
            OpenConnection::Http1(connection) if place.connections.len() < IDLE_PER_ORIGIN_MAX => {
                place.connections.push((connection, now));
                self.idle += 1;
            }
            OpenConnection::Http1(_) => {}
            OpenConnection::Http2(session) => {
                if place.session.replace((session, now)).is_none() {
                    self.idle += 1;
                }
            }
        }
    }

    /// Drops a multiplexed connection that failed.
    pub fn forget_session(&mut self, origin: &str) {
        if self.origins.get_mut(origin).and_then(|found| found.session.take()).is_some() {
            self.idle -= 1;
        }
    }

    /// Closes connections that have been idle too long.
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

    #[cfg(test)]
    fn idle(&self) -> usize {
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

    /// An open connection and its peer, which must live as long.
    async fn connection() -> (OpenConnection, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (here, there) = tokio::join!(TcpStream::connect(address), listener.accept());
        (
            OpenConnection::Http1(Connection::new(Stream::Plain(here.unwrap()), SharedBuffer::default(), address.ip())),
            there.unwrap().0,
        )
    }

    #[tokio::test]
    async fn a_site_keeps_few_connections_and_none_for_long() {
        let (mut pool, now, mut ends) = (Pool::new(512), Instant::now(), Vec::new());
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
        let (mut pool, now, mut ends) = (Pool::new(2), Instant::now(), Vec::new());
        for number in 0..3u32 {
            let (open, end) = connection().await;
            pool.put(&format!("http://{number}.org"), open, now + Duration::from_secs(number.into()));
            ends.push(end);
        }
        assert_eq!(pool.idle(), 2);
        assert!(pool.take("http://0.org", now).is_none());
        pool.sweep(now + IDLE_FOR + Duration::from_secs(1));
        assert_eq!(pool.idle(), 1, "only the youngest is young enough");
    }
}
