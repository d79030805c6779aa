//! What the room needs of the network, which `app` fills with the guard of the crawler.

use std::fmt;
use std::future::Future;
use std::net::SocketAddr;
use std::pin::Pin;

use tokio::io::{AsyncRead, AsyncWrite};

/// A request that is posted.
#[derive(Clone, Debug)]
pub struct Post {
    pub url: String,
    pub headers: Vec<(&'static str, String)>,
    pub body: Vec<u8>,
}

/// The beginning of its answer.
#[derive(Clone, Debug)]
pub struct PostAnswer {
    pub status: u16,
    pub body: Vec<u8>,
}

/// Why there is no answer, in words.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{0}")]
pub struct SendError(pub String);

/// What is not made to be sent between threads: a delivery lives on one thread.
pub type LocalFuture<'a, T> = Pin<Box<dyn Future<Output = T> + 'a>>;

/// A connection, and the address at its other end.
pub type Connection = (Box<dyn MailStream>, SocketAddr);

/// Bytes both ways.
pub trait MailStream: AsyncRead + AsyncWrite + Send + Sync + Unpin + fmt::Debug {}

impl<T: AsyncRead + AsyncWrite + Send + Sync + Unpin + fmt::Debug> MailStream for T {}

/// Whether a connection begins with TLS.
#[derive(Copy, Clone, Debug)]
pub enum DialTls<'a> {
    No,
    /// The certificates of this PEM file are trusted beside the usual ones.
    Yes {
        trusted: Option<&'a [u8]>,
    },
}

/// Outgoing connections, each to an address that was judged, within limits of time and size. Redirects are not followed.
pub trait Network: Send + Sync {
    fn post(&self, post: Post) -> LocalFuture<'_, Result<PostAnswer, SendError>>;

    /// A connection to a mail server.
    fn dial<'a>(&'a self, host: &'a str, port: u16, tls: DialTls<'a>)
    -> LocalFuture<'a, Result<Connection, SendError>>;
}

impl From<crate::Error> for SendError {
    fn from(error: crate::Error) -> SendError {
        SendError(error.to_string())
    }
}
