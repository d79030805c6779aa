//! Walls: which room may use which, where the async runtime may appear, and that modules are laid out in one way.

use crate::allowed::Breach;
use crate::house::{House, RustFile, module_folder};

/// The rooms, each with those it may use, as docs/ARCHITECTURE.md has them. `app` may use everything.
const ROOMS: &[(&str, &[&str])] = &[
    ("model", &[]),
    ("frontier", &["model"]),
    ("policy", &["model"]),
    ("document", &["model"]),
    ("repository", &["model"]),
    ("fetch", &["model", "document"]),
    ("crawler", &["model", "frontier", "document", "repository", "policy"]),
    ("search", &["model", "document", "repository"]),
    ("archive", &["model", "document", "repository"]),
    ("watch", &["model", "document", "repository"]),
    ("api", &["model", "document", "repository", "policy", "search", "archive", "watch", "crawler"]),
    ("dashboard", &[]),
    ("extract", &["model", "document"]),
    ("render", &["model", "document", "fetch"]),
    ("cluster", &["model", "repository", "crawler"]),
    ("simulator", &["model", "document", "repository", "policy", "crawler"]),
];

/// Rooms, or folders of one, in which the async runtime may appear.
const ASYNC: &[&str] = &["fetch", "api", "dashboard", "watch", "render", "cluster", "app", "simulator/src/serve"];

/// Crates that bring an async runtime or its types.
const RUNTIMES: [&str; 9] =
    ["tokio", "tokio_rustls", "tokio_util", "hyper", "hyper_util", "axum", "futures_util", "h2", "tower"];

/// Heavy libraries, each with the one room that may depend on it.
const HEAVY: [(&str, &str); 2] = [("tantivy", "search"), ("parquet", "archive")];

pub fn breached(house: &House) -> Vec<Breach> {
    let mut breaches = Vec::new();
    for room in house.rooms() {
        let manifest = house.text(&format!("crates/{room}/Cargo.toml"));
        let allowed = ROOMS.iter().find(|(name, _)| *name == room).map(|(_, allowed)| *allowed);
        if allowed.is_none() && room != "app" {
            breaches.push(Breach::at(format!("crates/{room}"), "this room is not in the table of walls"));
        }
        for (section, dependency) in dependencies(&manifest) {
            let place = format!("{room} {section} {dependency}");
            let used = dependency.strip_prefix("vernal-");
            if used.is_some_and(|used| allowed.is_some_and(|allowed| !allowed.contains(&used))) {
                breaches.push(Breach::at(&*place, "the table of walls does not allow this"));
            }
            if HEAVY.iter().any(|&(library, home)| library == dependency && home != room) {
                breaches.push(Breach::at(&*place, "this library belongs to another room"));
            }
        }
    }
    breaches
}

/// Files that are async, or name the runtime, where neither may be.
pub fn async_breached(house: &House) -> Vec<Breach> {
    let mut breaches = Vec::new();
    for file in house.code().filter(|file| file.room.is_some() && file.path.contains("/src/")) {
        let below = file.path.trim_start_matches("crates/");
        if ASYNC.iter().any(|place| below.strip_prefix(place).is_some_and(|rest| rest.starts_with(['/', '.']))) {
            continue;
        }
        let names_it = |word: &str| word == "async" || word == "await" || RUNTIMES.contains(&word);
        if let Some(token) = file.source.tokens.iter().find(|token| names_it(&token.text)) {
            breaches.push(Breach::at(&*file.path, format!("line {}: {} is not for this room", token.line, token.text)));
        }
    }
    breaches
}

/// Modules with a folder whose front page lies beside it instead of in it.
pub fn modules_beside_their_folder(house: &House) -> Vec<Breach> {
    let has_folder = |file: &&RustFile| {
        let folder = format!("{}/", module_folder(&file.path));
        let is_root = ["/mod.rs", "/lib.rs", "/main.rs"].iter().any(|name| file.path.ends_with(name));
        !is_root
            && file.path.contains("/src/")
            // Long tests may lie beside their part: they make no folder of modules.
            && house.paths.iter().any(|path| {
                path.strip_prefix(&folder).is_some_and(|below| below.ends_with(".rs") && below != "tests.rs")
            })
    };
    let breach = |file: &RustFile| {
        let detail = format!("the front page of a folder is its mod.rs: {}/mod.rs", module_folder(&file.path));
        Breach::at(&*file.path, detail)
    };
    house.rust.iter().filter(has_folder).map(breach).collect()
}

/// Front pages of folders that hold functions; they are for prose, `mod` lines and exports.
pub fn front_pages_with_logic(house: &House) -> Vec<Breach> {
    let mut breaches = Vec::new();
    for file in house.code().filter(|file| file.path.ends_with("/mod.rs")) {
        let functions = file.source.functions.iter().filter(|function| !file.source.is_test_line[function.line - 1]);
        let amount = functions.count();
        if amount > 0 {
            breaches.push(Breach {
                place: file.path.clone(),
                amount,
                detail: format!("{amount} functions in a front page"),
            });
        }
    }
    breaches
}

/// Dependencies of a manifest, each with the section that names it.
fn dependencies(manifest: &str) -> Vec<(String, String)> {
    let mut section = String::new();
    let mut found = Vec::new();
    for line in manifest.lines().map(str::trim) {
        if let Some(name) = line.strip_prefix('[') {
            section = name.trim_end_matches(']').to_owned();
        } else if section.ends_with("dependencies") && !line.is_empty() && !line.starts_with('#') {
            let name = line.split(['.', '=', ' ']).next().unwrap_or_default();
            found.push((section.clone(), name.to_owned()));
        }
    }
    found
}
