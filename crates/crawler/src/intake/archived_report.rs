//! Turns a kept record back into the report that it was made from, as far as possible. Records have times in whole
//! seconds, and a revisit record has no body.

use vernal_document::{IncrementalReader, Input, Parsed, Parts, StatusMeaning, UnpackLimits};
use vernal_model::{
    Digest, Document, Exchange, Failure, Moment, Order, OrderId, OrderKind, Origin, Outcome, PageKey, Report,
    Signature, Span, Url, Validators,
};
use vernal_repository::bodies::{HttpMessage, Record};

use super::archive_record::digest_of;

/// Whether the record only says that the body equals an earlier one.
pub(crate) fn is_revisit(record: &Record) -> bool {
    record.kind() == "revisit"
}

/// The origin whose robots.txt this record answers, if it does.
pub(crate) fn robots_origin(record: &Record) -> Option<Origin> {
    record.robots_for().map(Origin::new)
}

/// The report of a record, for an order that has no page yet; `Err` says what is wrong with the record.
pub(crate) fn report(record: &Record) -> Result<Report, String> {
    let url = record.target().and_then(|target| Url::parse(target).ok()).ok_or("it has no URL")?;
    let started = record.date().ok_or("it has no date")?;
    let kind = if record.robots_for().is_some() { OrderKind::Robots } else { OrderKind::Page };
    let order = Order {
        id: OrderId(0),
        page: PageKey::default(),
        url,
        kind,
        validators: Validators::default(),
        held: None,
        gap: Span::ZERO,
        patience: None,
        public_only: false,
    };
    let payload = record.payload_digest().ok_or("it has no payload digest")?;
    match record.kind() {
        "revisit" => Ok(revisit(record, order, started, payload)),
        "resource" => {
            let content_type = record.header("Content-Type").map(str::to_owned);
            whole(payload, &record.block)?;
            Ok(resource(record, order, started, content_type.as_deref(), payload))
        }
        _ => {
            let http = record.http().ok_or("it holds no HTTP response")?;
            whole(payload, http.body)?;
            Ok(response(record, &http, order, started, payload))
        }
    }
}

fn whole(payload: Digest, body: &[u8]) -> Result<(), String> {
    if digest_of(body) == payload { Ok(()) } else { Err("the payload digest differs".into()) }
}

fn revisit(record: &Record, order: Order, started: Moment, payload: Digest) -> Report {
    let http = record.http();
    let confirmed = record.header("WARC-Profile").is_some_and(|profile| profile.contains("server-not-modified"));
    let outcome = match &http {
        Some(http) if !confirmed => Outcome::Read { status: http.status },
        _ => Outcome::NotModified,
    };
    let validators = http.as_ref().map(validators).unwrap_or_default();
    // Equal bytes have an equal digest, and no other field of the signature is needed then.
    let signature = (!confirmed).then(|| Signature { payload, ..Signature::default() });
    let exchange = exchange(record, record.block.clone(), Vec::new());
    Report { outcome, validators, signature, ..bare(order, started, exchange) }
}

fn resource(record: &Record, order: Order, started: Moment, content_type: Option<&str>, payload: Digest) -> Report {
    let parsed = vernal_document::read(&Input {
        url: &order.url,
        bytes: &record.block,
        content_type,
        content_language: None,
        robots_tags: &[],
        payload,
    });
    let exchange = exchange(record, Vec::new(), record.block.clone());
    Report {
        outcome: Outcome::Read { status: 200 },
        document: Some(parsed.document),
        signature: Some(parsed.signature),
        ..bare(order, started, exchange)
    }
}

fn response(record: &Record, http: &HttpMessage<'_>, order: Order, started: Moment, payload: Digest) -> Report {
    let head = &record.block[..record.block.len() - http.body.len()];
    let judged = vernal_document::of_status(&order, http.status, &|name| http.header(name), started);
    let (outcome, document, signature) = match judged {
        StatusMeaning::Final(outcome) => (outcome, None, None),
        StatusMeaning::Robots(outcome) => match unpacked(head, http.body) {
            Ok(text) => (outcome, Some(vernal_document::robots_text(&text)), None),
            Err(failure) => (Outcome::Failed(failure), None, None),
        },
        StatusMeaning::Reads(outcome) => read(&order.url, http, outcome, payload, unpacked(head, http.body)),
    };
    let is_page = matches!(outcome, Outcome::Read { .. });
    let validators = if is_page { validators(http) } else { Validators::default() };
    let exchange = exchange(record, head.to_vec(), http.body.to_vec());
    Report { outcome, document, signature, validators, ..bare(order, started, exchange) }
}

fn read(
    url: &Url,
    http: &HttpMessage<'_>,
    outcome: Outcome,
    payload: Digest,
    unpacked: Result<Vec<u8>, Failure>,
) -> (Outcome, Option<Document>, Option<Signature>) {
    let is_page = matches!(outcome, Outcome::Read { .. });
    let unpacked = match unpacked {
        Ok(unpacked) => unpacked,
        Err(failure) if is_page => return (Outcome::Failed(failure), None, None),
        Err(_) => return (outcome, None, None),
    };
    let parsed = meaning(url, http, &unpacked, payload);
    let field = |name: &str| http.header(name).map(str::to_owned);
    match vernal_document::wall(http.status, &field, Some(&parsed)) {
        Some((wall, evidence)) => (Outcome::Blocked { wall, status: http.status, evidence }, None, None),
        None if is_page => (outcome, Some(parsed.document), Some(parsed.signature)),
        None => (outcome, None, None),
    }
}

/// The words of a kept version that cannot be reused from the newer version `beside`; without `beside`, its words,
/// links and parts. `None` for a record without a body. The body is decompressed into `room`.
pub(crate) fn words(
    record: &Record,
    url: &Url,
    beside: Option<&IncrementalReader<'_>>,
    room: &mut Vec<u8>,
) -> Option<(Document, Parts)> {
    let payload = record.payload_digest()?;
    if record.kind() == "resource" {
        let input = kept_input(url, &record.block, record.header("Content-Type"), payload);
        return Some((vernal_document::read_words(&input, true).0, Parts::default()));
    }
    let http = record.http()?;
    let head = &record.block[..record.block.len() - http.body.len()];
    let content_type = http.header("content-type");
    let limits = UnpackLimits::default();
    let Some(beside) = beside else {
        vernal_document::unpack_into(head, http.body, &limits, room).ok()?;
        return Some(vernal_document::read_words(&kept_input(url, room, content_type, payload), true));
    };
    let wanted = |all| beside.bytes_wanted(all);
    let mut document = None;
    if vernal_document::unpack_start_into(head, http.body, &limits, wanted, room) {
        document = vernal_document::read_words_of_prefix(&kept_input(url, room, content_type, payload), beside);
    }
    if document.is_none() {
        vernal_document::unpack_into(head, http.body, &limits, room).ok()?;
        document =
            Some(vernal_document::read_words_incrementally(&kept_input(url, room, content_type, payload), beside));
    }
    Some((document?, Parts::default()))
}

fn kept_input<'a>(url: &'a Url, bytes: &'a [u8], content_type: Option<&'a str>, payload: Digest) -> Input<'a> {
    Input { url, bytes, content_type, content_language: None, robots_tags: &[], payload }
}

fn meaning(url: &Url, http: &HttpMessage<'_>, bytes: &[u8], payload: Digest) -> Parsed {
    let tags = http.headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case("x-robots-tag"));
    let tags: Vec<&str> = tags.map(|(_, value)| value).collect();
    let input = Input {
        url,
        bytes,
        content_type: http.header("content-type"),
        content_language: http.header("content-language"),
        robots_tags: &tags,
        payload,
    };
    vernal_document::read(&input)
}

fn unpacked(head: &[u8], body: &[u8]) -> Result<Vec<u8>, Failure> {
    vernal_document::unpack(head, body, &UnpackLimits::default())
}

fn validators(http: &HttpMessage<'_>) -> Validators {
    let field = |name: &str| http.header(name).filter(|value| !value.is_empty()).map(Into::into);
    Validators { etag: field("etag"), last_modified: field("last-modified") }
}

fn exchange(record: &Record, response_head: Vec<u8>, body: Vec<u8>) -> Exchange {
    let address = record.header("WARC-IP-Address").and_then(|address| address.parse().ok());
    Exchange { address, response_head, body, ..Exchange::default() }
}

fn bare(order: Order, started: Moment, exchange: Exchange) -> Report {
    Report {
        order,
        started,
        finished: started,
        outcome: Outcome::NotModified,
        document: None,
        signature: None,
        validators: Validators::default(),
        wire_bytes: (exchange.response_head.len() + exchange.body.len()) as u64,
        exchange: Some(exchange),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Bench, START, html, unhindered, url};

    const PAGE: &str = "http://a.example/x";

    /// The record that the last visit to the page left.
    fn kept(bench: &mut Bench) -> Record {
        bench.commit();
        let reader = bench.crawler.reader();
        let visits = reader.visits(bench.page(PAGE).unwrap().key).unwrap();
        let location = visits.last().and_then(|visit| visit.record).expect("it was kept");
        reader.body(&location).unwrap()
    }

    fn bench() -> Bench {
        let mut bench = Bench::seeded(unhindered(), &["http://a.example/"]);
        bench.admit(&[PAGE]);
        bench
    }

    #[test]
    fn a_record_of_a_page_is_the_report_that_it_was_made_of() {
        let mut bench = bench();
        let body = html("These are the words.", &["/a", "http://b.example/"]);
        let mut given = None;
        bench.visit(PAGE, |order, now| {
            let report = crate::testing::answered(order, now, "text/html", &body);
            given = Some(report.clone());
            report
        });
        let (record, given) = (kept(&mut bench), given.unwrap());
        assert!(!is_revisit(&record) && robots_origin(&record).is_none());
        let back = report(&record).unwrap();
        assert_eq!((back.order.url.as_str(), back.started), (PAGE, START));
        assert_eq!((&back.outcome, &back.document), (&given.outcome, &given.document));
        assert_eq!(
            back.signature.map(|signature| signature.payload),
            given.signature.map(|signature| signature.payload)
        );
        assert_eq!(back.exchange.map(|exchange| exchange.body), Some(body.into_bytes()));
    }

    #[test]
    fn a_record_of_the_same_bytes_is_a_revisit_with_their_digest() {
        let mut bench = bench();
        let body = html("These are the words.", &[]);
        bench.read(PAGE, &body);
        let payload = bench.page(PAGE).and_then(|page| page.version).unwrap().payload;
        bench.now += Span::from_days(1);
        bench.read(PAGE, &body);
        let record = kept(&mut bench);
        assert!(is_revisit(&record));
        let back = report(&record).unwrap();
        assert_eq!(back.outcome, Outcome::Read { status: 200 });
        assert_eq!(back.signature.map(|signature| signature.payload), Some(payload));
        assert_eq!((back.started, back.document), (bench.now, None));
    }

    #[test]
    fn the_robots_txt_of_an_origin_is_known_as_such() {
        let mut bench = Bench::seeded(unhindered(), &["http://a.example/"]);
        let mut web = crate::testing::Web::default();
        web.put_as("http://a.example/robots.txt", "text/plain", "User-agent: *\nDisallow: /no\n");
        bench.step(&web);
        bench.commit();
        let reader = bench.crawler.reader();
        let (_, visit) = reader.visit_book().next().unwrap().unwrap();
        let record = reader.body(&visit.record.unwrap()).unwrap();
        assert_eq!(robots_origin(&record), Some(url(PAGE).origin()));
        let back = report(&record).unwrap();
        assert_eq!((back.order.kind, back.outcome), (OrderKind::Robots, Outcome::Read { status: 200 }));
        assert!(back.document.is_some_and(|document| document.text.contains("/no")));
    }
}
