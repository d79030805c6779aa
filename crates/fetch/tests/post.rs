//! What people have posted: within the guard, within limits, and one request each.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod support;

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use support::*;
use vernal_fetch::{Poster, Settings};
use vernal_model::Url;

fn poster(settings: Settings) -> Poster {
    Poster::new(settings, Names::loopback()).unwrap()
}

fn url(text: &str) -> Url {
    Url::parse(text).unwrap()
}

#[tokio::test]
async fn a_post_has_its_body_its_headers_and_our_name() {
    let server = serve(|_, _| say(page("", b"thanks"), Then::Close)).await;
    let headers = [("content-type", "application/json".to_owned()), ("webhook-id", "w1/e1-1/x".to_owned())];
    let posted = poster(settings()).post(&url(&server.url("/hook?a=b")), &headers, b"{\"a\":1}").await.unwrap();
    assert_eq!((posted.status, posted.body.as_slice()), (200, b"thanks".as_slice()));
    let request = server.requests().join("");
    for line in
        ["POST /hook?a=b HTTP/1.1\r\n", "webhook-id: w1/e1-1/x\r\n", "User-Agent: vernal/test", "Content-Length: 7\r\n"]
    {
        assert!(request.contains(line), "{request}");
    }
}

#[tokio::test]
async fn a_redirect_is_an_answer_and_is_not_followed() {
    let server = serve(|_, _| {
        say("HTTP/1.1 302 Found\r\nLocation: http://169.254.169.254/\r\nContent-Length: 0\r\n\r\n", Then::Close)
    })
    .await;
    let posted = poster(settings()).post(&url(&server.url("/")), &[], b"x").await.unwrap();
    assert_eq!((posted.status, server.connections()), (302, 1));
}

#[tokio::test]
async fn a_server_that_says_nothing_runs_out_of_time() {
    let server = serve(|_, _| say("", Then::Hang)).await;
    let poster = poster(settings()).within(Duration::from_millis(200));
    let told = poster.post(&url(&server.url("/secret")), &[], b"x").await.unwrap_err();
    assert_eq!(told, "no answer within 0.2 s");
}

#[tokio::test]
async fn of_an_answer_without_end_the_beginning_is_read() {
    let start = "HTTP/1.1 200 OK\r\n\r\n";
    let server = serve(move |_, _| say(start, Then::Repeat(vec![b'x'; 16 << 10]))).await;
    let posted = poster(settings()).post(&url(&server.url("/")), &[], b"x").await.unwrap();
    assert_eq!((posted.status, posted.body.len()), (200, 4 << 10));
}

#[tokio::test]
async fn no_private_address_is_asked_unless_it_is_allowed() {
    let server = serve(|_, _| say(page("", b""), Then::Close)).await;
    let shut = Settings { allow_private: false, ..settings() };
    let port = server.url("").rsplit(':').next().unwrap().trim_end_matches('/').to_owned();
    for host in ["127.0.0.1", "[::1]", "[::ffff:127.0.0.1]", "0x7f.1", "hooks.example"] {
        let told =
            poster(shut.clone()).post(&url(&format!("http://{host}:{port}/secret")), &[], b"x").await.unwrap_err();
        assert!(told.contains("--allow-private-routes") && !told.contains("secret"), "{told}");
    }
    let told = poster(settings()).post(&url("http://169.254.169.254/"), &[], b"x").await.unwrap_err();
    assert!(told.contains("link-local"), "{told}");
    assert_eq!(server.connections(), 0);
    let mail = poster(shut).dial("127.0.0.1", port.parse().unwrap(), None).await.unwrap_err();
    assert!(mail.contains("--allow-private-routes"), "{mail}");
}

#[tokio::test]
async fn the_address_that_was_judged_is_the_one_that_is_dialled() {
    let server = serve(|_, _| say(page("", b""), Then::Close)).await;
    let port: u16 = server.url("").rsplit(':').next().unwrap().trim_end_matches('/').parse().unwrap();
    // Any other answer than the first leads to an address where nobody is.
    let names = Names::new(&[&[LOOPBACK], &["192.0.2.1".parse().unwrap()]]);
    let poster = Poster::new(settings(), Arc::<Names>::clone(&names)).unwrap();
    let posted = poster.post(&url(&format!("http://hooks.example:{port}/")), &[], b"x").await.unwrap();
    assert_eq!((posted.status, names.asked.load(Ordering::Relaxed)), (200, 1));
}

#[tokio::test]
async fn a_header_cannot_begin_another_one() {
    let server = serve(|_, _| say(page("", b""), Then::Close)).await;
    let headers = [("webhook-id", "a\r\nX-Evil: 1".to_owned())];
    assert!(poster(settings()).post(&url(&server.url("/")), &headers, b"x").await.is_err());
    assert!(server.requests().iter().all(|request| !request.contains("X-Evil")));
}

#[tokio::test]
async fn a_mail_server_is_dialled_at_its_ports_alone() {
    let server = serve(|_, _| say("220 hello\r\n", Then::Hang)).await;
    let port: u16 = server.url("").rsplit(':').next().unwrap().trim_end_matches('/').parse().unwrap();
    let (_stream, peer) = poster(settings()).dial("mail.example", port, None).await.unwrap();
    assert_eq!((peer.ip(), peer.port()), (LOOPBACK, port));
    assert!(poster(settings()).dial("mail.example", 22, None).await.unwrap_err().contains("mail server"));
}
