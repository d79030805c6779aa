//! Every reported change says something that a person can read: the words that came and went, or a note in words. A mark
//! tells a machine that two versions differ, and a person nothing.

use vernal_document::{UnpackLimits, diff, picture_size, unpack_into};
use vernal_model::{Change, Kind, Media, Note, Operation, Page, Report, Signature};

use crate::core::Core;

/// Words that are kept of a change of a page whose bodies are not.
const WORDS_BYTES_MAX: usize = 2 << 10;

/// Makes sure that a reported change has something to read. `room` is for one older body, decompressed.
pub(super) fn leave_something_to_read(
    core: &Core,
    before: &Page,
    old: &Signature,
    report: &Report,
    change: &mut Change,
    room: &mut Vec<u8>,
) {
    let Some(new) = report.signature.as_ref().filter(|_| change.is_change()) else { return };
    with_words_at_hand(report, change);
    if !change.paragraphs.is_empty() || !change.notes.is_empty() {
        return;
    }
    for kind in change.left.iter() {
        let note = match kind {
            Kind::Content if old.paragraphs.is_empty() && new.paragraphs.is_empty() => {
                file_note(core, before, report, room)
            }
            _ => note_of(kind, old, new),
        };
        change.notes.push(note);
    }
}

/// Paragraphs that only marks told of get the words of the new version. The words of an older version whose body is not
/// kept are lost; that is said once.
fn with_words_at_hand(report: &Report, change: &mut Change) {
    let Some(document) = &report.document else { return };
    let (mut lost, mut kept) = (0, 0);
    for paragraph in change.paragraphs.iter_mut().filter(|one| one.before.is_none() && one.after.is_none()) {
        lost += usize::from(matches!(paragraph.operation, Operation::Removed | Operation::Edited));
        let place = paragraph.position as usize;
        if paragraph.operation == Operation::Removed || place >= document.paragraphs.len() {
            continue;
        }
        let words = diff::text_of(document, place);
        if kept == 0 || kept + words.len() <= WORDS_BYTES_MAX {
            kept += words.len();
            paragraph.after = Some(words.into());
        }
    }
    if lost > 0 {
        change.notes.push(Note {
            kind: Kind::Content,
            what: "earlier words".into(),
            before: Some(format!("{}, not kept", counted(lost, "paragraph")).into()),
            after: None,
        });
    }
}

/// Two versions of a file of which only the bytes can be compared.
fn file_note(core: &Core, before: &Page, report: &Report, room: &mut Vec<u8>) -> Note {
    let (media, content_type) =
        report.document.as_ref().map_or((Media::Other, ""), |document| (document.media, &document.content_type));
    let new = unpacked(report, room).then(|| file_words(media, content_type, room));
    let old = older(core, before, room).then(|| file_words(media, content_type, room));
    let said = match media {
        Media::Image => "",
        _ => "; its text is not read",
    };
    let after = match (&old, new) {
        (Some(old), Some(new)) if *old == new => format!("{new}, other bytes{said}"),
        (_, Some(new)) => format!("{new}{said}"),
        (_, None) => format!("other bytes{said}"),
    };
    let what = match media {
        Media::Image => "picture",
        Media::Pdf => "PDF",
        Media::Json => "JSON",
        Media::Style => "style sheet",
        Media::Script => "script",
        Media::Html | Media::Xml | Media::Text | Media::Other if content_type.is_empty() => "file",
        Media::Html | Media::Xml | Media::Text | Media::Other => content_type,
    };
    let before = old.unwrap_or_else(|| "not kept".to_owned());
    Note { kind: Kind::Content, what: what.into(), before: Some(before.into()), after: Some(after.into()) }
}

/// "34 kB PNG 640×480", or only the size.
fn file_words(media: Media, content_type: &str, bytes: &[u8]) -> String {
    let size = size_shown(bytes.len());
    if media != Media::Image {
        return size;
    }
    let format = content_type.strip_prefix("image/").unwrap_or_default();
    let format = format.split('+').next().unwrap_or_default().trim_start_matches("x-").to_ascii_uppercase();
    let pixels = picture_size(bytes).map(|(across, down)| format!("{across}×{down}"));
    [Some(size), Some(format).filter(|format| !format.is_empty()), pixels]
        .into_iter()
        .flatten()
        .collect::<Vec<_>>()
        .join(" ")
}

pub(super) fn size_shown(bytes: usize) -> String {
    match bytes {
        0..1_000 => format!("{bytes} B"),
        1_000..10_000 => format!("{:.1} kB", bytes as f64 / 1e3),
        10_000..1_000_000 => format!("{:.0} kB", bytes as f64 / 1e3),
        _ => format!("{:.1} MB", bytes as f64 / 1e6),
    }
}

/// Whether the new body could be put into `room`.
fn unpacked(report: &Report, room: &mut Vec<u8>) -> bool {
    report.exchange.as_ref().is_some_and(|exchange| {
        unpack_into(&exchange.response_head, &exchange.body, &UnpackLimits::default(), room).is_ok()
    })
}

/// Whether the body of the held version could be put into `room`.
fn older(core: &Core, before: &Page, room: &mut Vec<u8>) -> bool {
    let Some(location) = before.version.and_then(|version| version.body()) else { return false };
    let Ok(record) = core.work.record(&location) else { return false };
    let Some(http) = record.http() else { return false };
    let head = &record.block[..record.block.len() - http.body.len()];
    unpack_into(head, http.body, &UnpackLimits::default(), room).is_ok()
}

/// What the signatures alone say of a page.
fn note_of(kind: Kind, old: &Signature, new: &Signature) -> Note {
    let (before, after) = match kind {
        Kind::Structure => {
            (Some(counted(old.tags as usize, "tag")), other(new.tags as usize, old.tags as usize, "tag"))
        }
        Kind::Content => {
            let (before, after) = (old.paragraphs.len(), new.paragraphs.len());
            (Some(counted(before, "paragraph")), other(after, before, "paragraph"))
        }
        Kind::Presentation => (None, "other attributes or styles".to_owned()),
        Kind::Behaviour => (None, "other scripts or form targets".to_owned()),
    };
    let what = match kind {
        Kind::Structure => "tags",
        Kind::Content => "text",
        Kind::Presentation => "looks",
        Kind::Behaviour => "scripts and forms",
    };
    Note { kind, what: what.into(), before: before.map(Into::into), after: Some(after.into()) }
}

fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// So many, or as many others.
fn other(count: usize, before: usize, what: &str) -> String {
    let words = counted(count, what);
    if count == before { format!("{words}, not the same") } else { words }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_told_by_size_format_and_pixels() {
        let png = b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR\0\0\x02\x80\0\0\x01\xe0\x08\x02\0\0\0";
        assert_eq!(file_words(Media::Image, "image/png", png), "29 B PNG 640×480");
        assert_eq!(file_words(Media::Image, "image/svg+xml", &[b' '; 12_345]), "12 kB SVG");
        assert_eq!(file_words(Media::Pdf, "application/pdf", &[b' '; 1_234]), "1.2 kB");
        assert_eq!(size_shown(2_340_000), "2.3 MB");
    }

    #[test]
    fn what_only_marks_tell_is_said_without_them() {
        let (old, new) =
            (Signature { tags: 10, ..Signature::default() }, Signature { tags: 11, ..Signature::default() });
        let told = |kind| {
            let note = note_of(kind, &old, &new);
            format!("{}: {} → {}", note.what, note.before.unwrap_or_default(), note.after.unwrap_or_default())
        };
        assert_eq!(told(Kind::Structure), "tags: 10 tags → 11 tags");
        assert_eq!(told(Kind::Content), "text: 0 paragraphs → 0 paragraphs, not the same");
        for kind in Kind::ALL {
            assert!(!told(kind).contains("mark"), "{}", told(kind));
        }
    }
}
