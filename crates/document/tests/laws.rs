//! The laws of signature and comparison over every kept page of the corpus, whole and cut.

use std::path::{Path, PathBuf};

use vernal_document::fuzz::{compare_halves, signature};

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("the corpus is there") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            files(&path, found);
        } else {
            found.push(path);
        }
    }
}

#[test]
fn every_kept_page_keeps_the_laws_whole_and_cut() {
    let mut found = Vec::new();
    files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus"), &mut found);
    files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/compare"), &mut found);
    assert!(found.len() >= 60);
    for path in found {
        let bytes = std::fs::read(&path).expect("a readable file");
        for end in [bytes.len(), bytes.len() * 2 / 3, bytes.len() / 5] {
            signature(&bytes[..end]);
            compare_halves(&bytes[..end]);
        }
    }
}
