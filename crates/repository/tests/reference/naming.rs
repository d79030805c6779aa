//! The names of pages, as a plain program would keep them.

use std::collections::{BTreeMap, BTreeSet};

use vernal_model::{
    Chance, Deed, Event, Fingerprint, Moment, NameMark, NameReason, NameRelation, NameRow, NameWord, Named, PageKey,
    Partition, Retold, SameAs,
};
use vernal_repository::{Cursor, Reader};

#[derive(Clone, Default)]
pub struct PlainNames {
    rows: BTreeMap<PageKey, NameRow>,
    marks: BTreeSet<(NameMark, PageKey)>,
    /// Every page and mark that there ever was.
    met: BTreeSet<(NameMark, PageKey)>,
    /// Under which name a page is told from a place on.
    told: BTreeMap<PageKey, BTreeMap<u64, Option<PageKey>>>,
}

impl PlainNames {
    /// Returns the event of the page.
    pub fn named(&mut self, position: u64, named: Named) -> Option<Event> {
        let Named { page, row, marked, unmarked, retold, event } = named;
        if let Some(Retold { first, from_start }) = retold {
            self.told.entry(page).or_default().insert(if from_start { 0 } else { position }, first);
        }
        self.rows.extend(row.map(|row| (page, row)));
        self.rows.retain(|_, row| !row.is_empty());
        self.met.extend(marked.iter().chain(&unmarked).map(|mark| (*mark, page)));
        self.marks.extend(marked.into_iter().map(|mark| (mark, page)));
        for mark in unmarked {
            self.marks.remove(&(mark, page));
        }
        event
    }

    pub fn check(&self, reader: &Reader) {
        let rows: BTreeMap<PageKey, NameRow> = reader.name_rows().map(|row| row.unwrap()).collect();
        assert_eq!(rows, self.rows);
        for (page, told) in &self.told {
            for position in told.keys().flat_map(|position| [position.saturating_sub(1), *position, position + 1]) {
                let expected = told.range(..=position).next_back().and_then(|(_, first)| *first);
                assert_eq!(reader.first_name_at(*page, Cursor(position)).unwrap(), expected, "{page} at {position}");
            }
        }
        for (mark, page) in &self.met {
            assert_eq!(reader.name_row(*page).unwrap(), self.rows.get(page).cloned().unwrap_or_default());
            assert_eq!(reader.is_marked(*page, *mark).unwrap(), self.marks.contains(&(*mark, *page)));
            let marked: Vec<PageKey> =
                reader.marked_pages(page.partition, *mark).map(|marked| marked.unwrap()).collect();
            let expected = self.marks.iter().filter(|(one, of)| one == mark && of.partition == page.partition);
            assert_eq!(marked, expected.map(|(_, page)| *page).collect::<Vec<_>>());
        }
    }
}

/// Pages get other names and other marks; now and then there is an event of it. Marks come and go within a group.
pub fn deeds(pages: &[PageKey], event: Option<Event>, now: Moment, chance: &mut Chance) -> Vec<(Partition, Deed)> {
    let Some(&page) = chance.pick(pages) else { return Vec::new() };
    let other = *chance.pick(pages).unwrap();
    let mark = |chance: &mut Chance| match chance.below(3) {
        0 => NameMark::Spelling(chance.below(4)),
        1 => NameMark::Canonical(Fingerprint(chance.below(4))),
        _ => NameMark::SecondOf(chance.below(4) as u32),
    };
    let mut deeds = Vec::new();
    for _ in 0..1 + chance.below(2) {
        let mut named = Named::new(page);
        named.marked.extend((0..chance.below(3)).map(|_| mark(chance)));
        named.unmarked.extend((0..chance.below(3)).map(|_| mark(chance)));
        named.unmarked.retain(|mark| !named.marked.contains(mark));
        let first = chance.happens(0.5).then_some(other);
        named.retold = chance.happens(0.3).then(|| Retold { first, from_start: chance.happens(0.2) });
        named.row = chance.happens(0.7).then(|| row(other, now, chance));
        named.event = event.clone().filter(|event| event.page == page && chance.happens(0.3));
        deeds.push((page.partition, Deed::Named(Box::new(named))));
    }
    deeds
}

fn row(other: PageKey, now: Moment, chance: &mut Chance) -> NameRow {
    let same_as = SameAs { first: other, why: NameReason::Spelling, since: now, unequal: chance.below(9) as u8 };
    let word = NameWord { other, says: NameRelation::Apart, since: now, reason: "two doors".into() };
    NameRow {
        same_as: chance.happens(0.4).then_some(same_as),
        is_first: chance.happens(0.3),
        canonical: chance.happens(0.3).then(|| Fingerprint(chance.bits())),
        words: chance.happens(0.3).then_some(word).into_iter().collect(),
    }
}
