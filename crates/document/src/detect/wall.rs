//! Recognises a wall: an answer in front of the page instead of the page. A blocked page has not changed.
//!
//! Every rule requires two things: a mark of the wall, and too little text for a page of its own. A long article about captchas
//! or about 404 is a page.

use vernal_model::{Document, LinkKind, Media, Role, Wall};

use super::wall_words::{
    AFTER_404, CHALLENGE_FRAMES, CHALLENGE_SENTENCES, CHALLENGE_TITLES, LOGIN_WORDS, MISSING_TITLES, PARKING_HOSTS,
    PARKING_SENTENCES, REFUSAL_TITLE, SERVICE_MARKS,
};
use crate::Parsed;
use crate::parse::links::limited;

/// Text outside menus and footers, in bytes, above which a page is never a wall.
const WALL_TEXT_BYTES_MAX: usize = 1_500;

/// The limit for pages that come with status 200 and say that they are missing. They often have a search and some links.
const MISSING_TEXT_BYTES_MAX: usize = 1_200;

/// The text limit of a login page, menus included. A home page with a login form has more.
const LOGIN_TEXT_BYTES_MAX: usize = 1_500;

/// The text limit of a page that counts as empty, for its title and the like.
const EMPTY_TEXT_BYTES_MAX: usize = 100;

/// The length limit of quotations in the evidence.
const QUOTED_BYTES_MAX: usize = 120;

/// Recognises a wall. `headers` gives the value of a header by its lower-case name. Returns the wall and the evidence.
pub fn wall(status: u16, headers: &dyn Fn(&str) -> Option<String>, parsed: Option<&Parsed>) -> Option<(Wall, String)> {
    if let Some(evidence) = challenge_header(headers) {
        return Some((Wall::Bot, evidence));
    }
    if status == 401
        && let Some(scheme) = headers("www-authenticate")
    {
        return Some((Wall::Login, format!("status 401, asks for {}", limited(scheme.trim(), QUOTED_BYTES_MAX))));
    }
    let parsed = parsed.filter(|parsed| parsed.document.media == Media::Html)?;
    let page = PageText::of(parsed);
    if let Some(evidence) = page.bot(status) {
        return Some((Wall::Bot, evidence));
    }
    if let Some(evidence) = page.login(status) {
        return Some((Wall::Login, evidence));
    }
    if !(200..300).contains(&status) {
        return None;
    }
    if let Some(evidence) = page.parking() {
        return Some((Wall::Parking, evidence));
    }
    page.missing().map(|evidence| (Wall::SoftMissing, evidence))
}

/// Headers in which challenge services report what they did.
fn challenge_header(headers: &dyn Fn(&str) -> Option<String>) -> Option<String> {
    [("cf-mitigated", "challenge"), ("x-amzn-waf-action", "challenge"), ("x-amzn-waf-action", "captcha")]
        .into_iter()
        .find(|(name, value)| headers(name).is_some_and(|said| said.trim().eq_ignore_ascii_case(value)))
        .map(|(name, value)| format!("header {name}: {value}"))
}

/// The text that the rules examine, in lower case, only for pages short enough to be a wall.
struct PageText<'a> {
    parsed: &'a Parsed,
    /// Bytes of text outside menus and footers.
    text_bytes: usize,
    /// Title and headings.
    titles: Vec<String>,
    /// All text; empty if the page is too long to be a wall.
    text: String,
}

impl<'a> PageText<'a> {
    fn of(parsed: &'a Parsed) -> Self {
        let document = &parsed.document;
        let text_bytes = main_text_bytes(document);
        let short = text_bytes <= WALL_TEXT_BYTES_MAX;
        let headings = document.paragraphs.iter().filter(|paragraph| paragraph.role == Role::Heading).take(3);
        let headings =
            headings.filter_map(|paragraph| document.text.get(paragraph.start as usize..paragraph.end as usize));
        let titles = std::iter::once(document.title.as_str()).chain(headings).filter(|_| short).map(plain).collect();
        PageText { parsed, text_bytes, titles, text: if short { plain(&document.text) } else { String::new() } }
    }

    fn is_short(&self) -> bool {
        self.text_bytes <= WALL_TEXT_BYTES_MAX
    }

    fn bot(&self, status: u16) -> Option<String> {
        if !self.is_short() {
            return None;
        }
        let refused = matches!(status, 401 | 403 | 405 | 429 | 503);
        let is_marked = SERVICE_MARKS.into_iter().any(|mark| self.text.contains(mark));
        let title = self.titles.iter().find(|title| {
            CHALLENGE_TITLES.iter().any(|words| title.starts_with(words))
                || (is_marked && title.starts_with(REFUSAL_TITLE))
        });
        let sentence = CHALLENGE_SENTENCES.into_iter().find(|sentence| self.text.contains(sentence));
        let challenge = self.parsed.evidence.challenge;
        if let Some(host) = self.challenge_instead_of_text() {
            return Some(format!("no text, frame of {host}"));
        }
        match (refused, title, sentence, challenge) {
            (true, Some(title), ..) => Some(format!("status {status}, title \"{}\"", quoted(title))),
            (true, _, Some(sentence), _) => Some(format!("status {status}, text \"{sentence}\"")),
            (true, _, _, Some(challenge)) => Some(format!("status {status}, challenge of {challenge}")),
            // With a status of success two marks are needed, because many ordinary forms have a captcha.
            (false, Some(title), Some(sentence), _) => {
                Some(format!("title \"{}\", text \"{sentence}\"", quoted(title)))
            }
            (false, Some(title), _, Some(challenge)) => {
                Some(format!("title \"{}\", challenge of {challenge}", quoted(title)))
            }
            (false, _, Some(sentence), Some(challenge)) => {
                Some(format!("text \"{sentence}\", challenge of {challenge}"))
            }
            _ => None,
        }
    }

    /// A frame of a challenge service and nothing else. Ordinary pages may have their scripts, but not their frames.
    fn challenge_instead_of_text(&self) -> Option<&'static str> {
        let document = &self.parsed.document;
        if document.text.len() > EMPTY_TEXT_BYTES_MAX {
            return None;
        }
        let mut frames = document.links.iter().filter(|link| link.kind == LinkKind::Frame);
        frames.find_map(|frame| CHALLENGE_FRAMES.into_iter().find(|mark| frame.target.as_str().contains(mark)))
    }

    /// A short page whose only form asks for a password.
    fn login(&self, status: u16) -> Option<String> {
        let evidence = self.parsed.evidence;
        let only_login = evidence.forms == 1 && evidence.password_fields == 1;
        if !only_login || self.parsed.document.text.len() > LOGIN_TEXT_BYTES_MAX {
            return None;
        }
        let word = LOGIN_WORDS.into_iter().find(|word| self.titles.iter().any(|title| title.contains(word)));
        match (word, status) {
            (Some(word), _) => Some(format!("only form asks for a password, title says \"{word}\"")),
            (None, 401 | 403) => Some(format!("status {status}, only form asks for a password")),
            _ => None,
        }
    }

    fn parking(&self) -> Option<String> {
        if !self.is_short() {
            return None;
        }
        if let Some(sentence) = PARKING_SENTENCES.into_iter().find(|sentence| self.text.contains(sentence)) {
            return Some(format!("text \"{sentence}\""));
        }
        // Any page may link to a domain broker. A page without text that does is a parked domain.
        let broker = |host: &str| PARKING_HOSTS.into_iter().find(|known| is_host_of(host, known));
        if self.text_bytes > WALL_TEXT_BYTES_MAX / 5 {
            return None;
        }
        let links = &self.parsed.document.links;
        links.iter().find_map(|link| broker(link.target.host())).map(|host| format!("little text, link to {host}"))
    }

    /// A page with a status of success that says "not found".
    fn missing(&self) -> Option<String> {
        if self.text_bytes > MISSING_TEXT_BYTES_MAX {
            return None;
        }
        let said = self.titles.iter().find(|title| title.split(PARTS).any(says_missing))?;
        Some(format!("title \"{}\" with {} bytes of text", quoted(said), self.text_bytes))
    }
}

/// The separators between the name of a page and the name of its site.
const PARTS: [char; 8] = ['|', '–', '—', '-', '·', '»', ':', '•'];

fn says_missing(part: &str) -> bool {
    let part = part.trim_matches(|letter: char| !letter.is_alphanumeric());
    if let Some(after) = part.strip_prefix("error 404").or_else(|| part.strip_prefix("http 404")) {
        return after.len() < 40;
    }
    if let Some(after) = part.strip_prefix("404") {
        let after = after.trim_start_matches(|letter: char| !letter.is_alphanumeric());
        return after.is_empty() || (after.len() < 60 && AFTER_404.iter().any(|words| after.starts_with(words)));
    }
    // "Not found in translation" is a book title: the words must be nearly the whole title.
    MISSING_TITLES
        .iter()
        .any(|words| part.strip_prefix(words).is_some_and(|after| after.len() <= if words.len() < 16 { 8 } else { 60 }))
}

fn main_text_bytes(document: &Document) -> usize {
    let own = document
        .paragraphs
        .iter()
        .filter(|paragraph| !matches!(paragraph.role, Role::Navigation | Role::Footer | Role::Title));
    own.map(|paragraph| (paragraph.end - paragraph.start) as usize).sum()
}

/// Lower case, with the typographic apostrophe as the plain one.
fn plain(text: &str) -> String {
    text.to_lowercase().replace('\u{2019}', "'")
}

fn is_host_of(host: &str, domain: &str) -> bool {
    host == domain || host.strip_suffix(domain).is_some_and(|sub| sub.ends_with('.'))
}

fn quoted(text: &str) -> &str {
    limited(text, QUOTED_BYTES_MAX)
}
