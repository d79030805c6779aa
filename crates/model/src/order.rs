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
    /// The payload digest of the held version. A body with the same digest is unchanged and is not read again.
    pub held: Option<Digest>,
    /// The least span between the start of the previous request at the same site and this one. Zero where the crawler waits for each
    /// answer before the next request.
    pub gap: Span,
    /// The real time that the visit may take, where it is less than the worker's usual limit: for sites that never answered, while
    /// others wait for their slots.
    pub patience: Option<Span>,
    /// A public page leads here, so no private address may be asked, whatever the settings allow to seeds and private pages.
    pub public_only: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OrderKind {
    Page,
    /// robots.txt of an origin; its answer is stored in the site's row.
    Robots,
    /// A subscription request to a hub, the only order that sends a body.
    Subscription(Form),
}

/// The validators of a site for conditional requests.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Validators {
    pub etag: Option<Box<str>>,
    pub last_modified: Option<Box<str>>,
}

impl OrderKind {
    /// The form that the request sends; `None` for a GET.
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
