//! The pass that reads every link row and sorts the links by target, a little at a time, so that whoever works with the
//! repository meanwhile never waits long. It sees each page as it is when it gets there.

use std::sync::Arc;

use fjall::Guard;
use vernal_model::{CountedIn, LinkRow, PageKey, PageState, Partition};

use super::index::{IndexWriter, LinkIndex};
use super::sort::{LinkSorter, Merge, Packed};
use super::targets::Targets;
use super::{FOLDER, Numbering};
use crate::folder::make_folder;
use crate::reader::Reader;
use crate::tables::rows::{LinksOfDocument, StateOfPage, decode_head};
use crate::{Error, Result};

/// URLs that a pass takes at most: it holds 17 bytes for each of them in memory, and packs a source into 31 bits.
pub const URLS_MAX: u32 = 1 << 25;
/// Sorted links that are written for each page that a step may read: both take about as long.
const LINKS_PER_PAGE: usize = 64;

/// What is known of a URL, for whoever weighs it.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub enum NodeState {
    /// Never visited.
    #[default]
    Waiting,
    Held,
    /// Out of the collection for now.
    Left,
    /// Visited, and no page that we could hold: gone, moved, refused.
    Other,
}

/// All links, gathered.
pub struct Gathered {
    pub index: Arc<LinkIndex>,
    /// The state of each URL, by its number.
    pub states: Vec<NodeState>,
}

pub struct LinkGathering {
    reader: Reader,
    numbering: Numbering,
    position: u64,
    states: Vec<NodeState>,
    stage: Stage,
}

enum Stage {
    Reading { targets: Box<Targets>, sorter: Box<LinkSorter>, after: Option<PageKey> },
    Writing { merge: Box<Merge>, writer: Box<IndexWriter> },
    Over,
}

impl LinkGathering {
    /// Begins a pass; `None` when there are more URLs than the limit, which is at most [`URLS_MAX`].
    pub fn begin(reader: &Reader, urls_max: u32) -> Result<Option<LinkGathering>> {
        let (position, known, numbering) = {
            let live = reader.shared.live();
            let counts = (0..Partition::COUNT).map(|id| live.state.partition(Partition(id)).next_number);
            (live.state.position, live.known.clone(), Numbering::new(counts))
        };
        let Some(numbering) = numbering.filter(|numbering| numbering.len() <= urls_max.min(URLS_MAX)) else {
            return Ok(None);
        };
        let folder = reader.dir().join(FOLDER);
        make_folder(&folder)?;
        let targets = Box::new(Targets::of(&known, &numbering)?);
        let sorter = Box::new(LinkSorter::new(&folder)?);
        Ok(Some(LinkGathering {
            reader: reader.clone(),
            states: vec![NodeState::default(); numbering.len() as usize],
            numbering,
            position,
            stage: Stage::Reading { targets, sorter, after: None },
        }))
    }

    /// Goes on for about so many pages. The answer is everything, when it is done; a pass that is done gives nothing more.
    pub fn step(&mut self, pages_max: usize) -> Result<Option<Gathered>> {
        match std::mem::replace(&mut self.stage, Stage::Over) {
            Stage::Reading { targets, mut sorter, after } => {
                let last = self.read(&targets, &mut sorter, after, pages_max)?;
                self.stage = match last {
                    Some(last) => Stage::Reading { targets, sorter, after: Some(last) },
                    None => {
                        let folder = self.reader.dir().join(FOLDER);
                        let writer = IndexWriter::new(&folder, self.numbering.clone(), self.position)?;
                        Stage::Writing { merge: Box::new(sorter.merged()?), writer: Box::new(writer) }
                    }
                };
                Ok(None)
            }
            Stage::Writing { mut merge, mut writer } => {
                for _ in 0..pages_max.saturating_mul(LINKS_PER_PAGE) {
                    let Some(link) = merge.next()? else {
                        let index = writer.finish()?;
                        self.reader.shared.set_link_index(Arc::clone(&index));
                        return Ok(Some(Gathered { index, states: std::mem::take(&mut self.states) }));
                    };
                    writer.push(link)?;
                }
                self.stage = Stage::Writing { merge, writer };
                Ok(None)
            }
            Stage::Over => Ok(None),
        }
    }

    /// Reads the links of the next pages; the answer is the last one, `None` when there were none.
    fn read(
        &mut self,
        targets: &Targets,
        sorter: &mut LinkSorter,
        after: Option<PageKey>,
        pages_max: usize,
    ) -> Result<Option<PageKey>> {
        let tables = &self.reader.shared.tables;
        let start = after.map_or_else(Vec::new, |key| key.bytes().to_vec());
        let behind = |guard: Guard| -> Result<(PageKey, fjall::UserValue)> {
            let (key, value) = guard.into_inner().map_err(Error::tables("read the links"))?;
            let key = PageKey::from_bytes(&key).ok_or_else(|| Error::row("documents", "its key is too short"))?;
            Ok((key, value))
        };
        let is_new = |row: &Result<(PageKey, fjall::UserValue)>| !matches!(row, Ok((key, _)) if Some(*key) == after);
        let mut documents = tables.documents.range(start.clone()..).map(behind).filter(is_new).peekable();
        let mut last = None;
        for page in tables.pages.range(start..).map(behind).filter(is_new).take(pages_max) {
            let (key, row) = page?;
            last = Some(key);
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
                push_links(&links, source, targets, sorter)?;
            }
        }
        Ok(last)
    }
}

/// Whether the links of a page stand: it is held, or was until it left the collection.
pub(super) fn is_linking(state: PageState) -> bool {
    matches!(state, PageState::Held | PageState::Left)
}

fn push_links(links: &[LinkRow], source: u32, targets: &Targets, sorter: &mut LinkSorter) -> Result<()> {
    for link in links {
        let counted = link.counted != CountedIn::NOWHERE;
        if let Some(target) = targets.node_of(link.target) {
            // A page says nothing of itself.
            sorter.push(Packed::new(target, source, counted && target != source))?;
        }
    }
    Ok(())
}
