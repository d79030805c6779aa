//! Each method of change detection alone, through the seam that the product calls: the paper's own examples, and what holds for
//! any two bodies.

#![allow(clippy::unwrap_used, reason = "the helpers of tests fail as tests do")]

use proptest::prelude::*;
use vernal_document::methods::{
    FingerprintFound, Found, LETTERS_SHOWN_MAX, LEVELS_SHOWN_MAX, LettersFound, Method, MethodVerdict,
    PARAGRAPHS_SHOWN_MAX, Sides, TreeFound, paper_verdicts,
};
use vernal_document::structure::StructureDegree;
use vernal_document::{Input, read};
use vernal_model::{Digest, Kind, Url};

/// Figure 11 (a) and (b), made whole by Table 5.
const INITIAL: &str = "<html><head><title></title></head><body><center><h1></h1></center><center><b></b><br></center>\
    <center></center><center><h3></h3></center><p><br><br><center><b></b></center></p><h2></h2></body></html>";
const CHANGED: &str = "<html><head><title></title></head><body><center><h1></h1></center><center><b></b><br></center>\
    <center></center><center><b></b></center><center><h3></h3></center><p></p><h2></h2></body></html>";

const DOG: &str = "<p>The quick brown fox jumps over the lazy dog</p>";
const COG: &str = "<p>The quick brown fox jumps over the lazy cog</p>";

fn page() -> Url {
    Url::parse("http://a.example/").unwrap()
}

fn run(method: Method, old: &[u8], new: &[u8], content_type: Option<&str>) -> MethodVerdict {
    let url = page();
    let input = |bytes, payload| Input {
        url: &url,
        bytes,
        content_type,
        content_language: None,
        robots_tags: &[],
        payload: Digest([payload; 20]),
    };
    method.compare(&input(old, 0), &input(new, u8::from(old != new)))
}

fn html(method: Method, old: &str, new: &str) -> MethodVerdict {
    run(method, old.as_bytes(), new.as_bytes(), Some("text/html"))
}

fn tree(old: &str, new: &str) -> TreeFound {
    match html(Method::Tree, old, new).found {
        Found::Tree(found) => found,
        other => panic!("{other:?}"),
    }
}

fn fingerprint(old: &str, new: &str) -> FingerprintFound {
    match html(Method::Fingerprint, old, new).found {
        Found::Fingerprint(found) => found,
        other => panic!("{other:?}"),
    }
}

fn letters(method: Method, old: &str, new: &str) -> LettersFound {
    match html(method, old, new).found {
        Found::Letters(found) => found,
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_tree_of_the_paper_tells_table_4_and_the_node_that_decided_with_its_path() {
    let found = tree(INITIAL, CHANGED);
    let row = |level: usize| found.levels[level - 1];
    let counts: Vec<(usize, usize)> = found.levels.iter().map(|row| (row.old, row.new)).collect();
    assert_eq!(counts, [(1, 1), (2, 2), (7, 8), (7, 5), (1, 0)]);
    assert_eq!((row(3).added, row(3).removed), (1, 0));
    assert_eq!((row(5).added, row(5).removed), (0, 1));
    assert_eq!((found.degree, found.nodes), (StructureDegree::Major, Sides { old: 18, new: 16 }));
    let place = found.place.unwrap();
    assert_eq!((place.what, place.level, place.position, place.children), ("added", 3, 5, 1));
    assert_eq!((place.tag.as_str(), place.path.as_str()), ("center", "/html/body/center[5]"));
}

#[test]
fn a_leaf_is_minor_a_node_with_children_major_and_a_removed_node_is_found_in_the_old_tree() {
    let old = "<html><body><div><p>a</p></div><ul><li>b</li></ul></body></html>";
    let minor = tree(old, &old.replace("</ul>", "<li>c</li></ul>"));
    assert_eq!(minor.degree, StructureDegree::Minor);
    assert_eq!(minor.place.unwrap().path, "/html/body/ul/li[2]");
    let major = tree(old, &old.replace("<div><p>a</p></div>", ""));
    let place = major.place.unwrap();
    assert_eq!((major.degree, place.what, place.path.as_str()), (StructureDegree::Major, "removed", "/html/body/div"));
    // A node with children that only stands between two others that changed is not what changed.
    let between = "<html><body><i></i><div><p>a</p></div><i></i></body></html>";
    assert_eq!(tree(between, &between.replace("<i></i>", "<b></b>")).degree, StructureDegree::Minor);
    let same = tree(old, &old.replace("b</li>", "other words</li>"));
    assert_eq!((same.degree, same.place), (StructureDegree::None, None));
}

#[test]
fn fingerprints_part_at_the_first_tag_that_differs_even_if_it_begins_alike() {
    let found = fingerprint(INITIAL, CHANGED);
    assert_eq!(found.first.old, "hhtbchcbbcchpbbcbh");
    assert_eq!(found.last.old, "ldeyr1rbrrr3prrrb2");
    assert_eq!(found.letters, Sides { old: 18, new: 16 });
    let parting = found.parts_at.unwrap();
    assert_eq!((parting.position, parting.tag.old.as_deref(), parting.tag.new.as_deref()), (11, Some("h3"), Some("b")));
    // The first letters agree, so only the second fingerprint tells.
    let found = fingerprint("<p><b>x</b></p>", "<p><big>x</big></p>");
    assert_eq!(found.first.old, found.first.new);
    assert_eq!(found.parts_at.unwrap().position, 1);
    // A tag more at the end.
    let found = fingerprint("<p>x</p>", "<p>x</p><hr>");
    assert_eq!(found.parts_at.unwrap().tag, Sides { old: None, new: Some("hr".into()) });
    assert_eq!(fingerprint(DOG, COG).parts_at, None);
}

#[test]
fn the_numbers_of_the_paper_are_those_of_the_paragraph_and_the_page_has_their_sum() {
    let found = letters(Method::Rms, DOG, COG);
    let one = &found.differing_paragraphs[0];
    let shown = |number: Option<f64>| format!("{:.4}", number.unwrap());
    assert_eq!((shown(one.numbers.old), shown(one.numbers.new)), ("127.3292".into(), "129.8202".into()));
    assert_eq!(one.distinct, Sides { old: Some(26), new: Some(25) });
    assert_eq!((shown(found.page.old), found.differing), ("12.7329".into(), 1), "the paper divides the sum by ten");
    assert!((found.page.difference - 0.2491).abs() < 1e-4);
    let found = letters(Method::Checksum, DOG, COG);
    let shown = |number: Option<f64>| format!("{:.3}", number.unwrap());
    assert_eq!((shown(found.page.old), shown(found.page.new)), ("45.612".into(), "45.600".into()));
    assert!((found.page.difference + 0.012).abs() < 1e-9);
    // A heading weighs twice as much as plain text.
    let heading = letters(Method::Checksum, "<h1>abc</h1>", "<p>abc</p>").page;
    assert!((heading.old.unwrap() - 2.0 * heading.new.unwrap()).abs() < 1e-9);
}

#[test]
fn each_method_sees_what_the_paper_says_it_sees_and_nothing_else() {
    let told = |old: &str, new: &str| Method::ALL.map(|method| html(method, old, new).changed);
    assert_eq!(told(INITIAL, CHANGED), [true, true, false, false, true], "structure alone");
    assert_eq!(told(DOG, COG), [false, false, true, true, true], "words alone");
    let moved = ("<p>one two</p><p>three four</p>", "<p>three four</p><p>one two</p>");
    assert_eq!(told(moved.0, moved.1), [false, false, false, false, true], "the paper's numbers ignore order");
    let adopted = ("<i><b>x</b></i><u><s>y</s></u>", "<i></i><u><b>x</b><s>y</s></u>");
    assert_eq!(told(adopted.0, adopted.1)[..2], [false, true], "each level has the same tags under other parents");
    let styled = ("<p style=\"color:red\">a</p>", "<p style=\"color:blue\">a</p>");
    assert_eq!(told(styled.0, styled.1), [false, false, false, false, true]);
    let Found::Vernal(found) = html(Method::Vernal, styled.0, styled.1).found else { panic!("our own") };
    assert_eq!(found.kinds, [Kind::Presentation]);
}

#[test]
fn what_is_shown_of_a_large_page_is_limited_and_the_rest_counted() {
    let deep = "<div>".repeat(LEVELS_SHOWN_MAX + 36);
    let found = tree(&deep, &(deep.clone() + "<p>"));
    assert_eq!((found.levels.len(), found.levels_left_out), (LEVELS_SHOWN_MAX, 37));
    assert_eq!(found.place.unwrap().level, LEVELS_SHOWN_MAX + 37);
    let long = "<br>".repeat(LETTERS_SHOWN_MAX + 500);
    let found = fingerprint(&long, &(long.clone() + "<hr>"));
    assert_eq!((found.first.old.len(), found.letters.old), (LETTERS_SHOWN_MAX, LETTERS_SHOWN_MAX + 500));
    assert_eq!(found.parts_at.unwrap().position, LETTERS_SHOWN_MAX + 500);
    let many = |word: &str| (0..PARAGRAPHS_SHOWN_MAX + 20).map(|n| format!("<p>{word} {n}</p>")).collect::<String>();
    let found = letters(Method::Checksum, &many("one"), &many("two"));
    assert_eq!((found.differing_paragraphs.len(), found.differing), (PARAGRAPHS_SHOWN_MAX, PARAGRAPHS_SHOWN_MAX + 20));
}

#[test]
fn the_marks_that_are_kept_with_a_version_are_the_pages_numbers() {
    let corpus = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
    let mut cases = 0;
    for case in std::fs::read_dir(corpus).unwrap() {
        let Ok(bytes) = std::fs::read(case.unwrap().path().join("old.html")) else { continue };
        let url = page();
        let input = Input {
            url: &url,
            bytes: &bytes,
            content_type: Some("text/html"),
            content_language: None,
            robots_tags: &[],
            payload: Digest::default(),
        };
        let signature = read(&input).signature;
        let verdicts = paper_verdicts(&input, &input);
        for (verdict, kept) in [(&verdicts.rms, signature.rms), (&verdicts.checksum, signature.checksum)] {
            let Found::Letters(found) = &verdict.found else { panic!("{verdict:?}") };
            assert_eq!(found.page.old.unwrap() as f32, kept);
        }
        let Found::Tree(found) = &verdicts.tree.found else { panic!("{verdicts:?}") };
        assert!(found.nodes.new > 3);
        assert!(verdicts.all().iter().all(|verdict| !verdict.changed));
        cases += 1;
    }
    assert!(cases >= 15, "{cases}");
}

#[test]
fn bodies_without_markup_have_no_tags_and_text_has_numbers() {
    let text = |method| run(method, b"one two\n\nthree", b"one two\n\nfour", Some("text/plain"));
    let told = Method::ALL.map(|method| text(method).changed);
    assert_eq!(told, [false, false, true, true, true]);
    let picture = |method| run(method, b"\x89PNG\r\n\x1a\n1", b"\x89PNG\r\n\x1a\n2", Some("image/png"));
    assert_eq!(Method::ALL.map(|method| picture(method).changed), [false, false, false, false, true]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn no_bytes_make_a_method_panic_and_no_body_differs_from_itself(
        old in "(<[a-z1/]{0,4}( style=font-size:[0-9]{1,3}px)?>|[ -~éß]{0,6}|\u{0}){0,60}",
        new in "(<[a-z1/]{0,4}>|[ -~éß]{0,6}){0,60}",
        media in prop::sample::select(vec![None, Some("text/html"), Some("application/xml"), Some("text/plain")]),
    ) {
        for method in Method::ALL {
            let verdict = run(method, old.as_bytes(), new.as_bytes(), media);
            prop_assert_eq!(verdict.cost.bytes_read, old.len() + new.len());
            prop_assert!(!verdict.words.is_empty());
            prop_assert!(!run(method, old.as_bytes(), old.as_bytes(), media).changed);
        }
    }
}
