//! The world of the tests of `archive`, with an index of its text.
#![allow(dead_code, unused_imports, reason = "each test file uses its own part")]
#![allow(clippy::unwrap_used, reason = "the helpers of tests fail as tests do")]

use std::collections::HashMap;
use std::io::Read;
use std::path::Path;

use tempfile::TempDir;
use vernal_model::{Operation, ParagraphChange};
use vernal_search::{Answer, Asked, Follower, SearchIndex, Within};

#[path = "../../../archive/tests/world/mod.rs"]
mod written;

pub use written::{Given, START, World, html};

impl World {
    /// An index of this world in a folder of its own.
    pub fn index(&self) -> (TempDir, SearchIndex) {
        let folder = tempfile::tempdir().unwrap();
        let index = SearchIndex::open(folder.path(), &self.reader()).unwrap().index;
        self.follow(&index);
        (folder, index)
    }

    pub fn follow(&self, index: &SearchIndex) {
        let mut follower = Follower::of(index, self.reader()).unwrap();
        follower.catch_up(|_| true).unwrap();
        follower.close().unwrap();
    }

    pub fn asked(&self, query: &str) -> Asked {
        Asked { limit: 50, ..Asked::new(query, self.now) }
    }

    pub fn search(&self, index: &SearchIndex, asked: &Asked) -> Answer {
        index.search(&self.reader(), asked).unwrap()
    }

    /// The URLs that a query finds among current text.
    pub fn urls(&self, index: &SearchIndex, query: &str) -> Vec<String> {
        self.search(index, &self.asked(query)).hits.into_iter().map(|hit| hit.url).collect()
    }

    pub fn removed(&self, index: &SearchIndex, query: &str) -> Answer {
        self.search(index, &Asked { within: Within::Removed, ..self.asked(query) })
    }
}

/// Whether an operation takes words away.
pub fn takes(change: &ParagraphChange) -> bool {
    matches!(change.operation, Operation::Removed | Operation::Edited)
}

/// Bodies by the names of their files.
pub type Bodies = HashMap<String, Vec<u8>>;

/// The shared pairs of real pages by name; `None` where the set is not there.
pub fn pairs() -> Option<(Bodies, Vec<String>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/pairs");
    let Ok(packed) = std::fs::File::open(folder.join("pairs.tar.zst")) else {
        assert!(std::env::var_os("CI").is_none(), "the pair set is missing: {}", folder.display());
        println!("skipped: {} is not there", folder.display());
        return None;
    };
    let unpacked = ruzstd::decoding::StreamingDecoder::new(packed).unwrap();
    let mut bodies = HashMap::new();
    for entry in tar::Archive::new(unpacked).entries().unwrap() {
        let mut entry = entry.unwrap();
        let name = entry.path().unwrap().file_name().unwrap().to_string_lossy().into_owned();
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes).unwrap();
        bodies.insert(name, bytes);
    }
    let mut ids: Vec<String> =
        bodies.keys().filter_map(|name| name.strip_suffix(".before.html")).map(str::to_owned).collect();
    ids.sort();
    Some((bodies, ids))
}
