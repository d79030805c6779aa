//! What the status of an answer means for the visit. Live workers and the simulator share this code.

use vernal_model::{Document, Failure, Media, Moment, Order, OrderKind, Outcome, Span, Url, Wall};

use crate::detect::leads_to_login;

/// RFC 9309 asks crawlers to read at least this much of a robots.txt. The rest is ignored.
const ROBOTS_BYTES_MAX: usize = 500 << 10;

/// A longer Retry-After counts as this. "Come back in a year" is usually a mistake.
const RETRY_AFTER_MAX: Span = Span::from_days(7);

/// How an answer is handled.
#[derive(Debug, PartialEq)]
pub enum StatusMeaning {
    /// The status decides.
    Final(Outcome),
    /// The body is a robots.txt.
    Robots(Outcome),
    /// The body is read; unless it shows a wall, the outcome is this.
    Reads(Outcome),
}

/// `field` gives a header field of the answer by its lower-case name.
pub fn of_status<'a>(
    order: &Order,
    status: u16,
    field: &dyn Fn(&str) -> Option<&'a str>,
    now: Moment,
) -> StatusMeaning {
    if order.kind.form().is_some() {
        return StatusMeaning::Final(of_hub(order, status, field, now));
    }
    let is_robots = order.kind == OrderKind::Robots;
    let not_now = || Outcome::Failed(Failure::Status { status, retry_after: retry_after(field, now) });
    match status {
        // The answer has no body that could be kept, so it is no page.
        204 | 205 => StatusMeaning::Final(not_now()),
        200..300 if is_robots => StatusMeaning::Robots(Outcome::Read { status }),
        200..300 => StatusMeaning::Reads(Outcome::Read { status }),
        304 if order.validators.is_empty() => {
            StatusMeaning::Final(Outcome::Failed(Failure::Protocol("304 to a request without conditions".into())))
        }
        304 => StatusMeaning::Final(Outcome::NotModified),
        301 | 308 => StatusMeaning::Final(moved(order, status, field, true)),
        300 | 302 | 303 | 307 => StatusMeaning::Final(moved(order, status, field, false)),
        404 | 410 => StatusMeaning::Final(Outcome::Gone { status }),
        _ if is_robots => StatusMeaning::Final(not_now()),
        401 | 403 | 407 | 451 => {
            let evidence = format!("status {status}");
            StatusMeaning::Reads(Outcome::Blocked { wall: Wall::Forbidden, status, evidence })
        }
        429 | 500..600 => StatusMeaning::Reads(not_now()),
        _ => StatusMeaning::Final(not_now()),
    }
}

/// The answer of a hub to a subscription: accepted, moved or refused. Its body is for people.
fn of_hub<'a>(order: &Order, status: u16, field: &dyn Fn(&str) -> Option<&'a str>, now: Moment) -> Outcome {
    match status {
        200..300 => Outcome::Read { status },
        301 | 308 => moved(order, status, field, true),
        300 | 302 | 303 | 307 => moved(order, status, field, false),
        _ => Outcome::Failed(Failure::Status { status, retry_after: retry_after(field, now) }),
    }
}

/// The text of a robots.txt, for room `crawler` to keep.
pub fn robots_text(unpacked: &[u8]) -> Document {
    let kept = &unpacked[..unpacked.len().min(ROBOTS_BYTES_MAX)];
    let mut text = String::from_utf8_lossy(kept).into_owned();
    // Each invalid byte has become three bytes. The limit applies to the kept text.
    text.truncate(text.floor_char_boundary(ROBOTS_BYTES_MAX));
    Document { media: Media::Text, content_type: "text/plain".into(), charset: "utf-8", text, ..Document::default() }
}

fn moved<'a>(order: &Order, status: u16, field: &dyn Fn(&str) -> Option<&'a str>, permanent: bool) -> Outcome {
    let to: Option<Url> = field("location").and_then(|target| order.url.join(target).ok());
    let is_page = order.kind == OrderKind::Page;
    match to.as_ref().filter(|to| is_page && leads_to_login(&order.url, to, permanent)) {
        Some(to) => Outcome::Blocked { wall: Wall::Login, status, evidence: format!("status {status} to {to}") },
        None => Outcome::Moved { status, to, permanent },
    }
}

/// Reads Retry-After: seconds or an HTTP date, limited. `None` where the line is absent or invalid.
fn retry_after<'a>(field: &dyn Fn(&str) -> Option<&'a str>, now: Moment) -> Option<Span> {
    let text = field("retry-after")?.trim();
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let wait = match is_number {
        // A number with too many digits still means a long wait.
        true => Span::from_secs(text.parse().unwrap_or(u64::MAX)),
        false => Moment::parse_http_date(text)?.since(now),
    };
    Some(wait.min(RETRY_AFTER_MAX))
}

#[cfg(test)]
mod tests {
    use super::*;
    use vernal_model::{OrderId, PageKey, Validators};

    fn order(kind: OrderKind) -> Order {
        let url = Url::parse("http://example.org/a/b").unwrap();
        Order {
            id: OrderId(1),
            page: PageKey::default(),
            url,
            kind,
            validators: Validators::default(),
            held: None,
            gap: vernal_model::Span::ZERO,
            patience: None,
            public_only: false,
        }
    }

    fn judged(status: u16, line: &'static str) -> StatusMeaning {
        let field = |name: &str| {
            let (found, value) = line.trim_end().split_once(": ")?;
            found.eq_ignore_ascii_case(name).then_some(value)
        };
        of_status(&order(OrderKind::Page), status, &field, Moment::from_secs(1_000_000_000))
    }

    #[test]
    fn every_status_has_its_outcome() {
        let url = |text: &str| Some(Url::parse(text).unwrap());
        for status in [200, 203, 206] {
            assert_eq!(judged(status, ""), StatusMeaning::Reads(Outcome::Read { status }));
        }
        let to = url("http://example.org/c");
        assert_eq!(
            judged(301, "Location: /c\r\n"),
            StatusMeaning::Final(Outcome::Moved { status: 301, to: to.clone(), permanent: true })
        );
        assert_eq!(
            judged(302, "location: ../c\r\n"),
            StatusMeaning::Final(Outcome::Moved { status: 302, to, permanent: false })
        );
        assert_eq!(judged(308, ""), StatusMeaning::Final(Outcome::Moved { status: 308, to: None, permanent: true }));
        let to = StatusMeaning::Final(Outcome::Moved { status: 307, to: None, permanent: false });
        assert_eq!(judged(307, "Location: javascript:alert(1)\r\n"), to);
        assert_eq!(judged(410, ""), StatusMeaning::Final(Outcome::Gone { status: 410 }));
        let refused = |outcome: StatusMeaning| match outcome {
            StatusMeaning::Reads(outcome @ Outcome::Blocked { .. }) => outcome.detail(),
            other => panic!("{other:?}"),
        };
        assert_eq!(refused(judged(403, "")), "forbidden: status 403", "a refusal alone is no wall against robots");
        let plain = |status| Outcome::Failed(Failure::Status { status, retry_after: None });
        assert_eq!(judged(418, ""), StatusMeaning::Final(plain(418)));
        assert_eq!(judged(500, ""), StatusMeaning::Reads(plain(500)));
        assert_eq!(judged(204, ""), StatusMeaning::Final(plain(204)));
        assert!(matches!(judged(304, ""), StatusMeaning::Final(Outcome::Failed(Failure::Protocol(_)))));
    }

    #[test]
    fn a_redirect_to_a_login_form_is_a_wall_and_for_a_robots_txt_it_is_a_redirect() {
        let line = "Location: /login?next=%2Fa%2Fb\r\n";
        let StatusMeaning::Final(outcome) = judged(302, line) else { panic!("a redirect is final") };
        assert_eq!(outcome.detail(), "login wall: status 302 to http://example.org/login?next=%2Fa%2Fb");
        let field = |name: &str| (name == "location").then_some("/login?next=/robots.txt");
        let robots = of_status(&order(OrderKind::Robots), 302, &field, Moment::EPOCH);
        assert!(matches!(robots, StatusMeaning::Final(Outcome::Moved { status: 302, to: Some(_), .. })));
    }

    #[test]
    fn retry_after_is_read_in_both_forms_and_limited() {
        let wait = |line: &'static str| match judged(503, line) {
            StatusMeaning::Reads(Outcome::Failed(Failure::Status { retry_after, .. })) => retry_after,
            other => panic!("{other:?}"),
        };
        assert_eq!(wait("Retry-After: 120"), Some(Span::from_secs(120)));
        assert_eq!(wait("Retry-After: 99999999999999999999999"), Some(RETRY_AFTER_MAX));
        assert_eq!(wait("Retry-After: Sun, 09 Sep 2001 01:47:40 GMT"), Some(Span::from_secs(60)));
        assert_eq!(wait("Retry-After: Sun, 09 Sep 2001 01:00:00 GMT"), Some(Span::ZERO));
        assert_eq!(wait("Retry-After: soon"), None);
        assert_eq!(wait("Retry-After: -5"), None);
    }

    #[test]
    fn a_robots_text_is_never_longer_than_its_limit() {
        assert!(robots_text(&vec![0xff; 2 * ROBOTS_BYTES_MAX]).text.len() <= ROBOTS_BYTES_MAX);
        assert_eq!(robots_text(b"user-agent: *").text, "user-agent: *");
    }

    #[test]
    fn a_hub_takes_a_subscription_or_does_not_and_its_pages_are_not_read() {
        let form = vernal_model::Form::new(&[("hub.mode", "subscribe")]);
        let judged =
            |status| of_status(&order(OrderKind::Subscription(form.clone())), status, &|_| None, Moment::EPOCH);
        for status in [200, 202, 204] {
            assert_eq!(judged(status), StatusMeaning::Final(Outcome::Read { status }));
        }
        assert_eq!(judged(307), StatusMeaning::Final(Outcome::Moved { status: 307, to: None, permanent: false }));
        for status in [304, 400, 403, 404, 429, 500] {
            assert_eq!(
                judged(status),
                StatusMeaning::Final(Outcome::Failed(Failure::Status { status, retry_after: None }))
            );
        }
    }

    #[test]
    fn a_robots_order_meets_no_walls() {
        let judged = |status| of_status(&order(OrderKind::Robots), status, &|_| None, Moment::EPOCH);
        assert_eq!(judged(200), StatusMeaning::Robots(Outcome::Read { status: 200 }));
        for status in [401, 403, 429, 500] {
            let outcome = Outcome::Failed(Failure::Status { status, retry_after: None });
            assert_eq!(judged(status), StatusMeaning::Final(outcome));
        }
    }
}
