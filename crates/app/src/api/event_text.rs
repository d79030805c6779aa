//! All the words of an event. A page that is new or back brings every paragraph, and one that was written anew has more
//! words than its event keeps: they are read from the versions, where they lie anyway.

use vernal_document::diff;
use vernal_model::{Document, Event, EventKind, ParagraphChange, ParagraphMark};

use super::answer::ApiError;
use super::body;
use super::shared::Shared;

/// Writes the words in, as far as the versions still have bodies.
pub fn fill(shared: &Shared, event: &mut Event) -> Result<(), ApiError> {
    match event.kind {
        EventKind::New | EventKind::Back => {
            // A page that is back with the words it had made no version of its own.
            let Some(document) = document(shared, event, event.version.or(event.previous))? else { return Ok(()) };
            let mut added = diff::operations(&Document::default(), &document);
            match event.kind {
                EventKind::New => added.iter_mut().for_each(|one| one.id = one.position + 1),
                _ => number_by(&kept_marks(shared, event)?, &mut added),
            }
            event.change.paragraphs = added;
        }
        EventKind::Changed | EventKind::Template if event.change.paragraphs.iter().any(lacks_words) => {
            let old = document(shared, event, event.previous)?;
            let (Some(old), Some(new)) = (old, document(shared, event, event.version)?) else { return Ok(()) };
            let mut whole = diff::operations(&old, &new);
            for paragraph in event.change.paragraphs.iter_mut().filter(|one| lacks_words(one)) {
                let is_it = |one: &&mut ParagraphChange| {
                    (one.operation, one.position) == (paragraph.operation, paragraph.position)
                };
                if let Some(found) = whole.iter_mut().find(is_it) {
                    (paragraph.before, paragraph.after) = (found.before.take(), found.after.take());
                }
            }
        }
        _ => {}
    }
    Ok(())
}

fn lacks_words(paragraph: &ParagraphChange) -> bool {
    paragraph.before.is_none() && paragraph.after.is_none()
}

fn document(shared: &Shared, event: &Event, number: Option<u32>) -> Result<Option<Document>, ApiError> {
    let versions = shared.reader.versions(event.page)?;
    let version = versions.into_iter().find(|version| Some(version.number) == number);
    let Some(version) = version.filter(|version| version.location.is_some()) else { return Ok(None) };
    let body = body::kept(&shared.reader, &event.url, version)?.read(shared, &event.url)?;
    Ok(Some(vernal_document::read(&body.input()).document))
}

fn kept_marks(shared: &Shared, event: &Event) -> Result<Vec<ParagraphMark>, ApiError> {
    Ok(shared.reader.document(event.page)?.map(|row| row.signature.paragraphs).unwrap_or_default())
}

/// Numbers come from the newest version, where it still has the paragraph.
fn number_by(marks: &[ParagraphMark], added: &mut [ParagraphChange]) {
    for one in added {
        let in_place = marks.get(one.position as usize).filter(|mark| mark.digest == one.digest);
        let mark = in_place.or_else(|| marks.iter().find(|mark| mark.digest == one.digest));
        one.id = mark.map_or(0, |mark| mark.id);
    }
}
