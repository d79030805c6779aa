//! What must hold for every input, as plain functions of bytes. Tests replay them over a kept corpus; a fuzzer runs
//! them long.

use vernal_model::{Digest, Url};

use crate::{Input, LINKS_MAX, PARAGRAPHS_MAX, Parsed, compare, diff, read, wall};

/// Reads the bytes as a page and holds the answer to its invariants.
///
/// # Panics
///
/// If one of them does not hold.
pub fn html_pass(bytes: &[u8]) {
    for content_type in ["text/html", "text/xml", "text/plain", "application/gopher-menu", "text/x-ftp-listing"] {
        let parsed = read_as(bytes, content_type, Digest([1; 20]));
        check(&parsed);
        let half = read_as(&bytes[..bytes.len() / 2], content_type, Digest([2; 20]));
        let mut change = compare(&half.signature, &parsed.signature);
        diff::explain(&half.document, &parsed.document, &mut change);
        assert!((0.0..=1.0).contains(&change.magnitude), "magnitude {}", change.magnitude);
        wall(200, &|_| None, Some(&parsed));
    }
}

fn read_as(bytes: &[u8], content_type: &str, payload: Digest) -> Parsed {
    let url = Url::parse("http://example.org/a/b").expect("a plain URL parses");
    read(&Input {
        url: &url,
        bytes,
        content_type: Some(content_type),
        content_language: None,
        robots_tags: &[],
        payload,
    })
}

fn check(parsed: &Parsed) {
    let document = &parsed.document;
    let mut end = 0;
    for paragraph in &document.paragraphs {
        let (start, stop) = (paragraph.start as usize, paragraph.end as usize);
        assert!(end <= start && start < stop, "paragraphs lie in order and are not empty");
        let words = document.text.get(start..stop).expect("paragraphs end between letters, inside the text");
        assert!(!words.contains("  ") && !words.contains('\n') && words.trim() == words, "white space is folded");
        end = stop;
    }
    assert_eq!(end, document.text.len(), "all text lies in paragraphs");
    assert!(document.paragraphs.len() <= PARAGRAPHS_MAX);
    assert_eq!(document.paragraphs.len(), parsed.signature.paragraphs.len());
    assert!(document.links.len() <= LINKS_MAX);
    assert!(document.links_dropped == 0 || document.links.len() == LINKS_MAX);
    assert!(document.links.iter().all(|link| link.anchor.len() <= 200));
}
