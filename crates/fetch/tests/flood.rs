//! HTTP/2 sites that send frames without end: the connection ends with an outcome, and other sites of the loop go on.

#![allow(clippy::unwrap_used, reason = "the helpers of tests fail as tests do")]

mod support;

use support::{LOOPBACK, Then, certificate, order, page, read_until, say, serve, settings, visit, visitor};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpListener;
use vernal_fetch::Settings;
use vernal_model::{Failure, Outcome};

/// A frame (RFC 9113, 4.1): its kind, its flags, its stream and what it carries.
type Frame = (u8, u8, u32, Vec<u8>);

const DATA: u8 = 0;
const HEADERS: u8 = 1;
const PRIORITY: u8 = 2;
const RST_STREAM: u8 = 3;
const SETTINGS: u8 = 4;
const PING: u8 = 6;
const WINDOW_UPDATE: u8 = 8;
const CONTINUATION: u8 = 9;
const UNKNOWN: u8 = 0xfa;
const END_HEADERS: u8 = 4;
/// `:status: 200` and `:status: 103`, as HPACK writes them.
const FOUND: [u8; 1] = [0x88];
const EARLY_HINTS: [u8; 5] = [0x08, 3, b'1', b'0', b'3'];

fn frame((kind, flags, stream, payload): &Frame) -> Vec<u8> {
    let mut frame = (payload.len() as u32).to_be_bytes()[1..].to_vec();
    frame.extend([*kind, *flags]);
    frame.extend(stream.to_be_bytes());
    frame.extend(payload);
    frame
}

/// A site that greets everyone, says this, and then repeats one frame for ever.
async fn serve_flood(first: Vec<Frame>, again: Frame) -> (String, Settings) {
    let (root, acceptor) = certificate(&[b"h2"]);
    let listener = TcpListener::bind((LOOPBACK, 0)).await.unwrap();
    let url = format!("https://localhost:{}/", listener.local_addr().unwrap().port());
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let (acceptor, mut said) = (acceptor.clone(), frame(&(SETTINGS, 0, 0, Vec::new())));
            first.iter().for_each(|of| said.extend(frame(of)));
            let flood = frame(&again).repeat(200);
            tokio::spawn(async move {
                let Ok(mut stream) = acceptor.accept(stream).await else { return };
                // The preface; then the request is on its way.
                let _ = read_until(&mut stream, b"SM\r\n\r\n").await;
                let (mut from, mut to) = tokio::io::split(stream);
                tokio::spawn(async move { tokio::io::copy(&mut from, &mut tokio::io::sink()).await });
                let _ = to.write_all(&said).await;
                while to.write_all(&flood).await.is_ok() {}
            });
        }
    });
    (url, Settings { extra_roots: vec![root], ..settings() })
}

#[tokio::test]
async fn every_flood_of_frames_ends_its_connection_with_an_outcome() {
    let answered = || vec![(HEADERS, END_HEADERS, 1, FOUND.to_vec())];
    let unfinished = || vec![(HEADERS, 0, 1, FOUND.to_vec())];
    for (name, first, again) in [
        ("pings", vec![], (PING, 0, 0, vec![0; 8])),
        ("settings", vec![], (SETTINGS, 0, 0, Vec::new())),
        ("full settings", vec![], (SETTINGS, 0, 0, [0, 9, 0, 0, 0, 1].repeat(1_000))),
        ("windows", vec![], (WINDOW_UPDATE, 0, 0, vec![0, 0, 0, 1])),
        ("priorities", vec![], (PRIORITY, 0, 1, vec![0, 0, 0, 3, 1])),
        ("unknown frames", vec![], (UNKNOWN, 0, 0, vec![0; 16_000])),
        ("early hints", vec![], (HEADERS, END_HEADERS, 1, EARLY_HINTS.to_vec())),
        ("resets", vec![], (RST_STREAM, 0, 1, vec![0, 0, 0, 8])),
        ("answers", vec![], (HEADERS, END_HEADERS, 1, FOUND.to_vec())),
        ("continuations", unfinished(), (CONTINUATION, 0, 1, Vec::new())),
        ("empty pieces", answered(), (DATA, 0, 1, Vec::new())),
        ("padding", answered(), (DATA, 8, 1, [vec![200], vec![0; 200]].concat())),
        ("bytes", answered(), (DATA, 0, 1, vec![b'x'])),
        ("pings within a body", answered(), (PING, 0, 0, vec![0; 8])),
    ] {
        let (url, settings) = serve_flood(first, again).await;
        let report = visit(settings, &url).await;
        let failure = match &report.outcome {
            Outcome::Failed(failure) => failure,
            other => panic!("{name}: {other:?}"),
        };
        assert!(
            matches!(failure, Failure::Protocol(_) | Failure::Truncated | Failure::TooLarge),
            "{name}: {failure:?}"
        );
        if matches!(name, "pings" | "settings" | "windows" | "unknown frames" | "pings within a body") {
            assert_eq!(*failure, Failure::Protocol("a flood of frames without content".into()), "{name}");
        }
    }
}

#[tokio::test]
async fn another_site_of_the_loop_is_served_while_floods_go_on() {
    let good = serve(|_, _| say(page("Content-Type: text/html\r\n", "<p>hello</p>"), Then::Stay)).await;
    let mut floods = Vec::new();
    for _ in 0..4 {
        floods.push(serve_flood(vec![(HEADERS, END_HEADERS, 1, FOUND.to_vec())], (PING, 0, 0, vec![0; 8])).await);
    }
    let roots = floods.iter().flat_map(|(_, settings)| settings.extra_roots.clone()).collect();
    let visitor = visitor(Settings { extra_roots: roots, ..settings() });
    let flooded = futures_util::future::join_all(floods.iter().map(|(url, _)| visitor.visit(order(url))));
    let served = async {
        for number in 0..20 {
            let report = visitor.visit(order(&good.url(&format!("/{number}")))).await;
            assert_eq!(report.outcome, Outcome::Read { status: 200 });
        }
    };
    let (flooded, ()) = tokio::join!(flooded, served);
    for report in flooded {
        assert!(matches!(report.outcome, Outcome::Failed(Failure::Protocol(_))), "{:?}", report.outcome);
    }
}
