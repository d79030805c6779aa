//! The writer of the library: how it merges, and how files with words of erased pages are written anew.

use tantivy::IndexWriter;
use tantivy::index::{SegmentId, SegmentMeta};
use tantivy::indexer::{IndexWriterOptions, LogMergePolicy, NoMergePolicy};

use crate::index::opened::SearchIndex;
use crate::{Error, Result};

/// Units in memory before they are written as a segment; the least that the library takes is 15 MB.
const WRITER_BYTES: usize = 24 << 20;
/// A segment of which more is replaced or removed is written anew.
const REPLACED_SHARE_MAX: f32 = 0.4;

pub(super) fn writer_of(index: &SearchIndex) -> Result<IndexWriter> {
    let options = IndexWriterOptions::builder()
        .memory_budget_per_thread(WRITER_BYTES)
        .num_worker_threads(1)
        .num_merge_threads(1)
        .build();
    let writer = index.library().writer_with_options(options).map_err(Error::index("write the search index"))?;
    writer.set_merge_policy(merge_policy());
    Ok(writer)
}

/// Notes that files have words of an erased page. Merges of the library's own would have segments that are to be written anew.
pub(super) fn begin_purge(writer: &mut IndexWriter, index: &SearchIndex) -> Result<()> {
    writer.set_merge_policy(Box::new(NoMergePolicy));
    index.set_to_purge(true)
}

/// Writes the files that have removed units anew without them, and removes the old ones. False where another merge has a segment
/// at this moment: the next commit tries again.
pub(super) fn purge(writer: &mut IndexWriter, index: &SearchIndex) -> Result<bool> {
    let act = "write the search index without erased pages";
    let metas = index.library().searchable_segment_metas().map_err(Error::index(act))?;
    // A list of segments keeps their files, so that it must not live until they are removed.
    let ids: Vec<SegmentId> = metas.into_iter().filter(SegmentMeta::has_deletes).map(|meta| meta.id()).collect();
    for id in ids {
        // A merge of one segment leaves out what was removed from it.
        if writer.merge(&[id]).wait().is_err() {
            return Ok(false);
        }
    }
    index.show(index.place())?;
    writer.garbage_collect_files().wait().map_err(Error::index(act))?;
    writer.set_merge_policy(merge_policy());
    index.set_to_purge(false)?;
    Ok(true)
}

fn merge_policy() -> Box<LogMergePolicy> {
    let mut merges = LogMergePolicy::default();
    merges.set_del_docs_ratio_before_merge(REPLACED_SHARE_MAX);
    Box::new(merges)
}
