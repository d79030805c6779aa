//! Follows the feed and empties the outbox, for as long as somebody wants it to.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::watch;
use tokio::task::JoinSet;
use vernal_model::{EventKind, Moment};
use vernal_repository::Cursor;

use crate::alerts::{Alerts, Question};
use crate::found::Found;
use crate::outbox::WatchEntry;
use crate::send::{Network, Outcome, send};
use crate::told::Told;
use crate::watch::Over;
use crate::{Error, Result};

/// Events read at a time.
const BATCH: usize = 256;
/// How often feed and outbox are looked at.
const LOOK_EVERY: Duration = Duration::from_millis(300);
/// What is due at the end gets so long.
const LAST_LOOK_MAX: Duration = Duration::from_secs(5);
/// Deliveries under way at a time, over all routes.
const UNDER_WAY_MAX: usize = 32;

/// The change feed, as `app` reads it: acknowledged events only.
pub trait Feed: Send + Sync {
    /// The events behind a cursor, oldest first, at most so many. Words of whole pages may be left out.
    fn after(&self, after: Cursor, limit: usize) -> Result<Batch>;
    /// The events before a cursor, newest first.
    fn before(&self, before: Cursor, limit: usize) -> Result<Batch>;
    /// The same event with all its words.
    fn with_words(&self, told: Told) -> Result<Told>;
    /// Whether the page is a hit of a search of the text as it is or as it was removed, once the index has come to this event;
    /// before, [`Error::Behind`].
    fn is_hit(&self, query: &str, url: &str, at: Cursor) -> Result<bool>;
    /// Whether a paragraph of the page as it is held now fulfils this; false where no page is held.
    fn page_has(&self, url: &str, is_asked: &dyn Fn(&str) -> bool) -> Result<bool>;
    /// When the page was last read, where one page is watched.
    fn read_at(&self, over: &Over) -> Option<Moment>;
    /// The last acknowledged event.
    fn end(&self) -> Cursor;
    /// The time of the crawl, in which events are dated.
    fn now(&self) -> Moment;
}

/// Events of the feed, and the place behind all that was read for them.
#[derive(Clone, Debug, Default)]
pub struct Batch {
    pub events: Vec<FeedEvent>,
    /// `None` where there was nothing to read.
    pub upto: Option<Cursor>,
}

/// One event as the feed lists it.
#[derive(Clone, Debug)]
pub struct FeedEvent {
    pub cursor: Cursor,
    pub seen: Moment,
    /// No row where the event of a site tells all of it, several rows for an event of a site.
    pub rows: Vec<Told>,
    /// The event of a page with what an event of its site tells as well, for whoever watches this page alone.
    pub whole: Option<Told>,
}

/// When and from where links of alerts lead.
pub type Now = Arc<dyn Fn() -> Moment + Send + Sync>;

/// The one who follows.
pub struct Follow {
    alerts: Arc<Mutex<Alerts>>,
    feed: Arc<dyn Feed>,
    network: Arc<dyn Network>,
    now: Now,
    links: Option<String>,
    under_way: HashSet<String>,
    sends: JoinSet<Sent>,
}

/// A try that ended.
struct Sent {
    delivery: String,
    began: Moment,
    outcome: Outcome,
}

impl Follow {
    pub fn new(
        alerts: Arc<Mutex<Alerts>>,
        feed: Arc<dyn Feed>,
        network: Arc<dyn Network>,
        now: Now,
        links: Option<String>,
    ) -> Follow {
        Follow { alerts, feed, network, now, links, under_way: HashSet::new(), sends: JoinSet::new() }
    }

    /// Follows until it is told to stop. Must run on a `LocalSet`. A try that is under way at the stop is made anew another
    /// time, with the same id.
    pub async fn run(&mut self, mut stop: watch::Receiver<bool>) -> Result<()> {
        while !*stop.borrow() {
            let is_behind = self.turn().await?;
            if is_behind {
                tokio::task::yield_now().await;
                continue;
            }
            tokio::select! {
                Some(sent) = self.sends.join_next(), if !self.sends.is_empty() => self.note(sent)?,
                () = tokio::time::sleep(LOOK_EVERY) => {}
                stopped = stop.changed() => if stopped.is_err() { break },
            }
        }
        // A crawl that ends by itself has found something a moment ago, and nobody may come back for days.
        tokio::time::timeout(LAST_LOOK_MAX, self.last_look()).await.unwrap_or(Ok(()))
    }

    /// Takes what is there and sends what is due; a search waits for its index.
    async fn last_look(&mut self) -> Result<()> {
        loop {
            while self.turn().await? {}
            self.settle().await?;
            self.turn().await?;
            self.settle().await?;
            let end = self.feed.end();
            if locked(&self.alerts).questions().iter().all(|question| question.seen >= end) {
                return Ok(());
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }

    /// Takes some events and sends what is due. Says whether the feed has more.
    pub async fn turn(&mut self) -> Result<bool> {
        let (alerts, feed) = (Arc::clone(&self.alerts), Arc::clone(&self.feed));
        let now = (self.now)();
        // Bodies are read for some events, which would hold up what is under way.
        let taken = tokio::task::spawn_blocking(move || take_events(&alerts, feed.as_ref(), now)).await;
        let is_behind = taken.map_err(|error| Error::Wrong(format!("the reading of events ended: {error}")))??;
        let feed = Arc::clone(&self.feed);
        locked(&self.alerts).tick(&|entry: &WatchEntry| feed.read_at(&entry.watch.over), (feed.now(), now))?;
        self.send_due();
        while let Some(sent) = self.sends.try_join_next() {
            self.note(sent)?;
        }
        Ok(is_behind)
    }

    /// Waits until nothing is under way.
    pub async fn settle(&mut self) -> Result<()> {
        while let Some(sent) = self.sends.join_next().await {
            self.note(sent)?;
        }
        Ok(())
    }

    fn send_due(&mut self) {
        let began = (self.now)();
        let due = locked(&self.alerts).due(&self.under_way, began);
        let room = UNDER_WAY_MAX.saturating_sub(self.under_way.len());
        for (delivery, route) in due.into_iter().take(room) {
            self.under_way.insert(delivery.id.clone());
            let (network, links) = (Arc::clone(&self.network), self.links.clone());
            self.sends.spawn_local(async move {
                let outcome = send(&route, &delivery, network.as_ref(), links.as_deref(), began).await;
                Sent { delivery: delivery.id, began, outcome }
            });
        }
    }

    fn note(&mut self, sent: std::result::Result<Sent, tokio::task::JoinError>) -> Result<()> {
        let Ok(Sent { delivery, began, outcome }) = sent else {
            // A try that broke down is no longer under way; which one it was is not known, so all are asked again.
            self.under_way.clear();
            return Ok(());
        };
        self.under_way.remove(&delivery);
        tracing::debug!(%delivery, taken = outcome.taken, "delivery tried");
        locked(&self.alerts).tried(&delivery, outcome, (began, (self.now)()))
    }
}

fn locked(alerts: &Mutex<Alerts>) -> MutexGuard<'_, Alerts> {
    alerts.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Judges the next events for all watches and takes what is told. Says whether the feed has more.
pub fn take_events(alerts: &Mutex<Alerts>, feed: &dyn Feed, now: Moment) -> Result<bool> {
    let questions = locked(alerts).questions();
    let Some(from) = questions.iter().map(|question| question.seen).min() else { return Ok(false) };
    if from >= feed.end() {
        return Ok(false);
    }
    let batch = feed.after(from, BATCH)?;
    let Some(mut upto) = batch.upto else { return Ok(false) };
    let mut found = Vec::new();
    let mut erased = Vec::new();
    let mut before = from;
    let mut has_more = true;
    for event in &batch.events {
        let asking = questions.iter().filter(|question| question.seen < event.cursor);
        let judged: Result<Vec<Vec<Found>>> = asking.map(|question| judged(feed, question, event)).collect();
        match judged {
            // The rest comes once the index has it.
            Err(Error::Behind) => {
                (upto, has_more) = (before, false);
                break;
            }
            judged => found.extend(judged?.into_iter().flatten()),
        }
        let is_erased = |told: &&Told| told.event == EventKind::Erased;
        erased.extend(event.rows.iter().filter(is_erased).map(|told| told.url.clone()));
        before = event.cursor;
    }
    if upto > from {
        locked(alerts).take(&questions, found, erased, (upto, now))?;
    }
    Ok(has_more)
}

/// What one event means to one watch: a row for each that it covers.
pub fn judged(feed: &dyn Feed, question: &Question, event: &FeedEvent) -> Result<Vec<Found>> {
    let matcher = &question.matcher;
    let over = &matcher.watch().over;
    let whole = event.whole.as_ref().filter(|_| over.url.is_some());
    let rows = whole.map_or(event.rows.as_slice(), std::slice::from_ref);
    let mut found = Vec::new();
    for row in rows {
        let is_hit = |url: &str| over.search.as_ref().map_or(Ok(false), |query| feed.is_hit(query, url, event.cursor));
        if !matcher.covers(row, &is_hit)? {
            continue;
        }
        let told = if matcher.wants_words(row) { feed.with_words(row.clone())? } else { row.clone() };
        let matching = matcher.judge(&told, &|is_asked| feed.page_has(&told.url, is_asked))?;
        found.push(Found { watch: question.id.clone(), cursor: event.cursor, told, seen: event.seen, matching });
    }
    Ok(found)
}
