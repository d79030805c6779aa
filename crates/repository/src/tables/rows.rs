//! The rows that are not types of `vernal-model`, and the encoding of all rows: one format byte, then postcard.
//!
//! ```text
//! row:  format u8 (3) | postcard of the row
//! ```

use std::borrow::Cow;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use vernal_model::{
    Admitted, BudgetAccount, Directives, Fingerprint, Found, LinkRow, Media, Moment, OpenHour, PageKey, PageState,
    Partition, ScopeMark, Sequence, Site, SiteRow, TimeOrigin, Url, Via, VisitCounts, WaitingPlace,
};

use crate::encoding::append;
use crate::{Error, Result};

/// The format of every row. A row with another format is refused, and the tables are rebuilt.
const ROW_FORMAT: u8 = 3;

/// What was known of a URL when it was admitted. It never changes.
#[derive(Clone, Debug, PartialEq)]
pub struct UrlRow {
    pub page: PageKey,
    pub url: Url,
    pub via: Via,
    pub depth: u16,
    pub found_on: Option<PageKey>,
    pub admitted: Moment,
    pub rank: i32,
    pub place: WaitingPlace,
}

/// What the sieve knows of a URL.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Known {
    /// `None` for a barred URL: it has no number.
    pub key: Option<PageKey>,
    /// Held pages that link to it, as far as their links have passed the sieve.
    pub back_links: u32,
    pub state: KnownState,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum KnownState {
    Waiting,
    Visited,
    Barred,
}

/// Counters of the whole repository.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Totals {
    /// Known URLs, including barred ones.
    pub known: u64,
    pub barred: u64,
    pub waiting: u64,
    pub held: u64,
    pub gone: u64,
    pub moved: u64,
    pub blocked: u64,
    pub refused: u64,
    pub failed: u64,
    /// Requests that were sent, including those for robots.txt.
    pub visits: u64,
    pub changes: u64,
    pub versions: u64,
    pub wire_bytes: u64,
    pub body_bytes: u64,
    /// Findings that have not passed the sieve yet, including links to URLs found before.
    pub found_pending: u64,
    pub events: u64,
    /// Differences that were noise only. They are events, but not changes.
    pub noise: u64,
}

/// The row with the progress of the tables. It is written with every commit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct State {
    /// The last deed applied, counted over all partitions.
    pub position: u64,
    pub moment: Moment,
    pub paused: bool,
    pub account: BudgetAccount,
    pub totals: Totals,
    pub partitions: Vec<PartitionState>,
    /// The generations of the present known set; 0 means none.
    pub run_big: u32,
    pub run_small: u32,
    pub scope: ScopeMark,
    pub time_origin: Option<TimeOrigin>,
    /// The hour that is being counted; `None` before the first deed that opens one. In the row it lies behind the rest, so that
    /// rows from before there were hours are read as they are.
    #[serde(skip)]
    pub hour: Option<OpenHour>,
}

#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PartitionState {
    pub sequence: Sequence,
    /// Found rows up to here have passed the sieve. They may remain in the table until its next sync.
    pub through: Sequence,
    pub next_number: u32,
}

impl Default for State {
    fn default() -> Self {
        State {
            position: 0,
            moment: Moment::EPOCH,
            paused: false,
            account: BudgetAccount::default(),
            totals: Totals::default(),
            partitions: vec![PartitionState::default(); usize::from(Partition::COUNT)],
            run_big: 0,
            run_small: 0,
            scope: ScopeMark::default(),
            time_origin: None,
            hour: None,
        }
    }
}

impl State {
    pub fn decode(bytes: &[u8]) -> Result<State> {
        let (state, hour) = decode_with_tail("meta", bytes)?;
        Ok(State { hour, ..state })
    }

    pub fn encode<'s>(&self, scratch: &'s mut Vec<u8>) -> Result<&'s [u8]> {
        encode_with_tail("meta", self, self.hour.as_ref(), scratch)
    }

    pub fn partition(&self, partition: Partition) -> PartitionState {
        self.partitions.get(usize::from(partition.0)).copied().unwrap_or_default()
    }

    pub fn partition_mut(&mut self, partition: Partition) -> &mut PartitionState {
        let index = usize::from(partition.0);
        if self.partitions.len() <= index {
            self.partitions.resize(index + 1, PartitionState::default());
        }
        &mut self.partitions[index]
    }
}

/// A site's row with the position of the commit that wrote it. After a power cut the store may hand back newer site
/// rows than its state row; the stamp keeps a replayed commit from being counted twice.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct StampedSite {
    pub stamp: u64,
    pub row: SiteRow,
    /// What was counted since the last day was closed. In the row it lies behind the rest, as the hour in [`State`].
    #[serde(skip)]
    pub day: VisitCounts,
}

impl StampedSite {
    pub fn decode(bytes: &[u8]) -> Result<StampedSite> {
        let (site, day): (StampedSite, Option<VisitCounts>) = decode_with_tail("sites", bytes)?;
        Ok(StampedSite { day: day.unwrap_or_default(), ..site })
    }

    pub fn encode<'s>(&self, scratch: &'s mut Vec<u8>) -> Result<&'s [u8]> {
        encode_with_tail("sites", self, Some(&self.day).filter(|day| !day.is_empty()), scratch)
    }
}

/// What one `Found` or `Unlinked` deed leaves for the sieve: new URLs, links to URLs found before, and removed links.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct FoundRow<'a> {
    pub urls: Cow<'a, [Found]>,
    pub again: Cow<'a, [Fingerprint]>,
    /// Removed links.
    pub gone: Cow<'a, [Fingerprint]>,
}

/// A `UrlRow` on disk. The page is in the key, and the site of the place is stored only where it differs from that of the URL.
#[derive(Serialize, Deserialize)]
struct StoredUrl {
    url: Url,
    via: Via,
    depth: u16,
    found_on: Option<PageKey>,
    admitted: Moment,
    rank: i32,
    site: Option<Site>,
    band: u8,
    arrival: u64,
}

pub(crate) fn encode_url<'s>(admitted: &Admitted, scratch: &'s mut Vec<u8>) -> Result<&'s [u8]> {
    let place = &admitted.place;
    let stored = StoredUrl {
        url: admitted.url.clone(),
        via: admitted.via,
        depth: admitted.depth,
        found_on: admitted.found_on,
        admitted: admitted.moment,
        rank: admitted.rank,
        site: (place.site.as_str() != admitted.url.site_text()).then(|| place.site.clone()),
        band: place.band,
        arrival: place.arrival,
    };
    encode("urls", &stored, scratch)
}

pub(crate) fn decode_url(page: PageKey, bytes: &[u8]) -> Result<UrlRow> {
    let stored: StoredUrl = decode("urls", bytes)?;
    let site = stored.site.unwrap_or_else(|| stored.url.site());
    Ok(UrlRow {
        page,
        url: stored.url,
        via: stored.via,
        depth: stored.depth,
        found_on: stored.found_on,
        admitted: stored.admitted,
        rank: stored.rank,
        place: WaitingPlace { site, band: stored.band, arrival: stored.arrival },
    })
}

/// Encodes a row into `scratch`, the buffer that the rows of one commit share.
pub(crate) fn encode<'s, T: Serialize>(table: &'static str, row: &T, scratch: &'s mut Vec<u8>) -> Result<&'s [u8]> {
    scratch.clear();
    scratch.push(ROW_FORMAT);
    append(scratch, row).map_err(|why| Error::row(table, why))?;
    Ok(scratch)
}

/// Encodes a row from its postcard part.
pub(crate) fn encoded<'s>(postcard: &[u8], scratch: &'s mut Vec<u8>) -> &'s [u8] {
    scratch.clear();
    scratch.push(ROW_FORMAT);
    scratch.extend_from_slice(postcard);
    scratch
}

pub(crate) fn decode<T: DeserializeOwned>(table: &'static str, bytes: &[u8]) -> Result<T> {
    postcard::from_bytes(content(table, bytes)?).map_err(|why| Error::row(table, why))
}

/// Encodes a row with a part behind it that older rows lack.
fn encode_with_tail<'s, T: Serialize, U: Serialize>(
    table: &'static str,
    row: &T,
    tail: Option<&U>,
    scratch: &'s mut Vec<u8>,
) -> Result<&'s [u8]> {
    encode(table, row, scratch)?;
    if let Some(tail) = tail {
        append(scratch, tail).map_err(|why| Error::row(table, why))?;
    }
    Ok(scratch)
}

fn decode_with_tail<T: DeserializeOwned, U: DeserializeOwned>(
    table: &'static str,
    bytes: &[u8],
) -> Result<(T, Option<U>)> {
    let (row, tail) = postcard::take_from_bytes(content(table, bytes)?).map_err(|why| Error::row(table, why))?;
    let tail = (!tail.is_empty()).then(|| postcard::from_bytes(tail)).transpose();
    Ok((row, tail.map_err(|why| Error::row(table, why))?))
}

/// The first fields of a page row.
#[derive(Deserialize)]
pub(crate) struct StateOfPage<'a> {
    _key: PageKey,
    _url: &'a str,
    pub state: PageState,
}

/// The first fields of a document row, of which only the links are read.
#[derive(Deserialize)]
pub(crate) struct LinksOfDocument<'a> {
    _signature: &'a [u8],
    _media: Media,
    _content_type: &'a str,
    _title: &'a str,
    _language: &'a str,
    _directives: Directives,
    pub links: Vec<LinkRow>,
}

/// Decodes the first fields of a row and ignores the rest.
pub(crate) fn decode_head<'a, T: Deserialize<'a>>(table: &'static str, bytes: &'a [u8]) -> Result<T> {
    let (head, _) = postcard::take_from_bytes(content(table, bytes)?).map_err(|why| Error::row(table, why))?;
    Ok(head)
}

/// The postcard part of a row. Fails for an unknown format byte.
pub(crate) fn content<'a>(table: &'static str, bytes: &'a [u8]) -> Result<&'a [u8]> {
    match bytes.split_first() {
        Some((&ROW_FORMAT, rest)) => Ok(rest),
        Some((other, _)) => Err(Error::row(table, format!("format {other} is not {ROW_FORMAT}"))),
        None => Err(Error::row(table, "it is empty")),
    }
}
