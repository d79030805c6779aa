//! Versions that were read last. The next change of a page begins with one of them.

use std::collections::VecDeque;
use std::sync::Arc;

use vernal_model::PageKey;

use super::kept::ReadVersion;

const VERSIONS_MAX: usize = 64;
/// Text of all of them together.
const TEXT_BYTES_MAX: usize = 16 << 20;

/// The one that was read first goes first.
#[derive(Default)]
pub(super) struct RecentVersions(VecDeque<(PageKey, Arc<ReadVersion>)>);

impl RecentVersions {
    pub fn find(&self, page: PageKey, number: u32) -> Option<Arc<ReadVersion>> {
        let is_it = |(of, read): &&(PageKey, Arc<ReadVersion>)| (*of, read.version.number) == (page, number);
        self.0.iter().find(is_it).map(|(_, read)| Arc::clone(read))
    }

    pub fn keep(&mut self, page: PageKey, read: Arc<ReadVersion>) {
        self.0.push_back((page, read));
        let mut bytes: usize = self.0.iter().map(|(_, read)| read.document.text.len()).sum();
        while self.0.len() > VERSIONS_MAX || bytes > TEXT_BYTES_MAX {
            let Some((_, oldest)) = self.0.pop_front() else { break };
            bytes -= oldest.document.text.len();
        }
    }

    pub fn forget(&mut self, page: PageKey) {
        self.0.retain(|(of, _)| *of != page);
    }
}
