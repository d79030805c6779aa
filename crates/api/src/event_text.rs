//! All the words of an event. A page that is new or back brings every paragraph, and one that was written anew has more
//! words than its event keeps: they are read from the versions, where they lie anyway.

use vernal_document::diff;
use vernal_model::{Document, Event, EventKind, Operation, ParagraphChange};

use super::answer::ApiError;
use super::replica::{document, numbers};
use super::shared::Shared;

/// Writes the words in, as far as the versions still have bodies.
pub fn fill(shared: &Shared, event: &mut Event) -> Result<(), ApiError> {
    match event.kind {
        EventKind::New | EventKind::Back | EventKind::Parted => {
            // A page that is back with the words it had made no version of its own.
            let version = event.version.or(event.previous);
            let document = document(shared, event, version)?;
            let mut added = diff::operations(&Document::default(), &document);
            let count = document.paragraphs.len();
            let numbers = version.map(|version| numbers(shared, event.page, version, count)).transpose()?.flatten();
            for one in &mut added {
                one.id = numbers.as_ref().map_or(0, |numbers| numbers[one.position as usize]);
            }
            event.change.paragraphs = added;
        }
        EventKind::Changed | EventKind::Template if event.change.paragraphs.iter().any(lacks_words) => {
            let (old, new) = (document(shared, event, event.previous)?, document(shared, event, event.version)?);
            let lacking = event.change.paragraphs.iter_mut().filter(|one| lacks_words(one));
            lacking.for_each(|one| take_words(one, Some(&old), Some(&new)));
        }
        EventKind::Gone | EventKind::Joined => {
            let old = document(shared, event, event.previous)?;
            event.change.paragraphs.iter_mut().for_each(|one| take_words(one, Some(&old), None));
        }
        _ => {}
    }
    Ok(())
}

/// Reads the words of a paragraph where they stand, before and after.
fn take_words(paragraph: &mut ParagraphChange, old: Option<&Document>, new: Option<&Document>) {
    let words = |document: Option<&Document>, place: Option<u32>| {
        let (document, place) = document.zip(place)?;
        let is_there = (place as usize) < document.paragraphs.len();
        is_there.then(|| diff::text_of(document, place as usize).into())
    };
    let was_removed = paragraph.operation == Operation::Removed;
    let (from, to) = match was_removed {
        true => (Some(paragraph.position), None),
        false => (paragraph.from, Some(paragraph.position)),
    };
    let joined = |document: Option<&Document>, first: Option<u32>, others: &[u32]| -> Option<Box<str>> {
        let mut places: Vec<u32> = first.into_iter().chain(others.iter().copied()).collect();
        places.sort_unstable();
        let parts: Option<Vec<Box<str>>> = places.into_iter().map(|place| words(document, Some(place))).collect();
        parts.filter(|parts| !parts.is_empty()).map(|parts| parts.join("\n").into())
    };
    paragraph.before = match paragraph.operation {
        Operation::Merged => joined(old, from, &paragraph.others),
        _ => words(old, from),
    };
    paragraph.after = match paragraph.operation {
        Operation::Split => joined(new, to, &paragraph.others),
        _ => words(new, to),
    };
}

fn lacks_words(paragraph: &ParagraphChange) -> bool {
    paragraph.before.is_none() && paragraph.after.is_none()
}

#[cfg(test)]
mod tests {
    use vernal_document::{Input, read};
    use vernal_model::{Digest, Url};

    use super::*;

    fn page(body: &str) -> Document {
        let url = Url::parse("http://garden.example/").unwrap();
        let bytes = format!("<!DOCTYPE html><title>Garden</title><main>{body}</main>").into_bytes();
        let (content_type, payload) = (Some("text/html"), Digest::default());
        let input = Input { url: &url, bytes: &bytes, content_type, content_language: None, robots_tags: &[], payload };
        read(&input).document
    }

    #[test]
    fn the_words_of_every_operation_are_found_again_in_the_two_versions() {
        let long = "The roses by the gate were planted in March. They need water in the evening, and no one else may cut them.";
        let (first, second) = long.split_at(45);
        let old = page(&format!(
            "<p>Open from nine every day.<p>Sand and loam.<p>{long}<p>Tulips cost € 3 each.<p>Beans came up late this year.<p>Gone tomorrow."
        ));
        let new = page(&format!(
            "<p>Open from ten every day.<p>Beans came up late this year.<p>Sand and loam.<p>{first}<p>{second}<p>Tulips cost € 4 each.<p>A new gate."
        ));
        for (old, new) in [(&old, &new), (&new, &old)] {
            let whole = diff::operations(old, new);
            let has = |operation| whole.iter().any(|one| one.operation == operation);
            assert!(has(Operation::Edited) && has(Operation::Moved), "{whole:?}");
            assert!(has(Operation::Split) || has(Operation::Merged), "{whole:?}");
            for one in &whole {
                let mut bare = ParagraphChange { before: None, after: None, ..one.clone() };
                take_words(&mut bare, Some(old), Some(new));
                assert_eq!((&bare.before, &bare.after), (&one.before, &one.after), "{:?}", one.operation);
                assert!(!lacks_words(&bare));
            }
        }
    }

    #[test]
    fn what_a_page_that_is_gone_had_is_read_from_its_last_version() {
        let old = page("<p>Sand and loam.<p>Tulips cost € 3 each.");
        let removed = diff::operations(&old, &Document::default());
        for one in removed.iter().filter(|one| one.operation == Operation::Removed) {
            let mut bare = ParagraphChange { before: None, after: None, ..one.clone() };
            take_words(&mut bare, Some(&old), None);
            assert_eq!((bare.before.as_ref(), bare.after), (one.before.as_ref(), None));
        }
        let mut far = ParagraphChange { position: 99, ..removed[0].clone() };
        take_words(&mut far, Some(&old), None);
        assert!(lacks_words(&far), "a place that is not there has no words");
    }
}
