//! The message from crawler to worker: ask for exactly one request.

use serde::{Deserialize, Serialize};

use crate::{Digest, Form, OrderId, PageKey, Span, Url};

#[derive(Clone, Debug, PartialEq)]
pub struct Order {
    pub id: OrderId,
    /// The page this is for; for a robots order or a subscription, the page number is meaningless and only the partition counts.
    pub page: PageKey,
    pub url: Url,
    pub kind: OrderKind,
    pub validators: Validators,
    /// The payload that we hold: a body with the same digest is the same page and need not be read again.
    pub held: Option<Digest>,
    /// The request begins no sooner than this after the one before it at the same site began. Nothing where the crawler
    /// waits for each answer before it asks again.
    pub gap: Span,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OrderKind {
    Page,
    /// robots.txt of an origin; its answer is stored in the site's row.
    Robots,
    /// A subscription is asked for at a hub; the one order that sends something.
    Subscription(Form),
}

/// What a site gave us to ask "is it still the same?" with.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Validators {
    pub etag: Option<Box<str>>,
    pub last_modified: Option<Box<str>>,
}

impl OrderKind {
    /// What the request brings along; nothing for a question.
    pub fn form(&self) -> Option<&Form> {
        match self {
            OrderKind::Subscription(form) => Some(form),
            OrderKind::Page | OrderKind::Robots => None,
        }
    }
}

impl Validators {
    pub fn is_empty(&self) -> bool {
        self.etag.is_none() && self.last_modified.is_none()
    }
}
