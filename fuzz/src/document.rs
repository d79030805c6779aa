//! Laws of the crate `vernal-document` that hold for every input, as plain functions of bytes.

use std::collections::HashSet;

use vernal_document::diff::{
    STEPS_MAX, blame, carry_ids, carry_ids_by_marks, diff, explain, operations, render, texts,
};
use vernal_document::noise::{NoiseInput, judge, may_explain, template_key};
use vernal_document::{
    IncrementalReader, Input, LINKS_MAX, PARAGRAPHS_MAX, Parsed, compare, compare_pages, flags, parts, read,
    read_closely, read_words, read_words_incrementally, wall,
};
use vernal_model::{
    Digest, Kind, Moment, NoiseBook, PageKey, PageNoise, Partition, RuleState, Signature, Site, Span, Url,
};

/// Reads the bytes as a page and holds the answer to its invariants.
///
/// # Panics
///
/// If one of them does not hold.
pub fn html(bytes: &[u8]) {
    for content_type in ["text/html", "text/xml", "text/plain", "application/gopher-menu", "text/x-ftp-listing"] {
        let parsed = read_as(bytes, content_type, Digest([1; 20]));
        check(&parsed);
        read_again(bytes, content_type, &parsed);
        let half = read_as(&bytes[..bytes.len() / 2], content_type, Digest([2; 20]));
        read_beside(bytes, content_type, &parsed, &half);
        let mut change = compare(&half.signature, &parsed.signature);
        explain(&half.document, &parsed.document, &mut change);
        assert!((0.0..=1.0).contains(&change.magnitude), "magnitude {}", change.magnitude);
        wall(200, &|_| None, Some(&parsed));
    }
}

/// What is read again for its words has the words of the whole pass.
fn read_again(bytes: &[u8], content_type: &str, parsed: &Parsed) {
    let page = page();
    let given = input(&page, bytes, content_type, Digest([1; 20]));
    for closely in [false, true] {
        let (document, found) = read_words(&given, closely);
        assert_eq!((&document.text, &document.paragraphs), (&parsed.document.text, &parsed.document.paragraphs));
        if closely {
            assert_eq!(document.links, parsed.document.links, "links read again");
            assert_eq!(found, parts(&given), "parts read again");
        }
    }
}

/// What is read beside a version that has some of its words has them all.
fn read_beside(bytes: &[u8], content_type: &str, parsed: &Parsed, newer: &Parsed) {
    let page = page();
    let given = input(&page, bytes, content_type, Digest([1; 20]));
    let beside = IncrementalReader::new(&parsed.signature.paragraphs, &newer.document);
    let document = read_words_incrementally(&given, &beside);
    assert_eq!((&document.text, &document.paragraphs), (&parsed.document.text, &parsed.document.paragraphs));
}

/// Reads the bytes as two pages, parted by the first zero byte or in the middle, and holds their diff to its laws.
///
/// # Panics
///
/// If one of them does not hold.
pub fn diff_of_halves(bytes: &[u8]) {
    let middle = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len() / 2);
    let (old, new) = bytes.split_at(middle);
    let (old, new) = (read_as(old, "text/html", Digest([1; 20])), read_as(new, "text/html", Digest([2; 20])));
    let found = diff(&old.document, &new.document);
    assert!(found.steps <= STEPS_MAX, "{} steps", found.steps);
    let (old_texts, new_texts) = (texts(&old.document), texts(&new.document));
    let made = found.apply(&old_texts).expect("a diff applies to what it was made of");
    assert_eq!(made, new_texts, "applying the operations gives the new paragraphs");
    assert_eq!(found.is_empty(), old_texts == new_texts, "only what is the same has an empty diff");
    assert!(!render::html(&found, &new.document, &render::View::default()).contains("<script"));
    render::text(&found, &new.document, &render::View { colour: true, ..render::View::default() });
    let mut told = operations(&old.document, &new.document);
    let (mut before, mut after, mut next) = (old.signature.paragraphs, new.signature.paragraphs, 1);
    carry_ids_by_marks(&[], &mut before, &mut next);
    carry_ids(&before, &mut after, &mut told, &mut next);
    let ids: HashSet<u32> = after.iter().map(|mark| mark.id).collect();
    assert!(ids.len() == after.len() && !ids.contains(&0), "every paragraph has a number of its own");
    let versions = [(1, Moment::default(), &old.document), (2, Moment::default(), &new.document)];
    let blamed: Vec<String> = blame(versions).iter().map(|paragraph| paragraph.text()).collect();
    assert_eq!(blamed, new_texts, "blame tells the words of the last version");
}

/// Reads the bytes as versions of one page, parted by zero bytes, and visits them in turn, twice around. A version whose
/// bytes are odd in number is a second look.
///
/// # Panics
///
/// If what was learned outgrows its bounds, or a judgement tells more than the comparison did.
pub fn judge_versions(bytes: &[u8]) {
    const VERSIONS_MAX: usize = 12;
    let parts: Vec<&[u8]> = bytes.split(|byte| *byte == 0).take(VERSIONS_MAX).collect();
    let read = |(number, part): (usize, &&[u8])| read_as(part, "text/html", Digest([number as u8; 20]));
    let versions: Vec<Parsed> = parts.iter().enumerate().map(read).collect();
    let (site, page) = (Site::new("example.org"), PageKey::new(Partition(0), 1));
    let (mut book, mut noise, mut moment) = (NoiseBook::default(), PageNoise::default(), Moment::default());
    let order = (0..versions.len()).chain(0..versions.len()).collect::<Vec<usize>>();
    for pair in order.windows(2) {
        let (old, new) = (&versions[pair[0]], &versions[pair[1]]);
        let second_look = parts[pair[1]].len() % 2 == 1;
        moment += if second_look { Span::from_secs(300) } else { Span::from_days(1) };
        let mut change = compare(&old.signature, &new.signature);
        for read_old in [false, true] {
            if read_old {
                explain(&old.document, &new.document, &mut change);
            }
            let judged = judge(&NoiseInput {
                site: &site,
                page,
                template: template_key(&new.signature.paragraphs),
                moment,
                second_look,
                strict: false,
                old_marks: &old.signature.paragraphs,
                new_marks: &new.signature.paragraphs,
                old: read_old.then_some(&old.document),
                new: &new.document,
                change: &change,
                book: &book,
                noise: &noise,
            });
            if !read_old && !may_explain(&book, &noise, second_look) {
                assert_eq!(judged.change, change, "where nothing is known nothing is explained");
            }
            assert!(judged.change.left.iter().all(|kind| change.left.contains(kind)), "what is left was there");
            assert!(judged.change.paragraphs.iter().all(|told| change.paragraphs.contains(told)), "nothing is made up");
            assert!((0.0..=1.0).contains(&judged.change.magnitude), "magnitude {}", judged.change.magnitude);
            if read_old {
                book.take(&judged.lesson.rows);
                noise = judged.lesson.rows.page.map_or(noise, |(_, noise)| noise);
                let in_force = |rule: u32| book.rule(rule).is_some_and(|rule| rule.standing == RuleState::Learned);
                let told = judged.change.noise.iter().filter_map(|aside| aside.rule);
                assert!(told.into_iter().all(in_force), "what is set aside has a rule to show for it");
            }
        }
        assert!(book.rules.len() <= NoiseBook::RULES_MAX && noise.known.len() <= PageNoise::KNOWN_MAX);
        assert!(noise.suspects.len() <= PageNoise::SUSPECTS_MAX);
    }
}

/// Packs and reads again the signature of the bytes as a page, and reads the bytes themselves as a packed signature.
///
/// # Panics
///
/// If a signature is not what it was, or is larger than promised.
pub fn signature(bytes: &[u8]) {
    let packed = read_as(bytes, "text/html", Digest([1; 20])).signature;
    let kept = packed.pack();
    assert!(kept.len() <= 300 + 16 * packed.paragraphs.len(), "{} bytes", kept.len());
    assert_eq!(Signature::unpack(&kept), Ok(packed), "what was packed is read again");
    if let Ok(read) = Signature::unpack(bytes) {
        assert_eq!(read.pack(), bytes, "one signature has one form");
    }
    for cut in [kept.len() / 3, kept.len() - 1] {
        assert!(Signature::unpack(&kept[..cut]).is_err(), "a cut signature is noticed");
    }
}

/// Compares the two halves of the bytes as two versions of a page.
///
/// # Panics
///
/// If a page differs from itself, if the order of the two matters to what differs, or if something is left that was never
/// there.
pub fn compare_halves(bytes: &[u8]) {
    let (first, second) = bytes.split_at(bytes.len() / 2);
    let old = read_closely(&input(&page(), first, "text/html", Digest([1; 20])));
    let new = read_closely(&input(&page(), second, "text/html", Digest([2; 20])));
    let again = read_closely(&input(&page(), first, "text/html", Digest([3; 20])));
    assert!(compare_pages(&old, &again).kinds.is_empty(), "a page does not differ from itself");
    let (there, back) = (compare_pages(&old, &new), compare_pages(&new, &old));
    assert_eq!((there.kinds, there.left), (back.kinds, back.left), "what differs is the same from both sides");
    assert!(there.left.iter().all(|kind| there.kinds.contains(kind)), "what is left was there");
    assert!((0.0..=1.0).contains(&there.magnitude) && (0.0..=1.0).contains(&back.magnitude));
    let by_flags = flags(
        &input(&page(), first, "text/html", Digest([1; 20])),
        &input(&page(), second, "text/html", Digest([2; 20])),
    );
    assert_eq!(by_flags.text, there.kinds.contains(Kind::Content));
    assert_eq!(by_flags.structure, there.kinds.contains(Kind::Structure));
}

fn page() -> Url {
    Url::parse("http://example.org/a/b").expect("a plain URL parses")
}

fn input<'a>(url: &'a Url, bytes: &'a [u8], content_type: &'a str, payload: Digest) -> Input<'a> {
    Input { url, bytes, content_type: Some(content_type), content_language: None, robots_tags: &[], payload }
}

fn read_as(bytes: &[u8], content_type: &str, payload: Digest) -> Parsed {
    read(&input(&page(), bytes, content_type, payload))
}

fn check(parsed: &Parsed) {
    let document = &parsed.document;
    let mut end = 0;
    for paragraph in &document.paragraphs {
        let (start, stop) = (paragraph.start as usize, paragraph.end as usize);
        assert!(end <= start && start < stop, "paragraphs lie in order and are not empty");
        let words = document.text.get(start..stop).expect("paragraphs end between letters, inside the text");
        assert!(!words.contains("  ") && !words.contains('\n') && words.trim() == words, "white space is folded");
        end = stop;
    }
    assert_eq!(end, document.text.len(), "all text lies in paragraphs");
    assert!(document.paragraphs.len() <= PARAGRAPHS_MAX);
    assert_eq!(document.paragraphs.len(), parsed.signature.paragraphs.len());
    assert!(document.links.len() <= LINKS_MAX);
    assert!(document.links_dropped == 0 || document.links.len() == LINKS_MAX);
    assert!(document.links.iter().all(|link| document.anchor(link).len() == usize::from(link.anchor.bytes)));
}
