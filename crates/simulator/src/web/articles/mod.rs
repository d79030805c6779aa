//! Articles as people write and edit them: plain English sentences in sections, and every change a small edit such as a
//! corrected word, another price, a moved paragraph or a new section.
//!
//! An article is made anew from its first version and its edits, so that any version can be asked for in any order.
//! - `article`: one page at one version, and what people did to it.
//! - `themes`: what the sites are about, as lists of words. `sentences`: a small grammar over them.
//! - `draw`: the first version. `edits`: what people do to an article, each with the operation that a crawler should find.
//! - `html`: the designs in which the words of an article are shown.

mod article;
mod draw;
mod edits;
mod html;
mod sentences;
mod themes;

pub use article::edits_between;
pub use edits::{Edit, EditKind};

pub(super) use self::article::article;
pub(super) use self::sentences::{advertisement, quote, slug, title};
pub(super) use self::themes::Theme;
