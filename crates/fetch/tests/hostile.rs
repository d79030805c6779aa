//! Servers that mean harm, or were built carelessly: each ends in a recorded outcome, within its limits.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod support;

use std::collections::HashSet;
use std::io::Write;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use flate2::Compression;
use flate2::write::GzEncoder;
use support::*;
use tokio::net::TcpListener;
use vernal_fetch::{Settings, Visitor};
use vernal_model::{Chance, Failure, Media, Order, OrderKind, Outcome, Refusal, Report, Stage, Validators, Wall};

/// Bytes read beyond a limit before it is noticed: one read of a buffer that doubles.
const SLACK_BYTES: u64 = 128 << 10;

fn assert_failed(report: &Report, expected: &Failure) {
    assert_eq!(report.outcome, Outcome::Failed(expected.clone()));
    assert!(report.document.is_none() && report.signature.is_none());
    assert!(report.wire_bytes <= settings().body_bytes_max as u64 + SLACK_BYTES, "{} bytes", report.wire_bytes);
}

fn assert_protocol(report: &Report, words: &str) {
    match &report.outcome {
        Outcome::Failed(Failure::Protocol(why)) => assert!(why.contains(words), "{why}"),
        other => panic!("{other:?}"),
    }
    assert!(report.document.is_none());
    assert!(report.wire_bytes <= settings().body_bytes_max as u64 + SLACK_BYTES, "{} bytes", report.wire_bytes);
}

async fn visit_bytes(bytes: impl AsRef<[u8]>) -> Report {
    visit(settings(), &serve_bytes(bytes).await.url("/")).await
}

async fn visit_endless(start: &str, piece: impl AsRef<[u8]>) -> Report {
    let (start, piece) = (start.to_owned(), piece.as_ref().to_vec());
    let server = serve(move |_, _| say(&start, Then::Repeat(piece.clone()))).await;
    visit(settings(), &server.url("/")).await
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

#[tokio::test]
async fn a_head_that_drips_runs_out_of_time() {
    let server = serve(|_, _| say("H", Then::Hang)).await;
    assert_failed(&visit(hasty(), &server.url("/")).await, &Failure::Timeout(Stage::Total));
}

#[tokio::test]
async fn a_body_that_drips_runs_out_of_time() {
    let server = serve(|_, _| say("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nx", Then::Hang)).await;
    let report = visit(hasty(), &server.url("/")).await;
    assert_failed(&report, &Failure::Timeout(Stage::Total));
    assert!(report.wire_bytes > 40, "what came is counted all the same");
}

#[tokio::test]
async fn silence_runs_out_of_time_before_the_first_byte() {
    let server = serve(|_, _| say("", Then::Hang)).await;
    let mut settings = settings();
    settings.timeouts.first_byte = hasty().timeouts.total;
    assert_failed(&visit(settings, &server.url("/")).await, &Failure::Timeout(Stage::FirstByte));
}

#[tokio::test]
async fn a_silent_tls_handshake_runs_out_of_time() {
    let listener = TcpListener::bind((LOOPBACK, 0)).await.unwrap();
    let mut settings = settings();
    settings.timeouts.tls = hasty().timeouts.total;
    let report = visit(settings, &format!("https://localhost:{}/", listener.local_addr().unwrap().port())).await;
    assert_failed(&report, &Failure::Timeout(Stage::Tls));
}

#[tokio::test]
async fn an_endless_body_is_left_at_the_limit() {
    let piece = vec![b'x'; 4 << 10];
    assert_failed(&visit_endless("HTTP/1.1 200 OK\r\n\r\n", &piece).await, &Failure::TooLarge);
    let chunk = format!("1000\r\n{}\r\n", "x".repeat(0x1000));
    assert_failed(
        &visit_endless("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", chunk).await,
        &Failure::TooLarge,
    );
}

#[tokio::test]
async fn an_announced_giant_is_not_read_at_all() {
    let server = serve(|_, _| say("HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n", Then::Hang)).await;
    let report = visit(settings(), &server.url("/")).await;
    assert_failed(&report, &Failure::TooLarge);
    assert!(report.wire_bytes < 1_000);
}

#[tokio::test]
async fn an_endless_head_is_left_at_the_limit() {
    assert_failed(&visit_endless("HTTP/1.1 200 OK\r\nA: ", "x").await, &Failure::HeadTooLarge);
    assert_failed(&visit_endless("HTTP/1.1 200 ", "x").await, &Failure::HeadTooLarge);
}

#[tokio::test]
async fn a_flood_of_header_lines_is_left_at_the_limit() {
    assert_failed(&visit_endless("HTTP/1.1 200 OK\r\n", "A: b\r\n").await, &Failure::HeadTooLarge);
    let many = format!("HTTP/1.1 200 OK\r\n{}\r\n", "a:b\r\n".repeat(101));
    assert_failed(&visit_bytes(many).await, &Failure::HeadTooLarge);
}

#[tokio::test]
async fn bombs_are_recognised_in_every_coding() {
    let zeros = vec![0u8; 4 << 20];
    // Four mebibytes of nothing, packed with brotli.
    let brotli = [155, 255, 255, 63, 248, 39, 0, 226, 177, 64, 32, 247, 254, 7];
    // Frames of 128 KiB that each repeat one byte.
    let mut zstd = vec![0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x58];
    for number in 0..32u32 {
        let head = (1 << 17) << 3 | 1 << 1 | u32::from(number == 31);
        zstd.extend_from_slice(&head.to_le_bytes()[..3]);
        zstd.push(0);
    }
    let mut deflate = flate2::write::ZlibEncoder::new(Vec::new(), Compression::best());
    deflate.write_all(&zeros).unwrap();
    for (coding, body) in [
        ("gzip", gzip(&zeros)),
        ("gzip, gzip", gzip(&gzip(&zeros))),
        ("br", brotli.to_vec()),
        ("zstd", zstd),
        ("deflate", deflate.finish().unwrap()),
    ] {
        let report = visit_bytes(page(&format!("Content-Encoding: {coding}\r\n"), &body)).await;
        assert_failed(&report, &Failure::Bomb);
        let exchange = report.exchange.unwrap();
        assert_eq!(exchange.body, body, "{coding}: the bytes are kept as they came");
    }
}

#[tokio::test]
async fn a_bomb_that_lies_about_its_size_is_a_bomb_all_the_same() {
    let mut body = gzip(&vec![0u8; 4 << 20]);
    let end = body.len() - 4;
    body[end..].copy_from_slice(&100u32.to_le_bytes());
    assert_failed(&visit_bytes(page("Content-Encoding: gzip\r\n", body)).await, &Failure::Bomb);
}

#[tokio::test]
async fn codings_upon_codings_are_left_packed() {
    let body = gzip(&gzip(&gzip(b"hello")));
    let report = visit_bytes(page("Content-Encoding: gzip, gzip\r\nContent-Encoding: gzip\r\n", body)).await;
    assert!(matches!(report.outcome, Outcome::Failed(Failure::Encoding(_))), "{:?}", report.outcome);
}

#[tokio::test]
async fn a_body_that_does_not_unpack_is_said_so() {
    for (coding, body) in
        [("gzip", &b"plain"[..]), ("br", b"\x11\x00"), ("br", b"plain text"), ("zstd", b"plain"), ("snappy", b"x")]
    {
        let report = visit_bytes(page(&format!("Content-Encoding: {coding}\r\n"), body)).await;
        assert!(matches!(report.outcome, Outcome::Failed(Failure::Encoding(_))), "{coding}: {:?}", report.outcome);
    }
    let cut = gzip("a page of some length ".repeat(100).as_bytes());
    let report = visit_bytes(page("Content-Encoding: gzip\r\n", &cut[..cut.len() / 2])).await;
    assert!(matches!(report.outcome, Outcome::Failed(Failure::Encoding(_))), "{:?}", report.outcome);
}

#[tokio::test]
async fn a_length_that_promises_too_much_is_a_body_cut_short() {
    assert_failed(&visit_bytes("HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nshort").await, &Failure::Truncated);
}

#[tokio::test]
async fn a_length_that_promises_too_little_ends_the_body_and_the_connection() {
    let server =
        serve(|_, _| say("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabcHTTP/1.1 200 FAKE", Then::Hang)).await;
    let visitor = visitor(settings());
    let report = visitor.visit(order(&server.url("/"))).await;
    assert_eq!(report.outcome, Outcome::Read { status: 200 });
    assert_eq!(report.exchange.unwrap().body, b"abc");
    let next = visitor.visit(order(&server.url("/"))).await;
    assert_eq!(next.exchange.unwrap().body, b"abc", "the surplus is not the next answer");
}

#[tokio::test]
async fn conflicting_lengths_are_no_answer() {
    let twice = "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd";
    assert_protocol(&visit_bytes(twice).await, "Content-Length");
    assert_protocol(&visit_bytes("HTTP/1.1 200 OK\r\nContent-Length: 3, 4\r\n\r\nabcd").await, "Content-Length");
}

#[tokio::test]
async fn broken_chunks_are_no_body() {
    let chunked = |body: &str| format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{body}");
    for (body, words) in [
        ("zz\r\nab\r\n", "chunk size"),
        ("\r\n", "chunk size"),
        ("-1\r\n", "chunk size"),
        ("2 2\r\nab\r\n", "chunk size"),
        ("2\nab\n", "CRLF"),
        ("2\r\nabcd\r\n0\r\n\r\n", "longer than its size"),
        ("11111111111111111\r\n", "chunk size"),
    ] {
        assert_protocol(&visit_bytes(chunked(body)).await, words);
    }
    for body in ["5\r\nab", "5\r\nabcde\r\n", "5\r\nabcde\r\n0\r\n", ""] {
        assert_failed(&visit_bytes(chunked(body)).await, &Failure::Truncated);
    }
}

#[tokio::test]
async fn a_huge_chunk_is_not_waited_for() {
    let start = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n";
    let server = serve(move |_, _| say(start, Then::Hang)).await;
    assert_failed(&visit(settings(), &server.url("/")).await, &Failure::TooLarge);
}

#[tokio::test]
async fn floods_between_the_chunks_are_left_at_the_limit() {
    let start = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    assert_protocol(&visit_endless(&format!("{start}1;"), "x=y;").await, "too long");
    let piece = format!("1;{}\r\na\r\n", "x".repeat(500));
    assert_protocol(&visit_endless(start, piece).await, "extensions");
    assert_protocol(&visit_endless(&format!("{start}0\r\n"), "A: b\r\n").await, "trailers");
}

#[tokio::test]
async fn invalid_text_is_read_as_far_as_it_goes() {
    let body = b"<html><title>a\xff\xfe\x00b</title><p>caf\xe9\x00\x00 \xc3\x28</p></html>";
    let report = visit_bytes(page("Content-Type: text/html; charset=utf-8\r\n", body)).await;
    assert_eq!(report.outcome, Outcome::Read { status: 200 });
    assert_eq!(report.document.unwrap().media, Media::Html);
    let nothing_but_nuls = visit_bytes(page("Content-Type: text/html\r\n", vec![0u8; 10_000])).await;
    assert_eq!(nothing_but_nuls.outcome, Outcome::Read { status: 200 });
}

#[tokio::test]
async fn a_million_nested_tags_are_read_beside_the_loop() {
    let large = Settings { body_bytes_max: 8 << 20, decoded_bytes_max: 8 << 20, ..settings() };
    let server = serve_bytes(page("Content-Type: text/html\r\n", "<div>".repeat(1_000_000))).await;
    let report = visit(large, &server.url("/")).await;
    assert_eq!(report.outcome, Outcome::Read { status: 200 });
    assert!(report.signature.is_some());
}

#[tokio::test]
async fn a_hundred_thousand_links_are_bounded() {
    let large = Settings { body_bytes_max: 8 << 20, decoded_bytes_max: 8 << 20, ..settings() };
    let links: String = (0..100_000).map(|number| format!("<a href=/p{number}>x</a> ")).collect();
    let server = serve_bytes(page("Content-Type: text/html\r\n", links)).await;
    let document = visit(large, &server.url("/")).await.document.unwrap();
    assert_eq!(document.links.len() + document.links_dropped as usize, 100_000);
}

#[tokio::test]
async fn wrong_content_types_hurt_nobody() {
    for content_type in ["image/png", "text/html; charset=nonsense", "application/pdf", "///;;;", "\u{1}"] {
        let report = visit_bytes(page(&format!("Content-Type: {content_type}\r\n"), "<p>a page</p>")).await;
        assert_eq!(report.outcome, Outcome::Read { status: 200 }, "{content_type}");
    }
    let png = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01";
    let report = visit_bytes(page("Content-Type: text/html\r\n", png)).await;
    assert_eq!(report.outcome, Outcome::Read { status: 200 });
}

#[tokio::test]
async fn each_hop_of_a_redirect_loop_is_a_visit_of_its_own() {
    let server = serve(|_, request| {
        let to = if request.starts_with("GET /a ") { "/b" } else { "/a" };
        say(format!("HTTP/1.1 302 Found\r\nLocation: {to}\r\nContent-Length: 0\r\n\r\n"), Then::Stay)
    })
    .await;
    let visitor = visitor(settings());
    let mut path = server.url("/a");
    for _ in 0..4 {
        let report = visitor.visit(order(&path)).await;
        match report.outcome {
            Outcome::Moved { status: 302, to: Some(to), permanent: false } => path = to.as_str().to_owned(),
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(server.requests().len(), 4);
}

#[tokio::test]
async fn a_redirect_to_a_shut_address_leads_nowhere() {
    let bytes = "HTTP/1.1 301 Moved\r\nLocation: http://169.254.169.254/latest/meta-data/\r\nContent-Length: 0\r\n\r\n";
    let report = visit_bytes(bytes).await;
    let Outcome::Moved { to: Some(to), permanent: true, .. } = report.outcome else { panic!("{:?}", report.outcome) };
    let report = visit(settings(), to.as_str()).await;
    assert!(matches!(report.outcome, Outcome::Refused(Refusal::Guard(_))), "{:?}", report.outcome);
    assert_eq!(report.wire_bytes, 0);
    let shut = Settings { allow_private: false, ..settings() };
    let server = serve_bytes(page("", "secret")).await;
    let report = visit(shut, &server.url("/")).await;
    assert!(matches!(report.outcome, Outcome::Refused(Refusal::Guard(_))), "{:?}", report.outcome);
    assert_eq!(server.connections(), 0);
}

#[tokio::test]
async fn a_name_that_changes_its_mind_is_judged_by_the_address_dialled() {
    let metadata: IpAddr = "169.254.169.254".parse().unwrap();
    let server = serve_bytes(page("", "hello")).await;
    let url = format!("http://rebinding.example:{}/", server.port);
    let names = Names::new(&[&[LOOPBACK], &[metadata]]);
    let visitor = Visitor::new(Arc::new(settings()), Arc::new(Noon), Arc::clone(&names) as _).unwrap();
    let first = visitor.visit(order(&url)).await;
    assert_eq!(first.exchange.unwrap().address, Some(LOOPBACK));
    assert_eq!(names.asked.load(Ordering::Relaxed), 1, "asked once: the address judged is the address dialled");
    let second = visitor.visit(order(&url)).await;
    assert!(matches!(second.outcome, Outcome::Refused(Refusal::Guard(_))), "{:?}", second.outcome);
}

#[tokio::test]
async fn a_public_name_for_a_private_address_is_refused() {
    let server = serve_bytes(page("", "secret")).await;
    let mapped: IpAddr = "::ffff:127.0.0.1".parse().unwrap();
    for answer in [&[LOOPBACK][..], &[mapped], &["10.0.0.1".parse().unwrap(), mapped]] {
        let shut = Settings { allow_private: false, ..settings() };
        let visitor = Visitor::new(Arc::new(shut), Arc::new(Noon), Names::new(&[answer])).unwrap();
        let report = visitor.visit(order(&format!("http://public.example:{}/", server.port))).await;
        assert!(matches!(report.outcome, Outcome::Refused(Refusal::Guard(_))), "{:?}", report.outcome);
    }
    assert_eq!(server.connections(), 0);
}

#[tokio::test]
async fn what_a_public_page_leads_to_is_never_private_even_where_private_addresses_are_allowed() {
    let server = serve_bytes(page("", "secret")).await;
    let metadata: IpAddr = "169.254.169.254".parse().unwrap();
    let visitor = Visitor::new(Arc::new(settings()), Arc::new(Noon), Names::new(&[&[LOOPBACK], &[metadata]])).unwrap();
    let by_literal = server.url("/");
    let by_name = format!("http://public.example:{}/", server.port);
    let led_to = |url: &str| Order { public_only: true, ..order(url) };
    for url in [&by_literal, &by_name] {
        let report = visitor.visit(led_to(url)).await;
        let Outcome::Refused(Refusal::Guard(why)) = report.outcome else { panic!("{:?}", report.outcome) };
        assert!(why.contains("127.0.0.1 is loopback, and a public page leads to it"), "{why}");
    }
    assert_eq!(server.connections(), 0);
    // A seed may go there, and the connection that it leaves behind is not used either.
    assert_eq!(visitor.visit(order(&by_literal)).await.outcome, Outcome::Read { status: 200 });
    let report = visitor.visit(led_to(&by_literal)).await;
    assert!(matches!(report.outcome, Outcome::Refused(Refusal::Guard(_))), "{:?}", report.outcome);
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn a_host_of_the_table_is_visited_there_under_its_own_name_and_the_guard_judges_the_address() {
    let server = serve_bytes(page("", "hello")).await;
    let hosts = |entry: String| vernal_fetch::Hosts(vec![entry.parse().unwrap()]);
    let visit_named = async |settings: Settings| {
        let visitor = Visitor::new(Arc::new(settings), Arc::new(Noon), Names::new(&[])).unwrap();
        visitor.visit(order("http://garden.example/")).await
    };
    let there = hosts(format!("garden.example:80:127.0.0.1:{}", server.port));
    let report = visit_named(Settings { hosts: there.clone(), ..settings() }).await;
    assert_eq!(report.exchange.unwrap().address, Some(LOOPBACK));
    assert!(server.requests()[0].to_ascii_lowercase().contains("host: garden.example\r\n"), "{:?}", server.requests());
    let metadata = hosts("garden.example:80:169.254.169.254".into());
    let own = vec![(LOOPBACK, server.port).into()];
    for shut in [
        Settings { hosts: there.clone(), allow_private: false, ..settings() },
        Settings { hosts: metadata, ..settings() },
        Settings { hosts: there, own_listeners: own, ..settings() },
    ] {
        let report = visit_named(shut).await;
        assert!(matches!(report.outcome, Outcome::Refused(Refusal::Guard(_))), "{:?}", report.outcome);
    }
    assert_eq!(server.connections(), 1);
    let other = Settings { hosts: hosts("garden.example:81:127.0.0.1".into()), ..settings() };
    assert_failed(&visit_named(other).await, &Failure::Dns("no such name".into()));
}

#[tokio::test]
async fn our_own_listener_is_refused_even_when_private_addresses_are_allowed() {
    let server = serve_bytes(page("", "secret")).await;
    let own = Settings { own_listeners: vec![(LOOPBACK, server.port).into()], ..settings() };
    let report = visit(own, &server.url("/")).await;
    assert!(matches!(report.outcome, Outcome::Refused(Refusal::Guard(_))), "{:?}", report.outcome);
    assert_eq!(server.connections(), 0);
}

#[tokio::test]
async fn a_name_without_addresses_is_a_dns_failure() {
    let visitor = Visitor::new(Arc::new(settings()), Arc::new(Noon), Names::new(&[])).unwrap();
    let report = visitor.visit(order("http://nowhere.example/")).await;
    assert_failed(&report, &Failure::Dns("no such name".into()));
}

#[tokio::test]
async fn a_shut_port_is_a_connect_failure() {
    let listener = TcpListener::bind((LOOPBACK, 0)).await.unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    let report = visit(settings(), &format!("http://127.0.0.1:{port}/")).await;
    assert!(matches!(report.outcome, Outcome::Failed(Failure::Connect(_))), "{:?}", report.outcome);
}

#[tokio::test]
async fn no_answer_is_said_so_and_asked_for_once() {
    let server = serve(|_, _| say("", Then::Close)).await;
    assert_protocol(&visit(settings(), &server.url("/")).await, "without an answer");
    assert_eq!(server.requests().len(), 1);
    assert_protocol(&visit_bytes("HTTP/1.1 200 OK\r\nA: b").await, "within the head");
}

#[tokio::test]
async fn an_immediate_close_is_recorded() {
    let listener = TcpListener::bind((LOOPBACK, 0)).await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move { while listener.accept().await.is_ok() {} });
    let report = visit(settings(), &format!("http://127.0.0.1:{port}/")).await;
    assert!(matches!(report.outcome, Outcome::Failed(Failure::Protocol(_))), "{:?}", report.outcome);
}

#[tokio::test]
async fn what_is_not_http_is_no_answer() {
    for garbage in [
        "<html>old times</html>",
        "SSH-2.0-OpenSSH_9.9\r\n",
        "\0\0\0\0\0\0\0\0",
        "HTTP/2 200\r\n\r\n",
        "ICY 200 OK\r\n\r\n",
    ] {
        assert_protocol(&visit_bytes(garbage).await, "status line");
    }
    assert_protocol(&visit_bytes("HTTP/1.1 abc\r\n\r\n").await, "");
    assert_protocol(&visit_bytes("\r\n\r\n\r\n\r\n\r\n").await, "empty lines");
}

#[tokio::test]
async fn a_304_that_nobody_asked_for_is_no_answer() {
    assert_protocol(&visit_bytes("HTTP/1.1 304 Not Modified\r\n\r\n").await, "304");
}

#[tokio::test]
async fn a_flood_of_interim_answers_has_an_end() {
    assert_protocol(&visit_endless("", "HTTP/1.1 100 Continue\r\n\r\n").await, "interim");
    let few = format!(
        "{}HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
        "HTTP/1.1 103 Early Hints\r\nA: b\r\n\r\n".repeat(3)
    );
    let report = visit_bytes(few).await;
    assert_eq!(report.outcome, Outcome::Read { status: 200 });
    assert!(report.exchange.unwrap().response_head.starts_with(b"HTTP/1.1 200 OK"));
}

#[tokio::test]
async fn garbage_in_a_location_leads_nowhere_or_to_a_url() {
    for target in ["", "http://", "javascript:alert(1)", "http://[::1", "\u{ff}\u{fe}", "data:,x", &"a".repeat(3_000)] {
        let report =
            visit_bytes(format!("HTTP/1.1 302 Found\r\nLocation: {target}\r\nContent-Length: 0\r\n\r\n")).await;
        assert!(matches!(report.outcome, Outcome::Moved { .. }), "{target}: {:?}", report.outcome);
    }
    let split = "HTTP/1.1 302 Found\r\nLocation: /a%0d%0aSet-Cookie:%20x\r\nContent-Length: 0\r\n\r\n";
    let Outcome::Moved { to: Some(to), .. } = visit_bytes(split).await.outcome else { panic!("no target") };
    assert!(to.as_str().bytes().all(|byte| byte.is_ascii_graphic()), "{to}");
}

#[tokio::test]
async fn a_robots_file_of_any_size_and_kind_gives_bounded_text() {
    let large = Settings { body_bytes_max: 8 << 20, decoded_bytes_max: 8 << 20, ..settings() };
    let mut body = b"User-agent: *\nDisallow: /x\n".to_vec();
    body.resize(2 << 20, 0xff);
    let server = serve_bytes(page("Content-Type: image/png\r\n", &body)).await;
    let mut order = order(&server.url("/robots.txt"));
    order.kind = OrderKind::Robots;
    let report = visitor(large).visit(order).await;
    assert_eq!(report.outcome, Outcome::Read { status: 200 });
    let text = report.document.unwrap().text;
    assert!(text.starts_with("User-agent: *\nDisallow: /x\n"));
    assert!(text.len() <= 500 << 10);
    assert!(report.signature.is_none());
}

#[tokio::test]
async fn a_robots_file_beyond_the_limit_is_read_up_to_it_and_no_page_is() {
    let small = || Settings { body_bytes_max: 600 << 10, decoded_bytes_max: 600 << 10, ..settings() };
    let rules = b"User-agent: *\nDisallow: /x\n";
    let mut body = rules.to_vec();
    body.resize(2 << 20, b'#');
    let until_close = [b"HTTP/1.1 200 OK\r\n\r\n".as_slice(), &body].concat();
    let chunk = [format!("{:x}\r\n", body.len()).as_bytes(), &body, b"\r\n0\r\n\r\n"].concat();
    let chunked = [b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n".as_slice(), &chunk].concat();
    let packed = {
        use std::io::Write;
        let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        packer.write_all(&body).unwrap();
        packer.finish().unwrap()
    };
    for answer in [page("", &body), until_close, chunked, page("Content-Encoding: gzip\r\n", &packed)] {
        let server = serve_bytes(answer).await;
        let mut order = order(&server.url("/robots.txt"));
        let report = visitor(small()).visit(order.clone()).await;
        assert!(matches!(report.outcome, Outcome::Failed(Failure::TooLarge | Failure::Bomb)), "{:?}", report.outcome);
        order.kind = OrderKind::Robots;
        let report = visitor(small()).visit(order).await;
        assert_eq!(report.outcome, Outcome::Read { status: 200 });
        assert!(report.document.unwrap().text.starts_with("User-agent: *\nDisallow: /x\n"));
        assert!(report.exchange.unwrap().body.len() <= 600 << 10);
    }
}

#[tokio::test]
async fn a_plain_refusal_blocks_the_page_and_is_no_wall_against_robots() {
    let report = visit_bytes("HTTP/1.1 403 No\r\nContent-Length: 0\r\n\r\n").await;
    match report.outcome {
        Outcome::Blocked { wall: Wall::Forbidden, status: 403, .. } => {}
        other => panic!("{other:?}"),
    }
    assert_eq!(report.validators, Validators::default());
}

/// Answers of every kind, to be bent out of shape.
fn samples() -> Vec<Vec<u8>> {
    let packed = gzip(b"<html><title>t</title><p>some words <a href=/x>y</a></html>");
    vec![
        page("Content-Type: text/html\r\nETag: \"1\"\r\n", "<title>a</title><p>b<script>c</script>"),
        page("Content-Type: text/html\r\nContent-Encoding: gzip\r\n", packed),
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;a=b\r\nhello\r\n1\r\n!\r\n0\r\nT: u\r\n\r\n".to_vec(),
        b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 302 Found\r\nLocation: /there?x=y\r\nContent-Length: 0\r\n\r\n"
            .to_vec(),
        b"HTTP/1.0 503 Later\r\nRetry-After: 120\r\n\r\nnot now".to_vec(),
    ]
}

#[tokio::test]
async fn answers_bent_out_of_shape_always_end_in_an_outcome() {
    let samples = samples();
    let server = serve(move |number, _| {
        let mut chance = Chance::new(20_260_501).numbered(number as u64);
        let mut bytes = chance.pick(&samples).cloned().unwrap_or_default();
        for _ in 0..=chance.below(6) {
            let place = chance.below(bytes.len() as u64) as usize;
            match chance.below(4) {
                0 => bytes[place] = chance.bits() as u8,
                1 => bytes.insert(place, chance.bits() as u8),
                2 => drop(bytes.drain(place..(place + 9).min(bytes.len()))),
                _ => bytes.extend_from_within(place..),
            }
            bytes.push(b'.');
        }
        say(bytes, Then::Close)
    })
    .await;
    let visitor = visitor(settings());
    let mut names = HashSet::new();
    for number in 0..400 {
        let report = visitor.visit(order(&server.url(&format!("/{number}")))).await;
        assert!(!format!("{:?}", report.outcome).contains("panicked"), "round {number}: {:?}", report.outcome);
        names.insert(report.outcome.name());
    }
    assert!(names.len() >= 3, "the samples meet different ends: {names:?}");
}
