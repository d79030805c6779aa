//! Reads the names of pages: which pages of a site are one page with several addresses.

use vernal_model::{NameMark, NameRow, PageKey, Partition};

use crate::tables::keys;
use crate::tables::rows::decode;
use crate::{Cursor, Error, Reader, Result};

impl Reader {
    /// What is known of the names of a page; empty where there is nothing.
    pub fn name_row(&self, page: PageKey) -> Result<NameRow> {
        Ok(self.row(&self.shared.tables.names, "names", &page.bytes())?.unwrap_or_default())
    }

    /// All pages with such a row, in the order of their keys.
    pub fn name_rows(&self) -> impl Iterator<Item = Result<(PageKey, NameRow)>> + use<> {
        self.shared.tables.names.iter().filter_map(|guard| {
            let (key, value) = match guard.into_inner() {
                Ok((key, value)) => (key, value),
                Err(source) => return Some(Err(Error::tables("read the names of pages")(source))),
            };
            let page = PageKey::from_bytes(&key).filter(|_| key.len() == keys::NAMES_BYTES)?;
            Some(decode("names", &value).map(|row| (page, row)))
        })
    }

    /// The first name under which a page was told at this place of the feed; `None` where it stood on its own. It never changes
    /// for a place that was acknowledged.
    pub fn first_name_at(&self, page: PageKey, cursor: Cursor) -> Result<Option<PageKey>> {
        let (first, last) = (keys::told_name(page, 0), keys::told_name(page, cursor.0));
        let Some(guard) = self.shared.tables.names.range(first..=last).next_back() else { return Ok(None) };
        decode("names", &guard.value().map_err(Error::tables("read the names of a page"))?)
    }

    /// The pages of a partition that have this mark, in the order of their numbers.
    pub fn marked_pages(&self, partition: Partition, mark: NameMark) -> impl Iterator<Item = Result<PageKey>> + use<> {
        self.shared.tables.name_marks.prefix(keys::name_mark(partition, mark)).map(|guard| {
            let key = guard.key().map_err(Error::tables("look for names of a page"))?;
            keys::page_of_mark(&key).ok_or_else(|| Error::row("name_marks", "its key is too short"))
        })
    }

    /// Whether the page has this mark.
    pub fn is_marked(&self, page: PageKey, mark: NameMark) -> Result<bool> {
        let key = keys::marked_page(page, mark);
        self.shared.tables.name_marks.contains_key(key).map_err(Error::tables("look for a mark of names"))
    }
}
