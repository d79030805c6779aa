//! What holds for one same operation on many pages of a site.

use std::collections::BTreeMap;

use vernal_document::noise::{FoldVisit, continues, is_due, join, operation_marks};
use vernal_model::{
    Change, FoldRow, Kind, Moment, Note, Operation, OperationFold, PageKey, ParagraphChange, ParagraphMark, Partition,
    Role, Site, Span,
};
use xxhash_rust::xxh3::xxh3_64;

fn edited(role: Role, before: &str, after: &str) -> ParagraphChange {
    ParagraphChange {
        operation: Operation::Edited,
        id: 0,
        digest: xxh3_64(after.as_bytes()),
        role,
        position: 0,
        from: Some(0),
        others: Vec::new(),
        headings: Vec::new(),
        before: Some(before.into()),
        after: Some(after.into()),
    }
}

/// The mark of one edit at a place of the template.
fn mark_of(site: &str, role: Role, place: u16, before: &str, after: &str) -> u64 {
    let marked = |text: &str| ParagraphMark { digest: xxh3_64(text.as_bytes()), id: 1, place, role };
    let mut change = Change { paragraphs: vec![edited(role, before, after)], ..Change::default() };
    change.left.insert(Kind::Content);
    let marks = operation_marks(&Site::new(site), &change, &[marked(before)], &[marked(after)]);
    assert_eq!((marks.operations.len(), marks.notes.len()), (1, 0));
    marks.operations[0]
}

fn note_mark(kind: Kind, what: &str, before: &str, after: &str) -> u64 {
    let note = Note { kind, what: what.into(), before: Some(before.into()), after: Some(after.into()) };
    let change = Change { notes: vec![note], ..Change::default() };
    operation_marks(&Site::new("a.example"), &change, &[], &[]).notes[0]
}

#[test]
fn in_the_frame_only_the_words_that_went_and_came_count() {
    let of = |role, before: &str, after: &str| mark_of("a.example", role, 7, before, after);
    let counts = of(Role::Navigation, "Home 286 posts", "Home 287 posts");
    assert_eq!(counts, of(Role::Navigation, "About us 286 posts 4 tags", "About us 287 posts 4 tags"));
    assert_ne!(counts, of(Role::Navigation, "Home 287 posts", "Home 288 posts"));
    assert_ne!(counts, of(Role::Main, "Home 286 posts", "Home 287 posts"));
    assert_ne!(
        of(Role::Main, "Home 286 posts", "Home 287 posts"),
        of(Role::Main, "About 286 posts", "About 287 posts")
    );
    assert_eq!(of(Role::Footer, "© 2025", "© 2026"), mark_of("a.example", Role::Footer, 9, "© 2025", "© 2026"));
    assert_ne!(of(Role::Main, "© 2025", "© 2026"), mark_of("a.example", Role::Main, 9, "© 2025", "© 2026"));
    assert_ne!(of(Role::Footer, "© 2025", "© 2026"), mark_of("b.example", Role::Footer, 7, "© 2025", "© 2026"));
    let reordered = of(Role::Footer, "Mail or call", "call or Mail");
    assert_ne!(reordered, of(Role::Footer, "Come or call", "call or Come"), "no word went or came: all words count");
}

#[test]
fn the_name_of_the_site_in_the_titles_of_its_pages_is_one_operation() {
    let of = |before: &str, after: &str| mark_of("a.example", Role::Title, 7, before, after);
    let release = of("Caching — flask 2.2.5 documentation", "Caching — flask 2.3.0 documentation");
    assert_eq!(release, of("Welcome — flask 2.2.5 documentation", "Welcome — flask 2.3.0 documentation"));
    assert_ne!(release, of("Welcome — flask 2.3.0 documentation", "Welcome — flask 2.3.3 documentation"));
    assert_eq!(of("河边的花园-我的笔记", "河边的花园-旧笔记"), of("春天-我的笔记", "春天-旧笔记"));
    assert_ne!(of("Roses | Notes", "Tulips | Notes"), of("Roses | Notes", "Beans | Notes"), "each page has a name");
}

#[test]
fn notes_are_the_same_with_the_same_words_and_tags_by_how_many_more_there_are() {
    let sheet = note_mark(Kind::Presentation, "style sheet", "/a.css", "/b.css");
    assert_eq!(sheet, note_mark(Kind::Presentation, "style sheet", "/a.css", "/b.css"));
    assert_ne!(sheet, note_mark(Kind::Presentation, "style sheet", "/a.css", "/c.css"));
    assert_ne!(sheet, note_mark(Kind::Behaviour, "style sheet", "/a.css", "/b.css"));
    let tags = note_mark(Kind::Structure, "tags", "120 tags", "122 tags");
    assert_eq!(tags, note_mark(Kind::Structure, "tags", "40 tags", "42 tags"));
    assert_ne!(tags, note_mark(Kind::Structure, "tags", "120 tags", "121 tags"));
}

/// The folds of one mark, as visits join them.
#[derive(Default)]
struct Folds {
    row: Option<FoldRow>,
    joined: BTreeMap<u32, Vec<u32>>,
    told: Vec<u32>,
}

impl Folds {
    fn visit(&mut self, page: u32, seen_same: u64, moment: u64) -> &OperationFold {
        let at = |hours: u64| Moment::from_secs(0) + Span::from_hours(hours);
        let key = PageKey::new(Partition(0), page);
        let visit = FoldVisit { page: key, version: 2, seen_same: at(seen_same), moment: at(moment) };
        let current = self.row.as_ref().filter(|row| continues(row, &visit)).map(|row| row.number);
        let counted = current.is_some_and(|number| self.joined.entry(number).or_default().contains(&page));
        let mut row = join(self.row.take(), &visit, counted);
        self.joined.entry(row.number).or_default().push(page);
        if is_due(&row.current) {
            row.current.told = row.current.pages;
            self.told.push(row.current.pages);
        }
        &self.row.insert(row).current
    }
}

#[test]
fn a_new_footer_on_4812_pages_is_told_at_the_fifth_page_and_whenever_the_count_has_doubled() {
    let mut folds = Folds::default();
    for page in 0..4_812 {
        folds.visit(page, 0, 1 + u64::from(page) / 60);
    }
    let row = folds.row.as_ref().expect("it was seen");
    assert_eq!((row.number, row.current.pages, row.earlier.len()), (1, 4_812, 0));
    assert_eq!(folds.told, [5, 10, 20, 40, 80, 160, 320, 640, 1_280, 2_560]);
}

#[test]
fn a_page_counts_once_and_what_it_shows_again_and_again_is_its_own() {
    let mut folds = Folds::default();
    for hour in 1..50 {
        assert_eq!(folds.visit(1, hour - 1, hour).pages, 1);
    }
    let mut looked = Folds::default();
    (0..9).for_each(|_| assert_eq!(looked.visit(1, 0, 9).pages, 1));
    assert!(folds.told.is_empty() && looked.told.is_empty());
}

#[test]
fn at_another_time_it_is_news_again_and_what_was_told_stays_told() {
    let mut folds = Folds::default();
    (0..6).for_each(|page| _ = folds.visit(page, 0, 1));
    assert_eq!(folds.visit(9, 1, 2).pages, 1);
    let row = folds.row.as_ref().expect("it was seen");
    assert_eq!((row.number, row.earlier.len()), (2, 1));
    assert!(row.fold(1).is_some_and(|fold| fold.is_told() && fold.pages == 6));
    assert!(row.fold(2).is_some_and(|fold| !fold.is_told()) && row.fold(3).is_none());
}

#[test]
fn only_what_can_have_happened_at_one_time_is_one_operation() {
    let mut folds = Folds::default();
    // Each page was sold out in another week.
    for page in 0..8 {
        let week = u64::from(page) * 24 * 7;
        assert_eq!(folds.visit(page, week, week + 24).pages, 1);
    }
    assert!(folds.told.is_empty());
    // One change of the template, found by visits of many days.
    let mut folds = Folds::default();
    for page in 0..8 {
        folds.visit(page, u64::from(page), 100 + u64::from(page) * 24);
    }
    assert_eq!(folds.told, [5]);
}

#[test]
fn folds_of_the_same_versions_have_the_same_sum_in_any_order() {
    let sum = |pages: &[u32]| {
        let mut folds = Folds::default();
        pages.iter().for_each(|page| _ = folds.visit(*page, 0, 1));
        folds.row.map(|row| row.current.versions)
    };
    assert_eq!(sum(&[1, 2, 3]), sum(&[3, 1, 2]));
    assert_ne!(sum(&[1, 2, 3]), sum(&[1, 2, 4]));
}
