//! What the methods of paper 003 say of the last change of a page.

use schemars::JsonSchema;
use serde::Serialize;
use vernal_document::methods::{PaperVerdicts, paper_verdicts};
use vernal_model::{Page, Version};

use super::answer::ApiError;
use super::body;
use super::shared::Shared;

/// The methods of the paper on the two newest versions, or why there is nothing to say.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
pub enum LastChange {
    Said {
        /// The numbers of the two versions.
        from: u32,
        to: u32,
        #[serde(flatten)]
        verdicts: Box<PaperVerdicts>,
    },
    Missing {
        missing: String,
    },
}

/// `None` for a page that has one version at most.
pub fn last_change(shared: &Shared, page: &Page) -> Result<Option<LastChange>, ApiError> {
    let versions = shared.reader.versions(page.key)?;
    let [.., from, to] = versions.as_slice() else { return Ok(None) };
    // What cannot be read is said; the rest of the answer does not depend on it.
    Ok(Some(verdicts(shared, page, *from, *to).unwrap_or_else(|error| LastChange::Missing { missing: error.line })))
}

fn verdicts(shared: &Shared, page: &Page, from: Version, to: Version) -> Result<LastChange, ApiError> {
    let read = |version| body::kept(&shared.reader, &page.url, version)?.read(shared, &page.url);
    let (old, new) = (read(from)?, read(to)?);
    let verdicts = Box::new(paper_verdicts(&old.input(), &new.input()));
    Ok(LastChange::Said { from: from.number, to: to.number, verdicts })
}
