//! A verdict in words.

use vernal_model::{Change, DecidedBy, Kinds, Note, Suppressed};

use super::direction::escaped;

/// What is quoted of one side of a note; the whole is in the JSON.
const QUOTED_LETTERS_MAX: usize = 100;
/// Notes and noise told one by one; the rest is counted.
const TOLD_MAX: usize = 20;

/// The verdict as one line.
pub fn verdict(change: &Change, bytes_differ: bool) -> String {
    if !bytes_differ {
        return "the same, byte for byte".into();
    }
    if change.kinds.is_empty() {
        return "other bytes, and nothing in them that a reader or a browser would tell apart".into();
    }
    if change.is_noise() {
        return format!("noise only: {}; nothing is left when noise is set aside", kinds(change.kinds));
    }
    let flapping = if change.flapping { "; flapping: again what it was before" } else { "" };
    let by = decided_by(change.decided_by);
    let magnitude = format!("{} ({:.3})", change.degree.name(), change.magnitude);
    format!("changed: {}; {magnitude}, decided by {by}{flapping}", kinds(change.left))
}

/// What the paragraphs do not say: notes, and what was set aside.
pub fn remarks(change: &Change, noise: &[Suppressed]) -> Vec<String> {
    let mut lines: Vec<String> = change.notes.iter().take(TOLD_MAX).map(note).collect();
    if change.notes.len() > TOLD_MAX {
        lines.push(format!("and {} other differences", change.notes.len() - TOLD_MAX));
    }
    lines.extend(noise.iter().take(TOLD_MAX).map(aside));
    if noise.len() > TOLD_MAX {
        lines.push(format!("and {} other differences set aside", noise.len() - TOLD_MAX));
    }
    lines
}

fn note(note: &Note) -> String {
    format!("{}: {}: {}", note.kind.name(), plain(&note.what), sides(note.before.as_deref(), note.after.as_deref()))
}

fn aside(aside: &Suppressed) -> String {
    let by = match aside.rule {
        Some(rule) => format!("{}, rule {rule}", plain(&aside.detector)),
        None => plain(&aside.detector),
    };
    let told = match (&aside.before, &aside.after) {
        (None, None) => String::new(),
        (before, after) => format!(": {}", sides(before.as_deref(), after.as_deref())),
    };
    format!("set aside as noise: {} ({by}){told}", aside.kind.name())
}

pub fn sides(before: Option<&str>, after: Option<&str>) -> String {
    let side = |text: Option<&str>| text.map_or_else(|| "-".into(), |text| quoted(text, QUOTED_LETTERS_MAX));
    format!("{} → {}", side(before), side(after))
}

pub fn kinds(kinds: Kinds) -> String {
    kinds.iter().map(|kind| kind.name()).collect::<Vec<_>>().join(", ")
}

fn decided_by(by: DecidedBy) -> &'static str {
    match by {
        DecidedBy::Validators => "validators",
        DecidedBy::Digest => "digest",
        DecidedBy::Structure => "structure",
        DecidedBy::Content => "content",
        DecidedBy::Presentation => "presentation",
        DecidedBy::Behaviour => "behaviour",
        DecidedBy::Nothing => "nothing",
    }
}

/// Text from a site, cut short, in one line without control codes.
pub fn quoted(text: &str, letters_max: usize) -> String {
    let mut short = plain(text);
    if let Some((end, _)) = short.char_indices().nth(letters_max) {
        short.truncate(end);
        short.push('…');
    }
    short
}

/// No control characters, and nothing that turns the order of letters.
pub fn plain(text: &str) -> String {
    let safe = |letter: char| match letter {
        letter if letter.is_control() => ' ',
        letter => letter,
    };
    escaped(&text.chars().map(safe).collect::<String>()).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use vernal_model::Kind;

    #[test]
    fn each_verdict_has_its_own_words() {
        let mut change = Change::default();
        assert!(verdict(&change, false).contains("byte for byte"));
        assert!(verdict(&change, true).contains("other bytes"));
        change.kinds.insert(Kind::Content);
        assert!(verdict(&change, true).starts_with("noise only: content"));
        change.left.insert(Kind::Content);
        assert!(verdict(&change, true).starts_with("changed: content; "));
    }

    #[test]
    fn a_quoted_text_is_one_short_line() {
        assert_eq!(quoted("a\x1b[2Jb\u{202e}c", 100), "a [2Jb\\u202ec");
        assert_eq!(quoted("ääää", 2), "ää…");
    }
}
