//! Marks versions whose bodies are lost, so that their pages are asked for again.

use vernal_model::{Deed, Moment, PageKey, Relocated, Sequence, Visit};

use crate::repository::Repository;
use crate::tables::keys;
use crate::tables::rows::decode;
use crate::{Error, Reader, Result};

/// Marks of one group of deeds.
const MARKS_MAX: usize = 1_000;

/// A version whose body cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LostBody {
    pub page: PageKey,
    pub number: u32,
    pub why: String,
}

impl Repository {
    /// Reads the body of every version, and marks those that cannot be read. They keep their rows and events. A page whose newest
    /// version lost its body is asked for again.
    pub fn mark_lost_bodies(&mut self, now: Moment) -> Result<Vec<LostBody>> {
        let (mut lost, mut marks) = (Vec::new(), Vec::new());
        let reader = self.reader();
        for guard in self.shared.tables.visits.iter() {
            let (key, value) = guard.into_inner().map_err(Error::tables("read the visit book"))?;
            let page = PageKey::from_bytes(&key).zip(keys::visit_sequence(&key));
            let (page, sequence) = page.ok_or_else(|| Error::row("visits", "its key is too short"))?;
            let visit: Visit = decode("visits", &value)?;
            if let Some((body, mark)) = loss(&reader, page, sequence, &visit)? {
                lost.push(body);
                marks.push((page.partition, Deed::Relocated(vec![mark])));
            }
        }
        for group in marks.chunks(MARKS_MAX) {
            self.commit(group, now.max(reader.last_moment()))?;
        }
        Ok(lost)
    }
}

/// What is lost of this visit, and the mark for it.
fn loss(reader: &Reader, page: PageKey, sequence: Sequence, visit: &Visit) -> Result<Option<(LostBody, Relocated)>> {
    let Some((version, location)) = visit.version.and_then(|version| Some((version, version.body()?))) else {
        return Ok(None);
    };
    let why = match reader.body(&location) {
        Ok(record) if record.payload_digest().is_none_or(|digest| digest == version.payload) => return Ok(None),
        Ok(_) => "its record has another payload digest".to_owned(),
        Err(error @ (Error::Corrupt { .. } | Error::SegmentMissing(_))) => error.to_string(),
        Err(error) => return Err(error),
    };
    let mark = Relocated { page, started: visit.started, sequence, to: Some(location.lost()) };
    Ok(Some((LostBody { page, number: version.number, why }, mark)))
}
