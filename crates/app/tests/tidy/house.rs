//! The files of the repository, read once for all laws.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use crate::scan::{self, Source};

/// Folders that hold nothing of ours.
const FOREIGN: [&str; 3] = ["target", ".git", "vernal-data"];

/// A Rust file of the repository.
pub struct RustFile {
    /// From the root of the repository, with `/`.
    pub path: String,
    /// The crate below `crates/`, where it is of one.
    pub room: Option<String>,
    pub source: Source,
    /// The lines of the file that are not blank, and those of them that are tests.
    pub lines_filled: usize,
    pub test_lines_filled: usize,
    /// All lines outside tests, blank ones included.
    pub lines: usize,
    /// Whether the whole file is a test.
    pub is_test: bool,
}

/// Everything that the laws look at.
pub struct House {
    pub root: PathBuf,
    /// Paths of all files, from the root.
    pub paths: BTreeSet<String>,
    pub rust: Vec<RustFile>,
    /// Texts of the documents, by path.
    pub documents: BTreeMap<String, String>,
}

impl House {
    /// Reads the repository that this test is part of.
    pub fn read() -> House {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap();
        let mut paths = BTreeSet::new();
        gather(&root, "", &mut paths);
        let text = |path: &str| fs::read_to_string(root.join(path)).unwrap();
        let rust: Vec<_> =
            paths.iter().filter(|path| path.ends_with(".rs")).map(|path| rust_file(path, &text(path))).collect();
        let documents =
            paths.iter().filter(|path| path.ends_with(".md")).map(|path| (path.clone(), text(path))).collect();
        let mut house = House { root, paths, rust, documents };
        house.mark_test_modules();
        house
    }

    /// The text of any file.
    pub fn text(&self, path: &str) -> String {
        fs::read_to_string(self.root.join(path)).unwrap()
    }

    /// Files of a crate's library or binary that are no tests.
    pub fn code(&self) -> impl Iterator<Item = &RustFile> {
        self.rust.iter().filter(|file| !file.is_test)
    }

    /// The crates below `crates/`.
    pub fn rooms(&self) -> BTreeSet<String> {
        self.rust.iter().filter_map(|file| file.room.clone()).collect()
    }

    /// A file that is declared under `#[cfg(test)]` is a test, and so is all below it.
    fn mark_test_modules(&mut self) {
        let mut tests = Vec::new();
        for file in &self.rust {
            let folder = module_folder(&file.path);
            tests.extend(file.source.test_modules.iter().map(|name| format!("{folder}/{name}")));
        }
        for file in &mut self.rust {
            let is = |test: &String| {
                file.path.strip_prefix(&**test).is_some_and(|rest| rest == ".rs" || rest.starts_with('/'))
            };
            if tests.iter().any(is) {
                file.is_test = true;
                file.test_lines_filled = file.lines_filled;
            }
        }
    }
}

/// The folder in which the modules lie that a file declares.
pub fn module_folder(path: &str) -> String {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    match name {
        "mod.rs" | "lib.rs" | "main.rs" => folder.to_owned(),
        _ => path.trim_end_matches(".rs").to_owned(),
    }
}

fn gather(root: &Path, below: &str, paths: &mut BTreeSet<String>) {
    for entry in fs::read_dir(root.join(below)).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        let path = if below.is_empty() { name.clone() } else { format!("{below}/{name}") };
        match entry.file_type().unwrap().is_dir() {
            true if FOREIGN.contains(&&*name) => {}
            true => gather(root, &path, paths),
            false => {
                paths.insert(path);
            }
        }
    }
}

fn rust_file(path: &str, text: &str) -> RustFile {
    let source = scan::scan(text);
    let room = path.strip_prefix("crates/").and_then(|rest| rest.split_once('/')).map(|(room, _)| room.to_owned());
    let is_test = path.contains("/tests/");
    let filled = |line: &str| !line.trim().is_empty();
    let lines_filled = text.lines().filter(|line| filled(line)).count();
    let in_tests =
        text.lines().zip(&source.is_test_line).filter(|&(line, &test)| filled(line) && (test || is_test)).count();
    let lines = source.is_test_line.iter().filter(|&&test| !test).count();
    RustFile { path: path.to_owned(), room, source, lines_filled, test_lines_filled: in_tests, lines, is_test }
}
