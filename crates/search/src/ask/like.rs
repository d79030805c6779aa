//! Other pages with the words of one: its most telling words, by how often they stand there and how few pages have them.

use foldhash::{HashMap, HashMapExt};
use vernal_model::{Role, Url};

use super::compiled::{Compiled, Words};
use super::forms::units_with;
use super::search::Searching;
use crate::analysis::words::{Words as Walk, is_unspaced};
use crate::follow::kept::{ReadVersion, read_known_version};
use crate::query::expression::{Form, Scope};
use crate::{Error, Result};

/// Words that stand for a page.
const WORDS: usize = 24;
/// Words that are weighed; a page with more is judged by those it has most often.
const WEIGHED_MAX: usize = 400;
/// A word that so few pages have is a name or a slip, and finds nothing.
const PAGES_MIN: u64 = 2;
/// Shorter words tell little.
const LETTERS_MIN: usize = 3;

/// Any of the telling words of a page, and not that page.
pub fn compiled(searching: &Searching<'_>, url: &Url) -> Result<Compiled> {
    let none = || Error::NoText(url.to_string());
    let page = searching.reader.page_by_url(url)?.ok_or_else(none)?;
    let version = page.version.ok_or_else(none)?;
    let read = read_known_version(searching.reader, url, version)?.ok_or_else(none)?;
    if read.document.directives.noindex {
        return Err(none());
    }
    let mut counted: Vec<(String, u32)> = counts(&read).into_iter().collect();
    counted.sort_unstable_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
    counted.truncate(WEIGHED_MAX);
    let pages = searching.searcher.num_docs() as f64;
    let mut telling: Vec<(f64, String)> = Vec::with_capacity(counted.len());
    for (word, count) in counted {
        let with = units_with(searching.searcher, searching.fields.body, &word)?;
        if with >= PAGES_MIN {
            telling.push((f64::from(count).ln_1p() * (pages / with as f64).ln_1p(), word));
        }
    }
    telling.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    telling.truncate(WORDS);
    if telling.is_empty() {
        return Err(none());
    }
    let word =
        |word: String| Compiled::Words(Words { scope: Scope::Anywhere, form: Form::Exact, forms: vec![vec![word]] });
    let any = Compiled::Either(telling.into_iter().map(|(_, text)| word(text)).collect());
    Ok(Compiled::Every(vec![any, Compiled::Not(Box::new(Compiled::Page(page.key)))]))
}

fn counts(read: &ReadVersion) -> HashMap<String, u32> {
    let (mut counts, mut word) = (HashMap::new(), String::new());
    for (one, text) in read.document.paragraphs.iter().zip(read.texts()) {
        if matches!(one.role, Role::Navigation | Role::Footer) {
            continue;
        }
        let mut walk = Walk::of(text);
        while walk.next_into(&mut word).is_some() {
            let is_telling = word.chars().count() >= LETTERS_MIN || is_unspaced(&word);
            if is_telling && !word.bytes().all(|byte| byte.is_ascii_digit()) {
                *counts.entry(word.clone()).or_default() += 1;
            }
        }
    }
    counts
}
