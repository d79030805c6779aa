//! What a person had forgotten: pages are erased and kept out. The ledger lists it, and an entry can be taken back.

use std::sync::Arc;

use axum::extract::State;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use vernal_crawler::{Act, Acted, ForgetWord};
use vernal_model::{ErasedCounts, ForgetRule, ForgottenRow, Url};
use vernal_repository::{Reader, ToRewrite};

use super::alerting::locked;
use super::answer::{self, ApiError, ApiResult, Listed, One};
use super::nouns::Nouns;
use super::paging::Part;
use super::parameters::{Given, List, Parameters, site, url};
use super::shared::{Shared, time};

/// URLs of one request.
const URLS_MAX: usize = 1_000;
/// A reason is a sentence or two.
const REASON_BYTES_MAX: usize = 4 << 10;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ForgetRequest {
    /// Single pages, with any scheme and with or without `www.`
    #[serde(default)]
    urls: Vec<String>,
    /// All pages whose addresses begin like this URL
    prefix: Option<String>,
    /// All pages of a host, with its port where that is not the scheme's own
    site: Option<String>,
    /// Why, for those who read the ledger later; no words of the page
    #[serde(default)]
    reason: String,
    /// Only tell what would be erased
    #[serde(default)]
    dry_run: bool,
}

#[derive(Serialize, JsonSchema)]
pub struct ForgetAnswer {
    dry_run: bool,
    /// How much of the pages was held when this was asked.
    pages: u64,
    waiting: u64,
    versions: u64,
    body_bytes: u64,
    /// The entries of the ledger; of a dry run the rules that it would get.
    entries: Vec<ForgottenJson>,
    rewriting: RewritingJson,
}

/// An entry of the ledger. It has no words of any page.
#[derive(Serialize, JsonSchema)]
pub struct ForgottenJson {
    /// Null in a dry run.
    id: Option<u32>,
    /// page, prefix or site
    rule: &'static str,
    /// The URL or the host.
    of: String,
    reason: String,
    since: Option<String>,
    /// Since when its pages may come again; null while they are kept out.
    lifted: Option<String>,
    /// Whether all of its pages are erased.
    erased: bool,
    pages: u64,
    waiting: u64,
    versions: u64,
    body_bytes: u64,
}

/// What is still to be rewritten on disk of what was erased.
#[derive(Serialize, JsonSchema)]
pub struct RewritingJson {
    /// Nothing is left to do while this folder is open.
    done: bool,
    /// Records of the archive that are to be overwritten.
    records: u64,
    tables: bool,
    /// The log of the tables is emptied when the folder is opened the next time.
    store_log: bool,
    journal: bool,
    /// Archived deeds and what repairs put aside.
    aside: bool,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OfEntry {
    /// The number of the entry
    id: u32,
}

pub fn routes(nouns: Nouns) -> Nouns {
    nouns
        .post("/api/v1/forget", "Erases pages and keeps them out", forget)
        .get("/api/v1/forgotten", "The ledger of what was forgotten", list)
        .delete("/api/v1/forgotten/{id}", "Takes an entry back: its pages may come again", lift)
}

pub async fn forget(
    State(shared): State<Arc<Shared>>,
    Given(asked): Given<ForgetRequest>,
) -> ApiResult<One<ForgetAnswer>> {
    let rules = rules(&asked)?;
    let reason = asked.reason.trim().to_owned();
    if reason.is_empty() && !asked.dry_run {
        return Err(ApiError::bad_request("give a `reason`: the ledger keeps it for those who ask later"));
    }
    if reason.len() > REASON_BYTES_MAX {
        return Err(ApiError::bad_request(format!("a `reason` has at most {REASON_BYTES_MAX} bytes")));
    }
    let now = shared.clock.now();
    let word = ForgetWord { rules, reason, dry_run: asked.dry_run };
    match shared.backend.act(Act::Forget(word), now).await? {
        Acted::WouldForget { rules, counts } => {
            let entries = rules.into_iter().map(would_be).collect();
            Ok(answer::value(&answered(true, counts, entries, shared.reader.to_rewrite()?)))
        }
        Acted::Forgot { entries, counts } => {
            let rules: Vec<ForgetRule> = entries.iter().map(|row| row.rule.clone()).collect();
            // Bodies, index and journal of a folder that nobody crawls are rewritten before the answer.
            let (working, told) = (Arc::clone(&shared), rules);
            answer::on_blocking_thread(move || leave_no_words(&working, &told)).await?;
            let entries = entries.into_iter().map(row).collect();
            Ok(answer::value(&answered(false, counts, entries, shared.reader.to_rewrite()?)))
        }
        other => Err(ApiError::failed(format!("forgetting came to {other:?}"))),
    }
}

pub async fn list(
    State(shared): State<Arc<Shared>>,
    Parameters(asked): Parameters<List>,
) -> ApiResult<Listed<ForgottenJson>> {
    let mut rows = shared.reader.forgotten()?;
    if let Some(text) = &asked.site {
        let site = site(text)?;
        rows.retain(|row| row.rule.concerns(&site));
    }
    let part = Part::read(asked.limit, asked.after.as_deref())?;
    Ok(answer::listed(move |lines| part.write(rows, lines, |entry| Ok(row(entry)))))
}

pub async fn lift(
    State(shared): State<Arc<Shared>>,
    Parameters(asked): Parameters<OfEntry>,
) -> ApiResult<One<ForgottenJson>> {
    match shared.backend.act(Act::LiftForgotten(asked.id), shared.clock.now()).await? {
        Acted::Lifted(lifted) => Ok(answer::value(&row(*lifted))),
        Acted::NotForgotten(id) => {
            Err(ApiError::not_found(format!("the ledger of what was forgotten has no entry {id} in force")))
        }
        other => Err(ApiError::failed(format!("taking back came to {other:?}"))),
    }
}

/// Who asks for a page that was forgotten is told so: the entry that bars it.
pub fn entry_of(reader: &Reader, url: &Url) -> Result<Option<ForgottenRow>, ApiError> {
    let rows = reader.forgotten()?;
    Ok(rows.into_iter().find(|row| row.bars() && row.rule.covers(url)))
}

/// How a person takes an entry back.
pub fn why_barred(url: &Url, id: u32) -> String {
    format!("{url} was forgotten (entry {id} of the ledger); `vernal forget --undo {id}` lets it in again")
}

fn leave_no_words(shared: &Shared, rules: &[ForgetRule]) -> Result<(), ApiError> {
    if let Some(alerting) = shared.alerts.as_ref().filter(|alerting| alerting.is_used()) {
        let is_covered = |text: &str| Url::parse(text).is_ok_and(|url| rules.iter().any(|rule| rule.covers(&url)));
        locked(&alerting.alerts()?).forget(&is_covered, alerting.now())?;
    }
    shared.search.purge()?;
    shared.backend.rewrite_erased(shared.clock.now()).transpose()?;
    Ok(())
}

fn rules(asked: &ForgetRequest) -> Result<Vec<ForgetRule>, ApiError> {
    let given =
        usize::from(!asked.urls.is_empty()) + usize::from(asked.prefix.is_some()) + usize::from(asked.site.is_some());
    if given != 1 {
        return Err(ApiError::bad_request("give either `urls`, or a `prefix`, or a `site`"));
    }
    if asked.urls.len() > URLS_MAX {
        return Err(ApiError::bad_request(format!("at most {URLS_MAX} URLs at a time")));
    }
    if let Some(text) = &asked.prefix {
        return Ok(vec![ForgetRule::Prefix(url(text)?)]);
    }
    if let Some(text) = &asked.site {
        return Ok(vec![ForgetRule::Site(site(text)?)]);
    }
    let mut rules = Vec::with_capacity(asked.urls.len());
    for text in &asked.urls {
        let rule = ForgetRule::Page(url(text)?);
        if !rules.contains(&rule) {
            rules.push(rule);
        }
    }
    Ok(rules)
}

fn answered(dry_run: bool, counts: ErasedCounts, entries: Vec<ForgottenJson>, left: ToRewrite) -> ForgetAnswer {
    let ErasedCounts { pages, waiting, versions, body_bytes } = counts;
    ForgetAnswer { dry_run, pages, waiting, versions, body_bytes, entries, rewriting: rewriting(left) }
}

/// What is left to do; nothing where nothing was ever forgotten.
pub fn status(shared: &Shared) -> Result<Option<RewritingJson>, ApiError> {
    let was_used = !shared.reader.forgotten()?.is_empty();
    Ok(if was_used { Some(rewriting(shared.reader.to_rewrite()?)) } else { None })
}

fn rewriting(left: ToRewrite) -> RewritingJson {
    let ToRewrite { records, tables, store_log, journal, aside } = left;
    RewritingJson { done: left.is_done(), records, tables, store_log, journal, aside }
}

fn row(row: ForgottenRow) -> ForgottenJson {
    let ErasedCounts { pages, waiting, versions, body_bytes } = row.erased;
    ForgottenJson {
        id: Some(row.id),
        rule: row.rule.kind(),
        of: row.rule.of().to_owned(),
        reason: row.reason.into(),
        since: time(row.moment),
        lifted: row.lifted.and_then(time),
        erased: row.is_erased,
        pages,
        waiting,
        versions,
        body_bytes,
    }
}

fn would_be(rule: ForgetRule) -> ForgottenJson {
    ForgottenJson {
        id: None,
        rule: rule.kind(),
        of: rule.of().to_owned(),
        reason: String::new(),
        since: None,
        lifted: None,
        erased: false,
        pages: 0,
        waiting: 0,
        versions: 0,
        body_bytes: 0,
    }
}
