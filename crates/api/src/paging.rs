//! Lists in parts: so many rows, and where the next part begins.

use super::answer::{ApiError, Lines, StreamError};
use serde::Serialize;

/// The part of a list that is asked for: `limit` rows behind the place `after`.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Part {
    skipped: usize,
    limit: Option<usize>,
}

impl Part {
    pub fn read(limit: Option<usize>, after: Option<&str>) -> Result<Part, ApiError> {
        let skipped = match after {
            None | Some("") => 0,
            Some(text) => place(text).ok_or_else(|| {
                ApiError::bad_request(format!("`{text}` is no place in a list: give `after` as a list gave it"))
            })?,
        };
        Ok(Part { skipped, limit })
    }

    pub fn skipped(self) -> usize {
        self.skipped
    }

    /// Writes the rows of this part. What is left out is not made.
    pub fn write<I, T: Serialize>(
        self,
        items: impl IntoIterator<Item = I>,
        lines: &mut Lines<T>,
        mut make: impl FnMut(I) -> Result<T, StreamError>,
    ) -> Result<(), StreamError> {
        let mut items = items.into_iter().skip(self.skipped);
        let mut told = 0;
        while self.limit.is_none_or(|limit| told < limit) {
            let Some(item) = items.next() else { return Ok(()) };
            lines.line(&make(item)?)?;
            told += 1;
        }
        if told > 0 && items.next().is_some() {
            lines.rest(name(self.skipped + told))?;
        }
        Ok(())
    }
}

/// A place as lists name it.
pub fn name(place: usize) -> String {
    format!("a{place:x}")
}

fn place(text: &str) -> Option<usize> {
    usize::from_str_radix(text.strip_prefix('a')?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_what_a_list_gave_and_nothing_else() {
        let read = |after: Option<&str>| Part::read(Some(2), after).map(|part| part.skipped).ok();
        assert_eq!([read(None), read(Some("")), read(Some(&name(31)))], [Some(0), Some(0), Some(31)]);
        for wrong in ["31", "c1f", "a", "a-1", "axyz", "a11111111111111111"] {
            assert_eq!(read(Some(wrong)), None, "{wrong}");
        }
    }
}
