//! Kept connections, TLS, HTTP/2, FTP, gopher and the loops, against honest servers on loopback.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod support;

use std::collections::HashSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use support::*;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc::unbounded_channel;
use vernal_fetch::{Clock, Settings, Workers};
use vernal_model::{Failure, Moment, OrderId, Outcome, Protocol, Report, Validators, Wall};

#[tokio::test]
async fn a_kept_connection_serves_the_next_order() {
    let server = serve(|_, _| say(page("Content-Type: text/html\r\n", "<p>a</p>"), Then::Stay)).await;
    let visitor = visitor(settings());
    for path in ["/a", "/b", "/c"] {
        assert_eq!(visitor.visit(order(&server.url(path))).await.outcome, Outcome::Read { status: 200 });
    }
    assert_eq!((server.connections(), server.requests().len()), (1, 3));
}

#[tokio::test]
async fn a_kept_connection_that_died_is_replaced_once() {
    let server = serve(|number, _| match number {
        1 => say("", Then::Close),
        _ => say(page("", "ok"), Then::Stay),
    })
    .await;
    let visitor = visitor(settings());
    assert_eq!(visitor.visit(order(&server.url("/a"))).await.outcome, Outcome::Read { status: 200 });
    assert_eq!(visitor.visit(order(&server.url("/b"))).await.outcome, Outcome::Read { status: 200 });
    assert_eq!((server.connections(), server.requests().len()), (2, 3));
}

#[tokio::test]
async fn an_answer_cut_short_on_a_kept_connection_is_not_asked_for_again() {
    let server = serve(|number, _| match number {
        0 => say(page("", "ok"), Then::Stay),
        _ => say("HTTP/1.1 200", Then::Close),
    })
    .await;
    let visitor = visitor(settings());
    visitor.visit(order(&server.url("/a"))).await;
    let report = visitor.visit(order(&server.url("/b"))).await;
    assert!(matches!(report.outcome, Outcome::Failed(Failure::Protocol(_))), "{:?}", report.outcome);
    assert_eq!(server.requests().len(), 2);
}

#[tokio::test]
async fn the_exchange_is_kept_byte_for_byte_without_the_transfer_coding() {
    let head = "HTTP/1.1 200 Fine\r\nserver:  odd \r\nETag: \"1\"\r\nTransfer-Encoding: chunked\r\n\r\n";
    let server = serve_bytes(format!("{head}3;x=y\r\nabc\r\n2\r\nde\r\n0\r\nTrailer: z\r\n\r\n")).await;
    let report = visit(settings(), &server.url("/p?q=1")).await;
    let exchange = report.exchange.unwrap();
    let kept = head.replace("Transfer-Encoding", "X-Crawler-Transfer-Encoding");
    assert_eq!(String::from_utf8(exchange.response_head).unwrap(), kept);
    assert_eq!((exchange.body, exchange.protocol), (b"abcde".to_vec(), Protocol::Http1));
    assert_eq!(String::from_utf8(exchange.request_head).unwrap(), server.requests()[0]);
    assert_eq!(report.validators.etag.as_deref(), Some("\"1\""));
    assert!(server.requests()[0].contains("\r\nUser-Agent: vernal/test (+test@example.org)\r\n"));
}

#[tokio::test]
async fn an_unchanged_page_costs_one_conditional_request() {
    let server = serve(|_, request| match request.contains("If-None-Match: \"v1\"") {
        true => say("HTTP/1.1 304 Not Modified\r\nETag: \"v1\"\r\n\r\n", Then::Stay),
        false => say(page("ETag: \"v1\"\r\nLast-Modified: then\r\n", "ok"), Then::Stay),
    })
    .await;
    let visitor = visitor(settings());
    let first = visitor.visit(order(&server.url("/"))).await;
    let mut again = order(&server.url("/"));
    again.validators = first.validators.clone();
    let second = visitor.visit(again).await;
    assert_eq!(second.outcome, Outcome::NotModified);
    assert_eq!(second.validators, first.validators, "what the 304 leaves out stays");
    assert!(second.document.is_none() && second.exchange.unwrap().body.is_empty());
    assert_eq!(server.connections(), 1);
}

#[tokio::test]
async fn a_certificate_that_nobody_vouches_for_is_a_tls_failure() {
    let (_, acceptor) = certificate(&[]);
    let listener = TcpListener::bind((LOOPBACK, 0)).await.unwrap();
    let url = format!("https://localhost:{}/", listener.local_addr().unwrap().port());
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let _ = acceptor.accept(stream).await;
        }
    });
    let report = visit(settings(), &url).await;
    match report.outcome {
        Outcome::Failed(Failure::Tls(why)) => assert!(why.contains("certificate"), "{why}"),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn http1_over_tls_keeps_its_connection_too() {
    let (root, acceptor) = certificate(&[b"http/1.1"]);
    let listener = TcpListener::bind((LOOPBACK, 0)).await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let server = Arc::new(Server { port, connections: AtomicUsize::new(0), requests: Mutex::default() });
    let kept = Arc::clone(&server);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            kept.connections.fetch_add(1, Ordering::SeqCst);
            let stream = acceptor.accept(stream).await.unwrap();
            let script = Arc::new(|_: usize, _: &str| say(page("", "ok"), Then::Stay));
            tokio::spawn(converse(stream, Arc::clone(&kept), script));
        }
    });
    let visitor = visitor(Settings { extra_roots: vec![root], ..settings() });
    for path in ["a", "b"] {
        let report = visitor.visit(order(&format!("https://localhost:{port}/{path}"))).await;
        assert_eq!(report.outcome, Outcome::Read { status: 200 });
        assert_eq!(report.exchange.unwrap().protocol, Protocol::Http1);
    }
    assert_eq!(server.connections(), 1);
}

/// An HTTP/2 server: `/endless` never ends, `/many` has too many header lines, all else is a small page.
async fn serve_http2() -> (u16, Vec<u8>, Arc<AtomicUsize>) {
    let (root, acceptor) = certificate(&[b"h2"]);
    let listener = TcpListener::bind((LOOPBACK, 0)).await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let connections = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&connections);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            counted.fetch_add(1, Ordering::SeqCst);
            let acceptor = acceptor.clone();
            tokio::spawn(async move {
                let stream = acceptor.accept(stream).await.unwrap();
                let mut connection = h2::server::handshake(stream).await.unwrap();
                while let Some(Ok((request, respond))) = connection.accept().await {
                    tokio::spawn(answer_http2(request.uri().path().to_owned(), respond));
                }
            });
        }
    });
    (port, root, connections)
}

async fn answer_http2(path: String, mut respond: h2::server::SendResponse<Bytes>) {
    let mut response =
        http::Response::builder().status(200).header("content-type", "text/html").header("etag", "\"2\"");
    if path == "/many" {
        for number in 0..101 {
            response = response.header(format!("x-{number}"), "y");
        }
    }
    let mut body = respond.send_response(response.body(()).unwrap(), false).unwrap();
    let piece = Bytes::from(vec![b'x'; 8 << 10]);
    let pieces = if path == "/endless" { usize::MAX } else { 0 };
    for _ in 0..pieces {
        body.reserve_capacity(piece.len());
        match std::future::poll_fn(|context| body.poll_capacity(context)).await {
            Some(Ok(capacity)) if body.send_data(piece.slice(..capacity.min(piece.len())), false).is_ok() => {}
            _ => return,
        }
    }
    let _ = body.send_data(Bytes::from_static(b"<title>two</title>"), true);
}

#[tokio::test]
async fn http2_serves_many_orders_on_one_connection() {
    let (port, root, connections) = serve_http2().await;
    let visitor = visitor(Settings { extra_roots: vec![root], ..settings() });
    for path in ["a", "b", "c"] {
        let report = visitor.visit(order(&format!("https://localhost:{port}/{path}"))).await;
        assert_eq!(report.outcome, Outcome::Read { status: 200 });
        assert_eq!(report.document.unwrap().title, "two");
        assert_eq!(report.validators.etag.as_deref(), Some("\"2\""));
        let exchange = report.exchange.unwrap();
        assert_eq!(exchange.protocol, Protocol::Http2);
        let head = String::from_utf8(exchange.response_head).unwrap();
        assert_eq!(head, "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\netag: \"2\"\r\n\r\n");
    }
    assert_eq!(connections.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn http2_has_the_same_limits() {
    let (port, root, connections) = serve_http2().await;
    let visitor = visitor(Settings { extra_roots: vec![root], ..settings() });
    let outcome = |path: &str| visitor.visit(order(&format!("https://localhost:{port}/{path}")));
    assert_eq!(outcome("endless").await.outcome, Outcome::Failed(Failure::TooLarge));
    assert_eq!(outcome("many").await.outcome, Outcome::Failed(Failure::HeadTooLarge));
    assert_eq!(outcome("fine").await.outcome, Outcome::Read { status: 200 });
    assert!(connections.load(Ordering::SeqCst) <= 3);
}

#[tokio::test]
async fn http2_is_not_spoken_where_it_is_switched_off() {
    let (port, root, _) = serve_http2().await;
    let off = Settings { extra_roots: vec![root], http2: false, ..settings() };
    let report = visit(off, &format!("https://localhost:{port}/")).await;
    assert!(matches!(report.outcome, Outcome::Failed(Failure::Tls(_))), "{:?}", report.outcome);
}

/// An FTP server with one file and one folder; it tells the client to go elsewhere for data, which must not happen.
async fn serve_ftp(features: &'static str, login: &'static str) -> (u16, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind((LOOPBACK, 0)).await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let heard = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&heard);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(converse_ftp(stream, features, login, Arc::clone(&kept)));
        }
    });
    (port, heard)
}

async fn converse_ftp(mut control: TcpStream, features: &str, login: &str, heard: Arc<Mutex<Vec<String>>>) {
    control.write_all(b"220-Welcome\r\n to all\r\n220 Ready\r\n").await.unwrap();
    let mut data: Option<TcpListener> = None;
    while let Some(line) = read_until(&mut control, b"\r\n").await {
        let line = line.trim_end().to_owned();
        heard.lock().unwrap().push(line.clone());
        let reply = match line.as_str() {
            "USER anonymous" => "331 Who?".to_owned(),
            "PASS test@example.org" => login.to_owned(),
            "TYPE I" => "200 Binary".to_owned(),
            "FEAT" => features.to_owned(),
            "EPSV" => "500 What?".to_owned(),
            "PASV" => {
                let listener = TcpListener::bind((LOOPBACK, 0)).await.unwrap();
                let port = listener.local_addr().unwrap().port();
                data = Some(listener);
                format!("227 Entering Passive Mode (169,254,169,254,{},{})", port >> 8, port & 255)
            }
            "SIZE /pub/a b.txt" => "213 5".to_owned(),
            "MDTM /pub/a b.txt" => "213 20260501120000".to_owned(),
            "CWD /pub/" | "CWD /pub" => "250 There".to_owned(),
            "QUIT" => return,
            line => match ftp_data(line) {
                Some(bytes) => {
                    control.write_all(b"150 Here it comes\r\n").await.unwrap();
                    let (mut stream, _) = data.take().unwrap().accept().await.unwrap();
                    stream.write_all(bytes).await.unwrap();
                    drop(stream);
                    "226 Done".to_owned()
                }
                None => "550 No such thing".to_owned(),
            },
        };
        control.write_all(format!("{reply}\r\n").as_bytes()).await.unwrap();
    }
}

fn ftp_data(line: &str) -> Option<&'static [u8]> {
    match line {
        "RETR /pub/a b.txt" => Some(b"hello"),
        "LIST" => Some(
            b"total 1\r\ndrwxr-xr-x 2 ftp ftp 4096 May 01 12:00 sub\r\n-rw-r--r-- 1 ftp ftp 5 May 01 12:00 a b.txt\r\n",
        ),
        "MLSD" => Some(b"type=dir; sub\r\ntype=file;size=5; a b.txt\r\n"),
        _ => None,
    }
}

#[tokio::test]
async fn an_ftp_file_is_read_and_an_unchanged_one_is_not() {
    let (port, heard) = serve_ftp("211 Nothing", "230 Come in").await;
    let url = format!("ftp://127.0.0.1:{port}/pub/a%20b.txt");
    let report = visit(settings(), &url).await;
    assert_eq!(report.outcome, Outcome::Read { status: 200 });
    let exchange = report.exchange.unwrap();
    assert_eq!(
        (exchange.body, exchange.protocol, exchange.address),
        (b"hello".to_vec(), Protocol::Ftp, Some(LOOPBACK))
    );
    assert_eq!(report.validators.last_modified.as_deref(), Some("Fri, 01 May 2026 12:00:00 GMT"));
    heard.lock().unwrap().clear();
    let mut again = order(&url);
    again.validators = report.validators;
    assert_eq!(visitor(settings()).visit(again).await.outcome, Outcome::NotModified);
    assert!(!heard.lock().unwrap().iter().any(|line| line.starts_with("RETR")));
}

#[tokio::test]
async fn an_ftp_folder_is_a_list_of_names_in_either_format() {
    for features in ["211 Nothing", "211-Features\r\n MLST type*;\r\n211 End"] {
        let (port, _) = serve_ftp(features, "230 Come in").await;
        let report = visit(settings(), &format!("ftp://127.0.0.1:{port}/pub/")).await;
        assert_eq!(report.outcome, Outcome::Read { status: 200 }, "{features}");
        assert_eq!(report.exchange.unwrap().body, b"sub/\na b.txt\n");
        let targets: Vec<String> =
            report.document.unwrap().links.iter().map(|link| link.target.path().to_owned()).collect();
        assert_eq!(targets, ["/pub/sub/", "/pub/a%20b.txt"]);
    }
}

#[tokio::test]
async fn ftp_says_gone_moved_and_blocked_in_its_own_way() {
    let (port, _) = serve_ftp("211 Nothing", "230 Come in").await;
    let url = |path: &str| format!("ftp://127.0.0.1:{port}{path}");
    assert_eq!(visit(settings(), &url("/none")).await.outcome, Outcome::Gone { status: 550 });
    assert_eq!(visit(settings(), &url("/none/")).await.outcome, Outcome::Gone { status: 550 });
    let to = Some(order(&url("/pub/")).url);
    assert_eq!(visit(settings(), &url("/pub")).await.outcome, Outcome::Moved { status: 301, to, permanent: true });
    let (port, _) = serve_ftp("211 Nothing", "530 Not you").await;
    let report = visit(settings(), &format!("ftp://127.0.0.1:{port}/")).await;
    assert!(matches!(report.outcome, Outcome::Blocked { wall: Wall::Login, status: 530, .. }), "{:?}", report.outcome);
}

#[tokio::test]
async fn an_ftp_reply_without_end_is_left_at_the_limit() {
    let listener = TcpListener::bind((LOOPBACK, 0)).await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        while stream.write_all(b"220-more\r\n").await.is_ok() {}
    });
    let report = visit(settings(), &format!("ftp://127.0.0.1:{port}/")).await;
    assert_eq!(report.outcome, Outcome::Failed(Failure::HeadTooLarge));
}

async fn serve_gopher(answer: &'static [u8]) -> (u16, Arc<Mutex<String>>) {
    let listener = TcpListener::bind((LOOPBACK, 0)).await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let heard = Arc::new(Mutex::new(String::new()));
    let kept = Arc::clone(&heard);
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            *kept.lock().unwrap() = read_until(&mut stream, b"\r\n").await.unwrap();
            let _ = stream.write_all(answer).await;
            let _ = stream.shutdown().await;
            let _ = stream.read(&mut [0]).await;
        }
    });
    (port, heard)
}

#[tokio::test]
async fn a_gopher_menu_gives_links_and_a_missing_item_is_gone() {
    let (port, heard) =
        serve_gopher(b"0About\t/about.txt\tlocalhost\t70\r\n1More\t/more\tlocalhost\t70\r\n.\r\n").await;
    let report = visit(settings(), &format!("gopher://127.0.0.1:{port}/1/start")).await;
    assert_eq!(report.outcome, Outcome::Read { status: 200 });
    assert_eq!(*heard.lock().unwrap(), "/start\r\n");
    let exchange = report.exchange.unwrap();
    assert_eq!(exchange.protocol, Protocol::Gopher);
    assert!(exchange.response_head.is_empty() && exchange.body.ends_with(b"\t70\r\n"));
    assert_eq!(report.document.unwrap().links.len(), 2);
    let (port, _) = serve_gopher(b"3No such item\t\terror.host\t1\r\n.\r\n").await;
    let report = visit(settings(), &format!("gopher://127.0.0.1:{port}/1/none")).await;
    assert_eq!(report.outcome, Outcome::Gone { status: 404 });
}

fn sink() -> (vernal_fetch::Sink, tokio::sync::mpsc::UnboundedReceiver<Report>) {
    let (sender, receiver) = unbounded_channel();
    let sink = move |reports| {
        for report in reports {
            let _ = sender.send(report);
        }
    };
    (Arc::new(sink), receiver)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_order_sent_to_the_loops_comes_back_as_one_report() {
    let mut servers = Vec::new();
    for _ in 0..3 {
        servers.push(serve(|_, _| say(page("Content-Type: text/html\r\n", "<p>hello</p>"), Then::Stay)).await);
    }
    let (sink, mut reports) = sink();
    let workers =
        Workers::start(Settings { loops: 2, concurrency: 8, ..settings() }, Arc::new(Noon), Names::loopback(), sink)
            .unwrap();
    for number in 0..90 {
        let mut order = order(&servers[number % 3].url(&format!("/{number}")));
        order.id = OrderId(number as u64);
        workers.send(vec![order]);
    }
    let mut ids = HashSet::new();
    for _ in 0..90 {
        let report = reports.recv().await.unwrap();
        assert_eq!(report.outcome, Outcome::Read { status: 200 });
        assert!(ids.insert(report.order.id));
    }
    workers.stop();
    assert!(reports.recv().await.is_none(), "the loops have ended and dropped the sink");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stopping_drops_what_is_in_flight() {
    let server = serve(|_, _| say("", Then::Hang)).await;
    let (sink, mut reports) = sink();
    let workers = Workers::start(settings(), Arc::new(Noon), Names::loopback(), sink).unwrap();
    for _ in 0..5 {
        workers.send(vec![order(&server.url("/"))]);
    }
    tokio::task::spawn_blocking(move || workers.stop()).await.unwrap();
    assert!(reports.recv().await.is_none());
}

/// A clock that falls over when it is asked within a visit.
struct Brittle(AtomicUsize);

impl Clock for Brittle {
    fn now(&self) -> Moment {
        let number = self.0.fetch_add(1, Ordering::Relaxed);
        assert!(number != 1, "this panic is part of the test");
        Moment::EPOCH
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_panic_within_a_visit_is_a_report_and_the_loop_lives() {
    let server = serve(|_, _| say(page("", "ok"), Then::Stay)).await;
    let (sink, mut reports) = sink();
    let clock = Arc::new(Brittle(AtomicUsize::new(0)));
    let workers = Workers::start(settings(), clock, Names::loopback(), sink).unwrap();
    workers.send(vec![order(&server.url("/"))]);
    let fell = reports.recv().await.unwrap();
    assert_eq!(fell.outcome, Outcome::Failed(Failure::Protocol("the visit panicked".into())));
    assert_eq!(fell.validators, Validators::default());
    workers.send(vec![order(&server.url("/"))]);
    assert_eq!(reports.recv().await.unwrap().outcome, Outcome::Read { status: 200 });
    workers.stop();
}
