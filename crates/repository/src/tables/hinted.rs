//! Applies what sites said of their own changes, and how far that was right.

use vernal_model::{HintRows, Partition};

use super::apply::Applying;
use super::keys;
use crate::Result;

impl Applying<'_> {
    pub(super) fn hinted(&mut self, partition: Partition, rows: &HintRows) -> Result<()> {
        let (tables, site) = (&self.shared.tables, &rows.site);
        // A hint may be pushed before the first visit to the site. The row of the site holds the partition of its hints.
        self.site(partition, site.as_str());
        for (source, trust) in &rows.sources {
            self.rows.put(&tables.hints, "hints", keys::hint_source(partition, site, *source), &(source, trust))?;
        }
        for (page, file) in &rows.files {
            self.rows.put(&tables.hints, "hints", keys::hint_file(site, *page), file)?;
        }
        for (page, hints) in &rows.pages {
            match hints.is_empty() {
                true => self.rows.remove(&tables.page_hints, page.bytes()),
                false => self.rows.put(&tables.page_hints, "page_hints", page.bytes(), hints)?,
            }
        }
        let Some(listed) = &rows.listed else { return Ok(()) };
        for (fingerprint, stamp) in &listed.put {
            self.rows.put(&tables.listed, "listed", keys::listed(listed.file, *fingerprint), stamp)?;
        }
        for fingerprint in &listed.gone {
            self.rows.remove(&tables.listed, keys::listed(listed.file, *fingerprint));
        }
        Ok(())
    }
}
