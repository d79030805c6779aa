//! What the committed unit of a page says of itself.

use tantivy::schema::IndexRecordOption;
use tantivy::{DocId, DocSet, Searcher, SegmentReader, TERMINATED, Term};
use vernal_model::{Moment, PageKey};

use super::schema::{ADDRESS, ANCHORS_DIGEST, Fields, KIND, LINKS_DIGEST, OF, TIME, VERSION, page_of};
use crate::{Error, Result};

const ACT: &str = "read a unit of the index";

/// The unit of a page, without its text.
pub struct HeldUnit {
    pub page: PageKey,
    pub version: u32,
    pub kinds: Vec<String>,
    pub time: Moment,
    /// Of the words of links to it (see `follow::link_words::digest`).
    pub anchors_digest: u64,
    /// Of the links out of it.
    pub links_digest: u64,
}

/// The unit of the page with this address, if there is one.
pub fn held_unit(searcher: &Searcher, fields: &Fields, address: u64) -> Result<Option<HeldUnit>> {
    let term = Term::from_field_u64(fields.address, address);
    for segment in searcher.segment_readers() {
        let inverted = segment.inverted_index(fields.address).map_err(Error::index(ACT))?;
        let units = inverted.read_postings(&term, IndexRecordOption::Basic);
        let Some(mut units) = units.map_err(|error| Error::index(ACT)(error.into()))? else { continue };
        while units.doc() != TERMINATED {
            if !segment.is_deleted(units.doc()) {
                return read(segment, units.doc()).map(Some).map_err(Error::index(ACT));
            }
            units.advance();
        }
    }
    Ok(None)
}

fn read(segment: &SegmentReader, unit: DocId) -> tantivy::Result<HeldUnit> {
    let fast = segment.fast_fields();
    let number = |name: &str| -> tantivy::Result<u64> { Ok(fast.u64(name)?.first(unit).unwrap_or_default()) };
    let mut kinds = Vec::new();
    if let Some(column) = fast.str(KIND)? {
        for ord in column.term_ords(unit) {
            let mut kind = String::new();
            if column.ord_to_str(ord, &mut kind)? {
                kinds.push(kind);
            }
        }
    }
    Ok(HeldUnit {
        page: page_of(number(OF)?),
        version: number(VERSION)? as u32,
        kinds,
        time: Moment::from_secs(fast.i64(TIME)?.first(unit).unwrap_or_default()),
        anchors_digest: number(ANCHORS_DIGEST)?,
        links_digest: number(LINKS_DIGEST)?,
    })
}

/// The addresses of all pages.
pub fn addresses(searcher: &Searcher) -> Result<Vec<u64>> {
    let mut all = Vec::new();
    for segment in searcher.segment_readers() {
        let column = segment.fast_fields().u64(ADDRESS).map_err(Error::index(ACT))?;
        all.extend(segment.doc_ids_alive().filter_map(|unit| column.first(unit)));
    }
    Ok(all)
}
