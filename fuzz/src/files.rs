//! Laws of files that are no pages. Packages are put together around the input, so that mutations meet their readers and not the
//! checksums of the package.

use std::io::{Cursor, Write};

use vernal_extract::{FileKind, plain_text, read_file};
use zip::write::SimpleFileOptions;

/// Readers write no more, whatever they are given.
const HTML_BYTES_MAX: usize = 40 << 20;

const RELATIONS: &str =
    r#"<Relationships><Relationship Id="r1" Type="x/officeDocument" Target="TARGET"/></Relationships>"#;

pub fn pdf(bytes: &[u8]) {
    keeps_the_laws(FileKind::Pdf, bytes);
}

pub fn rtf(bytes: &[u8]) {
    keeps_the_laws(FileKind::Rtf, bytes);
}

/// The input is the stream with the text; its second half serves as the tables too.
pub fn word97(bytes: &[u8]) {
    let made = || -> std::io::Result<Vec<u8>> {
        let mut file = cfb::CompoundFile::create(Cursor::new(Vec::new()))?;
        file.create_stream("/WordDocument")?.write_all(bytes)?;
        file.create_stream("/0Table")?.write_all(&bytes[bytes.len() / 2..])?;
        file.create_stream("/\u{5}SummaryInformation")?.write_all(bytes)?;
        file.flush()?;
        Ok(file.into_inner().into_inner())
    };
    keeps_the_laws(FileKind::Word97, &made().expect("memory takes it"));
}

pub fn docx(bytes: &[u8]) {
    let relations = RELATIONS.replace("TARGET", "word/document.xml");
    keeps_the_laws(
        FileKind::Docx,
        &package(&[("_rels/.rels", relations.as_bytes()), ("word/document.xml", bytes), ("docProps/core.xml", bytes)]),
    );
}

pub fn opendocument(bytes: &[u8]) {
    keeps_the_laws(
        FileKind::OpenDocument,
        &package(&[("content.xml", bytes), ("styles.xml", bytes), ("meta.xml", bytes)]),
    );
}

pub fn pptx(bytes: &[u8]) {
    let relations =
        r#"<Relationships><Relationship Id="r1" Type="x/slide" Target="slides/slide1.xml"/></Relationships>"#;
    let main = r#"<p:presentation><p:sldIdLst><p:sldId r:id="r1"/></p:sldIdLst></p:presentation>"#;
    keeps_the_laws(
        FileKind::Pptx,
        &package(&[
            ("ppt/_rels/presentation.xml.rels", relations.as_bytes()),
            ("ppt/presentation.xml", main.as_bytes()),
            ("ppt/slides/slide1.xml", bytes),
        ]),
    );
}

pub fn xlsx(bytes: &[u8]) {
    let office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
    let relations = |kind: &str, target: &str| {
        let package = "http://schemas.openxmlformats.org/package/2006/relationships";
        format!(
            r#"<Relationships xmlns="{package}"><Relationship Id="r1" Type="{office}/{kind}" Target="{target}"/></Relationships>"#
        )
    };
    let main = format!(
        r#"<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="{office}"><sheets>
        <sheet name="S" sheetId="1" r:id="r1"/></sheets></workbook>"#
    );
    keeps_the_laws(
        FileKind::Xlsx,
        &package(&[
            ("_rels/.rels", relations("officeDocument", "xl/workbook.xml").as_bytes()),
            ("xl/_rels/workbook.xml.rels", relations("worksheet", "worksheets/sheet1.xml").as_bytes()),
            ("xl/workbook.xml", main.as_bytes()),
            ("xl/worksheets/sheet1.xml", bytes),
        ]),
    );
}

pub fn epub(bytes: &[u8]) {
    let container = r#"<container><rootfile full-path="a.opf"/></container>"#;
    let main =
        r#"<package><manifest><item id="c" href="c.xhtml"/></manifest><spine><itemref idref="c"/></spine></package>"#;
    keeps_the_laws(
        FileKind::Epub,
        &package(&[("META-INF/container.xml", container.as_bytes()), ("a.opf", main.as_bytes()), ("c.xhtml", bytes)]),
    );
}

fn package(parts: &[(&str, &[u8])]) -> Vec<u8> {
    let mut file = zip::ZipWriter::new(Cursor::new(Vec::new()));
    let stored = SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
    for (name, bytes) in parts {
        file.start_file(*name, stored).expect("a name that was not used");
        file.write_all(bytes).expect("memory takes it");
    }
    file.finish().expect("memory takes it").into_inner()
}

/// Reading ends, gives no more than it may, and the same each time.
fn keeps_the_laws(kind: FileKind, bytes: &[u8]) {
    let Ok(html) = read_file(kind, bytes) else { return };
    assert!(html.len() <= HTML_BYTES_MAX, "the HTML is limited");
    let written = html.split_once("<body>").map_or(0, |(_, body)| body.matches("&lt;").count());
    assert!(plain_text(&html).matches('<').count() <= written, "marks and remarks are no text");
    assert_eq!(read_file(kind, bytes).as_ref(), Ok(&html), "the same file gives the same HTML");
}
