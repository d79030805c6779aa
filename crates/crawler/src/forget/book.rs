//! The rules in force, asked of every URL before anything is done with it.

use foldhash::HashMap;
use vernal_model::{ForgetRule, ForgottenRow, Url};
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

/// The rules of the ledger.
#[derive(Default)]
pub(crate) struct Forgotten {
    /// Every entry, by its number.
    rows: Vec<ForgottenRow>,
    /// The entry of a single page, by a mark of its host and path. Looked up only, never iterated.
    pages: HashMap<u64, u32>,
    /// The wider rules in force of a host without `www.`. Looked up only, never iterated.
    wide: HashMap<Box<str>, Vec<u32>>,
}

impl Forgotten {
    pub fn new(rows: Vec<ForgottenRow>) -> Self {
        let mut book = Forgotten { rows, ..Forgotten::default() };
        for row in book.rows.iter().filter(|row| row.bars()) {
            match &row.rule {
                ForgetRule::Page(url) => drop(book.pages.insert(mark(url), row.id)),
                rule => book.wide.entry(rule.site_without_www().into()).or_default().push(row.id),
            }
        }
        book
    }

    pub fn rows(&self) -> &[ForgottenRow] {
        &self.rows
    }

    /// Adds an entry, or replaces the one with its number.
    pub fn put(&mut self, row: ForgottenRow) {
        let mut rows = std::mem::take(&mut self.rows);
        match rows.iter_mut().find(|known| known.id == row.id) {
            Some(known) => *known = row,
            None => rows.push(row),
        }
        *self = Forgotten::new(rows);
    }

    pub fn row(&self, id: u32) -> Option<&ForgottenRow> {
        self.rows.iter().find(|row| row.id == id)
    }

    /// The entry in force with exactly this rule.
    pub fn in_force(&self, rule: &ForgetRule) -> Option<&ForgottenRow> {
        self.rows.iter().find(|row| row.bars() && row.rule == *rule)
    }

    pub fn next_id(&self) -> u32 {
        self.rows.iter().map(|row| row.id).max().unwrap_or(0) + 1
    }

    /// The number of the entry that bars this URL. It is asked of every link, so it is cheap.
    pub fn entry_of(&self, url: &Url) -> Option<u32> {
        if self.rows.is_empty() {
            return None;
        }
        // Two addresses may have one mark, so the rule itself is asked.
        let by_page = self.pages.get(&mark(url)).copied();
        let wide = self.wide.get(url.site_without_www()).map(Vec::as_slice).unwrap_or_default();
        let mut ids = by_page.into_iter().chain(wide.iter().copied());
        ids.find(|id| self.row(*id).is_some_and(|row| row.rule.covers(url)))
    }

    /// A digest of what was taken back: then held pages may have links that count from now on.
    pub fn lifted_digest(&self) -> u64 {
        let lifted = self.rows.iter().filter(|row| !row.bars());
        lifted.map(|row| xxh3_64(format!("lifted {}", row.id).as_bytes())).fold(0, u64::wrapping_add)
    }
}

fn mark(url: &Url) -> u64 {
    xxh3_64_with_seed(url.path_and_query().as_bytes(), xxh3_64(url.site_without_www().as_bytes()))
}
