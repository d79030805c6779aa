//! What is kept for those who follow the feed, as a plain program would keep it.

use std::collections::{BTreeMap, BTreeSet};

use vernal_model::{
    Chance, Deed, Event, EventKind, FoldKey, FoldRow, Folded, Moment, NumberRun, OperationFold, PageKey, Partition,
    Telling, ToldFolds, VersionRow, VersionTold,
};
use vernal_repository::{Cursor, Reader};

#[derive(Clone, Default)]
pub struct PlainFollowing {
    versions: BTreeMap<(PageKey, u32), VersionRow>,
    folds: BTreeMap<(Partition, u64), FoldRow>,
    pages: BTreeSet<(PageKey, FoldKey)>,
    tellings: BTreeMap<Cursor, ToldFolds>,
}

impl PlainFollowing {
    pub fn told(&mut self, told: VersionTold) {
        self.versions.insert((told.page, told.version), told.row);
    }

    /// Returns the event of the site.
    pub fn folded(&mut self, partition: Partition, cursor: Cursor, folded: Folded) -> Option<Event> {
        for (mark, row) in folded.folds {
            if row.current.pages as usize > row.current.sample.len() {
                self.pages.insert((folded.page, FoldKey { mark, number: row.number }));
            }
            self.folds.insert((partition, mark), row);
        }
        let telling = folded.telling?;
        self.tellings.insert(cursor, telling.folds);
        Some(telling.event)
    }

    pub fn is_of_site(&self, cursor: Cursor) -> bool {
        self.tellings.contains_key(&cursor)
    }

    pub fn check(&self, reader: &Reader, events: &[Cursor]) {
        for ((page, version), row) in &self.versions {
            assert_eq!(reader.version_row(*page, *version).unwrap().as_ref(), Some(row));
            assert_eq!(reader.version_row(*page, version + 100).unwrap(), None);
        }
        for ((partition, mark), row) in &self.folds {
            assert_eq!(reader.folds(*partition, *mark).unwrap().as_ref(), Some(row));
            assert_eq!(reader.folds(*partition, mark + 100).unwrap(), None);
            for (page, _) in self.versions.keys().filter(|(page, _)| page.partition == *partition) {
                let fold = FoldKey { mark: *mark, number: row.number };
                assert_eq!(reader.is_page_of_fold(*page, fold).unwrap(), self.pages.contains(&(*page, fold)));
            }
        }
        for cursor in events {
            assert_eq!(reader.told_folds(*cursor).unwrap().as_ref(), self.tellings.get(cursor));
        }
    }
}

/// A version of a page, and the folds that it joins; now and then the site has an event of them.
pub fn deeds(page: PageKey, event: Event, now: Moment, chance: &mut Chance) -> Vec<(Partition, Deed)> {
    let count = |chance: &mut Chance, limit: u64| chance.below(limit) as u32;
    let key = FoldKey { mark: chance.below(6), number: 1 + count(chance, 3) };
    let runs = (0..chance.below(3)).map(|first| NumberRun { first: first as u32 * 10 + 1, count: count(chance, 9) });
    let row = VersionRow { numbers: runs.collect(), operations: vec![key], notes: Vec::new() };
    let told = VersionTold { page, version: 2 + count(chance, 5), row };
    let fold = OperationFold {
        first: now,
        last: now,
        after: now,
        before: now,
        pages: count(chance, 9),
        versions: chance.bits(),
        sample: vec![(page, told.version)],
        told: count(chance, 9),
    };
    let earlier = vec![(1, fold.clone())];
    let telling = chance.happens(0.3).then(|| Telling {
        event: Event { kind: EventKind::Template, ..event },
        folds: ToldFolds { pages: fold.pages, operations: vec![key], notes: vec![key] },
    });
    let folds = vec![(key.mark, FoldRow { number: key.number, current: fold, earlier })];
    vec![
        (page.partition, Deed::VersionTold(Box::new(told))),
        (page.partition, Deed::Folded(Box::new(Folded { page, folds, telling }))),
    ]
}
