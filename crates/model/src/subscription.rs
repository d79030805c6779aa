//! Subscriptions to hubs (WebSub, W3C 2018): the request, the answer of the hub, and the end of the lease. Data only.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::{Moment, PageKey, Site, Url};

/// The state of the subscription to one feed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SubscriptionRow {
    pub hub: Url,
    /// The URL by which the hub knows the feed.
    pub topic: Url,
    pub standing: SubscriptionState,
    /// When the hub was last asked, and its answer, in words.
    pub asked: Moment,
    pub answer: Box<str>,
    /// The end of the lease that the hub gave.
    pub until: Option<Moment>,
    /// When it is asked again: before the lease ends, or after a failure.
    pub next: Moment,
    /// Failed requests in a row.
    pub failures: u16,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SubscriptionState {
    /// The hub accepted the request and has not verified it yet.
    Asked,
    /// The hub has verified the request and sends.
    Verified,
    /// The hub refused.
    Denied,
    /// The request failed.
    Failed,
}

impl SubscriptionState {
    pub fn name(self) -> &'static str {
        match self {
            SubscriptionState::Asked => "asked",
            SubscriptionState::Verified => "verified",
            SubscriptionState::Denied => "denied",
            SubscriptionState::Failed => "failed",
        }
    }
}

/// The new subscription row of one feed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Subscription {
    /// The site and page of the feed.
    pub site: Site,
    pub file: PageKey,
    pub row: SubscriptionRow,
}

/// The body of a POST: URL-encoded names and values. It may contain a secret, so it is sent and never shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Form(Arc<str>);

impl Form {
    pub fn new(fields: &[(&str, &str)]) -> Self {
        let pairs: Vec<String> =
            fields.iter().map(|(name, value)| format!("{}={}", escaped(name), escaped(value))).collect();
        Form(pairs.join("&").into())
    }

    pub fn as_bytes(&self) -> &[u8] {
        self.0.as_bytes()
    }
}

impl fmt::Debug for Form {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Form({} bytes)", self.0.len())
    }
}

/// Percent-encodes every byte except letters, digits and four characters that need no escape in a form.
pub fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'*' => out.push(char::from(byte)),
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_escapes_what_would_end_a_value_and_never_shows_itself() {
        let form = Form::new(&[("hub.topic", "http://a.org/feed?x=1&y=ü"), ("hub.secret", "p s")]);
        let bytes = b"hub.topic=http%3A%2F%2Fa.org%2Ffeed%3Fx%3D1%26y%3D%C3%BC&hub.secret=p%20s";
        assert_eq!(form.as_bytes(), bytes);
        assert!(!format!("{form:?}").contains("hub"));
    }
}
