//! One file becomes HTML.

use crate::fault::Fault;
use crate::kind::FileKind;
use crate::{package, pdf, rtf, word97};

/// Reads a file. Its memory and its time are those that the file asks for: a file from the web is read in a child process, which limits
/// both (see `child`).
pub fn read_file(kind: FileKind, bytes: &[u8]) -> Result<String, Fault> {
    let draft = match kind {
        FileKind::Pdf => pdf::read_pdf(bytes),
        FileKind::Word97 => word97::read_word97(bytes),
        FileKind::Docx => package::read_docx(bytes),
        FileKind::OpenDocument => package::read_opendocument(bytes),
        FileKind::Pptx => package::read_pptx(bytes),
        FileKind::Xlsx => package::read_xlsx(bytes),
        FileKind::Epub => package::read_epub(bytes),
        FileKind::Rtf => rtf::read_rtf(bytes),
    }?;
    Ok(draft.finish(kind.content_type()))
}
