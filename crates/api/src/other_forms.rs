//! Answers in the forms of other standards.

use axum::response::{IntoResponse, Response};

/// An Atom feed.
pub struct AtomFeed(pub Response);

/// A document of XML.
pub struct Xml(pub Response);

/// A list of mementos, as links or as JSON.
pub struct TimeMaps(pub Response);

/// The way to another address.
pub struct LeadsOn(pub Response);

macro_rules! into_response {
    ($($form:ident),*) => {
        $(impl IntoResponse for $form {
            fn into_response(self) -> Response {
                self.0
            }
        })*
    };
}

into_response!(AtomFeed, Xml, TimeMaps, LeadsOn);
