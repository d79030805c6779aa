//! Writes and reads one frame.

use std::io::Read;
use std::ops::Range;

use serde::{Deserialize, Serialize};
use vernal_model::{Deed, Moment, Partition, Restated, Sequence, Visited};
use xxhash_rust::xxh3::Xxh3;

use crate::bodies::End;
use crate::encoding::append;
use crate::{Error, Result};

pub(super) const MAGIC: [u8; 4] = 0xA17F_D33D_u32.to_le_bytes();
pub(super) const HEAD_BYTES: usize = 24;
/// A group is about 1 MiB. A sieve that admits a million URLs stays below this limit too.
pub(super) const PAYLOAD_BYTES_MAX: u64 = 512 << 20;

/// The number that postcard writes for the variant `Visited` of a deed, and the bytes that it writes before an optional value.
const VISITED: u32 = 5;
const NONE: u8 = 0;
const SOME: u8 = 1;

/// One commit group as the journal holds it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Frame {
    pub moment: Moment,
    /// The end of the bodies that this frame acknowledges.
    pub end: End,
    /// The position of the first deed.
    pub first: u64,
    pub entries: Vec<(Partition, Sequence, Deed)>,
}

impl Frame {
    /// Whether this is the last frame of a checkpoint.
    pub fn ends_checkpoint(&self) -> bool {
        self.restated().is_some_and(|restated| matches!(restated, Restated::State(_)))
    }

    /// The part of the tables that this frame of a checkpoint has.
    pub fn restated(&self) -> Option<&Restated> {
        match &self.entries[..] {
            [(_, _, Deed::Restated(restated))] => Some(restated),
            _ => None,
        }
    }
}

#[derive(Serialize, Deserialize)]
struct PayloadHead {
    moment: Moment,
    end: End,
    deeds: u32,
}

/// The byte ranges of those parts of a visit deed that the tables store unchanged.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct VisitedRanges {
    pub page: Range<usize>,
    pub visit: Range<usize>,
    pub document: Option<Range<usize>>,
    pub event: Option<Range<usize>>,
}

/// A frame as it was written: its bytes, and the ranges of the parts of each visit deed.
#[derive(Copy, Clone)]
pub(crate) struct WrittenFrame<'a> {
    pub bytes: &'a [u8],
    pub places: &'a [Option<VisitedRanges>],
}

/// What is at an offset of a file.
pub(super) enum FrameRead {
    /// A frame, and its bytes in the file.
    Frame(Frame, u64),
    /// The end of the file.
    End,
    /// No whole frame with a good checksum.
    Torn(&'static str),
    /// The checksum is good, but the payload cannot be read. A torn write does not cause this.
    Unreadable(String),
}

/// Writes a frame into `buffer` and the ranges of its visit deeds into `places`. Both are cleared first.
pub(super) fn encode<'a>(
    (buffer, places): (&mut Vec<u8>, &mut Vec<Option<VisitedRanges>>),
    seed: u64,
    moment: Moment,
    end: End,
    first: u64,
    entries: impl ExactSizeIterator<Item = (Partition, Sequence, &'a Deed)>,
) -> Result<()> {
    buffer.clear();
    buffer.resize(HEAD_BYTES, 0);
    let deeds = u32::try_from(entries.len()).unwrap_or(u32::MAX);
    extend(buffer, &PayloadHead { moment, end, deeds })?;
    places.clear();
    for (partition, sequence, deed) in entries {
        places.push(match deed {
            Deed::Visited(deed) => {
                extend(buffer, &(partition, sequence))?;
                Some(visited(buffer, deed)?)
            }
            deed => {
                extend(buffer, &(partition, sequence, deed))?;
                None
            }
        });
    }
    let bytes = (buffer.len() - HEAD_BYTES) as u64;
    let length = u32::try_from(bytes).ok().filter(|_| bytes <= PAYLOAD_BYTES_MAX);
    let length = length.ok_or(Error::GroupTooLarge { bytes, limit: PAYLOAD_BYTES_MAX })?;
    buffer[..4].copy_from_slice(&MAGIC);
    buffer[4..8].copy_from_slice(&length.to_le_bytes());
    buffer[8..16].copy_from_slice(&first.to_le_bytes());
    let checksum = checksum(seed, &buffer[..16], &buffer[HEAD_BYTES..]);
    buffer[16..24].copy_from_slice(&checksum.to_le_bytes());
    Ok(())
}

/// Writes a deed part by part, in the same bytes as its derived form, so that the tables can store the same bytes.
fn visited(buffer: &mut Vec<u8>, visited: &Visited) -> Result<VisitedRanges> {
    let Visited { page, was, left, visit, document, event } = visited;
    extend(buffer, &VISITED)?;
    let page = part(buffer, page)?;
    extend(buffer, &(was, left))?;
    let visit = part(buffer, visit)?;
    let document = optional_part(buffer, document.as_ref())?;
    let event = optional_part(buffer, event.as_ref())?;
    Ok(VisitedRanges { page, visit, document, event })
}

/// Writes an optional part and returns the range of the value, if there is one.
fn optional_part<T: Serialize>(buffer: &mut Vec<u8>, value: Option<&T>) -> Result<Option<Range<usize>>> {
    buffer.push(if value.is_some() { SOME } else { NONE });
    value.map(|value| part(buffer, value)).transpose()
}

fn part<T: Serialize>(buffer: &mut Vec<u8>, value: &T) -> Result<Range<usize>> {
    let start = buffer.len();
    extend(buffer, value)?;
    Ok(start..buffer.len())
}

fn extend<T: Serialize>(buffer: &mut Vec<u8>, value: &T) -> Result<()> {
    append(buffer, value).map_err(|why| Error::row("journal", why))
}

/// The position of the first deed and the length of the frame with this head.
pub(super) fn read_head(head: &[u8; HEAD_BYTES]) -> Option<(u64, u64)> {
    let length = u64::from(u32::from_le_bytes(array(&head[4..8])));
    let is_one = head[..4] == MAGIC && length <= PAYLOAD_BYTES_MAX;
    is_one.then(|| (u64::from_le_bytes(array(&head[8..16])), HEAD_BYTES as u64 + length))
}

/// Reads the frame that begins here. `remaining` is the number of bytes to the end of the file.
pub(super) fn next(input: &mut impl Read, remaining: u64, seed: u64) -> std::io::Result<FrameRead> {
    if remaining == 0 {
        return Ok(FrameRead::End);
    }
    if remaining < HEAD_BYTES as u64 {
        return Ok(FrameRead::Torn("the head of a frame is cut short"));
    }
    let mut head = [0; HEAD_BYTES];
    input.read_exact(&mut head)?;
    if head[..4] != MAGIC {
        return Ok(FrameRead::Torn("no frame begins here"));
    }
    let length = u64::from(u32::from_le_bytes(array(&head[4..8])));
    if length > PAYLOAD_BYTES_MAX || length > remaining - HEAD_BYTES as u64 {
        return Ok(FrameRead::Torn("a frame is cut short"));
    }
    let mut payload = vec![0; usize::try_from(length).unwrap_or(0)];
    input.read_exact(&mut payload)?;
    if checksum(seed, &head[..16], &payload) != u64::from_le_bytes(array(&head[16..24])) {
        return Ok(FrameRead::Torn("the checksum of a frame is wrong"));
    }
    let first = u64::from_le_bytes(array(&head[8..16]));
    Ok(match decode(first, &payload) {
        Ok(frame) => FrameRead::Frame(frame, HEAD_BYTES as u64 + length),
        Err(why) => FrameRead::Unreadable(why.to_string()),
    })
}

pub(super) fn decode(first: u64, payload: &[u8]) -> postcard::Result<Frame> {
    let (opening, mut rest): (PayloadHead, _) = postcard::take_from_bytes(payload)?;
    let mut entries = Vec::with_capacity((opening.deeds as usize).min(payload.len()));
    for _ in 0..opening.deeds {
        let ((partition, sequence, deed), after): ((Partition, Sequence, Deed), _) = postcard::take_from_bytes(rest)?;
        entries.push((partition, sequence, deed.of_today()));
        rest = after;
    }
    if !rest.is_empty() {
        return Err(postcard::Error::DeserializeBadEncoding);
    }
    Ok(Frame { moment: opening.moment, end: opening.end, first, entries })
}

/// Whether a whole frame begins at any offset within `bytes`. Then the bytes before it are no torn tail.
pub(super) fn holds_a_frame(bytes: &[u8], seed: u64) -> bool {
    find(bytes, seed).is_some()
}

/// Where the first whole frame within `bytes` begins.
pub(super) fn find(bytes: &[u8], seed: u64) -> Option<usize> {
    let mut starts = bytes.windows(MAGIC.len()).enumerate().filter(|(_, window)| *window == MAGIC);
    let begins = |offset: usize| {
        let mut rest = &bytes[offset..];
        let remaining = rest.len() as u64;
        matches!(next(&mut rest, remaining, seed), Ok(FrameRead::Frame(..) | FrameRead::Unreadable(_)))
    };
    starts.find(|(offset, _)| begins(*offset)).map(|(offset, _)| offset)
}

pub(super) fn checksum(seed: u64, head: &[u8], payload: &[u8]) -> u64 {
    let mut hash = Xxh3::with_seed(seed);
    hash.update(head);
    hash.update(payload);
    hash.digest()
}

/// Copies a slice into an array. The caller makes sure of the length.
pub(super) fn array<const N: usize>(bytes: &[u8]) -> [u8; N] {
    let mut out = [0; N];
    out.copy_from_slice(bytes);
    out
}

#[cfg(test)]
mod tests {
    use vernal_model::{
        Change, DocumentRow, Event, EventKind, Outcome, Page, PageKey, PageState, PolicyState, Site, Url, Validators,
        Visit, WaitingPlace,
    };

    use super::*;

    fn page(key: PageKey) -> Page {
        Page {
            key,
            url: Url::parse("http://example.org/a").unwrap(),
            state: PageState::Held,
            depth: 300,
            found_on: Some(PageKey::new(Partition(2), 7)),
            admitted: Moment::from_secs(5),
            first_visit: Moment::from_secs(6),
            last_visit: Moment::from_secs(7),
            last_confirmed: None,
            last_outcome: Outcome::NotModified,
            visits: 900,
            compared: 2,
            changes: 1,
            misses: 0,
            missing_since: None,
            failures: 0,
            not_before: Moment::EPOCH,
            version: None,
            validators: Validators { etag: Some("\"x\"".into()), last_modified: None },
            importance: 0.5,
            noisy: true,
            policy: PolicyState::new(&[1, 2, 3]).unwrap(),
        }
    }

    fn visit() -> Visit {
        Visit {
            started: Moment::from_secs(9),
            finished: Moment::from_secs(10),
            outcome: Outcome::Read { status: 200 },
            address: Some([192, 0, 2, 1].into()),
            wire_bytes: 70_000,
            version: None,
            record: None,
            decided_by: None,
            changed: Some(true),
            second_look: false,
            robots: None,
        }
    }

    /// With and without each part that may be absent.
    fn deeds() -> Vec<Visited> {
        let key = PageKey::new(Partition(3), 1_000);
        let place = WaitingPlace { site: Site::new("example.org"), band: 2, arrival: 99 };
        let event = Event {
            kind: EventKind::Changed,
            page: key,
            url: page(key).url,
            version: Some(2),
            previous: Some(1),
            seen_same: None,
            seen_different: Moment::from_secs(9),
            title: "A".into(),
            language: "en".into(),
            content_type: "text/html".into(),
            change: Change::default(),
            detail: "".into(),
        };
        let made = |parts: u8| Visited {
            page: page(key),
            was: (parts & 1 > 0).then_some(PageState::Failed),
            left: (parts & 2 > 0).then(|| place.clone()),
            visit: visit(),
            document: (parts & 4 > 0).then(DocumentRow::default),
            event: (parts & 8 > 0).then(|| event.clone()),
        };
        (0..16).map(made).collect()
    }

    #[test]
    fn a_visit_written_part_by_part_is_what_its_derived_form_says() {
        for deed in deeds() {
            let (mut by_parts, mut derived) = (b"before".to_vec(), b"before".to_vec());
            let places = visited(&mut by_parts, &deed).unwrap();
            append(&mut derived, &Deed::Visited(Box::new(deed.clone()))).unwrap();
            assert_eq!(by_parts, derived);
            let row = |place: Range<usize>| &derived[place];
            assert_eq!(row(places.page), postcard::to_allocvec(&deed.page).unwrap());
            assert_eq!(row(places.visit), postcard::to_allocvec(&deed.visit).unwrap());
            let document = deed.document.map(|document| postcard::to_allocvec(&document).unwrap());
            assert_eq!(places.document.map(|place| row(place).to_vec()), document);
            let event = deed.event.map(|event| postcard::to_allocvec(&event).unwrap());
            assert_eq!(places.event.map(|place| row(place).to_vec()), event);
        }
    }
}
