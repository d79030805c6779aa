//! The rules about noise: the learned ones with their evidence, and those that people add, allow or forget.

use std::sync::Arc;

use axum::extract::State;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use vernal_crawler::{Act, Acted, NoiseWord};
use vernal_document::noise::Shape;
use vernal_model::{Kind, NoisePattern, NoiseRule, RuleReach, RuleState, Site, TextClass};

use super::answer::{self, ApiError, ApiResult, Listed, One};
use super::event_filter::kind;
use super::nouns::Nouns;
use super::page;
use super::paging::Part;
use super::parameters::{Fields, Parameters, site, url};
use super::shared::{Shared, time};

/// A reason is one line.
const REASON_LETTERS_MAX: usize = 500;
/// The words of a rule that a person gives.
const WORDS_BYTES_MAX: usize = 4_096;

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NoiseQuery {
    /// A host, with its port where that is not the scheme's own
    site: Option<String>,
    /// The rule with this number of the site.
    id: Option<u32>,
    /// Suspected, learned, added, allowed, turned or content.
    standing: Option<String>,
    /// At most so many rows
    limit: Option<usize>,
    /// Where an earlier part of the list ended
    after: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RuleRequest {
    /// A host
    site: String,
    /// add, allow or forget
    word: RuleAction,
    /// The rule to allow or forget
    id: Option<u32>,
    /// To add: a paragraph with wildcards, such as Views: *
    words: Option<String>,
    /// To add: structure, presentation or behaviour
    kind: Option<String>,
    /// With a kind: what of it, as notes name it, separated by commas
    notes: Option<String>,
    /// To add: only on this page
    page: Option<String>,
    /// Why, in words
    reason: Option<String>,
}

#[derive(Copy, Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum RuleAction {
    Add,
    Allow,
    Forget,
}

#[derive(Serialize, JsonSchema)]
pub struct RuleAnswer {
    site: String,
    id: u32,
    standing: &'static str,
    /// `words`, `slot`, `kind` or `texts`.
    rule: &'static str,
    /// What it speaks of, in words.
    what: String,
    /// `site`, `template` or `page`.
    on: &'static str,
    /// The page, where it is one.
    page: Option<String>,
    template: Option<String>,
    since: Option<String>,
    last: Option<String>,
    differed: u32,
    compared: u32,
    quiet: u16,
    pages: u32,
    /// `frame`, `main` or `figure`: the text that varies, and so how much proof it needed.
    class: TextClass,
    looks: LooksAnswer,
    before: Box<str>,
    after: Box<str>,
    reason: Box<str>,
}

/// The visits that came minutes after another and could show a difference.
#[derive(Serialize, JsonSchema)]
struct LooksAnswer {
    made: u32,
    differed: u32,
    same: u32,
    /// The latest of them, oldest first.
    latest: Vec<LookAnswer>,
}

#[derive(Serialize, JsonSchema)]
struct LookAnswer {
    at: Option<String>,
    differed: bool,
}

/// The rule that was added, allowed or forgotten.
#[derive(Serialize, JsonSchema)]
pub struct Ruled {
    id: u32,
    site: String,
}

pub fn routes(nouns: Nouns) -> Nouns {
    nouns.get("/api/v1/noise", "What was learned or said to be noise, and on what evidence", list).post(
        "/api/v1/noise",
        "Adds, allows or forgets a rule about noise",
        decide,
    )
}

pub async fn list(
    State(shared): State<Arc<Shared>>,
    Parameters(query): Parameters<NoiseQuery>,
) -> ApiResult<Listed<RuleAnswer>> {
    let books = match &query.site {
        Some(name) => {
            let site = known_site(&shared, name)?;
            vec![(site.clone(), shared.reader.noise_book(&site)?)]
        }
        None if query.id.is_some() => return Err(ApiError::bad_request("name the site whose rule this is")),
        None => shared.reader.noise_books()?,
    };
    let standing = query.standing.as_deref().map(standing).transpose()?;
    let mut rows = Vec::new();
    for (site, book) in books {
        for rule in book.rules {
            let is_wanted = query.id.is_none_or(|id| id == rule.id) && standing.is_none_or(|one| one == rule.standing);
            if is_wanted {
                rows.push((site.clone(), rule));
            }
        }
    }
    if let (Some(id), Some(site), true) = (query.id, &query.site, rows.is_empty()) {
        return Err(no_such_rule(site, id));
    }
    let part = Part::read(query.limit, query.after.as_deref())?;
    Ok(answer::listed(move |lines| part.write(rows, lines, |(site, rule)| Ok(shown(&shared, &site, rule)?))))
}

pub async fn decide(State(shared): State<Arc<Shared>>, Fields(request): Fields<RuleRequest>) -> ApiResult<One<Ruled>> {
    let site = known_site(&shared, &request.site)?;
    let reason = reason(&request)?;
    let word = match request.word {
        RuleAction::Add => NoiseWord::Add { what: what(&request)?, on: reach(&shared, &site, &request)?, reason },
        RuleAction::Allow => NoiseWord::Allow { rule: id(&request)?, reason },
        RuleAction::Forget => NoiseWord::Forget { rule: id(&request)? },
    };
    let act = Act::Noise { site: site.clone(), word };
    match shared.backend.act(act, shared.clock.now()).await? {
        Acted::Ruled(id) => Ok(answer::value(&Ruled { id, site: site.to_string() })),
        Acted::UnknownRule(id) => Err(no_such_rule(site.as_str(), id)),
        Acted::BookFull => Err(ApiError::failed(format!("the rules that people gave for {site} fill its book"))),
        _ => Err(ApiError::not_found(format!("no site {site} is known here"))),
    }
}

fn known_site(shared: &Shared, name: &str) -> Result<Site, ApiError> {
    let site = site(name)?;
    match shared.reader.site(&site) {
        Some(_) => Ok(site),
        None => Err(ApiError::not_found(format!("no site {site} is known here"))),
    }
}

fn no_such_rule(site: &str, id: u32) -> ApiError {
    ApiError::not_found(format!("{site} has no rule {id}; `vernal noise list --site {site}` shows those it has"))
}

fn standing(text: &str) -> Result<RuleState, ApiError> {
    const ALL: [RuleState; 6] = [
        RuleState::Suspected,
        RuleState::Learned,
        RuleState::Added,
        RuleState::Allowed,
        RuleState::Turned,
        RuleState::Content,
    ];
    ALL.into_iter().find(|standing| standing.name() == text).ok_or_else(|| {
        ApiError::bad_request(format!("`{text}` is no standing; there are {}", ALL.map(RuleState::name).join(", ")))
    })
}

fn id(request: &RuleRequest) -> Result<u32, ApiError> {
    request.id.ok_or_else(|| ApiError::bad_request("give the number of the rule"))
}

fn reason(request: &RuleRequest) -> Result<String, ApiError> {
    let reason = request.reason.clone().unwrap_or_else(|| "a person said so".into());
    match reason.chars().count() > REASON_LETTERS_MAX || reason.chars().any(char::is_control) {
        true => Err(ApiError::bad_request(format!("a reason is one line of at most {REASON_LETTERS_MAX} letters"))),
        false => Ok(reason),
    }
}

/// What a person calls noise. Only fixed words identify a paragraph, so at least one is needed.
fn what(request: &RuleRequest) -> Result<NoisePattern, ApiError> {
    match (&request.words, &request.kind) {
        (Some(words), None) => {
            let shape = Shape::parse(words);
            if words.len() > WORDS_BYTES_MAX {
                return Err(ApiError::bad_request(format!("the words of a rule are at most {WORDS_BYTES_MAX} bytes")));
            }
            if shape.is_bare() {
                return Err(ApiError::bad_request(
                    "these words would hide any paragraph: give at least one word that stays",
                ));
            }
            Ok(NoisePattern::Words { shape: shape.text(), place: 0 })
        }
        (None, Some(name)) => {
            let kind = kind(name)?;
            if kind == Kind::Content {
                return Err(ApiError::bad_request("content as a whole is never noise; name it by its words"));
            }
            let notes = request.notes.as_deref().unwrap_or_default().split(',').map(str::trim);
            let notes: Vec<Box<str>> = notes.filter(|note| !note.is_empty()).map(Box::from).collect();
            match notes.is_empty() {
                true => Err(ApiError::bad_request(
                    "name what of that kind differs, as notes do: `script source`, `style sheet` …",
                )),
                false => Ok(NoisePattern::Kind { kind, notes }),
            }
        }
        _ => Err(ApiError::bad_request("give words, or a kind with its notes")),
    }
}

fn reach(shared: &Shared, site: &Site, request: &RuleRequest) -> Result<RuleReach, ApiError> {
    let Some(text) = &request.page else { return Ok(RuleReach::Site) };
    let page = page::of(shared, &url(text)?)?;
    match page.url.site() == *site {
        true => Ok(RuleReach::Page(page.key)),
        false => Err(ApiError::bad_request(format!("{} is no page of {site}", page.url))),
    }
}

fn shown(shared: &Shared, site: &Site, rule: NoiseRule) -> vernal_repository::Result<RuleAnswer> {
    let (on, page, template) = match rule.on {
        RuleReach::Site => ("site", None, None),
        RuleReach::Template(template) => ("template", None, Some(format!("{template:08x}"))),
        RuleReach::Page(key) => ("page", shared.reader.url(key)?.map(|row| row.url.to_string()), None),
    };
    let (name, what) = in_words(&rule);
    Ok(RuleAnswer {
        site: site.to_string(),
        id: rule.id,
        standing: rule.standing.name(),
        rule: name,
        what,
        on,
        page,
        template,
        since: time(rule.since),
        last: time(rule.last),
        differed: rule.differed,
        compared: rule.compared,
        quiet: rule.quiet,
        pages: rule.pages,
        class: rule.class,
        looks: LooksAnswer {
            made: rule.looks.made,
            differed: rule.looks.differed,
            same: rule.looks.same(),
            latest: rule
                .looks
                .latest
                .iter()
                .map(|look| LookAnswer { at: time(look.at), differed: look.differed })
                .collect(),
        },
        before: rule.before,
        after: rule.after,
        reason: rule.reason,
    })
}

fn in_words(rule: &NoiseRule) -> (&'static str, String) {
    match &rule.what {
        NoisePattern::Words { shape, .. } => ("words", shape.to_string()),
        NoisePattern::Slot { count, words, after, .. } => {
            let paragraphs = if *count == 1 { "the paragraph".into() } else { format!("{count} paragraphs") };
            let anchor = if *after == 0 { "the beginning of the page".into() } else { format!("\"{words}\"") };
            ("slot", format!("{paragraphs} behind {anchor}"))
        }
        NoisePattern::Kind { kind, notes } => {
            let notes = if notes.is_empty() { "without notes".into() } else { notes.join(", ") };
            ("kind", format!("{}: {notes}", kind.name()))
        }
        NoisePattern::Texts { .. } => {
            ("texts", format!("texts that rotate on pages of the template, such as \"{}\"", rule.after))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(words: Option<&str>, kind: Option<&str>, notes: Option<&str>) -> RuleRequest {
        RuleRequest {
            site: "a.example".into(),
            word: RuleAction::Add,
            id: None,
            words: words.map(str::to_owned),
            kind: kind.map(str::to_owned),
            notes: notes.map(str::to_owned),
            page: None,
            reason: None,
        }
    }

    #[test]
    fn a_rule_must_say_what_it_speaks_of() {
        assert!(what(&request(Some("Views: *"), None, None)).is_ok());
        assert!(what(&request(None, Some("presentation"), Some("style sheet"))).is_ok());
        for (words, kind, notes) in [
            (None, None, None),
            (Some("* **"), None, None),
            (Some(""), None, None),
            (None, Some("content"), Some("text")),
            (None, Some("behaviour"), None),
            (Some("Views: *"), Some("behaviour"), None),
        ] {
            assert!(what(&request(words, kind, notes)).is_err(), "{words:?} {kind:?} {notes:?}");
        }
    }
}
