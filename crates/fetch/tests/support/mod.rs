//! Small servers on loopback, and what is needed to visit them.
#![allow(dead_code, reason = "each test binary uses its own part")]

use std::net::{IpAddr, Ipv4Addr};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use tokio_rustls::rustls::{ServerConfig, crypto::ring};
use vernal_fetch::dns::{Addresses, BoxFuture};
use vernal_fetch::{Clock, Resolve, Settings, Timeouts, Visitor};
use vernal_model::{AddressLimits, Moment, Order, OrderId, OrderKind, PageKey, Report, Span, Url, Validators};

pub const LOOPBACK: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

pub struct Noon;

impl Clock for Noon {
    fn now(&self) -> Moment {
        Moment::from_secs(1_800_000_000)
    }
}

/// Answers each question with the next of its answers, the last for ever.
pub struct Names {
    answers: Vec<Vec<IpAddr>>,
    pub asked: AtomicUsize,
}

impl Names {
    pub fn new(answers: &[&[IpAddr]]) -> Arc<Self> {
        Arc::new(Names { answers: answers.iter().map(|answer| answer.to_vec()).collect(), asked: AtomicUsize::new(0) })
    }

    pub fn loopback() -> Arc<Self> {
        Names::new(&[&[LOOPBACK]])
    }
}

impl Resolve for Names {
    fn resolve<'a>(&'a self, _host: &'a str) -> BoxFuture<'a, Addresses> {
        let number = self.asked.fetch_add(1, Ordering::Relaxed);
        let answer = self.answers.get(number).or(self.answers.last()).cloned();
        Box::pin(std::future::ready(answer.ok_or_else(|| "no such name".to_owned())))
    }
}

/// Limits small enough to be reached quickly.
pub fn settings() -> Settings {
    let long = Duration::from_secs(30);
    Settings {
        user_agent: "vernal/test".into(),
        contact: "test@example.org".into(),
        timeouts: Timeouts { connect: long, tls: long, first_byte: long, total: long },
        body_bytes_max: 64 << 10,
        decoded_bytes_max: 512 << 10,
        ratio_free_bytes: 64 << 10,
        head_bytes_max: 4 << 10,
        allow_private: true,
        // The clock of these tests stands still, so that nobody's turn would come after the first few.
        address: AddressLimits { at_once: 1_000, per_second: f64::INFINITY },
        ..Settings::default()
    }
}

/// The same, with little time for the whole visit.
pub fn hasty() -> Settings {
    let mut settings = settings();
    settings.timeouts.total = Duration::from_millis(300);
    settings
}

pub fn visitor(settings: Settings) -> Visitor {
    Visitor::new(Arc::new(settings), Arc::new(Noon), Names::loopback()).unwrap()
}

pub fn order(url: &str) -> Order {
    let url = Url::parse(url).unwrap();
    Order {
        id: OrderId(1),
        page: PageKey::default(),
        url,
        kind: OrderKind::Page,
        validators: Validators::default(),
        held: None,
        gap: Span::ZERO,
        patience: None,
        public_only: false,
    }
}

/// One visit with nothing kept before or after.
pub async fn visit(settings: Settings, url: &str) -> Report {
    visitor(settings).visit(order(url)).await
}

/// What a server says to one request.
pub struct Reply {
    pub bytes: Vec<u8>,
    pub then: Then,
}

pub enum Then {
    Close,
    /// Waits for the next request.
    Stay,
    /// Says nothing more and never closes.
    Hang,
    /// Says this again and again, until nobody listens.
    Repeat(Vec<u8>),
}

pub fn say(bytes: impl AsRef<[u8]>, then: Then) -> Reply {
    Reply { bytes: bytes.as_ref().to_vec(), then }
}

/// A whole answer with its length.
pub fn page(lines: &str, body: impl AsRef<[u8]>) -> Vec<u8> {
    let body = body.as_ref();
    let mut bytes = format!("HTTP/1.1 200 OK\r\n{lines}Content-Length: {}\r\n\r\n", body.len()).into_bytes();
    bytes.extend_from_slice(body);
    bytes
}

pub struct Server {
    pub port: u16,
    pub connections: AtomicUsize,
    pub requests: Mutex<Vec<String>>,
}

impl Server {
    pub fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    pub fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }

    pub fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }
}

/// A server that answers by a script: the number of the request and its head give the reply.
pub async fn serve(script: impl Fn(usize, &str) -> Reply + Send + Sync + 'static) -> Arc<Server> {
    let listener = TcpListener::bind((LOOPBACK, 0)).await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let server = Arc::new(Server { port, connections: AtomicUsize::new(0), requests: Mutex::default() });
    let (kept, script) = (Arc::clone(&server), Arc::new(script));
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            kept.connections.fetch_add(1, Ordering::SeqCst);
            tokio::spawn(converse(stream, Arc::clone(&kept), Arc::clone(&script)));
        }
    });
    server
}

/// A server that says the same bytes to everyone and closes.
pub async fn serve_bytes(bytes: impl AsRef<[u8]>) -> Arc<Server> {
    let bytes = bytes.as_ref().to_vec();
    serve(move |_, _| say(&bytes, Then::Close)).await
}

pub async fn converse<S, F>(mut stream: S, server: Arc<Server>, script: Arc<F>)
where
    S: AsyncRead + AsyncWrite + Unpin,
    F: Fn(usize, &str) -> Reply,
{
    while let Some(request) = read_until(&mut stream, b"\r\n\r\n").await {
        let number = {
            let mut requests = server.requests.lock().unwrap();
            requests.push(request.clone());
            requests.len() - 1
        };
        let reply = script(number, &request);
        if stream.write_all(&reply.bytes).await.is_err() || stream.flush().await.is_err() {
            return;
        }
        match reply.then {
            Then::Stay => {}
            Then::Close => {
                // What is still unread would turn the close into a reset that overtakes the answer.
                let _ = stream.shutdown().await;
                return;
            }
            Then::Hang => std::future::pending().await,
            Then::Repeat(piece) => while stream.write_all(&piece).await.is_ok() {},
        }
    }
}

pub async fn read_until(stream: &mut (impl AsyncRead + Unpin), end: &[u8]) -> Option<String> {
    let mut read = Vec::new();
    while !read.ends_with(end) {
        read.push(stream.read_u8().await.ok()?);
    }
    Some(String::from_utf8_lossy(&read).into_owned())
}

/// A certificate for `localhost` and the acceptor that shows it.
pub fn certificate(protocols: &[&[u8]]) -> (Vec<u8>, TlsAcceptor) {
    let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    let der = made.cert.der().clone();
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(made.signing_key.serialize_der()));
    let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![der.clone()], key)
        .unwrap();
    config.alpn_protocols = protocols.iter().map(|protocol| protocol.to_vec()).collect();
    (der.to_vec(), TlsAcceptor::from(Arc::new(config)))
}
