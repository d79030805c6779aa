//! The built-in detectors: noise that can be recognised by its form on any site.
//!
//! Each detector is a pure function of one value. It returns the value without the noise, and the name of the detector that
//! removed something. Values without noise are returned without a copy. In visible text only unmistakable machine noise is
//! removed: a date, a price, a percentage or a number is never removed here.

mod address;
mod attribute;
mod code;
mod token;
mod words;

use std::borrow::Cow;

pub use address::address;
pub use attribute::{attribute, holds_token, is_advertising};
pub use code::code;
pub use token::is_random_name;
pub use words::words;

/// Replaces removed noise, so that the text around it is not joined.
const GAP: &str = "\u{2026}";

/// A value without its noise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cleaned<'a> {
    pub text: Cow<'a, str>,
    /// The first detector that removed something.
    pub detector: Option<&'static str>,
}

impl<'a> Cleaned<'a> {
    fn plain(text: &'a str) -> Self {
        Cleaned { text: Cow::Borrowed(text), detector: None }
    }

    /// A value that was noise as a whole.
    fn nothing(detector: &'static str) -> Self {
        Cleaned { text: Cow::Borrowed(""), detector: Some(detector) }
    }
}

/// Builds a value without some of its ranges.
struct Cutter<'a> {
    source: &'a str,
    kept: String,
    from: usize,
    detector: Option<&'static str>,
}

impl<'a> Cutter<'a> {
    fn new(source: &'a str) -> Self {
        Cutter { source, kept: String::new(), from: 0, detector: None }
    }

    /// Replaces `start..end` with a gap. Cuts must be in order and must not overlap.
    fn cut(&mut self, start: usize, end: usize, detector: &'static str) {
        if start < self.from || end <= start {
            return;
        }
        if self.detector.is_none() {
            self.kept.reserve(self.source.len());
            self.detector = Some(detector);
        }
        self.kept.push_str(&self.source[self.from..start]);
        self.kept.push_str(GAP);
        self.from = end;
    }

    fn finish(mut self) -> Cleaned<'a> {
        if self.detector.is_none() {
            return Cleaned::plain(self.source);
        }
        self.kept.push_str(&self.source[self.from..]);
        Cleaned { text: Cow::Owned(self.kept), detector: self.detector }
    }
}
