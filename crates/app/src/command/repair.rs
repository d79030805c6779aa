//! `vernal verify --repair`: restores what is damaged, as far as the undamaged files allow.
//!
//! Tables that are not the journal applied are made anew from it. A journal that is lost or damaged is mended from the tables.
//! Only where neither can be read is everything restored from the segments. What was there is moved to `DIR/damaged-…` and
//! never deleted.

use serde_json::{Value, json};
use vernal_crawler::{Act, Crawler, Restored};
use vernal_model::{Moment, SiteState};
use vernal_repository::runs;
use vernal_repository::{
    Cursor, Error as RepositoryError, Repository, Salvaged, TablesRecovery, bodies, compare_tables, verify_journal,
};

use super::Context;
use crate::error::{Error, OrFail, Result};
use crate::runtime::clock::wall;
use crate::runtime::folder::exists;
use crate::runtime::live::Until;
use crate::runtime::{parts, serving};

/// A progress line follows after this many records.
const PROGRESS_RECORDS: u64 = 20_000;

/// What records do not hold and a repair cannot restore.
const NEVER_TOLD: [&str; 6] = [
    "visits without an answer: refusals, timeouts, failed connections",
    "pages that asked not to be archived: they are visited anew",
    "URLs that waited and were never visited: they are found again from the links, and wait for the seeds",
    "parts of a second, the end of each visit, and the exact bytes on the wire",
    "the account of the budget: a new one begins",
    "hints that were pushed, and subscriptions to hubs: hubs are asked again",
];
const SEEDS_LOST: &str = "the seeds and their settings: give them again with `vernal run` or `vernal seeds add`";
const STANDINGS_LOST: &str = "which sites a person paused or blocked";

/// Repairs the folder and tells what was done.
pub async fn repair(context: &Context) -> Result<Value> {
    let dir = &context.settings.data;
    if serving::connect(dir).await.is_ok() {
        return Err(Error::failed("a running crawl cannot be repaired; stop it first"));
    }
    if !dir.join("bodies").is_dir() {
        return Err(Error::Failed(format!("{} holds no segments to repair from", dir.display())));
    }
    if !exists(dir) {
        return restore(context, "FORMAT is lost");
    }
    let mut done = of_repository(context)?;
    done["lost_bodies"] = mark_lost_bodies(context)?.into();
    if runs::book(dir) == runs::Book::default() {
        runs::note_repair(dir, wall()).or_fail()?;
        done["runs"] = "begun anew".into();
    }
    Ok(done)
}

/// Marks the versions whose bodies cannot be read, so that their pages are asked for again. Returns a line for each.
fn mark_lost_bodies(context: &Context) -> Result<Vec<String>> {
    let dir = &context.settings.data;
    let (mut repository, _) = Repository::open(dir, parts::repository_settings(&context.settings), wall()).or_fail()?;
    let lost = repository.mark_lost_bodies(wall()).or_fail()?;
    let reader = repository.reader();
    let mut lines = Vec::new();
    for body in lost {
        let url = reader.page(body.page).or_fail()?.map(|page| page.url.to_string()).unwrap_or_default();
        lines.push(format!("version {} of {url}: {}", body.number, body.why));
    }
    drop(reader);
    repository.close().or_fail()?;
    Ok(lines)
}

fn of_repository(context: &Context) -> Result<Value> {
    let dir = &context.settings.data;
    match Repository::open(dir, parts::repository_settings(&context.settings), wall()) {
        Ok((repository, recovery)) => {
            let done = match recovery.tables {
                TablesRecovery::Rebuilt(why) => json!({ "done": "tables", "why": why }),
                TablesRecovery::Sound => json!({ "done": "nothing" }),
            };
            look_closer(context, repository, done)
        }
        // Of these the journal is of no use: one cannot be read, and the other is about to be restored.
        Err(error @ (RepositoryError::OlderFormat { .. } | RepositoryError::RepairUnfinished(_))) => {
            restore(context, &error.to_string())
        }
        Err(error) if error.is_damage() => mend(context, &error.to_string()),
        Err(error) => Err(Error::failed(error)),
    }
}

/// The repository opens; its journal may still be damaged in parts that no opening reads.
fn look_closer(context: &Context, repository: Repository, done: Value) -> Result<Value> {
    let dir = &context.settings.data;
    let reader = repository.reader();
    let journal = verify_journal(dir, &mut |_, _| {}).or_fail()?;
    let segments = bodies::segments(dir).or_fail()?;
    let forgotten = reader.cursor() == Cursor::START && segments.iter().any(|segment| segment.bytes > 0);
    let tables = match journal.is_sound() && !forgotten {
        true => match compare_tables(&reader, &mut |_, _| {}) {
            Err(error) if error.is_of_cache() => vec![error.to_string()],
            compared => compared.or_fail()?.faults,
        },
        false => Vec::new(),
    };
    drop(reader);
    repository.close().or_fail()?;
    if let Some(fault) = journal.faults.first() {
        return mend(context, fault);
    }
    if forgotten {
        return restore(context, "the journal is lost");
    }
    let Some(fault) = tables.first() else { return Ok(done) };
    let aside = Repository::move_tables_aside(dir, wall()).or_fail()?;
    let (repository, _) = Repository::open(dir, parts::repository_settings(&context.settings), wall()).or_fail()?;
    repository.close().or_fail()?;
    Ok(json!({ "done": "tables", "why": fault, "aside": aside.display().to_string() }))
}

/// The journal anew from the tables, or, where they cannot be read either, everything from the segments.
fn mend(context: &Context, why: &str) -> Result<Value> {
    let dir = &context.settings.data;
    let Some(mended) = Repository::mend_journal(dir, wall()).or_fail()? else { return restore(context, why) };
    let (repository, _) = Repository::open(dir, parts::repository_settings(&context.settings), wall()).or_fail()?;
    repository.close().or_fail()?;
    Ok(json!({
        "done": "mended",
        "why": why,
        "aside": mended.folder.display().to_string(),
        "journal_faults": mended.faults,
        "deeds_from_tables": mended.deeds_lost,
        "deeds_from_journal": mended.position - mended.deeds_lost,
    }))
}

/// Everything anew from the segments.
fn restore(context: &Context, why: &str) -> Result<Value> {
    let settings = &context.settings;
    let dir = &settings.data;
    tracing::warn!("{why}: restoring from the segments");
    let repository_settings = parts::repository_settings(settings);
    let (repository, aside) = Repository::begin_repair(dir, repository_settings, wall()).or_fail()?;
    let crawler_settings = parts::crawler_settings(settings, Until::default())?;
    let mut crawler = Crawler::open(repository, crawler_settings, wall()).or_fail()?;
    if !aside.saved.seeds.is_empty() {
        crawler.act(Act::AddSeeds(aside.saved.seeds.clone()), Moment::EPOCH).or_fail()?;
    }
    crawler.act(Act::TakeUpLedger(aside.saved.forgotten.clone()), Moment::EPOCH).or_fail()?;
    let mut told = 0;
    let mut progress = |done: u64, total: u64| {
        if done >= told + PROGRESS_RECORDS {
            told = done;
            tracing::info!("restored {done} of {total} records");
        }
    };
    let restored = crawler.restore(&mut progress).or_fail()?;
    let now = wall().max(crawler.reader().last_moment());
    decide_again(&mut crawler, &aside.saved, now)?;
    crawler.end_repair(now).or_fail()?;
    crawler.close(now).or_fail()?;
    Repository::put_repaired(dir).or_fail()?;
    runs::note_repair(dir, now).or_fail()?;
    Ok(told_of(why, &restored, &aside.saved, &aside.folder.display().to_string()))
}

/// What a person had decided, as far as it was saved.
fn decide_again(crawler: &mut Crawler, saved: &Salvaged, now: Moment) -> Result<()> {
    for (site, standing) in &saved.standings {
        let act = match standing {
            SiteState::Paused => Act::Pause(Some(site.clone())),
            SiteState::Blocked => Act::Block(site.clone()),
            SiteState::Active => continue,
        };
        crawler.act(act, now).or_fail()?;
    }
    if saved.paused {
        crawler.act(Act::Pause(None), now).or_fail()?;
    }
    Ok(())
}

fn told_of(why: &str, restored: &Restored, saved: &Salvaged, aside: &str) -> Value {
    let nobody_saved = saved.seeds.is_empty();
    let mut lost: Vec<String> = NEVER_TOLD.iter().map(|line| (*line).to_owned()).collect();
    if nobody_saved {
        lost.extend([SEEDS_LOST.to_owned(), STANDINGS_LOST.to_owned()]);
        let likely: Vec<&str> = restored.likely_seeds.iter().map(|url| url.as_str()).collect();
        if !likely.is_empty() {
            lost.push(format!("no restored page leads to these, so they were probably seeds: {}", likely.join(" ")));
        }
    }
    lost.extend(restored.lost.iter().cloned());
    json!({
        "done": "restored",
        "why": why,
        "aside": aside,
        "pages": restored.pages,
        "versions": restored.versions,
        "visits": restored.visits,
        "robots": restored.robots,
        "links_found": restored.links_found,
        "seeds_saved": saved.seeds.len(),
        "records_lost": restored.lost_total,
        "lost": lost,
    })
}
