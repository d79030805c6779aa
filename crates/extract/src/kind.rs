//! Which kind of file a body is: by its bytes, then by its header, then by its name. Nothing is unpacked or parsed for it, because the
//! parent asks, not the child.

use memchr::memmem;

#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum FileKind {
    Pdf = 1,
    Word97 = 2,
    Docx = 3,
    OpenDocument = 4,
    Pptx = 5,
    Xlsx = 6,
    Epub = 7,
    Rtf = 8,
}

impl FileKind {
    pub const ALL: [FileKind; 8] = [
        FileKind::Pdf,
        FileKind::Word97,
        FileKind::Docx,
        FileKind::OpenDocument,
        FileKind::Pptx,
        FileKind::Xlsx,
        FileKind::Epub,
        FileKind::Rtf,
    ];

    pub fn of_number(number: u8) -> Option<FileKind> {
        FileKind::ALL.into_iter().find(|kind| *kind as u8 == number)
    }

    /// The media type that a file of this kind has where nobody says it better.
    pub fn content_type(self) -> &'static str {
        match self {
            FileKind::Pdf => "application/pdf",
            FileKind::Word97 => "application/msword",
            FileKind::Docx => "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
            FileKind::OpenDocument => "application/vnd.oasis.opendocument.text",
            FileKind::Pptx => "application/vnd.openxmlformats-officedocument.presentationml.presentation",
            FileKind::Xlsx => "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
            FileKind::Epub => "application/epub+zip",
            FileKind::Rtf => "application/rtf",
        }
    }
}

/// Media types are shorter.
const MEDIA_TYPE_BYTES_MAX: usize = 100;

/// Whether a body may be a file that is read here, told by its first bytes alone. It costs nothing for pages of HTML.
pub fn may_be_file(bytes: &[u8]) -> bool {
    const MARKS: [&[u8]; 4] = [b"%PDF-", b"PK\x03\x04", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", b"{\\rtf"];
    let start = bytes.trim_ascii_start();
    MARKS.iter().any(|mark| start.starts_with(mark)) || pdf_begins_later(bytes)
}

/// The kind of a body; `None` if it is read elsewhere or not at all.
pub fn kind_of(bytes: &[u8], content_type: Option<&str>, name: &str) -> Option<FileKind> {
    let start = bytes.trim_ascii_start();
    if start.starts_with(b"%PDF-") || pdf_begins_later(bytes) {
        return Some(FileKind::Pdf);
    }
    if start.starts_with(b"{\\rtf") {
        return Some(FileKind::Rtf);
    }
    if bytes.starts_with(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1") {
        // Word is told from other compound files by the name of its stream.
        let is_word = contains(bytes, &wide("WordDocument"));
        return is_word.then_some(FileKind::Word97);
    }
    if !bytes.starts_with(b"PK\x03\x04") {
        return None;
    }
    let inside = of_package(bytes);
    let said = || content_type.and_then(of_media_type);
    inside.or_else(said).or_else(|| of_name(name))
}

/// The kind of a package: the media type that stands first in it, or the names of parts that a format must have. Names are
/// written in a package as they are.
fn of_package(bytes: &[u8]) -> Option<FileKind> {
    const PARTS: [(&[u8], FileKind); 5] = [
        (b"word/document", FileKind::Docx),
        (b"ppt/presentation", FileKind::Pptx),
        (b"xl/workbook", FileKind::Xlsx),
        (b"META-INF/container.xml", FileKind::Epub),
        (b"META-INF/manifest.xml", FileKind::OpenDocument),
    ];
    // The first part follows a head of 30 bytes, its name, and what else is said of it.
    if bytes.get(30..38) == Some(b"mimetype") {
        let start = (38 + usize::from(u16::from_le_bytes([bytes[28], bytes[29]]))).min(bytes.len());
        let named = &bytes[start..bytes.len().min(start + MEDIA_TYPE_BYTES_MAX)];
        let end = memmem::find(named, b"PK").unwrap_or(named.len());
        let named = std::str::from_utf8(&named[..end]).ok().and_then(of_media_type);
        if named.is_some() {
            return named;
        }
    }
    PARTS.iter().find(|(name, _)| contains(bytes, name)).map(|(_, kind)| *kind)
}

fn of_media_type(content_type: &str) -> Option<FileKind> {
    let essence = content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    Some(match essence.as_str() {
        "application/pdf" | "application/x-pdf" => FileKind::Pdf,
        "application/epub+zip" => FileKind::Epub,
        "application/rtf" | "text/rtf" => FileKind::Rtf,
        "application/msword" => FileKind::Word97,
        _ if essence.contains("wordprocessingml") || essence.contains("ms-word.document.macroenabled") => {
            FileKind::Docx
        }
        _ if essence.contains("presentationml") || essence.contains("ms-powerpoint.presentation.macroenabled") => {
            FileKind::Pptx
        }
        _ if essence.contains("spreadsheetml") || essence.contains("ms-excel.sheet.macroenabled") => FileKind::Xlsx,
        _ if essence.starts_with("application/vnd.oasis.opendocument.") => FileKind::OpenDocument,
        _ => return None,
    })
}

fn of_name(name: &str) -> Option<FileKind> {
    let path = name.split(['?', '#']).next().unwrap_or_default();
    let (_, extension) = path.rsplit_once('.')?;
    Some(match extension.to_ascii_lowercase().as_str() {
        "docx" | "docm" | "dotx" => FileKind::Docx,
        "pptx" | "pptm" | "ppsx" => FileKind::Pptx,
        "xlsx" | "xlsm" => FileKind::Xlsx,
        "odt" | "ods" | "odp" | "ott" => FileKind::OpenDocument,
        "epub" => FileKind::Epub,
        _ => return None,
    })
}

/// Some servers write something before the file. Readers of PDF look for its mark in the first kilobyte.
fn pdf_begins_later(bytes: &[u8]) -> bool {
    const LOOKED_AT: usize = 1_024;
    let start = &bytes[..bytes.len().min(LOOKED_AT)];
    let is_markup = start.trim_ascii_start().starts_with(b"<");
    !is_markup && contains(start, b"%PDF-1.")
}

fn contains(bytes: &[u8], wanted: &[u8]) -> bool {
    memmem::find(bytes, wanted).is_some()
}

fn wide(text: &str) -> Vec<u8> {
    text.encode_utf16().flat_map(u16::to_le_bytes).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_say_more_than_headers_and_names() {
        for (bytes, content_type, name, expected) in [
            (&b"%PDF-1.4"[..], Some("text/plain"), "a.txt", Some(FileKind::Pdf)),
            (b"junk\n%PDF-1.7\n", None, "", Some(FileKind::Pdf)),
            (b"{\\rtf1 a}", Some("application/msword"), "a.doc", Some(FileKind::Rtf)),
            (b"<html>", Some("application/msword"), "a.doc", None),
            (b"<html>%PDF-1.4", Some("text/html"), "", None),
            (b"words", Some("application/pdf"), "a.pdf", None),
            (b"PK\x03\x04", None, "https://a.example/b.docx?x=1", Some(FileKind::Docx)),
            (b"PK\x03\x04", Some("application/zip"), "a.zip", None),
        ] {
            assert_eq!(kind_of(bytes, content_type, name), expected, "{name}");
            assert!(expected.is_none() || may_be_file(bytes), "{name}");
        }
        assert!(FileKind::ALL.into_iter().all(|kind| FileKind::of_number(kind as u8) == Some(kind)));
    }
}
