//! The fuzz targets. Each is a plain function of bytes that panics when a law is broken. The corpus beside this crate
//! holds inputs worth keeping, above all those that once broke a law.

pub mod archive;
pub mod document;
pub mod files;
pub mod network;
pub mod repository;
pub mod site_files;

use std::path::{Path, PathBuf};

use vernal_model::{Chance, Url};

/// A target by name.
pub struct Target {
    pub name: &'static str,
    pub run: fn(&[u8]),
}

pub const TARGETS: [Target; 22] = [
    Target { name: "url", run: url },
    Target { name: "robots", run: site_files::robots },
    Target { name: "html", run: document::html },
    Target { name: "signature", run: document::signature },
    Target { name: "compare", run: document::compare_halves },
    Target { name: "diff", run: document::diff_of_halves },
    Target { name: "judge", run: document::judge_versions },
    Target { name: "sitemap", run: site_files::sitemap },
    Target { name: "feed", run: site_files::feed },
    Target { name: "http2", run: network::http2 },
    Target { name: "warc", run: repository::warc },
    Target { name: "journal", run: repository::journal },
    Target { name: "import", run: archive::import },
    Target { name: "replay", run: archive::replay },
    Target { name: "pdf", run: files::pdf },
    Target { name: "word97", run: files::word97 },
    Target { name: "docx", run: files::docx },
    Target { name: "opendocument", run: files::opendocument },
    Target { name: "pptx", run: files::pptx },
    Target { name: "xlsx", run: files::xlsx },
    Target { name: "epub", run: files::epub },
    Target { name: "rtf", run: files::rtf },
];

/// Parsing is idempotent, joining never panics, and both agree on what is canonical.
fn url(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let base = Url::parse("https://example.org:8080/a/b?c").expect("a plain URL parses");
    for found in [Url::parse(&text), base.join(&text)].into_iter().flatten() {
        let again = Url::parse(found.as_str()).expect("a canonical URL parses");
        assert_eq!(again, found, "canonical form is a fixed point");
        assert!(found.path().starts_with('/'));
        assert!(!found.host().is_empty());
        let _ = (found.registrable_domain(), found.partition(), found.port());
    }
}

pub fn corpus_folder(target: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(target)
}

/// The kept inputs of a target, in the order of their names.
pub fn corpus(target: &str) -> std::io::Result<Vec<Vec<u8>>> {
    let mut paths: Vec<PathBuf> = std::fs::read_dir(corpus_folder(target))?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<_, _>>()?;
    paths.sort();
    paths.iter().map(std::fs::read).collect()
}

/// One input made of another: bytes flipped, cut, doubled, spliced with a second input, or given a telling token.
pub fn mutated(input: &[u8], other: &[u8], chance: &mut Chance) -> Vec<u8> {
    const TOKENS: [&[u8]; 14] = [
        b"<",
        b">",
        b"<!--",
        b"</script>",
        b"<svg>",
        b"&",
        b"\0",
        b"\xff\xfe",
        b"%",
        b"\r\n",
        b"*$",
        b"-1",
        b"18446744073709551615",
        b"//",
    ];
    let mut bytes = input.to_vec();
    for _ in 0..=chance.below(6) {
        let at = chance.below(bytes.len() as u64 + 1) as usize;
        let end = (at + chance.below(32) as usize).min(bytes.len());
        match chance.below(6) {
            0 if at < bytes.len() => bytes[at] = chance.bits() as u8,
            1 => drop(bytes.drain(at..end)),
            2 => {
                let again = bytes[at..end].to_vec();
                bytes.splice(at..at, again);
            }
            3 => {
                let from = chance.below(other.len() as u64 + 1) as usize;
                let to = (from + chance.below(256) as usize).min(other.len());
                bytes.splice(at..at, other[from..to].iter().copied());
            }
            4 => {
                let token = TOKENS[chance.below(TOKENS.len() as u64) as usize];
                bytes.splice(at..at, token.iter().copied());
            }
            _ => bytes.truncate(at.max(1)),
        }
        bytes.truncate(INPUT_BYTES_MAX);
    }
    bytes
}

/// Inputs stay small, so that many are tried.
const INPUT_BYTES_MAX: usize = 64 << 10;
