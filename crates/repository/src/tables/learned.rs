//! Applies what visits taught of noise. Only the last state of each row in a group is written, because rules of a site may come
//! and go within a group.

use std::collections::BTreeMap;

use vernal_model::{Deed, NoiseRule, Partition, Sequence, Site};

use super::apply::Applying;
use super::keys;
use crate::Result;

/// The row of a site.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Name {
    LastId,
    Rule(u32),
}

/// Its new content.
enum Row<'a> {
    LastId(u32),
    Rule(&'a NoiseRule),
    Gone,
}

impl Applying<'_> {
    /// Writes the noise rows of sites and pages that the deeds of one group change.
    pub(super) fn learned(&mut self, entries: &[(Partition, Sequence, &Deed)]) -> Result<()> {
        let tables = &self.shared.tables;
        let mut last: BTreeMap<(Partition, &Site, Name), Row<'_>> = BTreeMap::new();
        for (partition, _, deed) in entries {
            let Deed::NoiseLearned(rows) = deed else { continue };
            let id = rows.last_id.iter().map(|id| (Name::LastId, Row::LastId(*id)));
            let rules = rows.rules.iter().map(|rule| (Name::Rule(rule.id), Row::Rule(rule)));
            let forgotten = rows.forgotten.iter().map(|id| (Name::Rule(*id), Row::Gone));
            let said = id.chain(rules).chain(forgotten);
            last.extend(said.map(|(name, row)| ((*partition, &rows.site, name), row)));
            match &rows.page {
                Some((page, noise)) if noise.is_empty() => self.rows.remove(&tables.page_noise, page.bytes()),
                Some((page, noise)) => self.rows.put(&tables.page_noise, "page_noise", page.bytes(), noise)?,
                None => {}
            }
        }
        for ((partition, site, name), row) in last {
            let key = match name {
                Name::LastId => keys::noise_last_id(partition, site),
                Name::Rule(id) => keys::noise_rule(partition, site, id),
            };
            match row {
                Row::LastId(id) => self.rows.put(&tables.noise, "noise", key, &id)?,
                Row::Rule(rule) => self.rows.put(&tables.noise, "noise", key, rule)?,
                Row::Gone => self.rows.remove(&tables.noise, key),
            }
        }
        Ok(())
    }
}
