//! A hit of the search: its words, the life of its paragraph, and the change that took it away.

use crate::answers::Hit;
use crate::chart::{Svg, life};
use crate::question::link;
use crate::times::{Times, second_of};
use crate::words;

/// A hit as it is shown.
pub struct HitShown {
    pub title: String,
    pub language: String,
    pub link: String,
    pub address: String,
    pub under: String,
    pub parts: Vec<(bool, String)>,
    pub life: Option<Svg>,
    pub life_words: String,
    pub leads: (String, String),
    pub blame: Option<String>,
}

pub fn hit_shown(hit: &Hit, times: &Times, whole: (f64, f64)) -> HitShown {
    let came = hit.born.as_ref().and_then(|born| born.seen_different.as_deref());
    let went = hit.gone.as_ref().and_then(|gone| gone.seen_different.as_deref());
    let share = |text: &str| second_of(text).map(|at| (at - whole.0) / (whole.1 - whole.0).max(1.0));
    let life_words = life_words(hit, times);
    let bar = came.and_then(share).map(|from| {
        let until = went.and_then(share).unwrap_or(1.0);
        life(from, until, went.is_some(), &life_words)
    });
    let mut under: Vec<&str> = hit.headings.iter().map(|heading| &**heading).collect();
    under.dedup();
    HitShown {
        title: words::title(&hit.title, &hit.url),
        language: words::language(&hit.language).unwrap_or_default(),
        link: link("/page", &[("url", &*hit.url)]),
        address: address(&hit.url),
        under: under.join(" › "),
        parts: marked(&hit.text, &hit.marks),
        life: bar,
        life_words,
        leads: leads(hit),
        blame: hit.gone.is_none().then(|| {
            let at = hit.paragraph.as_deref().unwrap_or_default();
            let anchor = if at.is_empty() { String::new() } else { format!("#{at}") };
            format!("{}{anchor}", link("/blame", &[("url", &*hit.url)]))
        }),
    }
}

/// A URL without its scheme.
pub fn address(url: &str) -> String {
    let host = url.split_once("://").map_or("", |(_, rest)| rest.split('/').next().unwrap_or(rest));
    format!("{host}{}", words::path(url))
}

fn life_words(hit: &Hit, times: &Times) -> String {
    let since = hit.born.as_ref().and_then(|born| born.seen_different.as_deref());
    let since =
        since.map_or_else(|| "on the page".into(), |at| format!("on the page from {}", times.moment(Some(at)).words));
    let Some(gone) = &hit.gone else { return format!("{since} until now") };
    let how = match &*gone.op {
        "edited" => "edited",
        "gone" => "gone with its page",
        _ => "gone",
    };
    let between = match (gone.seen_same.as_deref(), gone.seen_different.as_deref()) {
        (Some(same), different) => {
            format!(" between {} and {}", times.moment(Some(same)).words, times.moment(different).words)
        }
        (None, different) => format!(" by {}", times.moment(different).words),
    };
    format!("{since}; {how}{between}")
}

/// The change that took it away, or the version that has it.
fn leads(hit: &Hit) -> (String, String) {
    let anchor = hit.paragraph.as_ref().map_or_else(String::new, |id| format!("#{id}"));
    match &hit.gone {
        Some(gone) => match gone.version {
            Some(version) => {
                let (from, to) = (gone.previous.to_string(), version.to_string());
                let address = link("/diff", &[("url", &*hit.url), ("from", &*from), ("to", &*to)]);
                (format!("{address}{anchor}"), format!("version {from} to {to}"))
            }
            None => (link("/page", &[("url", &*hit.url)]), format!("version {}, the last", gone.previous)),
        },
        None => (link("/page", &[("url", &*hit.url)]), format!("version {}", hit.version)),
    }
}

/// The text in pieces; those that are true are the words that were asked for.
fn marked(text: &str, marks: &[(usize, usize)]) -> Vec<(bool, String)> {
    let letters: Vec<char> = text.chars().collect();
    let mut parts = Vec::new();
    let mut at = 0;
    for &(from, until) in marks {
        let (from, until) = (from.min(letters.len()), until.min(letters.len()));
        if from < at || until <= from {
            continue;
        }
        parts.push((false, letters[at..from].iter().collect()));
        parts.push((true, letters[from..until].iter().collect()));
        at = until;
    }
    parts.push((false, letters[at..].iter().collect()));
    parts.retain(|(_, part): &(bool, String)| !part.is_empty());
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_are_marked_and_no_letter_is_lost() {
        let marked = marked("Ärger am <Hafen>", &[(0, 5), (10, 15), (3, 4), (90, 99)]);
        let words: Vec<&str> = marked.iter().filter(|(is_word, _)| *is_word).map(|(_, part)| &**part).collect();
        assert_eq!(words, ["Ärger", "Hafen"]);
        assert_eq!(marked.into_iter().map(|(_, part)| part).collect::<String>(), "Ärger am <Hafen>");
    }
}
