//! The names of the files of an export into a folder: of a page always the same, never out of the folder, and never two that a disk
//! without capital letters would take for one.

use vernal_model::Url;
use xxhash_rust::xxh3::xxh3_64;

/// A longer name is cut, and a mark of the whole takes the place of the rest.
const NAME_BYTES_MAX: usize = 120;
/// Deeper folders become one, named by a mark of them all.
const FOLDERS_MAX: usize = 12;
/// A path that is longer in all is cut in the same way.
const PATH_BYTES_MAX: usize = 600;

/// The path of a page's file in the folder. `is_second`: another page has the same URL but for its scheme, and had it first.
pub fn file_name(url: &Url, is_second: bool) -> String {
    let whole = mark(url.as_str());
    let mut parts = url.path().split('/').skip(1).collect::<Vec<_>>();
    let last = parts.pop().unwrap_or_default();
    let mut path = safe(url.site_text(), true);
    let folders: Vec<String> = parts.iter().map(|part| safe(part, true)).collect();
    let bytes: usize = folders.iter().map(|folder| folder.len() + 1).sum();
    if folders.len() > FOLDERS_MAX || bytes > PATH_BYTES_MAX {
        path = format!("{path}/~{}", mark(&parts.join("/")));
    } else {
        for folder in folders {
            path = format!("{path}/{folder}");
        }
    }
    let name = match last {
        "" => "index".to_owned(),
        // `/roses/` has the plain name.
        last if last.eq_ignore_ascii_case("index") => format!("{}~{}", last.to_ascii_lowercase(), mark(last)),
        last => safe(last, false),
    };
    // What a query asks for is no name, and it may be as long as it likes.
    let is_marked = url.query().is_some() || is_second;
    if is_marked { format!("{path}/{name}~{whole}.md") } else { format!("{path}/{name}.md") }
}

/// A name that every file system takes as it is. Where that changes it, a mark of the original is added, so that two different
/// names stay different.
fn safe(name: &str, is_folder: bool) -> String {
    let is_plain = |letter: char| {
        letter.is_ascii_lowercase() || letter.is_ascii_digit() || matches!(letter, '.' | '-' | '_' | '+')
    };
    let mut kept: String = name
        .chars()
        .map(|letter| match letter.to_ascii_lowercase() {
            letter if is_plain(letter) => letter,
            // The port of a site.
            ':' if is_folder => '+',
            _ => '_',
        })
        .collect();
    kept.truncate(NAME_BYTES_MAX);
    let is_same = kept == name || is_folder && kept == name.replacen(':', "+", 1);
    let is_taken = kept.is_empty()
        || kept.starts_with('.')
        || kept.ends_with('.')
        || is_folder && kept.ends_with(".md")
        || is_device(&kept);
    if is_same && !is_taken {
        return kept;
    }
    kept.truncate(NAME_BYTES_MAX - 17);
    // A name of points alone would lead out of the folder.
    let kept = kept.trim_matches('.');
    format!("{kept}~{}", mark(name))
}

/// Names that some systems keep for themselves, with any ending.
fn is_device(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or_default();
    let is_port = |prefix: &str| stem.strip_prefix(prefix).is_some_and(|rest| rest.len() == 1 && rest != "0");
    matches!(stem, "con" | "prn" | "aux" | "nul") || is_port("com") || is_port("lpt")
}

fn mark(text: &str) -> String {
    format!("{:016x}", xxh3_64(text.as_bytes()))
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;

    use super::*;

    fn name(url: &str) -> String {
        file_name(&Url::parse(url).unwrap(), false)
    }

    #[test]
    fn plain_paths_keep_their_names() {
        for (url, expected) in [
            ("https://port.example/mooring.html", "port.example/mooring.html.md"),
            ("https://port.example/", "port.example/index.md"),
            ("http://127.0.0.1:8080/a/b/", "127.0.0.1+8080/a/b/index.md"),
            ("https://port.example/a.md/b", "port.example/a.md~"),
            ("https://port.example/Harbour", "port.example/harbour~"),
            ("https://port.example/con.html", "port.example/con.html~"),
            ("https://port.example/list?page=2", "port.example/list~"),
            ("https://port.example/index", "port.example/index~"),
        ] {
            let found = name(url);
            assert!(found == expected || expected.ends_with('~') && found.starts_with(expected), "{url}: {found}");
        }
        let url = Url::parse("https://port.example/a").unwrap();
        assert_ne!(file_name(&url, true), file_name(&url, false));
    }

    proptest! {
        #[test]
        fn names_stay_in_the_folder_and_apart(paths in proptest::collection::vec("[a-bA-B./%?~é:-]{0,12}", 2..40)) {
            let mut known: HashMap<String, String> = HashMap::new();
            for path in paths {
                let Ok(url) = Url::parse(&format!("https://port.example/{path}")) else { continue };
                let found = file_name(&url, false);
                prop_assert!(found.starts_with("port.example/") && found.ends_with(".md"), "{found}");
                for part in found.split('/') {
                    prop_assert!(!part.is_empty() && part != "." && part != ".." && part.len() <= 160, "{found}");
                    prop_assert!(part.bytes().all(|byte| byte.is_ascii_graphic() && !b"\\:*?\"<>|%".contains(&byte)), "{found}");
                    prop_assert!(!part.bytes().any(|byte| byte.is_ascii_uppercase()), "{found}");
                }
                // No file has the name of a folder.
                let known_as = known.insert(found.clone(), url.to_string());
                prop_assert!(known_as.is_none_or(|other| other == url.as_str()), "{found}");
                let folders: Vec<&str> = found.split('/').rev().skip(1).collect();
                prop_assert!(folders.iter().all(|folder| !folder.ends_with(".md")), "{found}");
            }
        }
    }
}
