//! What a watch would have told: looked for in the feed backwards, and sent to nobody.

use std::sync::Arc;

use vernal_model::{Moment, Span};
use vernal_repository::Cursor;

use crate::Result;
use crate::alerts::Question;
use crate::follow::{Feed, judged};
use crate::matching::Matcher;
use crate::told::Told;
use crate::watch::Watch;

/// Events that are read for one preview; it says where it ends for this reason.
const EVENTS_READ_MAX: usize = 20_000;
const BATCH: usize = 256;
/// More than so many a day are better told in a digest.
pub const PER_DAY_MAX: f64 = 50.0;

#[derive(Clone, Debug)]
pub struct Preview {
    /// Events that would have been told.
    pub matches: u64,
    pub per_day: f64,
    /// Events of what is watched.
    pub covered: u64,
    /// The newest that would have been told, newest first.
    pub latest: Vec<Told>,
    /// How far back the feed was read.
    pub since: Option<Moment>,
    /// The feed goes further back than was read.
    pub cut: bool,
}

/// How far a preview goes.
#[derive(Copy, Clone, Debug)]
pub enum Reach {
    /// Over the events of so long.
    For(Span),
    /// Over so many of the newest events of what is watched.
    Changes(u64),
}

impl Preview {
    pub fn wants_digest(&self) -> bool {
        self.per_day > PER_DAY_MAX
    }
}

/// Looks at the newest events and keeps the newest `kept` that match.
pub fn preview(feed: &dyn Feed, watch: &Watch, reach: Reach, kept: usize) -> Result<Preview> {
    let question = Question { id: watch.id.clone(), seen: Cursor::START, matcher: Arc::new(Matcher::of(watch)?) };
    let now = feed.now();
    let mut told = Preview { matches: 0, per_day: 0.0, covered: 0, latest: Vec::new(), since: None, cut: false };
    let (mut before, mut read) = (Cursor(u64::MAX), 0);
    'reading: loop {
        let batch = feed.before(before, BATCH)?;
        let Some(upto) = batch.upto else { break };
        before = upto;
        for event in &batch.events {
            read += 1;
            let is_beyond = match reach {
                Reach::For(span) => event.seen + span < now,
                Reach::Changes(most) => told.covered >= most,
            };
            told.cut = read > EVENTS_READ_MAX;
            if is_beyond || told.cut {
                break 'reading;
            }
            told.since = Some(event.seen);
            for found in judged(feed, &question, event)? {
                told.covered += 1;
                let is_lost = found.matching.lost.is_some();
                let event = found.matching.told.or_else(|| is_lost.then_some(found.told));
                let Some(event) = event else { continue };
                told.matches += 1;
                if told.latest.len() < kept {
                    told.latest.push(event);
                }
            }
        }
    }
    let span = match (reach, told.since) {
        (Reach::For(span), Some(since)) => span.min(now.since(since)),
        (_, Some(since)) => now.since(since),
        (_, None) => Span::ZERO,
    };
    // Less than a day is no base for a rate of days.
    told.per_day = told.matches as f64 / span.days_f64().max(1.0);
    Ok(told)
}
