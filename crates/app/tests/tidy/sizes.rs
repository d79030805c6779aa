//! Sizes: how long files and functions may be, how much a type may hold, and how much of a room is tests.

use std::collections::BTreeMap;

use crate::allowed::Breach;
use crate::house::{House, RustFile};

/// Lines of a file without its inline tests.
const FILE_LINES_MAX: usize = 400;
/// Lines of a function from its `fn` to its last brace.
const FUNCTION_LINES_MAX: usize = 70;
/// Fields of a struct; answers that are only written out have those of their format.
const FIELDS_MAX: usize = 15;
/// Methods of a type in all `impl` blocks of its crate, those of traits included.
const METHODS_MAX: usize = 40;
/// Rooms whose tests are at least so many hundredths of their code, in lines that are not blank.
const TESTS_MIN: [(&str, usize); 2] = [("crawler", 50), ("policy", 50)];

pub fn long_files(house: &House) -> Vec<Breach> {
    let long = house.code().filter(|file| file.lines > FILE_LINES_MAX);
    let breach = |file: &RustFile| Breach {
        place: file.path.clone(),
        amount: file.lines,
        detail: format!("{} lines, at most {FILE_LINES_MAX} are allowed", file.lines),
    };
    long.map(breach).collect()
}

pub fn long_functions(house: &House) -> Vec<Breach> {
    let mut breaches = Vec::new();
    for file in house.code() {
        for function in &file.source.functions {
            if function.lines > FUNCTION_LINES_MAX && !file.source.is_test_line[function.line - 1] {
                let owner = function.owner.as_ref().map_or(String::new(), |owner| format!("{owner}::"));
                breaches.push(Breach {
                    place: format!("{}: {owner}{}", file.path, function.name),
                    amount: function.lines,
                    detail: format!("{} lines, at most {FUNCTION_LINES_MAX} are allowed", function.lines),
                });
            }
        }
    }
    breaches
}

pub fn many_fields(house: &House) -> Vec<Breach> {
    let mut breaches = Vec::new();
    for file in house.code() {
        for kind in file.source.types.iter().filter(|kind| kind.fields.len() > FIELDS_MAX && !kind.is_answer) {
            breaches.push(Breach {
                place: format!("{}: {}", file.path, kind.name),
                amount: kind.fields.len(),
                detail: format!("{} fields, at most {FIELDS_MAX} are allowed", kind.fields.len()),
            });
        }
    }
    breaches
}

pub fn many_methods(house: &House) -> Vec<Breach> {
    let mut definitions: BTreeMap<(&str, &str), Vec<&str>> = BTreeMap::new();
    for file in house.code() {
        for kind in &file.source.types {
            definitions.entry((crate_of(&file.path), &kind.name)).or_default().push(&file.path);
        }
    }
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for file in house.code() {
        for function in file.source.functions.iter().filter(|one| !file.source.is_test_line[one.line - 1]) {
            let Some(owner) = &function.owner else { continue };
            let Some(paths) = definitions.get(&(crate_of(&file.path), &**owner)) else { continue };
            *counts.entry(format!("{}: {owner}", nearest(&file.path, paths))).or_default() += 1;
        }
    }
    let breach = |(place, amount)| Breach {
        place,
        amount,
        detail: format!("{amount} methods, at most {METHODS_MAX} are allowed"),
    };
    counts.into_iter().filter(|&(_, amount)| amount > METHODS_MAX).map(breach).collect()
}

/// Rooms with too few tests; the amount is what lacks, in hundredths of the room's code.
pub fn few_tests(house: &House) -> Vec<Breach> {
    let mut breaches = Vec::new();
    for (room, least) in TESTS_MIN {
        let files = || house.rust.iter().filter(|file| file.room.as_deref() == Some(room));
        let tests: usize = files().map(|file| file.test_lines_filled).sum();
        let code: usize = files().map(|file| file.lines_filled - file.test_lines_filled).sum();
        let hundredths = tests * 100 / code;
        if hundredths < least {
            let detail =
                format!("{tests} lines of tests for {code} lines of code, 0.{hundredths:02} where 0.{least} is wanted");
            breaches.push(Breach { place: format!("crates/{room}"), amount: least - hundredths, detail });
        }
    }
    breaches
}

fn crate_of(path: &str) -> &str {
    let end = path.match_indices('/').nth(if path.starts_with("crates/") { 1 } else { 0 });
    end.map_or(path, |(end, _)| &path[..end])
}

/// Of several definitions of one name, the one that shares the longest way with the file that implements something for it.
fn nearest<'a>(file: &str, definitions: &[&'a str]) -> &'a str {
    let shared = |path: &&&str| path.bytes().zip(file.bytes()).take_while(|(one, other)| one == other).count();
    definitions.iter().max_by_key(shared).copied().unwrap_or_default()
}
