//! Dumps all tables as text in key order, for comparing two repositories and for reading.

use std::fmt::Debug;
use std::io::Write;

use serde::de::DeserializeOwned;
use vernal_model::{
    DateRange, DocumentRow, Event, EvictionRow, FoldRow, ForgottenRow, GraphMark, HintFile, HintSource, Measures,
    NameRow, NoiseRule, Page, PageHints, PageKey, PageNoise, PageTerms, Partition, RobotsRow, Seed, Sequence,
    SeriesRow, SubscriptionRow, ToldFolds, TopicMark, TopicOf, TopicRow, TrustRow, VersionRow, Visit, VisitCounts,
};

use super::rows::{FoundRow, StampedSite, State, decode, decode_url};
use super::{Shared, Table, WaitingRow, keys};
use crate::{Error, EventId, Result};

pub(crate) fn dump(shared: &Shared, out: &mut dyn Write) -> Result<()> {
    let tables = &shared.tables;
    let state: State = tables.state()?.unwrap_or_default();
    let mut dump = Dump { shared, out };
    // Generations count merges, and different merges may lead to the same set. Only the records below must be equal.
    dump.line("state", "", &State { run_big: 0, run_small: 0, ..state.clone() })?;
    dump.table::<Seed>(&tables.meta, "meta", |key| key.starts_with(keys::SEED_PREFIX.as_bytes()))?;
    dump.table::<ForgottenRow>(&tables.meta, "meta", |key| key.starts_with(keys::FORGOT_PREFIX.as_bytes()))?;
    dump.table::<u32>(&tables.meta, "meta", |key| key.starts_with(keys::OVERWRITE_PREFIX.as_bytes()))?;
    for guard in tables.urls.iter() {
        let (key, value) = guard.into_inner().map_err(Error::tables("read a row"))?;
        let page = PageKey::from_bytes(&key).ok_or_else(|| Error::row("urls", "its key is too short"))?;
        dump.line("urls", &page.to_string(), &decode_url(page, &value)?)?;
    }
    for guard in tables.waiting.iter() {
        let (key, value) = guard.into_inner().map_err(Error::tables("read a row"))?;
        for (arrival, number) in WaitingRow::decode(&key, &value)?.entries(&key)? {
            dump.line("waiting", &format!("{} {arrival}", key.escape_ascii()), &number)?;
        }
    }
    dump.table::<Page>(&tables.pages, "pages", |_| true)?;
    dump.table::<DocumentRow>(&tables.documents, "documents", |_| true)?;
    dump.table::<Visit>(&tables.visits, "visits", |_| true)?;
    for guard in tables.sites.iter() {
        let (key, value) = guard.into_inner().map_err(Error::tables("read a row"))?;
        dump.line("sites", &key.escape_ascii().to_string(), &StampedSite::decode(&value)?)?;
    }
    dump.table::<RobotsRow>(&tables.robots, "robots", |_| true)?;
    // Rows that have passed the sieve are obsolete. They are removed when the tables are synced.
    dump.table::<FoundRow<'_>>(&tables.found, "found", |key| {
        let through = key.first().map_or(Sequence(0), |first| state.partition(Partition(*first)).through);
        keys::found_sequence(key).is_some_and(|sequence| sequence > through)
    })?;
    dump.table::<(EventId, Event)>(&tables.events, "events", |_| true)?;
    dump.table::<()>(&tables.page_events, "page_events", |_| true)?;
    dump.table::<VersionRow>(&tables.version_rows, "version_rows", |_| true)?;
    dump.table::<FoldRow>(&tables.folds, "folds", |key| key.len() == keys::FOLD_BYTES)?;
    dump.table::<()>(&tables.folds, "folds", |key| key.len() != keys::FOLD_BYTES)?;
    dump.table::<ToldFolds>(&tables.tellings, "tellings", |_| true)?;
    dump.table::<NameRow>(&tables.names, "names", |key| key.len() == keys::NAMES_BYTES)?;
    dump.table::<Option<PageKey>>(&tables.names, "names", |key| key.len() != keys::NAMES_BYTES)?;
    dump.table::<()>(&tables.name_marks, "name_marks", |_| true)?;
    let of_kind = |kind: u8| move |key: &[u8]| keys::noise_parts(key).is_some_and(|(_, found)| found == kind);
    dump.table::<u32>(&tables.noise, "noise", of_kind(keys::NOISE_LAST_ID))?;
    dump.table::<NoiseRule>(&tables.noise, "noise", of_kind(keys::NOISE_RULE))?;
    dump.table::<PageNoise>(&tables.page_noise, "page_noise", |_| true)?;
    dump.table::<PageTerms>(&tables.terms, "terms", |_| true)?;
    dump.table::<Vec<TopicOf>>(&tables.page_topics, "page_topics", |_| true)?;
    dump.table::<TopicRow>(&tables.topics, "topics", |_| true)?;
    dump.table::<TopicMark>(&tables.meta, "meta", |key| key == keys::TOPIC_MARK.as_bytes())?;
    dump.table::<GraphMark>(&tables.meta, "meta", |key| key == keys::GRAPH.as_bytes())?;
    dump.table::<Vec<f32>>(&tables.weights, "weights", |_| true)?;
    dump.table::<EvictionRow>(&tables.left, "left", |_| true)?;
    dump.table::<Vec<PageKey>>(&tables.relinked, "relinked", |_| true)?;
    dump.table::<(HintSource, TrustRow)>(&tables.hints, "hints", of_kind(keys::HINT_SOURCE))?;
    dump.table::<HintFile>(&tables.hints, "hints", of_kind(keys::HINT_FILE))?;
    dump.table::<SubscriptionRow>(&tables.hints, "hints", of_kind(keys::HINT_SUBSCRIPTION))?;
    dump.table::<PageHints>(&tables.page_hints, "page_hints", |_| true)?;
    dump.table::<Option<DateRange>>(&tables.listed, "listed", |_| true)?;
    let is_of = |key: &[u8], kinds: &[u8]| key.get(1).is_some_and(|kind| kinds.contains(kind));
    let (rows, measured) =
        ([keys::SERIES_HOUR, keys::SERIES_DAY], [keys::SERIES_HOUR_MEASURED, keys::SERIES_DAY_MEASURED]);
    dump.table::<SeriesRow>(&tables.series, "series", |key| is_of(key, &rows))?;
    dump.table::<VisitCounts>(&tables.series, "series", |key| is_of(key, &[keys::SERIES_SITE_DAY]))?;
    dump.table::<Measures>(&tables.series, "series", |key| is_of(key, &measured))?;
    dump.known()
}

struct Dump<'a> {
    shared: &'a Shared,
    out: &'a mut dyn Write,
}

impl Dump<'_> {
    fn table<T: DeserializeOwned + Debug>(
        &mut self,
        table: &Table,
        name: &'static str,
        wanted: impl Fn(&[u8]) -> bool,
    ) -> Result<()> {
        for guard in table.iter() {
            let (key, value) = guard.into_inner().map_err(Error::tables("read a row"))?;
            if wanted(&key) {
                self.line(name, &key.escape_ascii().to_string(), &decode::<T>(name, &value)?)?;
            }
        }
        Ok(())
    }

    fn known(&mut self) -> Result<()> {
        let known = self.shared.live().known.clone();
        known.each(&mut |record| {
            let (partition, fingerprint) = record.key;
            let key = format!("{} {:016x}", partition.0, fingerprint.0);
            self.line("known", &key, &(record.number, record.back_links))
        })
    }

    fn line(&mut self, table: &str, key: &str, row: &dyn Debug) -> Result<()> {
        let written = writeln!(self.out, "{table}\t{key}\t{row:?}");
        written.map_err(Error::io("dump", &self.shared.dir))
    }
}
