//! The head of a Markdown file: what is known of the page and its version, as YAML.

use std::fmt::Write;

use vernal_model::Event;

use super::rows::ReadPage;

/// Between two lines of three hyphens.
pub fn front_matter(read: &ReadPage) -> String {
    let fields = &read.fields;
    let mut out = String::from("---\n");
    let mut line = |name: &str, value: &str| {
        let _ = writeln!(out, "{name}: {value}");
    };
    line("url", &quoted(&fields.url));
    line("title", &quoted(&fields.title));
    line("site", &quoted(&fields.site));
    if !fields.tags.is_empty() {
        line("tags", &format!("[{}]", fields.tags.iter().map(|tag| quoted(tag)).collect::<Vec<_>>().join(", ")));
    }
    if !fields.language.is_empty() {
        line("language", &quoted(&fields.language));
    }
    line("page", &quoted(&fields.page));
    line("version", &read.held.version.number.to_string());
    let is_it = |event: &&Event| event.version == Some(read.held.version.number) && event.version != event.previous;
    if let Some(event) = read.held.events.iter().rfind(is_it) {
        let after = event.seen_same.map_or("null".to_owned(), |moment| moment.rfc3339());
        line("changed_between", &format!("[{after}, {}]", event.seen_different.rfc3339()));
    }
    line("digest", &quoted(&read.held.version.payload.to_string()));
    let rights = fields.rights;
    for (name, is_so) in [("noindex", rights.noindex), ("nofollow", rights.nofollow), ("noarchive", rights.noarchive)] {
        if is_so {
            line(name, "true");
        }
    }
    out.push_str("---\n");
    out
}

/// A text that YAML may take for something else, or end, is quoted as JSON is.
fn quoted(text: &str) -> String {
    let is_plain =
        |letter: char| letter.is_alphanumeric() || matches!(letter, ' ' | '.' | '/' | '-' | '_' | '(' | ')' | '\'');
    let begins_well = text.starts_with(|letter: char| letter.is_ascii_alphabetic());
    let is_word = matches!(
        text.to_ascii_lowercase().as_str(),
        "true" | "false" | "yes" | "no" | "on" | "off" | "null" | "y" | "n"
    );
    let is_url =
        text.starts_with("http") && text.contains("://") && !text.contains([' ', '#', '"']) && !text.ends_with(':');
    if is_url || begins_well && !is_word && text.trim() == text && text.chars().all(is_plain) {
        return text.to_owned();
    }
    serde_json::to_string(text).unwrap_or_default().replace('\u{7f}', "\\u007f").replace('\u{85}', "\\u0085")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_yaml_would_read_otherwise_is_quoted() {
        for (text, expected) in [
            ("Mooring terms and conditions", "Mooring terms and conditions"),
            ("https://a.example/b?c=d", "https://a.example/b?c=d"),
            ("12/2", "\"12/2\""),
            ("Fees: 2026", "\"Fees: 2026\""),
            ("yes", "\"yes\""),
            ("a\nb", "\"a\\nb\""),
            ("sha1:ABC", "\"sha1:ABC\""),
            ("", "\"\""),
            ("- x", "\"- x\""),
        ] {
            assert_eq!(quoted(text), expected, "{text}");
        }
    }
}
