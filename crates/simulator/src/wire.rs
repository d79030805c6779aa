//! The wire of a trial: an order is answered in virtual time, as a worker would report it. What an answer means is decided
//! where live workers decide it too, in room `document`.
//!
//! - Here: by the invented web, with every byte of it.
//! - [`world`]: by a world of the laboratory, in a few words.

pub mod world;

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;

use sha1::Digest as _;
use vernal_document::{Input, StatusMeaning};
use vernal_model::{
    Digest, Exchange, Failure, Moment, Order, Outcome, Protocol, Refusal, Report, Stage, Url, Validators,
};

use crate::web::{Answer, Behaviour, Request, Web};

/// Who answers the orders of a trial.
pub trait Wire {
    /// The report of an order that is asked at `started` and answered at `finished`.
    fn report(&self, order: Order, started: Moment, finished: Moment) -> Report;

    /// How many pages are online now, where a budget in percent of the held pages is to count these instead.
    fn pages_online(&self, _now: Moment) -> Option<u64> {
        None
    }

    /// The pages that were announced as changed after one Moment and up to another, by a push.
    fn announced(&self, _after: Moment, _until: Moment) -> Vec<Url> {
        Vec::new()
    }

    /// When the next page is announced after this.
    fn next_announced(&self, _after: Moment) -> Option<Moment> {
        None
    }
}

impl<W: Wire + ?Sized> Wire for Arc<W> {
    fn report(&self, order: Order, started: Moment, finished: Moment) -> Report {
        (**self).report(order, started, finished)
    }

    fn pages_online(&self, now: Moment) -> Option<u64> {
        (**self).pages_online(now)
    }

    fn announced(&self, after: Moment, until: Moment) -> Vec<Url> {
        (**self).announced(after, until)
    }

    fn next_announced(&self, after: Moment) -> Option<Moment> {
        (**self).next_announced(after)
    }
}

impl Wire for Web {
    /// The web answers as it is at `started`.
    fn report(&self, order: Order, started: Moment, finished: Moment) -> Report {
        report(self, order, started, finished)
    }
}

fn report(web: &Web, order: Order, started: Moment, finished: Moment) -> Report {
    let Some(site) = web.site_of_host(order.url.site_text()) else {
        return Report::unanswered(order, started, finished, Outcome::Failed(Failure::Dns("no such site".into())));
    };
    if !matches!(order.url.scheme(), "http" | "https") {
        return Report::unanswered(order, started, finished, Outcome::Refused(Refusal::Scheme));
    }
    let request = Request {
        site,
        path_and_query: order.url.path_and_query(),
        if_none_match: order.validators.etag.as_deref(),
        if_modified_since: order.validators.last_modified.as_deref(),
        accepts_gzip: false,
    };
    let answer = web.answer(&request, started);
    if let Some(failure) = broken(&answer) {
        return Report::unanswered(order, started, finished, Outcome::Failed(failure));
    }
    read(order, &answer, site, started, finished)
}

/// Answers that never come to an end.
fn broken(answer: &Answer) -> Option<Failure> {
    match answer.behaviour {
        Behaviour::Normal | Behaviour::Chunked | Behaviour::Slow { .. } => None,
        Behaviour::Drip { .. } | Behaviour::Silent => Some(Failure::Timeout(Stage::Total)),
        Behaviour::Endless | Behaviour::Huge { .. } => Some(Failure::TooLarge),
        Behaviour::CutOff { .. } | Behaviour::LyingLength { .. } => Some(Failure::Truncated),
    }
}

fn read(order: Order, answer: &Answer, site: usize, started: Moment, finished: Moment) -> Report {
    let exchange = exchange(&order, answer, site);
    let field = |name: &str| answer.header(name);
    let parse = || {
        let tags: Vec<&str> = field("x-robots-tag").into_iter().collect();
        vernal_document::read(&Input {
            url: &order.url,
            bytes: &answer.body,
            content_type: field("content-type"),
            content_language: field("content-language"),
            robots_tags: &tags,
            payload: Digest(sha1::Sha1::digest(&answer.body).into()),
        })
    };
    let (outcome, document, signature) = match vernal_document::of_status(&order, answer.status, &field, started) {
        StatusMeaning::Final(outcome) => (outcome, None, None),
        StatusMeaning::Robots(outcome) => (outcome, Some(vernal_document::robots_text(&answer.body)), None),
        StatusMeaning::Reads(outcome) => {
            let parsed = parse();
            let owned = |name: &str| field(name).map(str::to_owned);
            match vernal_document::wall(answer.status, &owned, Some(&parsed)) {
                Some((wall, evidence)) => (Outcome::Blocked { wall, status: answer.status, evidence }, None, None),
                None if matches!(outcome, Outcome::Read { .. }) => {
                    (outcome, Some(parsed.document), Some(parsed.signature))
                }
                None => (outcome, None, None),
            }
        }
    };
    let wire_bytes = (exchange.request_head.len() + exchange.response_head.len() + exchange.body.len()) as u64;
    let validators =
        Validators { etag: field("etag").map(Into::into), last_modified: field("last-modified").map(Into::into) };
    Report { order, started, finished, outcome, exchange: Some(exchange), document, signature, validators, wire_bytes }
}

fn exchange(order: &Order, answer: &Answer, site: usize) -> Exchange {
    let request = format!("GET {} HTTP/1.1\r\nHost: {}\r\n\r\n", order.url.path_and_query(), order.url.site_text());
    let mut response = format!("HTTP/1.1 {} X\r\n", answer.status);
    for (name, value) in &answer.headers {
        response.push_str(&format!("{name}: {value}\r\n"));
    }
    response.push_str(&format!("Content-Length: {}\r\n\r\n", answer.body.len()));
    // Each site has an address of its own, as on the loopback addresses that the web is served at.
    let address = Ipv4Addr::new(127, 0, (1 + site / 250) as u8, (1 + site % 250) as u8);
    Exchange {
        address: Some(IpAddr::V4(address)),
        protocol: Protocol::Http1,
        request_head: request.into_bytes(),
        response_head: response.into_bytes(),
        body: answer.body.to_vec(),
        content_encoded: answer.header("content-encoding").is_some(),
    }
}
