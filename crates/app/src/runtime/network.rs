//! The listener on the network. Nothing that strangers do with its connections may cost more than the limits named here.

use std::convert::Infallible;
use std::io::IoSlice;
use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::Body;
use axum::{Extension, Router};
use hyper::body::{Body as _, Frame, Incoming, SizeHint};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tower::ServiceExt;
use vernal_api::{ConnectionCounts, PeerAddress};

use super::connections::{Connection, ConnectionLimits, Connections, Place};
use super::descriptors;
use super::live::now;
use super::tls::Tls;
use crate::error::OrFail;

/// A request's head must have come after so long. It is also how long a connection may be idle between two requests.
const HEAD_PATIENCE: Duration = Duration::from_secs(15);
/// A TLS handshake must be done after so long.
const HANDSHAKE_PATIENCE: Duration = Duration::from_secs(10);
/// How often certificate and key are looked at, in looks for slow readers.
const TLS_LOOK_EVERY: u64 = 2;
/// Bytes of a request's head, and of answers between the router and the socket.
const BUFFER_BYTES_MAX: usize = 64 << 10;
/// Bytes of answers that the system holds for one connection.
const SEND_BUFFER_BYTES: u32 = 256 << 10;
/// Connections that wait to be taken.
const BACKLOG: u32 = 1_024;
/// How often slow readers are looked for.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// How long nothing is accepted after it failed, mostly for want of descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// The runtime that answers, with so many threads for its event loop. The threads that make answers are limited.
pub fn runtime(workers: usize) -> crate::error::Result<tokio::runtime::Runtime> {
    let limits = ConnectionLimits::of_descriptors(descriptors::limit());
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(workers)
        .max_blocking_threads(limits.threads_max())
        .enable_all()
        .build()
        .or_fail()
}

/// Binds the port. What the system keeps for readers that do not read is bounded too.
pub fn listen(address: SocketAddr) -> std::io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    socket.set_reuseaddr(true)?;
    // Connections inherit it. Where the system knows better, its own size will do.
    let _ = socket.set_send_buffer_size(SEND_BUFFER_BYTES);
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

/// Serves until `stop` becomes true.
pub fn serve(
    listener: TcpListener,
    router: Router,
    limits: ConnectionLimits,
    counts: Arc<ConnectionCounts>,
    tls: Option<Tls>,
    stop: watch::Receiver<bool>,
) -> JoinHandle<()> {
    let connections = Arc::new(Connections::new(limits, counts, now()));
    tokio::spawn(accept_all(listener, router, connections, tls, stop))
}

async fn accept_all(
    listener: TcpListener,
    router: Router,
    connections: Arc<Connections>,
    tls: Option<Tls>,
    mut stop: watch::Receiver<bool>,
) {
    let mut looked: u64 = 0;
    let mut speaking = JoinSet::new();
    let mut looks = tokio::time::interval(LOOK_EVERY);
    let also_stopped = stop.clone();
    loop {
        tokio::select! {
            () = stopped(&mut stop) => break,
            _ = looks.tick() => {
                connections.cut_off_slow_readers(now());
                looked += 1;
                if let Some(tls) = tls.as_ref().filter(|_| looked.is_multiple_of(TLS_LOOK_EVERY)) {
                    renew(tls);
                }
            }
            Some(_) = speaking.join_next() => {}
            accepted = listener.accept() => match accepted {
                Ok((stream, peer)) => {
                    let place = connections.take_in(peer.ip(), now());
                    let tls = tls.as_ref().map(Tls::config);
                    let router = router.clone().layer(Extension(PeerAddress(peer.ip())));
                    speaking.spawn(speak(stream, router, place, tls, also_stopped.clone()));
                }
                Err(error) => {
                    tracing::debug!("accept a connection: {error}");
                    connections.not_accepted(now());
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                }
            },
        }
    }
    drop(listener);
    while speaking.join_next().await.is_some() {}
}

async fn stopped(stop: &mut watch::Receiver<bool>) {
    // An error means that whoever could stop us is gone, which is a stop as well.
    let _ = stop.wait_for(|&stop| stop).await;
}

/// Takes renewed files of TLS; the connections that are open keep what they have.
fn renew(tls: &Tls) {
    match tls.look_again() {
        Ok(true) => tracing::info!("the certificate was renewed"),
        Ok(false) => {}
        Err(error) => tracing::warn!("the certificate is not renewed: {error}"),
    }
}

/// Serves one connection, over TLS where that is asked for.
async fn speak(
    stream: TcpStream,
    router: Router,
    place: Place,
    tls: Option<Arc<ServerConfig>>,
    mut stop: watch::Receiver<bool>,
) {
    // Answers are written in large pieces; waiting to fill a TCP segment would only delay them.
    let _ = stream.set_nodelay(true);
    let connection = Arc::clone(&place.connection);
    let stream = Watched { stream, connection: Arc::clone(&connection) };
    let Some(config) = tls else { return converse(stream, router, place, stop).await };
    let handshake = timeout(HANDSHAKE_PATIENCE, TlsAcceptor::from(config).accept(stream));
    let shaken = tokio::select! {
        shaken = handshake => shaken,
        () = connection.must_end() => return,
        () = stopped(&mut stop) => return,
    };
    match shaken {
        Ok(Ok(stream)) => converse(stream, router, place, stop).await,
        // Whoever speaks plain HTTP to this port, or does not like the certificate, finds out on the other side.
        Ok(Err(error)) => tracing::debug!("a TLS handshake failed: {error}"),
        Err(_) => tracing::debug!("a TLS handshake took too long"),
    }
}

/// Answers the requests of one connection until it ends, must give way, or the process stops.
async fn converse(
    stream: impl AsyncRead + AsyncWrite + Unpin,
    router: Router,
    place: Place,
    mut stop: watch::Receiver<bool>,
) {
    let place = Arc::new(place);
    let connection = Arc::clone(&place.connection);
    let io = TokioIo::new(stream);
    let service = service_fn(move |request: hyper::Request<Incoming>| {
        let (router, place) = (router.clone(), Arc::clone(&place));
        async move {
            place.asked(now());
            let response = match router.oneshot(request.map(Body::new)).await {
                Ok(response) => response,
                Err(never) => match never {},
            };
            if let Some(bytes) = response.body().size_hint().exact() {
                place.holds(bytes, now());
            }
            let connection = Arc::clone(&place.connection);
            Ok::<_, Infallible>(response.map(|body| Answer { body, connection }))
        }
    });
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(HEAD_PATIENCE).max_buf_size(BUFFER_BYTES_MAX);
    let mut conversation = pin!(http.serve_connection(io, service));
    let mut is_stopping = false;
    loop {
        tokio::select! {
            // How a stranger's connection ended is nobody's concern.
            _ = conversation.as_mut() => return,
            () = connection.must_end() => return,
            () = stopped(&mut stop), if !is_stopping => {
                is_stopping = true;
                conversation.as_mut().graceful_shutdown();
            }
        }
    }
}

/// The body of an answer, whose end frees the connection for the next request.
struct Answer {
    body: Body,
    connection: Arc<Connection>,
}

impl hyper::body::Body for Answer {
    type Data = bytes::Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Self::Data>, Self::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for Answer {
    fn drop(&mut self) {
        self.connection.answered();
    }
}

/// A stream that tells when bytes come and go.
struct Watched {
    stream: TcpStream,
    connection: Arc<Connection>,
}

impl Watched {
    fn note<T>(&self, written: Poll<T>) -> Poll<T> {
        match written {
            Poll::Ready(_) => self.connection.wrote(now()),
            Poll::Pending => self.connection.write_waits(now()),
        }
        written
    }
}

impl AsyncRead for Watched {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        let before = into.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(context, into);
        if into.filled().len() > before {
            self.connection.progressed(now());
        }
        read
    }
}

impl AsyncWrite for Watched {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<std::io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.note(written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<std::io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, slices);
        self.note(written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
