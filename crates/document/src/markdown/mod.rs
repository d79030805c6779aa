//! A body as Markdown: its main content, with headings, lists, tables, links, images, code, quotes and emphasis.
//!
//! - `pass`: one scan of the markup gives a list of pieces, each with its words as Markdown, its place among the containers of the
//!   page, and how much of it is links. `inline` writes the words, `image` says which
//!   images count, `containers` counts what lies in each element.
//! - `main_content`: which pieces belong to the main content.
//! - `write`: the chosen pieces as one text.
//!
//! Forms, scripts and styles have no place in it.

mod containers;
mod image;
mod inline;
mod main_content;
mod names;
mod pass;
mod pieces;
mod write;

pub use write::{MarkdownOptions, ParagraphName, markdown};
