//! The dashboard speaks the public API like any stranger: nothing else of ours is named in it.

#![allow(clippy::unwrap_used, reason = "the helpers of tests fail as tests do")]

use std::fs;
use std::path::Path;

#[test]
fn no_other_room_is_imported() {
    let room = Path::new(env!("CARGO_MANIFEST_DIR"));
    let manifest = fs::read_to_string(room.join("Cargo.toml")).unwrap();
    let dependencies = manifest.split("[dependencies]").nth(1).unwrap();
    assert!(!dependencies.contains("vernal-"), "{dependencies}");
    let mut folders = vec![room.join("src")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let text = fs::read_to_string(&path).unwrap();
                assert!(!text.contains("vernal_"), "{}", path.display());
            }
        }
    }
}
