//! Compares our scan with html5ever on small cases that once failed and on the real pages of the pair set.

use std::collections::BTreeSet;
use std::io::Read;
use std::path::{Path, PathBuf};

use vernal_model::{Digest, Url};

use super::encoding::decode;
use super::oracle::judge;
use super::scan::{Markup, OpenTag, Sink, scan};
use super::tag::Tag;
use crate::{Input, read};

#[derive(Default)]
struct Tags(Vec<String>);

impl Sink for Tags {
    fn open(&mut self, tag: &OpenTag<'_, '_>) {
        self.0.push(tag.name.text().to_ascii_lowercase().replace('\0', "\u{fffd}"));
    }

    fn close(&mut self, _tag: Tag) {}

    fn text(&mut self, _text: &str, _coded: bool) {}

    fn raw(&mut self, _tag: Tag, _text: &str) {}
}

/// Whether tags, links and text are as html5ever has them.
fn agreement(bytes: &[u8], name: &str) -> [bool; 3] {
    let url = Url::parse("https://www.example.org/folder/page.html").unwrap();
    let (source, _) = decode(bytes, None, "org");
    let expected = judge(&source, &url);
    let mut tags = Tags::default();
    scan(&source, Markup::Html, &mut tags);
    let document = read(&Input {
        url: &url,
        bytes,
        content_type: Some("text/html"),
        content_language: None,
        robots_tags: &[],
        payload: Digest::default(),
    })
    .document;
    let links: BTreeSet<String> = document.links.iter().map(|link| link.target.to_string()).collect();
    let text: String = document.text.chars().filter(|letter| !letter.is_whitespace()).collect();
    let agrees = [tags.0 == expected.tags, links == expected.links, text == expected.text];
    if !agrees[0] {
        let place = tags.0.iter().zip(&expected.tags).take_while(|(a, b)| a == b).count();
        let near = |tags: &[String]| tags.iter().skip(place.saturating_sub(3)).take(8).cloned().collect::<Vec<_>>();
        println!("{name}: tags from {place}: {:?}, expected {:?}", near(&tags.0), near(&expected.tags));
    }
    if !agrees[1] {
        println!("{name}: links {:?}", links.symmetric_difference(&expected.links).take(4).collect::<Vec<_>>());
    }
    if !agrees[2] {
        let place = text.chars().zip(expected.text.chars()).take_while(|(a, b)| a == b).count();
        let near = |text: &str| text.chars().skip(place.saturating_sub(20)).take(60).collect::<String>();
        println!("{name}: text {:?}, expected {:?}", near(&text), near(&expected.text));
    }
    agrees
}

#[test]
fn every_hard_case_is_read_as_html5ever_reads_it() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus/markup");
    let mut cases: Vec<PathBuf> = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    cases.sort();
    assert!(cases.len() >= 20, "the corpus is where it should be");
    let wrong: Vec<_> = cases
        .iter()
        .filter(|path| agreement(&std::fs::read(path).unwrap(), &path.display().to_string()) != [true; 3])
        .collect();
    assert!(wrong.is_empty(), "{wrong:?}");
}

#[test]
fn real_pages_are_read_as_html5ever_reads_them() {
    let archive = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/pairs/pairs.tar.zst");
    let Ok(packed) = std::fs::File::open(&archive) else {
        assert!(std::env::var_os("CI").is_none(), "the pair set is missing: {}", archive.display());
        println!("skipped: {} is not there", archive.display());
        return;
    };
    let unpacked = ruzstd::decoding::StreamingDecoder::new(packed).unwrap();
    let mut pages = 0u32;
    let mut agreed = [0u32; 3];
    for entry in tar::Archive::new(unpacked).entries().unwrap() {
        let mut entry = entry.unwrap();
        let name = entry.path().unwrap().display().to_string();
        if !name.ends_with(".html") {
            continue;
        }
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes).unwrap();
        pages += 1;
        for (count, agrees) in agreed.iter_mut().zip(agreement(&bytes, &name)) {
            *count += u32::from(agrees);
        }
    }
    let [tags, links, text] = agreed;
    println!("of {pages} pages agree with html5ever: tags {tags}, links {links}, text {text}");
    assert!(pages >= 1_000);
    assert_eq!(tags, pages, "tag sequences");
    assert!(links * 100 >= pages * 99, "link sets: {links} of {pages}");
    assert!(text * 100 >= pages * 97, "texts: {text} of {pages}");
}
