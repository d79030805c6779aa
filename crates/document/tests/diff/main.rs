//! What a person reads between two versions: readable cases, laws, and the shared pairs.

mod cases;
mod identity;
mod laws;
mod pairs;
mod shown;

use vernal_document::diff::{Diff, diff};
use vernal_document::{Input, read};
use vernal_model::{Digest, Document, Operation, Url};

pub fn document(bytes: &[u8]) -> Document {
    let url = Url::parse("https://www.example.org/page.html").expect("a plain URL");
    let input = Input {
        url: &url,
        bytes,
        content_type: Some("text/html"),
        content_language: None,
        robots_tags: &[],
        payload: Digest::default(),
    };
    read(&input).document
}

pub fn page(html: &str) -> Document {
    document(html.as_bytes())
}

/// A page of these paragraphs.
pub fn paragraphs(texts: &[impl AsRef<str>]) -> Document {
    page(&texts.iter().map(|text| format!("<p>{}</p>", text.as_ref())).collect::<String>())
}

/// The difference of two pages, after what must hold for every two was seen to hold.
pub fn differ(old: &Document, new: &Document) -> Diff {
    let texts = vernal_document::diff::texts;
    let found = diff(old, new);
    let made = found.apply(&texts(old)).expect("a diff applies to what it was made of");
    assert_eq!(made, texts(new), "{found:#?}");
    assert_eq!(diff(new, old).is_empty(), found.is_empty());
    assert!(diff(old, old).is_empty() && diff(new, new).is_empty());
    found
}

pub fn name(operation: Operation) -> &'static str {
    match operation {
        Operation::Added => "added",
        Operation::Removed => "removed",
        Operation::Edited => "edited",
        Operation::Moved => "moved",
        Operation::Split => "split",
        Operation::Merged => "merged",
    }
}
