//! Title, author, language and dates of a package.

use super::parts::Parts;
use super::xml::{Step, walk};
use crate::draft::Facts;
use crate::fault::Fault;

/// Longer values are cut.
const VALUE_BYTES_MAX: usize = 1_000;

/// Reads `docProps/core.xml`, `meta.xml` or the metadata of a book.
pub fn facts_of(parts: &mut Parts<'_>, part: &str) -> Result<Facts, Fault> {
    let mut facts = Facts::default();
    let Some(xml) = parts.text(part)? else { return Ok(facts) };
    let mut value = String::new();
    walk(&xml, |step| match step {
        Step::Open(_) => value.clear(),
        Step::Text(text) if value.len() < VALUE_BYTES_MAX => value.push_str(text),
        Step::Text(_) => {}
        Step::Close(name) => {
            let slot = match name {
                "title" => &mut facts.title,
                "creator" | "initial-creator" => &mut facts.author,
                "language" => &mut facts.language,
                "created" | "creation-date" => &mut facts.created,
                "modified" | "date" => &mut facts.modified,
                _ => {
                    value.clear();
                    return;
                }
            };
            if slot.is_empty() {
                *slot = std::mem::take(&mut value).trim().to_owned();
            }
            value.clear();
        }
    })?;
    Ok(facts)
}
