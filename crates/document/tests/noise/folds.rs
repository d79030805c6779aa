//! What holds for one same change on many pages of a site.

use vernal_document::noise::{FOLD_PAGES_MIN, FoldingKind, PendingFolds, fold};
use vernal_model::{Change, Kind, Moment, NoiseBook, Operation, PageKey, ParagraphChange, Partition, Role, Site, Span};
use xxhash_rust::xxh3::xxh3_64;

fn footer_change(before: &str, after: &str) -> Change {
    let mut change = Change::default();
    change.kinds.insert(Kind::Content);
    change.left = change.kinds;
    change.paragraphs.push(ParagraphChange {
        operation: Operation::Edited,
        id: 0,
        digest: xxh3_64(after.as_bytes()),
        role: Role::Footer,
        position: 3,
        from: Some(3),
        others: Vec::new(),
        headings: Vec::new(),
        before: Some(before.into()),
        after: Some(after.into()),
    });
    change
}

#[test]
fn a_new_footer_on_4812_pages_is_one_event_of_the_site() {
    let site = Site::new("example.org");
    let (mut book, mut sightings) = (NoiseBook::default(), PendingFolds::default());
    let change = footer_change("© 2025", "© 2026");
    let (mut own, mut told, mut counted) = (0, 0, 0);
    for number in 0..4_812 {
        let moment = Moment::from_secs(i64::from(number) * 60);
        let folding = fold(&site, PageKey::new(Partition(0), number), moment, &change, (&book, &mut sightings));
        assert_eq!(folding.rows.folds.is_empty(), number == 0, "what one page alone has shown is not written down");
        book.take(&folding.rows);
        match folding.kind {
            FoldingKind::Own => own += 1,
            FoldingKind::Template(pages) => {
                assert_eq!(pages, FOLD_PAGES_MIN);
                told += 1;
            }
            FoldingKind::Counted(pages) => counted = pages,
        }
    }
    assert_eq!((own, told, counted), (FOLD_PAGES_MIN - 1, 1, 4_812));
    let mut more = change.clone();
    more.paragraphs.push(footer_change("a", "b").paragraphs.remove(0));
    let folding =
        fold(&site, PageKey::new(Partition(0), 9_999), Moment::from_secs(400_000), &more, (&book, &mut sightings));
    assert_eq!(folding.kind, FoldingKind::Own, "a page with more to tell tells it");
    let late = Moment::from_secs(400_000) + Span::from_days(60);
    let folding = fold(&site, PageKey::new(Partition(0), 9_999), late, &change, (&book, &mut sightings));
    assert_eq!(folding.kind, FoldingKind::Own, "long after, it is news again");
}

#[test]
fn folds_stay_within_their_bound_and_the_oldest_goes_first() {
    let (site, mut book, mut sightings) = (Site::new("example.org"), NoiseBook::default(), PendingFolds::default());
    for number in 0..600u32 {
        let change = footer_change("before", &format!("after {number}"));
        let moment = Moment::from_secs(i64::from(number));
        for page in [2 * number, 2 * number + 1] {
            let page = PageKey::new(Partition(0), page);
            book.take(&fold(&site, page, moment, &change, (&book, &mut sightings)).rows);
        }
        assert!(book.folds.len() <= NoiseBook::FOLDS_MAX);
    }
    assert_eq!(book.folds.len(), NoiseBook::FOLDS_MAX);
    assert!(book.folds.iter().all(|fold| fold.first >= Moment::from_secs(600 - NoiseBook::FOLDS_MAX as i64)));
}

#[test]
fn a_change_that_one_page_shows_again_and_again_is_its_own() {
    let (site, mut book, mut sightings) = (Site::new("example.org"), NoiseBook::default(), PendingFolds::default());
    let change = footer_change("on", "off");
    let mut shown = |page: u32, second: i64, site: &Site| {
        let page = PageKey::new(Partition(0), page);
        let folding = fold(site, page, Moment::from_secs(second), &change, (&book, &mut sightings));
        book.take(&folding.rows);
        (folding.kind, folding.rows.folds.iter().map(|fold| (fold.first.secs(), fold.pages)).next())
    };
    for second in 0..20 {
        assert_eq!(shown(1, second, &site), (FoldingKind::Own, None));
    }
    let other = Site::new("example.net");
    assert_eq!(shown(2, 30, &other), (FoldingKind::Own, None), "what one site shows is nothing to another");
    assert_eq!(shown(3, 40, &site), (FoldingKind::Own, Some((19, 2))), "the second page begins the fold");
}
