//! Writes the main content of pages as Markdown, for measuring: FILE.html… gives FILE.md beside each.
use std::time::Instant;
use vernal_document::{Input, MarkdownOptions, markdown, read};
use vernal_model::{Digest, Url};
fn main() {
    let url = Url::parse("http://site.example/page").unwrap();
    let (mut spent, mut both, mut pages) = (0.0, 0.0, 0);
    for path in std::env::args().skip(1) {
        let bytes = std::fs::read(&path).unwrap();
        let input = Input {
            url: &url,
            bytes: &bytes,
            content_type: Some("text/html"),
            content_language: None,
            robots_tags: &[],
            payload: Digest::default(),
        };
        let t = Instant::now();
        let text = markdown(&input, &MarkdownOptions::default());
        spent += t.elapsed().as_secs_f64();
        let t = Instant::now();
        std::hint::black_box(read(&input));
        both += t.elapsed().as_secs_f64();
        pages += 1;
        std::fs::write(path.replace(".html", ".md"), text).unwrap();
    }
    println!("{pages} pages, markdown {:.0}/s, read {:.0}/s", pages as f64 / spent, pages as f64 / both);
}
