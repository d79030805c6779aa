//! What an event says in one line, in the words of a person.

use serde_json::Value;

use super::printed_list::cell;
use crate::output::quoted;

/// What a row shows of the words that came and went.
const WORDS_LETTERS_MAX: usize = 40;
/// Words before and behind those that differ, which say what they are about, and how long they may be.
const WORDS_BESIDE: usize = 2;
const BESIDE_LETTERS_MAX: usize = 16;
/// Letters that stay before those that differ where words are not divided.
const LETTERS_BEFORE: usize = 8;
/// The beginning of a fingerprint that stands for what differs where there is nothing to read.
const MARK: &str = "mark ";
/// What notes call the files that a page uses, and what people call them.
const REQUISITES: [(&str, &str); 3] =
    [("image bytes", "picture"), ("style sheet bytes", "style sheet"), ("script bytes", "script")];

/// The first words that differ, and how much more there is; else what else there is to read.
pub fn what(event: &Value) -> String {
    match event["event"].as_str() {
        Some("joined") => return format!("a second name of {}", cell(event, "detail")),
        Some("parted") => return "stands on its own again".to_owned(),
        Some("imported") if rows(event, "paragraphs").is_empty() => return "a version from before".to_owned(),
        _ => {}
    }
    let (paragraphs, notes) = (rows(event, "paragraphs"), rows(event, "notes"));
    let has_words = |one: &&Value| !one["before"].is_null() || !one["after"].is_null();
    let told = paragraphs.iter().filter(has_words);
    let first = told.clone().find(|one| one["op"] != "moved").or_else(|| told.clone().next());
    let first = match (first, notes.first(), rows(event, "noise").first()) {
        (Some(paragraph), ..) => of_paragraph(paragraph),
        (None, Some(note), _) => of_note(event, note),
        (None, None, Some(aside)) => {
            format!("{}: {}", cell(aside, "detector"), brief(&aside["before"], &aside["after"]))
        }
        (None, None, None) => return cell(event, "detail"),
    };
    let first = match event["pages"].as_u64() {
        Some(pages) => format!("on {pages} pages: {first}"),
        None => first,
    };
    match (paragraphs.len() + notes.len()).saturating_sub(1) {
        0 => first,
        more => format!("{first} (and {more} more)"),
    }
}

fn of_paragraph(paragraph: &Value) -> String {
    let (before, after) = (&paragraph["before"], &paragraph["after"]);
    let words = |text: &Value| quoted(&text.as_str().unwrap_or_default().replace('\n', " "), WORDS_LETTERS_MAX);
    let parts = rows(paragraph, "parts").len();
    match paragraph["op"].as_str().unwrap_or_default() {
        "moved" => {
            let is_up = paragraph["from"].as_u64() > paragraph["position"].as_u64();
            let moved = match parts {
                0 if is_up => "moved up".to_owned(),
                0 => "moved down".to_owned(),
                items => format!("{items} items in another order"),
            };
            let changed = if before == after { words(after) } else { brief(before, after) };
            format!("{moved}: {changed}")
        }
        "split" => format!("split in {parts}: {}", words(after)),
        "merged" => format!("{parts} joined: {}", words(after)),
        _ => brief(before, after),
    }
}

fn of_note(event: &Value, note: &Value) -> String {
    let (what, after) = (cell(note, "what"), note["after"].as_str().unwrap_or_default());
    let is_unreadable = |side: &str| note[side].as_str().is_some_and(|text| text.contains(MARK));
    if let Some((_, name)) = REQUISITES.iter().find(|(known, _)| *known == what) {
        return requisite(name, note["before"].as_str().unwrap_or_default(), after);
    }
    if is_unreadable("before") && is_unreadable("after") {
        let is_file = after.starts_with("0 paragraphs");
        let is_picture = event["content_type"].as_str().is_some_and(|kind| kind.starts_with("image/"));
        return match (is_file, what.as_str()) {
            (true, _) => {
                let name = if is_picture { "picture" } else { "file" };
                format!("{} has other bytes", named_file(name, event["url"].as_str().unwrap_or_default(), ""))
            }
            (false, what) => format!("{what} changed; nothing in it can be read"),
        };
    }
    if note["before"] == note["after"] {
        return format!("{what}: others, and as many as before");
    }
    format!("{what}: {}", sides(&note["before"], &note["after"]))
}

/// A picture, a style sheet or a script whose bytes differ: its address, what it shows where that is said, and its size.
fn requisite(what: &str, before: &str, after: &str) -> String {
    let (address, rest) = after.split_once([' ', ',']).unwrap_or((after, ""));
    let shows = rest.strip_prefix('(').and_then(|rest| rest.rsplit_once("),")).map_or("", |(shows, _)| shows);
    let named = named_file(what, address.trim_end_matches(','), shows);
    let size = |side: &str| side.trim_end_matches(", other bytes").rsplit_once(", ").map(|(_, size)| size.to_owned());
    match (size(before), size(after)) {
        (Some(old), Some(new)) if old != new => format!("{named}: {old} → {new}"),
        _ => format!("{named} has other bytes"),
    }
}

/// Both sides of a note: whole if they are short, such as "34 kB PNG 640×480", else the words that differ.
fn sides(before: &Value, after: &Value) -> String {
    let texts = [before, after].map(|side| side.as_str().unwrap_or_default());
    let is_short = texts.iter().all(|side| !side.is_empty() && side.chars().count() <= WORDS_LETTERS_MAX);
    if is_short { format!("{} → {}", texts[0], texts[1]) } else { brief(before, after) }
}

/// A file by the last part of its address.
fn named_file(what: &str, address: &str, shows: &str) -> String {
    let path = address.split(['?', '#']).next().unwrap_or_default();
    let name = path.trim_end_matches('/').rsplit('/').next().unwrap_or(path);
    let shows = if shows.is_empty() { String::new() } else { format!(" {}", quoted(shows, WORDS_LETTERS_MAX)) };
    format!("{what} {}{shows}", quoted(name, WORDS_LETTERS_MAX))
}

fn rows<'a>(event: &'a Value, name: &str) -> &'a [Value] {
    event[name].as_array().map_or(&[], Vec::as_slice)
}

/// Two texts without most of the words that they begin and end with alike. The nearest of those stay, because "286 → 287" says nothing
/// and "286 → 287 posts" does.
fn brief(before: &Value, after: &Value) -> String {
    let words = |text: &'_ Value| -> Vec<String> {
        text.as_str().unwrap_or_default().split_whitespace().map(str::to_owned).collect()
    };
    let (old, new) = (words(before), words(after));
    let head = old.iter().zip(&new).take_while(|(one, other)| one == other).count();
    let rest = old.len().min(new.len()) - head;
    let tail = old.iter().rev().zip(new.iter().rev()).take(rest).take_while(|(one, other)| one == other).count();
    let differing = |words: &[String]| words[head..words.len() - tail].join(" ");
    let (left, come) = (differing(&old), differing(&new));
    let alike = letters_alike(&left, &come);
    let cut = |text: &str| match alike {
        0 => quoted(text, WORDS_LETTERS_MAX),
        alike => format!("…{}", quoted(&text[alike..], WORDS_LETTERS_MAX)),
    };
    match (cut(&left), cut(&come)) {
        (old, new) if old.is_empty() && new.is_empty() => "the same words, divided in another way".to_owned(),
        (old, new) if old.is_empty() => format!("added: {new}"),
        (old, new) if new.is_empty() => format!("removed: {old}"),
        (changed, into) => {
            let before = context(old[..head].iter().rev().take(WORDS_BESIDE));
            let behind = context(old[old.len() - tail..].iter().take(WORDS_BESIDE));
            let words: Vec<String> =
                before.into_iter().rev().chain([format!("{changed} → {into}")]).chain(behind).collect();
            words.join(" ")
        }
    }
}

/// How many bytes at the beginning of two texts need not be shown, because the difference would be cut off: texts of East Asia
/// have no blanks between their words.
fn letters_alike(one: &str, other: &str) -> usize {
    let is_long = [one, other].iter().all(|text| text.chars().count() > WORDS_LETTERS_MAX);
    let same = one.char_indices().zip(other.chars()).take_while(|((_, letter), other)| letter == other);
    let places: Vec<usize> = same.map(|((at, _), _)| at).collect();
    match is_long {
        true => places.len().checked_sub(LETTERS_BEFORE).and_then(|place| places.get(place).copied()).unwrap_or(0),
        false => 0,
    }
}

/// These words, as far as there is room for them.
fn context<'w>(words: impl Iterator<Item = &'w String>) -> Vec<String> {
    let mut room = BESIDE_LETTERS_MAX;
    let fits = words.map_while(|word| {
        room = room.checked_sub(word.chars().count())?;
        Some(quoted(word, WORDS_LETTERS_MAX))
    });
    fits.collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_row_shows_only_the_words_that_differ() {
        let told = |before: &str, after: &str| brief(&before.into(), &after.into());
        assert_eq!(told("It costs €9.99 a month.", "It costs €12.99 a month."), "It costs €9.99 → €12.99 a month.");
        assert_eq!(told("286 posts", "287 posts"), "286 → 287 posts");
        let long = |rate: &str| format!("On Thursday the bank said that the key interest rate is {rate} % from now on");
        assert_eq!(told(&long("3.25"), &long("4.00")), "rate is 3.25 → 4.00 % from");
        let hours = |hour: &str| format!("{}我们每天早上{hour}点开门", "图书馆在河边的老房子里，".repeat(5));
        assert_eq!(told(&hours("八"), &hours("九")), "…里，我们每天早上八点开门 → …里，我们每天早上九点开门");
        let unbroken = "ab".repeat(99);
        assert_eq!(told(&format!("{unbroken} 1 {unbroken}"), &format!("{unbroken} 2 {unbroken}")), "1 → 2");
        assert_eq!(told("a b", "a b c"), "added: c");
        assert_eq!(told("a b c", "a c"), "removed: b");
        assert_eq!(brief(&Value::Null, &"New words".into()), "added: New words");
        assert_eq!(told("a a", "a a a"), "added: a");
    }

    #[test]
    fn a_move_a_split_and_a_merge_are_said_in_words() {
        let moved = |from: u32, position: u32, parts: u32| {
            let parts: Vec<Value> = (0..parts).map(|position| json!({ "position": position })).collect();
            let one = json!({ "op": "moved", "from": from, "position": position, "parts": parts,
                "before": "The words.", "after": "The words." });
            what(&json!({ "paragraphs": [one], "notes": [] }))
        };
        assert_eq!(moved(5, 2, 0), "moved up: The words.");
        assert_eq!(moved(2, 5, 0), "moved down: The words.");
        assert_eq!(moved(2, 5, 3), "3 items in another order: The words.");
        let parts = json!([{}, {}]);
        let split = json!({ "op": "split", "parts": parts, "before": "One. Two.", "after": "One.\nTwo." });
        assert_eq!(what(&json!({ "paragraphs": [split] })), "split in 2: One. Two.");
        let merged = json!({ "op": "merged", "parts": parts, "before": "One.\nTwo.", "after": "One. Two." });
        assert_eq!(what(&json!({ "paragraphs": [merged] })), "2 joined: One. Two.");
    }

    #[test]
    fn a_picture_has_other_bytes_and_no_fingerprint_is_shown() {
        let note = |what: &str, before: &str, after: &str| json!({ "what": what, "before": before, "after": after });
        let shown = |content_type: &str, note: Value| {
            what(
                &json!({ "url": "http://a.example/img/p.png?x", "content_type": content_type, "paragraphs": [], "notes": [note] }),
            )
        };
        let image = |before: &str, after: &str| {
            let address = "http://a.example/b.png";
            shown("text/html", note("image bytes", &format!("{address}{before}"), &format!("{address}{after}")))
        };
        let grown = image(", 34 kB", " (a red bus, at night), 36 kB");
        assert_eq!(grown, "picture b.png a red bus, at night: 34 kB → 36 kB");
        assert_eq!(image(", 34 kB", ", 34 kB, other bytes"), "picture b.png has other bytes");
        let style = note("style sheet bytes", "http://a.example/s.css, 1.2 kB", "http://a.example/s.css, 1.3 kB");
        assert_eq!(shown("text/html", style), "style sheet s.css: 1.2 kB → 1.3 kB");
        let gone = note("script bytes", "http://a.example/s.js, there", "http://a.example/s.js, gone");
        assert_eq!(shown("text/html", gone), "script s.js: there → gone");
        let bytes = |what: &str| note(what, "0 paragraphs, mark f0ec", "0 paragraphs, mark dca4");
        assert_eq!(shown("image/png", bytes("text")), "picture p.png has other bytes");
        assert_eq!(shown("application/zip", bytes("text")), "file p.png has other bytes");
        assert_eq!(
            shown("text/html", note("looks", "mark f0ec", "mark dca4")),
            "looks changed; nothing in it can be read"
        );
    }

    #[test]
    fn a_change_of_many_pages_says_on_how_many() {
        let edited = json!({ "op": "edited", "before": "286 posts", "after": "287 posts" });
        assert_eq!(
            what(&json!({ "pages": 257, "paragraphs": [edited], "notes": [] })),
            "on 257 pages: 286 → 287 posts"
        );
    }
}
