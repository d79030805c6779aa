//! The pass that reads every link row and sorts the links by target. It works in small steps, so that other work on the
//! repository never waits long, and sees each page as it is at that step. What it read is written in pieces, and a pass that
//! was cut short continues after the last piece.

use std::sync::Arc;

use vernal_model::{CountedIn, LinkRow, Moment, PageKey, PageState, Partition};

use super::index::LinkIndex;
use super::index_writer::IndexWriter;
use super::pieces::{self, PassStart, Pieces, Resumed};
use super::sort::{LinkSorter, Merge, Packed};
use super::targets::Targets;
use super::{FOLDER, Numbering};
use crate::folder::make_folder;
use crate::reader::Reader;
use crate::tables::Row;
use crate::tables::rows::{LinksOfDocument, StateOfPage, decode_head};
use crate::{Error, Repository, Result};

/// The URL limit of a pass: it needs 17 bytes of memory for each, and packs a source into 31 bits.
pub const URLS_MAX: u32 = 1 << 25;
/// A step writes so many sorted links for each page that it could read; both take about as long.
const LINKS_PER_PAGE: usize = 64;
/// Pages per piece. A process that is killed has to read at most these again.
pub const PIECE_PAGES: usize = 16_384;

/// The state of a URL, for the computation of link scores.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum NodeState {
    /// Never visited.
    #[default]
    Waiting,
    Held,
    /// Evicted.
    Left,
    /// Visited, and not held: gone, moved or refused.
    Other,
}

impl NodeState {
    pub(super) fn of(byte: u8) -> Option<NodeState> {
        [NodeState::Waiting, NodeState::Held, NodeState::Left, NodeState::Other]
            .into_iter()
            .find(|to| *to as u8 == byte)
    }
}

/// All links, gathered.
pub struct GatheredLinks {
    pub index: Arc<LinkIndex>,
    /// The state of each URL, by its number.
    pub states: Vec<NodeState>,
}

pub struct LinkGathering {
    reader: Reader,
    numbering: Numbering,
    begun: PassStart,
    states: Vec<NodeState>,
    /// URLs whose states and links are written.
    written_urls: usize,
    piece_pages: usize,
    pages_read: u64,
    stage: Stage,
}

enum Stage {
    Reading {
        targets: Box<Targets>,
        sorter: Box<LinkSorter>,
        after: Option<PageKey>,
        /// Pages read since the last piece.
        pages: usize,
    },
    Writing {
        merge: Box<Merge>,
        writer: Box<IndexWriter>,
    },
    /// An earlier process has written the index.
    WrittenFrame(Arc<LinkIndex>),
    Over,
}

impl LinkGathering {
    /// Begins a pass and drops what an earlier one left. `None` when there are more URLs than the limit, which is at most
    /// [`URLS_MAX`].
    pub fn begin(repository: &Repository, urls_max: u32, now: Moment) -> Result<Option<LinkGathering>> {
        let reader = repository.reader();
        let (position, numbering) = {
            let live = reader.shared.live();
            let counts = (0..Partition::COUNT).map(|id| live.state.partition(Partition(id)).next_number);
            (live.state.position, Numbering::new(counts))
        };
        let Some(numbering) = numbering.filter(|numbering| numbering.len() <= urls_max.min(URLS_MAX)) else {
            return Ok(None);
        };
        let begun = PassStart { moment: now, position, visits: reader.totals().visits };
        let folder = reader.dir().join(FOLDER);
        make_folder(&folder)?;
        let pieces = Pieces::create(&folder, &numbering, &begun)?;
        LinkGathering::over(&reader, Resumed { pieces, numbering, begun, states: Vec::new() }).map(Some)
    }

    /// Continues a pass that was cut short. `None` when there is none that belongs to this repository, or it had ended.
    pub fn resume(repository: &Repository) -> Result<Option<LinkGathering>> {
        let reader = repository.reader();
        let Some(resumed) = Pieces::resume(&reader.dir().join(FOLDER))? else { return Ok(None) };
        let ended = reader.graph_mark()?.map_or(0, |mark| mark.position);
        let position = resumed.begun.position;
        if position <= ended || position > reader.shared.live().state.position {
            return Ok(None);
        }
        LinkGathering::over(&reader, resumed).map(Some)
    }

    fn over(reader: &Reader, resumed: Resumed) -> Result<LinkGathering> {
        let Resumed { pieces, numbering, begun, mut states } = resumed;
        let written_urls = states.len();
        let is_read = written_urls == numbering.len() as usize && written_urls > 0;
        let sorter = LinkSorter::new(pieces);
        let written = if is_read { index_of(reader, &numbering, &begun)? } else { None };
        let stage = match written {
            Some(index) => Stage::WrittenFrame(index),
            None if is_read => writing(reader, &numbering, &begun, sorter)?,
            None => {
                let known = reader.shared.live().known.clone();
                let targets = Box::new(Targets::of(&known, &numbering)?);
                let after = written_urls.checked_sub(1).map(|last| numbering.key_of(last as u32));
                Stage::Reading { targets, sorter: Box::new(sorter), after, pages: 0 }
            }
        };
        states.resize(numbering.len() as usize, NodeState::default());
        let (reader, piece_pages) = (reader.clone(), PIECE_PAGES);
        Ok(LinkGathering { reader, numbering, begun, states, written_urls, piece_pages, pages_read: 0, stage })
    }

    /// Writes a piece after so many pages instead of [`PIECE_PAGES`].
    #[must_use]
    pub fn in_pieces_of(self, piece_pages: usize) -> LinkGathering {
        LinkGathering { piece_pages: piece_pages.max(1), ..self }
    }

    pub fn begun(&self) -> PassStart {
        self.begun
    }

    /// Pages whose rows this process has read for it.
    pub fn pages_read(&self) -> u64 {
        self.pages_read
    }

    /// Continues for about so many pages. Returns the result when the pass is complete, and `None` before and afterwards.
    pub fn step(&mut self, pages_max: usize) -> Result<Option<GatheredLinks>> {
        match std::mem::replace(&mut self.stage, Stage::Over) {
            Stage::Reading { targets, mut sorter, after, pages } => {
                let last = self.read(&targets, &mut sorter, after, pages_max)?;
                self.stage = match last {
                    Some((last, read)) => {
                        let pages = self.write_if_full(&mut sorter, last, pages + read)?;
                        Stage::Reading { targets, sorter, after: Some(last), pages }
                    }
                    None => {
                        sorter.write_piece(&self.states[self.written_urls..])?;
                        self.written_urls = self.states.len();
                        writing(&self.reader, &self.numbering, &self.begun, *sorter)?
                    }
                };
                Ok(None)
            }
            Stage::Writing { mut merge, mut writer } => {
                for _ in 0..pages_max.saturating_mul(LINKS_PER_PAGE) {
                    let Some(link) = merge.next()? else {
                        let index = writer.finish()?;
                        self.reader.shared.set_link_index(Arc::clone(&index));
                        return Ok(Some(GatheredLinks { index, states: std::mem::take(&mut self.states) }));
                    };
                    writer.push(link)?;
                }
                self.stage = Stage::Writing { merge, writer };
                Ok(None)
            }
            Stage::WrittenFrame(index) => Ok(Some(GatheredLinks { index, states: std::mem::take(&mut self.states) })),
            Stage::Over => Ok(None),
        }
    }

    /// Writes a piece if enough was read, up to the page `last`. Returns how many read pages are not written.
    fn write_if_full(&mut self, sorter: &mut LinkSorter, last: PageKey, pages: usize) -> Result<usize> {
        if pages < self.piece_pages && !sorter.is_full() {
            return Ok(pages);
        }
        // A page that was admitted after the pass began has no number. The numbers of its partition end before it.
        let count = self.numbering.count(last.partition);
        let inner = PageKey::new(last.partition, last.number.min(count.saturating_sub(1)));
        if let Some(node) = self.numbering.node_of(inner) {
            let until = (node as usize + 1).max(self.written_urls);
            sorter.write_piece(&self.states[self.written_urls..until])?;
            self.written_urls = until;
        }
        Ok(0)
    }

    /// Reads the links of the next pages. Returns the last page and their number, or `None` when there were none.
    fn read(
        &mut self,
        targets: &Targets,
        sorter: &mut LinkSorter,
        after: Option<PageKey>,
        pages_max: usize,
    ) -> Result<Option<(PageKey, usize)>> {
        let tables = &self.reader.shared.tables;
        let start = after.map_or_else(Vec::new, |key| key.bytes().to_vec());
        let behind = |guard: Row| -> Result<(PageKey, fjall::UserValue)> {
            let (key, value) = guard.into_inner().map_err(Error::tables("read the links"))?;
            let key = PageKey::from_bytes(&key).ok_or_else(|| Error::row("documents", "its key is too short"))?;
            Ok((key, value))
        };
        let is_new = |row: &Result<(PageKey, fjall::UserValue)>| !matches!(row, Ok((key, _)) if Some(*key) == after);
        let mut documents = tables.documents.range(start.clone()..).map(behind).filter(is_new).peekable();
        let (mut last, mut read) = (None, 0);
        for page in tables.pages.range(start..).map(behind).filter(is_new).take(pages_max) {
            let (key, row) = page?;
            last = Some(key);
            read += 1;
            let Some(source) = self.numbering.node_of(key) else { continue };
            let state = decode_head::<StateOfPage<'_>>("pages", &row)?.state;
            self.states[source as usize] = match state {
                PageState::Held => NodeState::Held,
                PageState::Left => NodeState::Left,
                _ => NodeState::Other,
            };
            while documents.next_if(|row| matches!(row, Ok((other, _)) if *other < key)).is_some() {}
            let Some((_, row)) = documents.next_if(|row| !matches!(row, Ok((other, _)) if *other > key)).transpose()?
            else {
                continue;
            };
            if is_linking(state) {
                let links = decode_head::<LinksOfDocument<'_>>("documents", &row)?.links;
                push_links(&links, source, targets, sorter);
            }
        }
        self.pages_read += read as u64;
        Ok(last.map(|last| (last, read)))
    }
}

impl Reader {
    /// The links by target of the pass that began then, if it got so far.
    pub fn link_index_of(&self, begun: &PassStart) -> Result<Option<Arc<LinkIndex>>> {
        Ok(self.link_index()?.filter(|index| index.position() == begun.position))
    }
}

impl Repository {
    /// Removes the pieces that a gathering pass wrote.
    pub fn forget_gathering(&self) -> Result<()> {
        pieces::remove(&self.shared.dir.join(FOLDER))
    }
}

fn index_of(reader: &Reader, numbering: &Numbering, begun: &PassStart) -> Result<Option<Arc<LinkIndex>>> {
    Ok(reader.link_index_of(begun)?.filter(|index| index.numbering() == numbering))
}

fn writing(reader: &Reader, numbering: &Numbering, begun: &PassStart, sorter: LinkSorter) -> Result<Stage> {
    let writer = IndexWriter::new(&reader.dir().join(FOLDER), numbering.clone(), begun.position)?;
    Ok(Stage::Writing { merge: Box::new(sorter.merged()?), writer: Box::new(writer) })
}

/// Whether the links of a page count: it is held, or was until it was evicted.
pub(super) fn is_linking(state: PageState) -> bool {
    matches!(state, PageState::Held | PageState::Left)
}

fn push_links(links: &[LinkRow], source: u32, targets: &Targets, sorter: &mut LinkSorter) {
    for link in links {
        let counted = link.counted != CountedIn::NOWHERE;
        if let Some(target) = targets.node_of(link.target) {
            // A link of a page to itself does not count.
            sorter.push(Packed::new(target, source, counted && target != source));
        }
    }
}
