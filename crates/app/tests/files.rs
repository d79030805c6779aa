//! PDF and office files: the real binary takes their text and compares it, in children that can do nothing else.

#![allow(clippy::unwrap_used, reason = "the helpers of tests fail as tests do")]

mod common;

use std::io::Write as _;
use std::path::PathBuf;

use common::edited::{Edited, visit};
use common::{output, refused, told, vernal};
use serde_json::Value;

struct Files {
    dir: tempfile::TempDir,
}

impl Files {
    fn new() -> Files {
        Files { dir: tempfile::tempdir().unwrap() }
    }

    fn file(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.dir.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    }

    fn json(&self, verb: &str, words: &[PathBuf]) -> Value {
        let mut command = vernal(&self.dir.path().join("data"));
        serde_json::from_str(&told(command.args([verb, "--json"]).args(words))).unwrap()
    }

    fn text(&self, file: &PathBuf) -> String {
        told(vernal(&self.dir.path().join("data")).args(["cat", "--text"]).arg(file))
    }
}

/// A PDF file with these lines on each page, a running head and a page number.
fn pdf(pages: &[Vec<String>], producer: &str) -> Vec<u8> {
    let mut file = format!("%PDF-1.4\n% {producer}\n1 0 obj<</Type/Catalog/Pages 2 0 R/Lang(en)>>endobj\n");
    let kids: Vec<String> = (0..pages.len()).map(|page| format!("{} 0 R", 10 + 2 * page)).collect();
    file += &format!("2 0 obj<</Type/Pages/Kids[{}]/Count {}>>endobj\n", kids.join(" "), pages.len());
    file += &format!(
        "3 0 obj<</Title(The year)/Producer({producer})/CreationDate(D:2024{:02}01000000Z)>>endobj\n",
        producer.len()
    );
    file += "4 0 obj<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>endobj\n";
    for (number, lines) in pages.iter().enumerate() {
        let mut content = "BT /F1 9 Tf 1 0 0 1 72 770 Tm (Report of the year) Tj ".to_owned();
        for (place, line) in lines.iter().enumerate() {
            content += &format!("/F1 12 Tf 1 0 0 1 72 {} Tm ({line}) Tj ", 700 - 24 * place);
        }
        content += &format!("/F1 9 Tf 1 0 0 1 300 30 Tm ({}) Tj ET", number + 1);
        let object = 10 + 2 * number;
        file += &format!(
            "{object} 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents {} 0 R/Resources<</Font<</F1 4 0 R>>>>>>endobj\n",
            object + 1
        );
        file += &format!("{} 0 obj<</Length {}>>stream\n{content}\nendstream endobj\n", object + 1, content.len());
    }
    let start = file.len();
    file += &cross_references(&file);
    file += &format!("trailer<</Size 100/Root 1 0 R/Info 3 0 R>>\nstartxref\n{start}\n%%EOF\n");
    file.into_bytes()
}

/// Where each object of a file begins: a line that has a number, "0 obj" and what it is.
fn cross_references(file: &str) -> String {
    let (mut table, mut at) = ("xref\n0 1\n0000000000 65535 f \n".to_owned(), 0);
    for line in file.split_inclusive('\n') {
        if let Some((number, _)) = line.split_once(" 0 obj<<") {
            table += &format!("{number} 1\n{at:010} 00000 n \n");
        }
        at += line.len();
    }
    table
}

fn pages(on_page_7: &str) -> Vec<Vec<String>> {
    let mut pages: Vec<Vec<String>> = (1..=9)
        .map(|page| {
            vec![
                format!("The first sentence of page {page} is here."),
                format!("Another one follows it on page {page}."),
            ]
        })
        .collect();
    pages[6][1] = on_page_7.to_owned();
    pages
}

#[test]
fn one_edited_sentence_on_page_7_of_a_pdf_is_one_change_and_saving_it_anew_is_none() {
    let files = Files::new();
    let old = files.file("old.pdf", &pdf(&pages("The price of a pear is 3 crowns this year."), "one"));
    let new = files.file("new.pdf", &pdf(&pages("The price of a pear is 5 crowns this year."), "one"));
    let saved = files.file("saved.pdf", &pdf(&pages("The price of a pear is 3 crowns this year."), "another"));
    let change = files.json("compare", &[old.clone(), new]);
    assert_eq!(change["changed"], true, "{change}");
    assert_eq!(change["kinds"], serde_json::json!(["content"]), "{change}");
    let paragraphs = change["paragraphs"].as_array().unwrap();
    assert_eq!(paragraphs.len(), 1, "{change}");
    assert_eq!(paragraphs[0]["op"], "edited");
    assert_eq!(paragraphs[0]["after"], "The price of a pear is 5 crowns this year.");
    assert_eq!(paragraphs[0]["headings"][0], "page 7", "{change}");
    let none = files.json("compare", &[old, saved]);
    assert_eq!((&none["changed"], &none["kinds"]), (&Value::from(false), &serde_json::json!([])), "{none}");
}

#[test]
fn the_text_of_a_file_is_shown_with_its_frame_and_what_it_says_of_itself() {
    let files = Files::new();
    let file = files.file("a.pdf", &pdf(&pages("See https://a.example/b for more."), "one"));
    let text = files.text(&file);
    assert!(text.starts_with("Report of the year\nThe first sentence of page 1 is here.\n"), "{text}");
    assert!(text.contains("\nSee https://a.example/b for more.\n7\n"), "{text}");
    let shown = files.json("cat", &["--text".into(), file]);
    assert_eq!((&shown["pages"], &shown["title"], &shown["language"]), (&9.into(), &"The year".into(), &"en".into()));
    assert_eq!(shown["links"], serde_json::json!(["https://a.example/b"]));
    let rtf = files.file("a.doc", br"{\rtf1 Not what its name says.\par}");
    assert_eq!(files.text(&rtf), "Not what its name says.\n");
    let html = files.file("a.html", b"<title>T</title><p>Words<p>more");
    assert_eq!(files.text(&html), "T\nWords\nmore\n");
}

#[test]
fn the_text_of_every_kept_version_is_shown() {
    let files = Files::new();
    let data = files.dir.path().join("data");
    let edition = |price: u32| pdf(&pages(&format!("The price of a pear is {price} crowns.")), "one");
    let text = |price: u32| String::from_utf8(edition(price)).unwrap();
    let web = Edited::serve(&[("/", text(3))]);
    visit(&data, &web.url("/"));
    web.edit("/", text(5));
    visit(&data, &web.url("/"));
    let url = web.url("/");
    let told_of = |more: &[&str]| told(vernal(&data).args(["cat", "--text", &url]).args(more));
    assert!(told_of(&[]).contains("\nThe price of a pear is 5 crowns.\n"), "{}", told_of(&[]));
    assert!(told_of(&["--version", "1"]).contains("\nThe price of a pear is 3 crowns.\n"));
}

#[test]
fn a_file_whose_text_cannot_be_taken_is_a_clear_line_and_is_compared_by_its_bytes() {
    let files = Files::new();
    let data = files.dir.path().join("data");
    let broken = files.file("broken.pdf", b"%PDF-1.7 and nothing else");
    let (code, line) = refused(vernal(&data).args(["cat", "--text"]).arg(&broken));
    assert_eq!(code, 1);
    assert!(line.contains("broken.pdf: text could not be taken: "), "{line}");
    let other = files.file("other.pdf", b"%PDF-1.7 and nothing more");
    let shown = output(vernal(&data).args(["compare", "--json"]).args([&broken, &other]));
    assert!(shown.status.success());
    assert!(String::from_utf8_lossy(&shown.stderr).contains("its bytes are compared"));
    let change: Value = serde_json::from_slice(&shown.stdout).unwrap();
    assert_eq!(change["changed"], true, "{change}");
    let (code, line) = refused(vernal(&data).args(["cat", "--text"]).arg(files.dir.path().join("absent.pdf")));
    assert!(code == 1 && line.contains("absent.pdf"), "{line}");
}

#[test]
fn a_file_that_unpacks_to_a_gigabyte_costs_its_child_alone() {
    let files = Files::new();
    let data = files.dir.path().join("data");
    let mut packed = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
    let spaces = vec![b' '; 1 << 20];
    for _ in 0..1_024 {
        packed.write_all(&spaces).unwrap();
    }
    let packed = packed.finish().unwrap();
    let mut bomb =
        b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n\
        3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents 4 0 R>>endobj\n"
            .to_vec();
    bomb.extend(format!("4 0 obj<</Length {}/Filter/FlateDecode>>stream\n", packed.len()).bytes());
    bomb.extend(packed);
    bomb.extend(b"\nendstream endobj\ntrailer<</Root 1 0 R>>\n");
    let file = files.file("bomb.pdf", &bomb);
    let (code, line) = refused(vernal(&data).args(["cat", "--text"]).arg(&file));
    assert_eq!(code, 1);
    assert!(line.contains("text could not be taken"), "{line}");
}
