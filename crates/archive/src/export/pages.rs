//! The walk over the pages of an export: every page for a whole state, the pages with events between for a difference.

use std::collections::BTreeSet;

use vernal_model::{Event, PageKey, Url};
use vernal_repository::{Cursor, Reader};

use super::Result;
use super::asked::{Asked, PageFilter, Until};
use super::held::{Held, History, State};
use super::manifest::Manifest;
use super::rows::{ReadPage, Unread, read_page};

/// How far an export is.
#[derive(Copy, Clone, Debug, Default)]
pub struct Progress {
    pub pages: u64,
    /// How many there are, where it is known.
    pub of: Option<u64>,
}

/// Events that are read at once.
const BATCH: usize = 256;

/// One page of an export, in both states.
pub struct Step<'a> {
    pub key: PageKey,
    pub url: Url,
    /// It was held then; of a whole export nothing was.
    pub old: Option<Held>,
    pub new: Option<Held>,
    /// Why there is no text of it now.
    pub ended: &'static str,
    pub history: &'a History,
}

impl Step<'_> {
    /// The text of the new state; where there is none, `ended` and the manifest say why.
    pub fn read(&mut self, reader: &Reader, asked: &Asked, manifest: &mut Manifest) -> Result<Option<ReadPage>> {
        let Some(held) = self.new.take() else { return Ok(None) };
        let counter = match read_page(reader, &asked.filter, held)? {
            Ok(read) => return Ok(Some(read)),
            Err(Unread::NoBody) => {
                self.ended = "noarchive";
                &mut manifest.without_body
            }
            Err(Unread::Noindex) => {
                self.ended = "noindex";
                &mut manifest.noindex
            }
            Err(Unread::NoText) => {
                self.ended = "removed";
                &mut manifest.without_text
            }
        };
        *counter += 1;
        Ok(None)
    }

    /// The text of the old state.
    pub fn read_old(
        &mut self,
        reader: &Reader,
        asked: &Asked,
    ) -> Result<Option<std::result::Result<ReadPage, Unread>>> {
        self.old.take().map(|held| read_page(reader, &asked.filter, held)).transpose()
    }
}

/// Calls `each` with every page that may have something to tell, in the order of their keys. Counts in `manifest` what has no text.
pub fn walk(
    reader: &Reader,
    asked: &Asked,
    manifest: &mut Manifest,
    told: &mut dyn FnMut(Progress),
    each: &mut dyn FnMut(Step<'_>, &mut Manifest) -> Result<()>,
) -> Result<()> {
    asked.check(reader)?;
    let mut progress = Progress::default();
    let mut one = |key: PageKey, url: Option<Url>, progress: &mut Progress| -> Result<()> {
        if asked.after.is_none_or(|after| key > after) && url.as_ref().is_none_or(|url| asked.filter.has(url)) {
            step(reader, asked, key, manifest, each)?;
        }
        progress.pages += 1;
        told(*progress);
        Ok(())
    };
    match asked.from {
        None => {
            for page in reader.pages_after(asked.after) {
                let page = page?;
                one(page.key, Some(page.url), &mut progress)?;
            }
        }
        Some(from) => {
            let changed = changed_pages(reader, &from, &asked.to)?;
            progress.of = Some(changed.len() as u64);
            for key in changed {
                one(key, None, &mut progress)?;
            }
        }
    }
    Ok(())
}

/// Eight bytes for each page that has events between the two states.
fn changed_pages(reader: &Reader, from: &Until, to: &Until) -> Result<BTreeSet<PageKey>> {
    let mut changed = BTreeSet::new();
    // A time lies anywhere in the order of the journal.
    let mut after = if from.moment.is_some() || to.moment.is_some() { Cursor::START } else { from.cursor };
    loop {
        let batch = reader.events(after, BATCH)?;
        let Some((last, _, _)) = batch.last() else { return Ok(changed) };
        after = *last;
        let is_between = |(cursor, event): (Cursor, &Event)| to.has(cursor, event) && !from.has(cursor, event);
        changed.extend(
            batch.iter().filter(|(cursor, _, event)| is_between((*cursor, event))).map(|(_, _, event)| event.page),
        );
        if after >= to.cursor {
            return Ok(changed);
        }
    }
}

fn step(
    reader: &Reader,
    asked: &Asked,
    key: PageKey,
    manifest: &mut Manifest,
    each: &mut dyn FnMut(Step<'_>, &mut Manifest) -> Result<()>,
) -> Result<()> {
    let history = History::of(reader, key)?;
    let old = match &asked.from {
        Some(from) => held_of(history.state(reader, from)?, &asked.filter),
        None => None,
    };
    let state = history.state(reader, &asked.to)?;
    let mut ended = "gone";
    let url = match &state {
        State::Unknown => old.as_ref().map(|held| held.url.clone()),
        State::Held(held) => Some(held.url.clone()),
        State::Ended(event) => {
            ended = event.kind.name();
            Some(event.url.clone())
        }
    };
    let Some(url) = url.filter(|url| asked.filter.has(url)) else { return Ok(()) };
    let new = held_of(state, &asked.filter);
    if old.is_none() && new.is_none() {
        return Ok(());
    }
    each(Step { key, url, old, new, ended, history: &history }, manifest)
}

fn held_of(state: State, filter: &PageFilter) -> Option<Held> {
    match state {
        State::Held(held) if filter.has(&held.url) => Some(*held),
        _ => None,
    }
}
