//! The keys of the tables. The partition comes first, so that one partition is one range of every table. Numbers are
//! big-endian, so that keys sort by number.
//!
//! ```text
//! urls pages documents page_noise   partition u8 | number u32
//! terms page_topics      partition u8 | number u32
//! topics                 topic u32
//! waiting                partition u8 | site | 0 | band u8 | first arrival u64 of the row
//! visits                 partition u8 | number u32 (all ones: robots.txt) | started i64 (sign flipped) | sequence u64
//! sites                  partition u8 | site
//! robots                 partition u8 | origin
//! found                  partition u8 | sequence u64
//! events                 position u64
//! page_events            partition u8 | number u32 | position u64
//! version_rows           partition u8 | number u32 | version u32
//! folds                  partition u8 | mark u64: the folds of the mark; with | fold u32 | number u32: a page of one
//! tellings               position u64 of the event of a site
//! names                  partition u8 | number u32: the row of the page; with | position u64: its first name from there on
//! name_marks             partition u8 | kind u8 | mark u64 | number u32: 0 spelling, 1 fingerprint that the page names
//!                        by its canonical link, 2 number of its first name
//! noise                  partition u8 | site | 0 | 0: last id; 1 | rule u32
//! weights                partition u8 | chunk u32
//! left                   partition u8 | number u32
//! relinked               position u64 of the last deed of a group
//! hints                  partition u8 | site | 0 | 0 | source u8; 1 | number u32 of a file;
//!                        2 | number u32 of a feed: its subscription
//! page_hints             partition u8 | number u32
//! listed                 partition u8 | number u32 of the file | fingerprint u64
//! series                 partition u8 | 0 or 3 | hour u32; 1 or 4 | day u32; 2 | site | 0 | day u32
//! meta                   "state", "graph", "topic-mark", "seed/" URL, "forgot/" id u32 or
//!                        "overwrite/" segment u32 | offset u64: a record to overwrite; "erasure": how far the files followed
//! ```

use vernal_model::{
    Day, Fingerprint, FoldKey, HintSource, Hour, Location, Moment, NameMark, PageKey, Partition, Sequence, Site, Url,
    WaitingPlace,
};

use super::waiting::ARRIVALS_PER_ROW;

/// The page number in the key of visits to robots.txt, which belong to no page. They come after all pages of their partition.
pub(crate) const ROBOTS_NUMBER: u32 = u32::MAX;
/// The kinds of noise rows.
pub(crate) const NOISE_LAST_ID: u8 = 0;
pub(crate) const NOISE_RULE: u8 = 1;
/// The kinds of rows of the series.
pub(crate) const SERIES_HOUR: u8 = 0;
pub(crate) const SERIES_DAY: u8 = 1;
pub(crate) const SERIES_SITE_DAY: u8 = 2;
pub(crate) const SERIES_HOUR_MEASURED: u8 = 3;
pub(crate) const SERIES_DAY_MEASURED: u8 = 4;
/// The kinds of rows of a site's hints.
pub(crate) const HINT_SOURCE: u8 = 0;
pub(crate) const HINT_FILE: u8 = 1;
pub(crate) const HINT_SUBSCRIPTION: u8 = 2;
/// The length of the key of the folds of one mark. The keys of their pages are longer.
pub(crate) const FOLD_BYTES: usize = 9;
/// The length of the key of the row of a page's names. The keys of the names under which it was told are longer.
pub(crate) const NAMES_BYTES: usize = 5;
pub(crate) const STATE: &str = "state";
pub(crate) const TOPIC_MARK: &str = "topic-mark";
pub(crate) const GRAPH: &str = "graph";
/// How far the files have followed what was erased.
pub(crate) const ERASURE: &str = "erasure";
pub(crate) const SEED_PREFIX: &str = "seed/";
pub(crate) const FORGOT_PREFIX: &str = "forgot/";
pub(crate) const OVERWRITE_PREFIX: &str = "overwrite/";

/// The key of the row that contains a place.
pub(crate) fn waiting(partition: Partition, place: &WaitingPlace) -> Vec<u8> {
    let mut key = waiting_site(partition, &place.site);
    key.push(place.band);
    key.extend_from_slice(&(place.arrival / ARRIVALS_PER_ROW * ARRIVALS_PER_ROW).to_be_bytes());
    key
}

/// The prefix of all waiting URLs of one site.
pub(crate) fn waiting_site(partition: Partition, site: &Site) -> Vec<u8> {
    let mut key = Vec::with_capacity(site.as_str().len() + 11);
    key.push(partition.0);
    key.extend_from_slice(site.as_str().as_bytes());
    key.push(0);
    key
}

pub(crate) fn visit(page: PageKey, started: Moment, sequence: Sequence) -> [u8; 21] {
    let mut key = [0; 21];
    key[..5].copy_from_slice(&page.bytes());
    key[5..13].copy_from_slice(&((started.micros() as u64) ^ (1 << 63)).to_be_bytes());
    key[13..].copy_from_slice(&sequence.0.to_be_bytes());
    key
}

/// The sequence in the key of a visit.
pub(crate) fn visit_sequence(key: &[u8]) -> Option<Sequence> {
    Some(Sequence(u64::from_be_bytes(*key.get(13..)?.first_chunk::<8>()?)))
}

/// The position of an event, listed under its page.
pub(crate) fn page_event(page: PageKey, position: u64) -> [u8; 13] {
    let mut key = [0; 13];
    key[..5].copy_from_slice(&page.bytes());
    key[5..].copy_from_slice(&position.to_be_bytes());
    key
}

/// What is kept of a version.
pub(crate) fn version_row(page: PageKey, version: u32) -> [u8; 9] {
    let mut key = [0; 9];
    key[..5].copy_from_slice(&page.bytes());
    key[5..].copy_from_slice(&version.to_be_bytes());
    key
}

/// The folds of one mark.
pub(crate) fn fold(partition: Partition, mark: u64) -> [u8; FOLD_BYTES] {
    let mut key = [0; FOLD_BYTES];
    key[0] = partition.0;
    key[1..].copy_from_slice(&mark.to_be_bytes());
    key
}

/// A page of a fold.
pub(crate) fn fold_page(page: PageKey, fold: FoldKey) -> [u8; 17] {
    let mut key = [0; 17];
    key[..FOLD_BYTES].copy_from_slice(&self::fold(page.partition, fold.mark));
    key[FOLD_BYTES..13].copy_from_slice(&fold.number.to_be_bytes());
    key[13..].copy_from_slice(&page.number.to_be_bytes());
    key
}

/// The name under which a page is told from this position on.
pub(crate) fn told_name(page: PageKey, position: u64) -> [u8; 13] {
    page_event(page, position)
}

/// The prefix of all pages that have a mark of names.
pub(crate) fn name_mark(partition: Partition, mark: NameMark) -> [u8; 10] {
    let (kind, value) = match mark {
        NameMark::Spelling(spelling) => (0, spelling),
        NameMark::Canonical(fingerprint) => (1, fingerprint.0),
        NameMark::SecondOf(number) => (2, u64::from(number)),
    };
    let mut key = [0; 10];
    (key[0], key[1]) = (partition.0, kind);
    key[2..].copy_from_slice(&value.to_be_bytes());
    key
}

/// A page that has a mark of names.
pub(crate) fn marked_page(page: PageKey, mark: NameMark) -> [u8; 14] {
    let mut key = [0; 14];
    key[..10].copy_from_slice(&name_mark(page.partition, mark));
    key[10..].copy_from_slice(&page.number.to_be_bytes());
    key
}

/// The page in the key of a mark.
pub(crate) fn page_of_mark(key: &[u8]) -> Option<PageKey> {
    let number = u32::from_be_bytes(*key.get(10..)?.first_chunk::<4>()?);
    Some(PageKey::new(Partition(*key.first()?), number))
}

/// Sites and origins: the partition, then the name.
pub(crate) fn named(partition: Partition, name: &str) -> Vec<u8> {
    let mut key = Vec::with_capacity(name.len() + 1);
    key.push(partition.0);
    key.extend_from_slice(name.as_bytes());
    key
}

/// The prefix of all noise rows of one site. No row has it as its key.
pub(crate) fn noise_site(partition: Partition, site: &Site) -> Vec<u8> {
    waiting_site(partition, site)
}

pub(crate) fn noise_last_id(partition: Partition, site: &Site) -> Vec<u8> {
    let mut key = noise_site(partition, site);
    key.push(NOISE_LAST_ID);
    key
}

pub(crate) fn noise_rule(partition: Partition, site: &Site, id: u32) -> Vec<u8> {
    let mut key = noise_site(partition, site);
    key.push(NOISE_RULE);
    key.extend_from_slice(&id.to_be_bytes());
    key
}

/// The site of a noise row, and which kind of row it is.
pub(crate) fn noise_parts(key: &[u8]) -> Option<(Site, u8)> {
    let rest = key.get(1..)?;
    let end = rest.iter().position(|&byte| byte == 0)?;
    let site = std::str::from_utf8(&rest[..end]).ok()?;
    Some((Site::new(site), *rest.get(end + 1)?))
}

pub(crate) fn hint_source(partition: Partition, site: &Site, source: HintSource) -> Vec<u8> {
    let mut key = waiting_site(partition, site);
    key.extend([HINT_SOURCE, source as u8]);
    key
}

pub(crate) fn hint_file(site: &Site, file: PageKey) -> Vec<u8> {
    of_hint_file(site, file, HINT_FILE)
}

pub(crate) fn hint_subscription(site: &Site, file: PageKey) -> Vec<u8> {
    of_hint_file(site, file, HINT_SUBSCRIPTION)
}

fn of_hint_file(site: &Site, file: PageKey, kind: u8) -> Vec<u8> {
    let mut key = waiting_site(file.partition, site);
    key.push(kind);
    key.extend_from_slice(&file.number.to_be_bytes());
    key
}

/// The part after the kind in the key of a hint row.
pub(crate) fn hint_tail(key: &[u8]) -> Option<&[u8]> {
    let end = key.get(1..)?.iter().position(|&byte| byte == 0)?;
    key.get(end + 3..)
}

pub(crate) fn listed(file: PageKey, fingerprint: Fingerprint) -> [u8; 13] {
    let mut key = [0; 13];
    key[..5].copy_from_slice(&file.bytes());
    key[5..].copy_from_slice(&fingerprint.0.to_be_bytes());
    key
}

/// The fingerprint in the key of a listed URL.
pub(crate) fn listed_fingerprint(key: &[u8]) -> Option<Fingerprint> {
    Some(Fingerprint(u64::from_be_bytes(*key.get(5..)?.first_chunk::<8>()?)))
}

pub(crate) fn found(partition: Partition, sequence: Sequence) -> [u8; 9] {
    let mut key = [0; 9];
    key[0] = partition.0;
    key[1..].copy_from_slice(&sequence.0.to_be_bytes());
    key
}

pub(crate) fn found_sequence(key: &[u8]) -> Option<Sequence> {
    Some(Sequence(u64::from_be_bytes(*key.get(1..)?.first_chunk::<8>()?)))
}

/// The row of an hour of the whole crawl.
pub(crate) fn hour(hour: Hour) -> [u8; 6] {
    of_series(SERIES_HOUR, hour.0)
}

/// The row of a day of the whole crawl, which has no rows of its hours any more.
pub(crate) fn day(day: Day) -> [u8; 6] {
    of_series(SERIES_DAY, day.0)
}

/// What was so at the end of an hour.
pub(crate) fn hour_measured(hour: Hour) -> [u8; 6] {
    of_series(SERIES_HOUR_MEASURED, hour.0)
}

/// What was so at the end of a day, whose hours have none any more.
pub(crate) fn day_measured(day: Day) -> [u8; 6] {
    of_series(SERIES_DAY_MEASURED, day.0)
}

/// Rows of the whole crawl lie in the first partition.
fn of_series(kind: u8, number: u32) -> [u8; 6] {
    let mut key = [0; 6];
    key[1] = kind;
    key[2..].copy_from_slice(&number.to_be_bytes());
    key
}

/// The row of a day of a site.
pub(crate) fn site_day(partition: Partition, site: &Site, day: Day) -> Vec<u8> {
    let mut key = Vec::with_capacity(site.as_str().len() + 7);
    key.extend([partition.0, SERIES_SITE_DAY]);
    key.extend_from_slice(site.as_str().as_bytes());
    key.push(0);
    key.extend_from_slice(&day.0.to_be_bytes());
    key
}

/// The number of the hour or day at the end of a key of the series.
pub(crate) fn series_number(key: &[u8]) -> Option<u32> {
    Some(u32::from_be_bytes(*key.last_chunk::<4>()?))
}

pub(crate) fn position(key: &[u8]) -> Option<u64> {
    Some(u64::from_be_bytes(*key.first_chunk::<8>()?))
}

pub(crate) fn seed(url: &Url) -> Vec<u8> {
    [SEED_PREFIX.as_bytes(), url.as_str().as_bytes()].concat()
}

/// An entry of the ledger of what was forgotten.
pub(crate) fn forgot(id: u32) -> Vec<u8> {
    [FORGOT_PREFIX.as_bytes(), &id.to_be_bytes()].concat()
}

/// A record of an erased page that is still to be overwritten.
pub(crate) fn overwrite(record: &Location) -> Vec<u8> {
    [OVERWRITE_PREFIX.as_bytes(), &record.segment.to_be_bytes(), &record.offset.to_be_bytes()].concat()
}

/// Segment and offset in the key of such a record.
pub(crate) fn overwritten(key: &[u8]) -> Option<(u32, u64)> {
    let place = key.strip_prefix(OVERWRITE_PREFIX.as_bytes())?;
    let (segment, offset) = place.split_first_chunk::<4>()?;
    Some((u32::from_be_bytes(*segment), u64::from_be_bytes(*offset.first_chunk::<8>()?)))
}
