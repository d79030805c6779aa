//! Mutated files of every kind are read or refused: no panic, no endless loop, no text beyond the limit. The files are made here.
//!
//! `VERNAL_FILES=FOLDER cargo test -p vernal-extract --test mutations -- --ignored` does the same long, with real files.

#![allow(clippy::unwrap_used, reason = "the helpers of tests fail as tests do")]

use std::io::{Cursor, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use vernal_extract::{FileKind, kind_of, plain_text, read_file};
use vernal_model::Chance;
use zip::CompressionMethod;
use zip::write::SimpleFileOptions;

/// The chance number of the mutations; a number that broke something stays in a test.
const CHANCE: u64 = 20_261_119;
const MUTATIONS: usize = 150;
const MUTATIONS_LONG: usize = 10_000;

/// Readers keep to this, whatever they are given.
const HTML_BYTES_MAX: usize = 40 << 20;

fn package(parts: &[(&str, &str)]) -> Vec<u8> {
    let mut file = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, text) in parts {
        let method = if *name == "mimetype" { CompressionMethod::Stored } else { CompressionMethod::Deflated };
        file.start_file(*name, SimpleFileOptions::default().compression_method(method)).unwrap();
        file.write_all(text.as_bytes()).unwrap();
    }
    file.finish().unwrap().into_inner()
}

fn docx() -> Vec<u8> {
    package(&[
        (
            "_rels/.rels",
            r#"<Relationships><Relationship Id="r1" Type="x/officeDocument" Target="word/document.xml"/></Relationships>"#,
        ),
        (
            "word/_rels/document.xml.rels",
            r#"<Relationships><Relationship Id="r1" Type="x/hyperlink" Target="https://a.example/" TargetMode="External"/>
            <Relationship Id="r2" Type="x/header" Target="header1.xml"/></Relationships>"#,
        ),
        ("word/header1.xml", "<w:hdr><w:p><w:r><w:t>Running head</w:t></w:r></w:p></w:hdr>"),
        (
            "word/document.xml",
            r#"<w:document><w:body><w:p><w:pPr><w:pStyle w:val="Heading1"/></w:pPr><w:r><w:t>Top</w:t></w:r></w:p>
            <w:p><w:r><w:t>Words and a </w:t></w:r><w:hyperlink r:id="r1"><w:r><w:t>link</w:t></w:r></w:hyperlink>
            <w:del><w:r><w:delText>gone</w:delText></w:r></w:del></w:p>
            <w:tbl><w:tr><w:tc><w:p><w:r><w:t>a</w:t></w:r></w:p></w:tc><w:tc><w:p><w:r><w:t>b</w:t></w:r></w:p></w:tc></w:tr></w:tbl>
            </w:body></w:document>"#,
        ),
    ])
}

fn opendocument() -> Vec<u8> {
    package(&[
        ("mimetype", "application/vnd.oasis.opendocument.text"),
        (
            "content.xml",
            r#"<office:document-content><office:body><office:text><text:h text:outline-level="2">Top</text:h>
            <text:p>Words<text:s text:c="2"/>and <text:a xlink:href="https://a.example/">a link</text:a></text:p>
            <table:table table:name="T"><table:table-row><table:table-cell table:number-columns-repeated="9999"><text:p>a</text:p>
            </table:table-cell></table:table-row></table:table></office:text></office:body></office:document-content>"#,
        ),
    ])
}

fn pptx() -> Vec<u8> {
    package(&[
        (
            "ppt/_rels/presentation.xml.rels",
            r#"<Relationships><Relationship Id="r1" Type="x/slide" Target="slides/slide1.xml"/></Relationships>"#,
        ),
        (
            "ppt/presentation.xml",
            r#"<p:presentation><p:sldIdLst><p:sldId id="256" r:id="r1"/></p:sldIdLst></p:presentation>"#,
        ),
        (
            "ppt/slides/slide1.xml",
            r#"<p:sld><p:sp><p:nvPr><p:ph type="title"/></p:nvPr><a:p><a:r><a:t>A title</a:t></a:r></a:p></p:sp>
            <p:sp><a:p><a:r><a:t>Words</a:t></a:r></a:p></p:sp></p:sld>"#,
        ),
    ])
}

fn xlsx() -> Vec<u8> {
    package(&[
        (
            "_rels/.rels",
            r#"<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1"
            Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="xl/workbook.xml"/></Relationships>"#,
        ),
        (
            "xl/_rels/workbook.xml.rels",
            r#"<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1"
            Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet" Target="worksheets/sheet1.xml"/></Relationships>"#,
        ),
        (
            "xl/workbook.xml",
            r#"<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"
            xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><sheets><sheet name="Prices" sheetId="1" r:id="r1"/></sheets></workbook>"#,
        ),
        (
            "xl/worksheets/sheet1.xml",
            r#"<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData><row r="1"><c r="A1" t="inlineStr"><is><t>Pear</t></is></c>
            <c r="B1"><v>1.2</v></c></row><row r="1048576"><c r="XFD1048576"><v>7</v></c></row></sheetData></worksheet>"#,
        ),
    ])
}

fn epub() -> Vec<u8> {
    package(&[
        ("mimetype", "application/epub+zip"),
        (
            "META-INF/container.xml",
            r#"<container><rootfiles><rootfile full-path="OPS/a.opf"/></rootfiles></container>"#,
        ),
        (
            "OPS/a.opf",
            r#"<package><metadata><dc:title>A book</dc:title></metadata><manifest><item id="c" href="c.xhtml"/></manifest>
            <spine><itemref idref="c"/></spine></package>"#,
        ),
        (
            "OPS/c.xhtml",
            r#"<html xmlns="http://www.w3.org/1999/xhtml"><body><h1>One</h1><p>Words <a href="https://a.example/">there</a></p></body></html>"#,
        ),
    ])
}

fn pdf() -> Vec<u8> {
    let page = "BT /F1 12 Tf 72 700 Td (Words on a page) Tj 0 -14 Td (and a second line) Tj ET";
    let mut file = String::from("%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R/Lang(en)>>endobj\n");
    file += "2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents 4 0 R";
    file += "/Resources<</Font<</F1<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>>>/Annots[<</Type/Annot/Subtype/Link/Rect[70 690 200 715]";
    file += "/A<</S/URI/URI(https://a.example/)>>>>]>>endobj\n";
    file += &format!("4 0 obj<</Length {}>>stream\n{page}\nendstream endobj\n", page.len());
    file += "5 0 obj<</Title(A title)/Producer(x)/CreationDate(D:20240501100000Z)>>endobj\ntrailer<</Root 1 0 R/Info 5 0 R>>\n";
    file.into_bytes()
}

fn rtf() -> Vec<u8> {
    br"{\rtf1\ansi{\fonttbl{\f0 Arial;}}\pard Words\par{\field{\*\fldinst HYPERLINK https://a.example/}{\fldrslt link}}\par \u8364?}".to_vec()
}

/// A compound file with the beginning of a Word file.
fn word97() -> Vec<u8> {
    let mut header = vec![0u8; 1024];
    header[..4].copy_from_slice(&[0xec, 0xa5, 0xc1, 0]);
    header[0x18..0x1c].copy_from_slice(&0x400u32.to_le_bytes());
    header[0x1c..0x20].copy_from_slice(&0x40cu32.to_le_bytes());
    header[0x4c..0x50].copy_from_slice(&12u32.to_le_bytes());
    header.extend(b"Some words.\r");
    let mut file = cfb::CompoundFile::create(Cursor::new(Vec::new())).unwrap();
    file.create_stream("/WordDocument").unwrap().write_all(&header).unwrap();
    file.create_stream("/0Table").unwrap().write_all(&[0; 64]).unwrap();
    file.flush().unwrap();
    file.into_inner().into_inner()
}

fn made() -> Vec<(FileKind, Vec<u8>, &'static str)> {
    vec![
        (FileKind::Pdf, pdf(), "<a href=\"https://a.example/\">Words on a page</a>"),
        (FileKind::Word97, word97(), "<p>Some words.</p>"),
        (
            FileKind::Docx,
            docx(),
            "<h1>Top</h1>\n<p>Words and a <a href=\"https://a.example/\">link</a></p>\n<table>\n<tr><td>a<td>b</tr>",
        ),
        (FileKind::OpenDocument, opendocument(), "<h2>Top</h2>"),
        (FileKind::Pptx, pptx(), "<h2>A title</h2>\n<p>Words</p>"),
        (FileKind::Xlsx, xlsx(), "<tr><td>Pear<td>1.2</tr>\n<tr><td><td>7</tr>"),
        (FileKind::Epub, epub(), "<h1>One</h1>\n<p>Words <a href=\"https://a.example/\">there</a></p>"),
        (FileKind::Rtf, rtf(), "<a href=\"https://a.example/\">link</a>"),
    ]
}

#[test]
fn each_kind_is_told_by_its_bytes_and_read_the_same_each_time() {
    for (kind, bytes, expected) in made() {
        assert_eq!(kind_of(&bytes, Some("application/octet-stream"), "x"), Some(kind));
        let html = read_file(kind, &bytes).unwrap_or_else(|fault| panic!("{kind:?}: {fault}"));
        assert!(html.contains(expected), "{kind:?}: {html}");
        assert_eq!(read_file(kind, &bytes).unwrap(), html);
    }
}

#[test]
fn what_a_program_writes_of_itself_into_a_pdf_is_no_text() {
    let file = String::from_utf8(pdf()).unwrap();
    let other = file.replace("Producer(x)", "Producer(another program)").replace("20240501", "20250607");
    let text = |file: &str| plain_text(&read_file(FileKind::Pdf, file.as_bytes()).unwrap());
    assert_eq!(text(&file), text(&other));
    assert!(text(&file).contains("Words on a page and a second line"), "{}", text(&file));
}

fn mutated(bytes: &[u8], chance: &mut Chance) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for _ in 0..=chance.below(8) {
        let at = chance.below(bytes.len() as u64 + 1) as usize;
        let end = (at + chance.below(64) as usize).min(bytes.len());
        match chance.below(5) {
            0 | 1 if at < bytes.len() => bytes[at] = chance.bits() as u8,
            2 => drop(bytes.drain(at..end)),
            3 => {
                let again = bytes[at..end].to_vec();
                bytes.splice(at..at, again);
            }
            _ if chance.below(6) == 0 => bytes.truncate(at.max(1)),
            _ => bytes.splice(at..end, std::iter::repeat_n(0xff, end - at)).for_each(drop),
        }
    }
    bytes
}

/// Reads a file that may be anything. What the libraries below do is caught as a child would catch it; endless loops and memory are the
/// limits of a child.
fn read_any(kind: FileKind, bytes: &[u8]) -> bool {
    let read = catch_unwind(AssertUnwindSafe(|| read_file(kind, bytes)));
    if let Ok(Ok(html)) = &read {
        assert!(html.len() <= HTML_BYTES_MAX);
    }
    read.is_ok()
}

#[test]
fn mutated_files_are_read_or_refused() {
    let mut chance = Chance::new(CHANCE);
    for (kind, bytes, _) in made() {
        for number in 0..MUTATIONS {
            let bytes = mutated(&bytes, &mut chance);
            assert!(read_any(kind, &bytes), "{kind:?}, mutation {number}");
        }
    }
}

#[test]
#[ignore = "long: real files, by hand"]
fn ten_thousand_mutated_real_files_are_read_or_refused() {
    let folder = std::env::var("VERNAL_FILES").expect("VERNAL_FILES names a folder of files");
    let mut files = Vec::new();
    gather(Path::new(&folder), &mut files);
    files.sort();
    let mut chance = Chance::new(CHANCE);
    let mut panics = Vec::new();
    for number in 0..MUTATIONS_LONG {
        let (name, kind, bytes) = &files[number % files.len()];
        let bytes = mutated(bytes, &mut chance);
        if !read_any(*kind, &bytes) {
            panics.push(format!("{name}, mutation {number}"));
        }
    }
    assert!(panics.is_empty(), "{} of {MUTATIONS_LONG}: {panics:#?}", panics.len());
}

fn gather(folder: &Path, files: &mut Vec<(String, FileKind, Vec<u8>)>) {
    for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let path = entry.path();
        if path.is_dir() {
            gather(&path, files);
            continue;
        }
        let bytes = std::fs::read(&path).unwrap();
        let name = path.to_string_lossy().into_owned();
        if let Some(kind) = kind_of(&bytes, None, &name)
            && bytes.len() < 2 << 20
        {
            files.push((name, kind, bytes));
        }
    }
}
