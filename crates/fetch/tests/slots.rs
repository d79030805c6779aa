//! Sites that do not answer keep no other site of their loop waiting, and not longer than their order allows.

#![allow(clippy::unwrap_used, reason = "the helpers of tests fail as tests do")]

mod support;

use std::sync::Arc;
use std::time::Duration;

use support::{Names, Noon, Then, order, page, say, serve, settings, visitor};
use vernal_fetch::{Settings, Workers};
use vernal_model::{Failure, OrderId, Outcome, Report, Span};

fn sink() -> (vernal_fetch::Sink, tokio::sync::mpsc::UnboundedReceiver<Report>) {
    let (sender, receiver) = tokio::sync::mpsc::unbounded_channel();
    (Arc::new(move |reports: Vec<Report>| reports.into_iter().for_each(|report| drop(sender.send(report)))), receiver)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn silent_sites_that_all_belong_to_one_loop_do_not_keep_it_from_a_site_that_answers() {
    let silent = serve(|_, _| say("", Then::Hang)).await;
    let good = serve(|_, _| say(page("Content-Type: text/html\r\n", "<p>hello</p>"), Then::Stay)).await;
    let (sink, mut reports) = sink();
    let some = Settings { loops: 2, concurrency: 8, ..settings() };
    let workers = Workers::start(some, Arc::new(Noon), Names::loopback(), sink).unwrap();
    // All orders of one site go to one loop. The good site may belong to the other one, so it has many names.
    workers.send((0..6).map(|_| order(&silent.url("/"))).collect());
    for number in 0..16 {
        let mut order = order(&format!("http://s{number}.example:{}/", good.port));
        order.id = OrderId(100 + number);
        workers.send(vec![order]);
        let report = reports.recv().await.unwrap();
        assert_eq!((report.order.id.0, report.outcome), (100 + number, Outcome::Read { status: 200 }));
    }
    tokio::task::spawn_blocking(move || workers.stop()).await.unwrap();
}

#[tokio::test]
async fn an_order_with_little_patience_ends_sooner_than_the_limits_of_the_worker() {
    let silent = serve(|_, _| say("", Then::Hang)).await;
    let dripping = serve(|_, _| say("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n", Then::Hang)).await;
    let never = Duration::from_secs(1_000_000);
    let mut settings = settings();
    (settings.timeouts.first_byte, settings.timeouts.total) = (never, never);
    let visitor = visitor(settings);
    for server in [silent, dripping] {
        let mut order = order(&server.url("/"));
        order.patience = Some(Span::from_millis(50));
        let report = visitor.visit(order).await;
        assert!(matches!(report.outcome, Outcome::Failed(Failure::Timeout(_))), "{:?}", report.outcome);
    }
}
