//! The built-in detectors: what is noise on every site of the world, known by its own look.
//!
//! Each detector is a pure function of one value: it gives the value with the noise taken out, and the name of what it
//! took. Values without noise are given back as they are, without a copy. In visible text only unmistakable machine noise
//! is taken: a date, a price, a percentage or a number in the text is never silenced here.

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

/// Stands where noise was, so that taking it out does not join what lay around it.
const GAP: &str = "\u{2026}";

/// A value without its noise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quieted<'a> {
    pub text: Cow<'a, str>,
    /// The detector that took something out; the first, if several did.
    pub detector: Option<&'static str>,
}

impl<'a> Quieted<'a> {
    fn plain(text: &'a str) -> Self {
        Quieted { text: Cow::Borrowed(text), detector: None }
    }

    /// Nothing of the value is left.
    fn nothing(detector: &'static str) -> Self {
        Quieted { text: Cow::Borrowed(""), detector: Some(detector) }
    }
}

/// Builds a value with stretches of it taken out.
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

    /// Puts a gap in place of `start..end`. Cuts come in order and do not overlap.
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

    fn finish(mut self) -> Quieted<'a> {
        if self.detector.is_none() {
            return Quieted::plain(self.source);
        }
        self.kept.push_str(&self.source[self.from..]);
        Quieted { text: Cow::Owned(self.kept), detector: self.detector }
    }
}
