//! All that a page has to say, as the feed tells it of a page that is new or back: every paragraph is added. The words are
//! read from the version, so that a first visit keeps them once.

use vernal_document::diff;
use vernal_model::{Document, Event, EventKind, ParagraphChange, ParagraphMark};

use super::answer::No;
use super::body;
use super::shared::Shared;

/// The paragraphs of an event whose page brings all of them; `None` of any other event, and where the version has no body.
pub fn paragraphs(shared: &Shared, event: &Event) -> Result<Option<Vec<ParagraphChange>>, No> {
    if !matches!(event.kind, EventKind::New | EventKind::Back) {
        return Ok(None);
    }
    // A page that is back with the words it had made no version of its own.
    let number = event.version.or(event.previous);
    let versions = shared.reader.versions(event.page)?;
    let version = versions.into_iter().find(|version| Some(version.number) == number);
    let Some(version) = version.filter(|version| version.location.is_some()) else { return Ok(None) };
    let body = body::kept(&shared.reader, &event.url, version)?.read(shared, &event.url)?;
    let document = vernal_document::read(&body.input()).document;
    let mut added = diff::operations(&Document::default(), &document);
    match event.kind {
        EventKind::New => added.iter_mut().for_each(|one| one.id = one.position + 1),
        _ => number_by(&kept_marks(shared, event)?, &mut added),
    }
    Ok(Some(added))
}

fn kept_marks(shared: &Shared, event: &Event) -> Result<Vec<ParagraphMark>, No> {
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
