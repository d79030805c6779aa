//! A connection, plain or over TLS, and a count of its bytes.

use std::cell::Cell;
use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::client::TlsStream;

/// Bytes sent and received for one order. It outlives a visit that timed out, so that its bytes are counted too.
#[derive(Debug, Default)]
pub struct Meter {
    sent: Cell<u64>,
    received: Cell<u64>,
}

impl Meter {
    pub fn sent(&self, bytes: usize) {
        self.sent.set(self.sent.get() + bytes as u64);
    }

    pub fn received(&self, bytes: usize) {
        self.received.set(self.received.get() + bytes as u64);
    }

    pub fn total(&self) -> u64 {
        self.sent.get() + self.received.get()
    }
}

pub enum Stream {
    Plain(TcpStream),
    Tls(Box<TlsStream<TcpStream>>),
}

impl Stream {
    /// Whether an idle connection still seems usable. Only a request can tell for certain.
    pub fn is_quiet(&self) -> bool {
        match self {
            // It is neither closed nor has unrequested bytes.
            Stream::Plain(stream) => {
                matches!(stream.try_read(&mut [0]), Err(error) if error.kind() == io::ErrorKind::WouldBlock)
            }
            // Under TLS there may be unread session tickets, so only the next request can tell.
            Stream::Tls(_) => true,
        }
    }

    pub async fn send(&mut self, bytes: &[u8], meter: &Meter) -> io::Result<()> {
        self.write_all(bytes).await?;
        self.flush().await?;
        meter.sent(bytes.len());
        Ok(())
    }

    /// Waits until there is something to receive, without a buffer.
    pub async fn await_bytes(&self) -> io::Result<()> {
        match self {
            Stream::Plain(stream) => poll_fn(|context| stream.poll_read_ready(context)).await,
            // The TLS session may hold bytes that were received already.
            Stream::Tls(_) => Ok(()),
        }
    }

    /// Appends the bytes that are there, at most `limit` of them. 0 is the end.
    pub async fn receive(&mut self, into: &mut Vec<u8>, limit: usize, meter: &Meter) -> io::Result<usize> {
        let room = limit.min(READ_BYTES);
        if into.capacity() - into.len() < room {
            into.reserve(room);
        }
        let count = self.take(limit as u64).read_buf(into).await?;
        meter.received(count);
        Ok(count)
    }
}

/// Bytes reserved for one read. An average page takes two reads.
const READ_BYTES: usize = 16 << 10;

impl AsyncRead for Stream {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Stream::Plain(stream) => Pin::new(stream).poll_read(context, into),
            Stream::Tls(stream) => Pin::new(stream).poll_read(context, into),
        }
    }
}

impl AsyncWrite for Stream {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Stream::Plain(stream) => Pin::new(stream).poll_write(context, bytes),
            Stream::Tls(stream) => Pin::new(stream).poll_write(context, bytes),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Stream::Plain(stream) => Pin::new(stream).poll_flush(context),
            Stream::Tls(stream) => Pin::new(stream).poll_flush(context),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Stream::Plain(stream) => Pin::new(stream).poll_shutdown(context),
            Stream::Tls(stream) => Pin::new(stream).poll_shutdown(context),
        }
    }
}
