//! What a delivery says: logic-less templates of people, and the built-in texts.
//!
//! - `language`: the reader and writer of templates.
//! - `fields`: the fields that a template can name.
//! - `builtin`: JSON, one line for chats, and mail in text and HTML.

mod builtin;
mod fields;
mod language;

pub use builtin::{MailText, chat, html_escaped, json, mail, subject_line};
pub use fields::{event, fields};
pub use language::{Escape, OUTPUT_BYTES_MAX, Template};
