//! The archive record of a visit.

use vernal_model::{Digest, Outcome, Page, Protocol, Report};
use vernal_repository::bodies::{Keep, KeepKind};

use super::verdict::Verdict;

/// The record of this visit, or `None` when there is nothing to keep or the page asked not to be kept.
pub(crate) fn record<'a>(report: &'a Report, verdict: &Verdict, before: Option<&'a Page>) -> Option<Keep<'a>> {
    let exchange = report.exchange.as_ref()?;
    let asks_for_no_copy = report.document.as_ref().is_some_and(|document| document.directives.noarchive);
    let referred = before.and_then(|page| page.version.filter(|version| version.body().is_some()).zip(Some(&page.url)));
    let payload = report.signature.as_ref().map(|signature| signature.payload);
    let what = match (&report.outcome, verdict) {
        _ if asks_for_no_copy => return None,
        (Outcome::NotModified, _) => {
            // Without a kept body to refer to, a 304 would be a record that cannot be replayed.
            let (version, target) = referred?;
            KeepKind::Revisit { target, date: version.moment, server_not_modified: true }
        }
        (Outcome::Read { .. }, Verdict::Same(_)) => {
            let (version, target) = referred?;
            KeepKind::Revisit { target, date: version.moment, server_not_modified: false }
        }
        _ if matches!(exchange.protocol, Protocol::Ftp | Protocol::Gopher) => KeepKind::Resource {
            content_type: report
                .document
                .as_ref()
                .map_or("application/octet-stream", |document| &document.content_type),
        },
        _ => KeepKind::Response,
    };
    let referred_payload = before.and_then(|page| page.version).map(|version| version.payload);
    let payload = match what {
        KeepKind::Revisit { .. } => referred_payload.unwrap_or_default(),
        _ => payload.unwrap_or_else(|| digest_of(&exchange.body)),
    };
    Some(Keep { url: &report.order.url, moment: report.started, exchange, payload, what })
}

/// For answers that have no signature (redirects, errors, robots).
pub(crate) fn digest_of(body: &[u8]) -> Digest {
    use sha1::Digest as _;
    Digest(sha1::Sha1::digest(body).into())
}
