//! Renders a diff for people. Everything from a page is treated as hostile: control characters never reach a terminal, and
//! nothing of it becomes markup, style, script or an address in our page.

mod html;
mod rows;
mod source;
mod text;

pub use html::html;
pub(super) use rows::{Row, rows, touched};
pub use source::source;
pub use text::{text, turns_direction};

/// What to show, and the names of the two sides.
#[derive(Clone, Debug)]
pub struct View<'a> {
    /// The page's title or address.
    pub title: &'a str,
    /// The names of the two sides, such as "version 3, 2026-11-01".
    pub from: &'a str,
    pub to: &'a str,
    /// Everything, not only what changed.
    pub full: bool,
    /// How many unchanged paragraphs (or lines of source) are shown around a change, where not all are.
    pub context: usize,
    /// ANSI colours, in text and source.
    pub colour: bool,
}

impl Default for View<'_> {
    fn default() -> Self {
        View { title: "", from: "before", to: "after", full: false, context: 1, colour: false }
    }
}
