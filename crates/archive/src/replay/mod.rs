//! Replay: a version as a browser may see it. Its links lead into the archive at the same moment, and nothing of it runs, reaches
//! the network or sees another origin. The bytes go out on an origin of their own; nothing is ever fetched for them.
//!
//! - `target`: which moment, which form and which URL a request names.
//! - `links`: where a link of an archived page leads.
//! - `css`: style sheets with their links led into the archive.
//! - `html`: pages with their links led into the archive.
//! - `found`: the version that answers, or why there is none.
//! - `answer`: status, headers and body.

mod answer;
mod css;
mod found;
mod html;
mod links;
mod target;

pub use answer::{Answer, answer, refusal};
pub use css::rewritten as css;
pub use html::rewritten as html;
pub use links::Links;
pub use target::{Form, Target, TargetError};
