//! The texts that are sent where no template was given.

use serde_json::Value;

use super::fields::{diff_link, encoded, event, fields};
use super::language::{Escape, Template};
use crate::outbox::{Delivery, Reason};
use crate::told::{Paragraph, Told};

/// A webhook's body; beyond this its events come brief.
const JSON_BYTES_MAX: usize = 256 << 10;
/// Paragraphs of one event that a mail shows.
const PARAGRAPHS_MAX: usize = 20;
/// Letters of one side of a paragraph in a mail.
const SIDE_LETTERS_MAX: usize = 1_000;
const SUBJECT_LETTERS_MAX: usize = 150;
/// Letters of a line in a chat.
const CHAT_LETTERS_MAX: usize = 600;
/// Events that one message of a chat names.
const CHAT_EVENTS_MAX: usize = 10;

/// The parts of a mail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MailText {
    pub subject: String,
    pub text: String,
    pub html: String,
}

/// The body of a webhook: `{"delivery","watch","reason","line","events":[…],"more","link"}`.
pub fn json(delivery: &Delivery, links: Option<&str>) -> String {
    let alert = &delivery.alert;
    let body = |events: Vec<Value>, brief: bool| {
        serde_json::json!({
            "delivery": delivery.id,
            "watch": { "id": delivery.watch, "name": delivery.watch_name },
            "reason": alert.reason.name(),
            "line": alert.line(),
            "events": events,
            "brief": brief,
            "more": alert.more,
            "link": more_link(delivery, links),
        })
        .to_string()
    };
    let whole = body(alert.events.iter().map(|told| event(told, links)).collect(), false);
    if whole.len() <= JSON_BYTES_MAX {
        return whole;
    }
    let brief = |told: &Told| {
        serde_json::json!({ "id": told.id, "cursor": told.cursor, "event": told.event, "url": told.url, "site": told.site,
            "line": told.line(), "diff_link": diff_link(told, links) })
    };
    body(alert.events.iter().map(brief).collect(), true)
}

/// A message of a chat: a line for each event.
pub fn chat(delivery: &Delivery, links: Option<&str>) -> String {
    let alert = &delivery.alert;
    let mut lines = vec![bounded(&format!("{}: {}", delivery.watch_name, alert.line()), CHAT_LETTERS_MAX)];
    let is_single = alert.events.len() == 1;
    for told in alert.events.iter().take(CHAT_EVENTS_MAX) {
        match is_single {
            true => lines.push(diff_link(told, links)),
            false => lines.push(bounded(&format!("{}: {} {}", told.name(), told.line(), told.url), CHAT_LETTERS_MAX)),
        }
    }
    let more = alert.more + alert.events.len().saturating_sub(CHAT_EVENTS_MAX) as u64;
    if more > 0 {
        lines.push(format!("and {more} more"));
    }
    lines.join("\n")
}

/// A mail by the template, or the built-in one.
pub fn mail(delivery: &Delivery, template: Option<&Template>, links: Option<&str>) -> MailText {
    let subject = match &delivery.alert.events[..] {
        [told] => format!("{}: {}", told.name(), told.line()),
        _ => format!("{}: {}", delivery.watch_name, delivery.alert.line()),
    };
    let Some(template) = template else {
        return MailText { subject: subject_line(&subject), text: text(delivery, links), html: html(delivery, links) };
    };
    let written = template.write(&fields(delivery, links), Escape::None);
    let (subject, text) = match written.strip_prefix("Subject:") {
        Some(rest) => rest
            .split_once('\n')
            .map_or((rest.to_owned(), String::new()), |(subject, text)| (subject.to_owned(), text.to_owned())),
        None => (subject, written),
    };
    // An alert without a word in it says nothing; the built-in text does.
    let text = if text.trim().is_empty() { self::text(delivery, links) } else { text };
    let html = format!("<pre style=\"white-space:pre-wrap;font:inherit\">{}</pre>", html_escaped(&text));
    MailText { subject: subject_line(&subject), text, html }
}

/// One line without control characters, so that nothing that a site wrote begins another header.
pub fn subject_line(text: &str) -> String {
    let line: String = text.chars().map(|letter| if is_unsafe(letter) { ' ' } else { letter }).collect();
    let words: Vec<&str> = line.split_whitespace().collect();
    bounded(&words.join(" "), SUBJECT_LETTERS_MAX)
}

/// Control characters, and those that turn the direction of a line.
fn is_unsafe(letter: char) -> bool {
    letter.is_control()
        || matches!(letter, '\u{2028}' | '\u{2029}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

pub fn html_escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            letter if is_unsafe(letter) && letter != '\n' => out.push(' '),
            letter => out.push(letter),
        }
    }
    out
}

fn bounded(text: &str, letters_max: usize) -> String {
    match text.char_indices().nth(letters_max) {
        Some((end, _)) => format!("{}…", text[..end].trim_end()),
        None => text.to_owned(),
    }
}

/// Text from a page as one that cannot turn a line.
fn plain(text: &str) -> String {
    text.chars().map(|letter| if is_unsafe(letter) && letter != '\n' { ' ' } else { letter }).collect()
}

/// The feed from the first event of a digest on; nothing where nobody serves it.
fn more_link(delivery: &Delivery, links: Option<&str>) -> Option<String> {
    let (links, since) = (links?, delivery.alert.since.as_deref()?);
    Some(format!("{links}/api/v1/changes?since={}", encoded(since)))
}

fn text(delivery: &Delivery, links: Option<&str>) -> String {
    let alert = &delivery.alert;
    let mut out = String::new();
    if alert.reason != Reason::Changed || alert.events.is_empty() {
        out.push_str(&format!("{}\n\n", plain(&alert.line())));
    }
    let mut site = "";
    for told in &alert.events {
        if alert.reason == Reason::Digest && told.site != site {
            out.push_str(&format!("== {} ==\n\n", plain(&told.site)));
            site = &told.site;
        }
        out.push_str(&format!("{}\n{}\n", plain(told.name()), plain(&told.line())));
        if let Some(seen) = seen(told) {
            out.push_str(&format!("{seen}\n"));
        }
        for paragraph in shown(told) {
            let above =
                paragraph.headings.last().map_or_else(String::new, |heading| format!(" under {}", plain(heading)));
            out.push_str(&format!("\n{}{above}:\n", op(paragraph)));
            for (sign, side) in [("-", &paragraph.before), ("+", &paragraph.after)] {
                let Some(side) = side.as_ref().filter(|side| !side.trim().is_empty()) else { continue };
                out.push_str(&format!("{sign} {}\n", plain(&bounded(side, SIDE_LETTERS_MAX))));
            }
        }
        if let Some(left_out) = left_out(told) {
            out.push_str(&format!("\n{left_out}\n"));
        }
        out.push_str(&format!("\n{}\n\n", diff_link(told, links)));
    }
    if alert.more > 0 {
        let link = more_link(delivery, links).unwrap_or_default();
        out.push_str(&format!("And {} more. {link}\n\n", alert.more));
    }
    out.push_str(&format!("-- \nThe watch {} ({}) told this.\n", plain(&delivery.watch_name), delivery.watch));
    out
}

fn html(delivery: &Delivery, links: Option<&str>) -> String {
    let alert = &delivery.alert;
    let mut out = String::from("<div style=\"font-family:sans-serif;max-width:42em\">");
    if alert.reason != Reason::Changed || alert.events.is_empty() {
        out.push_str(&format!("<p>{}</p>", html_escaped(&alert.line())));
    }
    let mut site = "";
    for told in &alert.events {
        if alert.reason == Reason::Digest && told.site != site {
            out.push_str(&format!("<h2>{}</h2>", html_escaped(&told.site)));
            site = &told.site;
        }
        let link = html_escaped(&diff_link(told, links));
        out.push_str(&format!("<h3><a href=\"{link}\">{}</a></h3>", html_escaped(told.name())));
        out.push_str(&format!("<p>{}</p>", html_escaped(&told.line())));
        if let Some(seen) = seen(told) {
            out.push_str(&format!("<p style=\"color:#666\">{}</p>", html_escaped(&seen)));
        }
        for paragraph in shown(told) {
            let above = paragraph.headings.last().map_or_else(String::new, |heading| format!(" under {heading}"));
            out.push_str(&format!("<p><b>{}</b>{}</p>", op(paragraph), html_escaped(&above)));
            for (tag, side) in [("del", &paragraph.before), ("ins", &paragraph.after)] {
                let Some(side) = side.as_ref().filter(|side| !side.trim().is_empty()) else { continue };
                let side = html_escaped(&bounded(side, SIDE_LETTERS_MAX));
                out.push_str(&format!("<blockquote><{tag}>{side}</{tag}></blockquote>"));
            }
        }
        if let Some(left_out) = left_out(told) {
            out.push_str(&format!("<p>{left_out}</p>"));
        }
    }
    if alert.more > 0 {
        let link = more_link(delivery, links)
            .map_or_else(String::new, |link| format!(" <a href=\"{}\">All of them</a>", html_escaped(&link)));
        out.push_str(&format!("<p>And {} more.{link}</p>", alert.more));
    }
    let (name, id) = (html_escaped(&delivery.watch_name), html_escaped(&delivery.watch));
    out.push_str(&format!("<p style=\"color:#666\">The watch {name} ({id}) told this.</p></div>"));
    out
}

fn shown(told: &Told) -> impl Iterator<Item = &Paragraph> {
    told.paragraphs.iter().filter(|paragraph| paragraph.has_words()).take(PARAGRAPHS_MAX)
}

/// That a mail shows not every paragraph.
fn left_out(told: &Told) -> Option<String> {
    let readable = told.paragraphs.iter().filter(|paragraph| paragraph.has_words()).count();
    match readable.saturating_sub(PARAGRAPHS_MAX) {
        0 if told.cut => Some("There is more: the page has all of it.".to_owned()),
        0 => None,
        more => Some(format!("And {more} more paragraphs.")),
    }
}

fn op(paragraph: &Paragraph) -> String {
    let name = serde_json::to_value(paragraph.op).ok();
    let name = name.as_ref().and_then(Value::as_str).unwrap_or("changed");
    let mut letters = name.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

fn seen(told: &Told) -> Option<String> {
    let different = told.versions.seen_different.as_ref()?;
    Some(match &told.versions.seen_same {
        Some(same) => format!("Between {same} and {different}"),
        None => format!("Seen {different}"),
    })
}
