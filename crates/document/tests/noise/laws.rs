//! What holds for every judgement, and for a person's word.

use proptest::prelude::*;
use vernal_document::noise::{NoiseInput, Shape, add, allow, forget, judge, template_key, unchanged};
use vernal_model::{
    Chance, Change, Document, Kind, Moment, NoiseBook, NoisePattern, Note, Operation, PageKey, PageNoise, Paragraph,
    ParagraphChange, ParagraphMark, Partition, Role, RuleReach, RuleState, Site,
};
use xxhash_rust::xxh3::xxh3_64;

use crate::watcher::{Watcher, has_content};

fn page(title: &str, text: &str, footer: &str) -> String {
    format!(
        "<html><head><title>{title}</title></head><body><nav><a href=/>Home</a></nav><main><h1>{title}</h1><p>What we agree \
         on stands here.</p><p>{text}</p><p>Nothing else does.</p></main><footer><p>The firm</p><p>{footer}</p></footer>\
         </body></html>"
    )
}

fn read_by(count: u32) -> String {
    page("Terms", &format!("Read by {count} people"), "Ours")
}

/// A visit for each count, with the looks that are asked for. The counter counts on between them.
fn counting(book: &mut NoiseBook, watcher: &mut Watcher, counts: std::ops::Range<u32>) -> Vec<Change> {
    let visit = |count: u32| {
        let mut shown = (count..).step_by(1_000);
        watcher.visit_and_looks(book, || read_by(shown.next().unwrap()))
    };
    counts.map(visit).collect()
}

#[test]
fn a_strict_site_silences_nothing_that_was_learned_and_learns_all_the_same() {
    let (mut watcher, mut book) = (Watcher::new(1), NoiseBook::default());
    watcher.strict = true;
    let changes = counting(&mut book, &mut watcher, 10..20);
    assert!(changes[1..].iter().all(|change| has_content(change) && change.noise.is_empty()));
    assert_eq!(book.rules.len(), 1);
    watcher.strict = false;
    assert!(!has_content(&counting(&mut book, &mut watcher, 20..21)[0]));
}

#[test]
fn a_rule_turns_after_four_comparisons_without_a_difference_and_revives_on_new_evidence() {
    let (mut watcher, mut book) = (Watcher::new(1), NoiseBook::default());
    counting(&mut book, &mut watcher, 10..16);
    assert_eq!(book.rules[0].standing, RuleState::Learned);
    for _ in 0..4 {
        watcher.visit(&mut book, &page("Terms", "Read by 15 people", "Ours"));
    }
    assert_eq!(book.rules[0].standing, RuleState::Turned);
    assert_eq!(&*book.rules[0].reason, "no difference in the last 4 comparisons");
    let change = watcher.visit(&mut book, &page("Terms", "Read by 16 people", "Ours"));
    assert!(has_content(&change), "a turned rule explains nothing");
    counting(&mut book, &mut watcher, 17..20);
    assert_eq!((book.rules.len(), book.rules[0].standing), (1, RuleState::Learned));
}

#[test]
fn visits_that_find_the_same_bytes_turn_rules_too_and_second_looks_do_not() {
    let (mut watcher, mut book) = (Watcher::new(1), NoiseBook::default());
    counting(&mut book, &mut watcher, 10..16);
    let site = Site::new("example.org");
    for (second_look, turned) in [(true, false), (false, true)] {
        for _ in 0..4 {
            let rows = unchanged(&site, watcher.page, watcher.moment, second_look, &book, &watcher.noise);
            book.take(&rows);
        }
        assert_eq!(book.rules[0].standing == RuleState::Turned, turned);
    }
}

#[test]
fn an_edit_of_the_fixed_words_is_told_once_and_the_counter_stays_noise() {
    let (mut watcher, mut book) = (Watcher::new(1), NoiseBook::default());
    counting(&mut book, &mut watcher, 10..16);
    let edited = watcher.visit(&mut book, &page("Terms", "Signed by 16 people", "Ours"));
    assert!(has_content(&edited));
    for count in 17..20 {
        let change = watcher.visit(&mut book, &page("Terms", &format!("Signed by {count} people"), "Ours"));
        assert!(!has_content(&change), "{count}");
    }
    let again = watcher.visit(&mut book, &page("Terms", "Sued by 20 people", "Ours"));
    assert!(has_content(&again), "the word in the place of the edited one is fixed as before");
}

#[test]
fn news_that_differs_at_every_visit_and_never_comes_back_stays_content() {
    let (mut watcher, mut book) = (Watcher::new(1), NoiseBook::default());
    let mut chance = Chance::new(4);
    let mut headline = || (0..9).map(|_| format!("w{:x}y", chance.below(5_000))).collect::<Vec<_>>().join(" ");
    let mut stories: Vec<String> = (0..6).map(|_| headline()).collect();
    for visit in 0..15 {
        let items: String = stories.iter().map(|story| format!("<li>{story}</li>")).collect();
        let text = format!("Top story: {}</p><ul>{items}</ul><p>{}", stories[0], stories[1]);
        let html = page("Terms", &text, "Ours");
        let change = watcher.visit(&mut book, &html);
        assert!(visit == 0 || has_content(&change), "visit {visit}: {:#?}", book.rules);
        assert!(!has_content(&watcher.second_look(&mut book, &html)));
        stories.truncate(3);
        stories.splice(0..0, [headline(), headline(), headline()]);
    }
}

/// A list that rotates, with the site's own list behind it.
fn listed(items: &[&str]) -> String {
    let list = |items: &[&str]| items.iter().map(|item| format!("<li>{item}</li>")).collect::<String>();
    let own =
        ["About us", "Our history", "Contact", "Press", "Careers", "Partners", "Shop", "Imprint", "Help", "Terms"];
    format!("<h3>You may also like</h3><ul>{}</ul><ul>{}</ul>", list(items), list(&own))
}

fn in_menu(items: &[&str]) -> String {
    page("Terms", "Ours", "Ours").replace("<a href=/>Home</a>", &listed(items))
}

fn in_text(items: &[&str]) -> String {
    page("Terms", &format!("Ours</p>{}<p>", listed(items)), "Ours")
}

#[test]
fn an_item_that_stayed_by_chance_at_the_end_of_a_rotating_list_is_told_once() {
    let (mut watcher, mut book) = (Watcher::new(1), NoiseBook::default());
    watcher.visit(&mut book, &in_menu(&["red fox", "old oak", "wet dog", "big cat"]));
    watcher.second_look(&mut book, &in_menu(&["hot tea", "new car", "odd sock", "big cat"]));
    let further = watcher.visit(&mut book, &in_menu(&["far hill", "tin can", "low tide", "shy owl"]));
    assert!(has_content(&further), "once is an edit");
    let again = watcher.visit(&mut book, &in_menu(&["raw egg", "wide road", "dry wood", "calm sea"]));
    assert!(!has_content(&again), "twice is noise: {:#?}", book.rules);
    let own = in_menu(&["fat hen", "long way", "red brick", "thin ice"]).replace("About us", "We are insolvent");
    assert!(has_content(&watcher.visit(&mut book, &own)), "the list behind it is another one");
}

#[test]
fn an_item_that_stayed_by_chance_amid_a_rotating_list_is_no_anchor_once_it_was_replaced() {
    let (mut watcher, mut book) = (Watcher::new(1), NoiseBook::default());
    watcher.visit(&mut book, &in_text(&["red fox", "old oak", "wet dog", "big cat"]));
    watcher.second_look(&mut book, &in_text(&["hot tea", "old oak", "odd sock", "tall tree"]));
    watcher.second_look(&mut book, &in_text(&["red kite", "old oak", "deaf ear", "bent nail"]));
    let slots =
        |book: &NoiseBook| book.rules.iter().filter(|rule| matches!(rule.what, NoisePattern::Slot { .. })).count();
    assert_eq!(slots(&book), 2, "{:#?}", book.rules);
    assert!(has_content(&watcher.visit(&mut book, &in_text(&["far hill", "tin can", "low tide", "shy owl"]))));
    assert_eq!(slots(&book), 1, "{:#?}", book.rules);
    assert!(!has_content(&watcher.visit(&mut book, &in_text(&["raw egg", "wide road", "dry wood", "calm sea"]))));
}

#[test]
fn a_price_between_items_that_rotate_is_content_whenever_it_changes() {
    let (mut watcher, mut book) = (Watcher::new(1), NoiseBook::default());
    watcher.visit(&mut book, &in_text(&["red fox", "Price: 5 euros", "wet dog", "big cat"]));
    watcher.second_look(&mut book, &in_text(&["hot tea", "Price: 5 euros", "odd sock", "tall tree"]));
    watcher.second_look(&mut book, &in_text(&["red kite", "Price: 5 euros", "deaf ear", "bent nail"]));
    for (visit, price) in [5, 7, 7, 8, 8, 9].into_iter().enumerate() {
        let (first, price) = (format!("item {visit}st"), format!("Price: {price} euros"));
        let change = watcher.visit(&mut book, &in_text(&[&first, &price, "low tide", "shy owl"]));
        let differs = [1, 3, 5].contains(&visit);
        assert!(!differs || has_content(&change), "{price}: {:#?}", book.rules);
    }
}

#[test]
fn what_moves_from_the_text_into_a_slot_is_told() {
    let (mut watcher, mut book) = (Watcher::new(1), NoiseBook::default());
    let html = |moved_away: bool, items: &[&str]| {
        let text = if moved_away { "" } else { "The fee for late payment is waived</p><p>" };
        page("Terms", &format!("{text}Ours</p>{}<p>", listed(items)), "Ours")
    };
    watcher.visit(&mut book, &html(false, &["red fox", "old oak"]));
    watcher.second_look(&mut book, &html(false, &["hot tea", "new car"]));
    watcher.second_look(&mut book, &html(false, &["red kite", "bent nail"]));
    assert!(!has_content(&watcher.visit(&mut book, &html(false, &["far hill", "tin can"]))));
    let moved = watcher.visit(&mut book, &html(true, &["The fee for late payment is waived", "low tide"]));
    assert!(has_content(&moved), "{moved:#?}");
}

#[test]
fn what_is_learned_of_one_of_ten_counts_says_nothing_of_the_others() {
    let (mut watcher, mut book) = (Watcher::new(1), NoiseBook::default());
    let counts = |of: &dyn Fn(u32) -> u32| -> String {
        let rows: Vec<String> = (0..10).map(|item| format!("Read {} times by all", 10 + of(item))).collect();
        page("Terms", &rows.join("</p><p>"), "Ours")
    };
    watcher.visit(&mut book, &counts(&|item| item));
    assert!(has_content(&watcher.visit(&mut book, &counts(&|item| item + 20))));
    assert!(has_content(&watcher.visit(&mut book, &counts(&|item| item + 40))));
    assert!(book.rules.is_empty());
    // The first of them goes on varying, the others stay.
    let mut first = 100..;
    for _ in 0..6 {
        watcher.visit_and_looks(&mut book, || {
            let first = first.next().unwrap();
            counts(&|item| if item == 0 { first } else { item + 40 })
        });
    }
    assert!(!has_content(&watcher.visit(&mut book, &counts(&|item| if item == 0 { 920 } else { item + 40 }))));
    let other = watcher.visit(&mut book, &counts(&|item| if item == 0 { 940 } else { item * item + 40 }));
    assert!(has_content(&other), "{:#?}", book.rules);
}

#[test]
fn texts_that_looks_saw_rotate_on_three_pages_rotate_on_the_fourth_and_a_new_text_is_told() {
    let quotes = ["Paper is patient", "Small leaks sink ships", "Slow clocks tell time", "Half a plan helps"];
    let mut book = NoiseBook::default();
    let quoted =
        |number: u32, quote: &str| page(&format!("Page {number}"), &format!("Own {number}</p><p>{quote}"), "Ours");
    for number in 1..=3 {
        let mut watcher = Watcher::new(number);
        let mut next = (0..).map(|answer| quoted(number, quotes[answer % quotes.len()]));
        watcher.visit(&mut book, &next.next().unwrap());
        watcher.wants_look = true;
        watcher.looks(&mut book, || next.next().unwrap());
        for _ in 0..6 {
            watcher.visit_and_looks(&mut book, || next.next().unwrap());
        }
    }
    let texts: Vec<_> = book.rules.iter().filter(|rule| matches!(rule.what, NoisePattern::Texts { .. })).collect();
    assert_eq!((texts.len(), texts[0].pages, texts[0].standing), (1, 3, RuleState::Learned), "{:#?}", book.rules);
    let mut fourth = Watcher::new(4);
    for quote in [quotes[2], quotes[0], quotes[3]] {
        assert!(!has_content(&fourth.visit(&mut book, &quoted(4, quote))), "{quote}: {:#?}", book.rules);
    }
    assert!(has_content(&fourth.visit(&mut book, &quoted(4, "The firm is insolvent"))), "a new text");
    assert!(has_content(&fourth.visit(&mut book, &quoted(4, quotes[1]))), "and its end");
    assert!(!has_content(&fourth.visit(&mut book, &quoted(4, quotes[2]))));
    let own = quoted(4, quotes[2]).replace("Own 4", quotes[0]);
    assert!(has_content(&fourth.visit(&mut book, &own)), "what it takes the place of is the page's own");
}

#[test]
fn what_three_pages_of_a_template_taught_holds_for_the_fourth() {
    let mut book = NoiseBook::default();
    for number in 1..=3 {
        let mut watcher = Watcher::new(number);
        counting(&mut book, &mut watcher, 10 * number..10 * number + 4);
    }
    assert_eq!(book.rules.len(), 1, "{:#?}", book.rules);
    let rule = &book.rules[0];
    assert!(matches!(rule.on, RuleReach::Template(template) if template == rule.template && template != 0));
    assert_eq!((rule.pages, rule.differed == rule.compared, rule.looks.differed), (3, true, rule.looks.made));
    let mut fourth = Watcher::new(4);
    let changes = counting(&mut book, &mut fourth, 70..72);
    assert!(!has_content(&changes[1]));
    assert_eq!(book.rules[0].pages, 4);
}

#[test]
fn footers_that_differ_in_their_own_ways_on_three_pages_are_noise_and_one_new_footer_is_not() {
    let mut book = NoiseBook::default();
    let visit = |book: &mut NoiseBook, number: u32, footers: [&str; 2]| {
        let mut watcher = Watcher::new(number);
        watcher.visit(book, &page("Terms", "As ever", footers[0]));
        has_content(&watcher.visit(book, &page("Terms", "As ever", footers[1])))
    };
    for number in 1..=6 {
        assert!(visit(&mut book, number, ["Made in 1999 by us", "Made in 2001 by us"]), "one same change is no noise");
    }
    let mut own = NoiseBook::default();
    assert!(visit(&mut own, 1, ["Crate 12 of ours", "Crate 19 of ours"]));
    assert!(visit(&mut own, 2, ["Crate 13 of ours", "Crate 8 of ours"]));
    assert!(!visit(&mut own, 3, ["Crate 7 of ours", "Crate 31 of ours"]));
    assert!(!visit(&mut own, 4, ["Crate 3 of ours", "Crate 2 of ours"]));
    let mut alone = NoiseBook::default();
    let many = |from: u32| -> String {
        (from..from + 6).map(|number| format!("Item number {number} here")).collect::<Vec<_>>().join("</p><p>")
    };
    assert!(visit(&mut alone, 1, [&many(1), &many(20)]), "one page is not many, however much of it differs");
    // The same in the main text would be three prices on the day of a sale.
    let mut prices = NoiseBook::default();
    for (number, price) in [(1, 5), (2, 7), (3, 9), (4, 11)] {
        let mut watcher = Watcher::new(number);
        watcher.visit(&mut prices, &page("Terms", &format!("It costs {price} euros"), "Ours"));
        let change = watcher.visit(&mut prices, &page("Terms", &format!("It costs {} euros", price - 1), "Ours"));
        assert!(has_content(&change));
    }
}

#[test]
fn a_person_may_add_allow_and_forget() {
    let (site, moment) = (Site::new("example.org"), Moment::from_secs(1));
    let (mut watcher, mut book) = (Watcher::new(1), NoiseBook::default());
    let what = NoisePattern::Words { shape: "Read by # people".into(), place: 0 };
    book.take(&add(&site, &book, what, RuleReach::Site, "a counter", moment).unwrap());
    watcher.strict = true;
    assert!(!has_content(&counting(&mut book, &mut watcher, 1..3)[1]), "a person's rule holds at once");
    book.take(&forget(&site, &book, 1).unwrap());
    assert!(book.rules.is_empty() && forget(&site, &book, 1).is_none());
    watcher.strict = false;
    counting(&mut book, &mut watcher, 3..8);
    let id = book.rules[0].id;
    assert_eq!(id, 2, "no number is given twice");
    book.take(&allow(&site, &book, id, "the count matters to us", watcher.moment).unwrap());
    let changes = counting(&mut book, &mut watcher, 8..16);
    assert!(changes.iter().all(has_content), "what was allowed is never set aside");
    assert_eq!(book.rules.len(), 1, "nor learned again");
}

#[test]
fn scripts_that_differ_at_every_visit_are_noise_and_a_new_form_beside_them_is_told() {
    let (mut watcher, mut book) = (Watcher::new(1), NoiseBook::default());
    let script = |visit: u32| format!("{}<script>nonce({visit})</script>", page("Terms", "As ever", "Ours"));
    let changes: Vec<Change> = (0..5).map(|visit| watcher.visit(&mut book, &script(visit))).collect();
    let left: Vec<bool> = changes.iter().map(|change| change.left.contains(Kind::Behaviour)).collect();
    assert_eq!(left, [false, true, true, false, false]);
    let content = watcher.visit(&mut book, &script(9).replace("As ever", "As never"));
    assert!(has_content(&content) && !content.left.contains(Kind::Behaviour));
    // Where notes name what differs, a rule speaks of nothing else.
    let mut kinds = vernal_model::Kinds::default();
    kinds.insert(Kind::Behaviour);
    let note = |what: &str| Note { kind: Kind::Behaviour, what: what.into(), before: None, after: Some("x".into()) };
    let mut noted = NoiseBook::default();
    let mut noise = PageNoise::default();
    let mut told = |notes: Vec<Note>| {
        let change = Change { kinds, left: kinds, notes, ..Change::default() };
        let judgement = judge(&bare_input(&change, &noted, &noise));
        noted.take(&judgement.lesson.rows);
        noise = judgement.lesson.rows.page.map_or_else(|| noise.clone(), |(_, noise)| noise);
        judgement.change
    };
    for _ in 0..4 {
        told(vec![note("script")]);
    }
    assert!(told(vec![note("script")]).is_noise());
    let change = told(vec![note("script"), note("form target")]);
    assert!(change.is_change() && change.notes.len() == 1 && change.noise.len() == 1);
}

fn bare_input<'a>(change: &'a Change, book: &'a NoiseBook, noise: &'a PageNoise) -> NoiseInput<'a> {
    static EMPTY: std::sync::LazyLock<(Site, Document)> =
        std::sync::LazyLock::new(|| (Site::new("example.org"), Document::default()));
    NoiseInput {
        site: &EMPTY.0,
        page: PageKey::new(Partition(0), 1),
        template: 0,
        moment: Moment::from_secs(1),
        second_look: false,
        strict: false,
        old_marks: &[],
        new_marks: &[],
        old: None,
        new: &EMPTY.1,
        change,
        book,
        noise,
    }
}

#[test]
fn every_shape_reads_back_as_it_was_written() {
    for text in ["Views: # today", "€# and #%", "~ * ** @", r"\#1 \*star \@home \=5:x", "=12:00ff00ff00ff00ff end"] {
        assert_eq!(&*Shape::parse(text).text(), text);
    }
    assert!(Shape::parse("Price: €#").matches("Price: €9.99"));
    assert!(!Shape::parse("Price: €#").matches("Price: $9.99"));
    assert!(
        Shape::parse("Seen ** here").matches("Seen here") && Shape::parse("Seen ** here").matches("Seen by us here")
    );
}

#[test]
fn pages_of_one_template_have_one_key_whatever_their_text() {
    let marks = |places: &[u16], main: usize| -> Vec<ParagraphMark> {
        let frame = places.iter().map(|&place| ParagraphMark { place, role: Role::Footer, ..Default::default() });
        let text = (0..main).map(|digest| ParagraphMark { digest: digest as u64, place: 999, ..Default::default() });
        frame.chain(text).collect()
    };
    assert_eq!(template_key(&marks(&[3, 4, 5], 2)), template_key(&marks(&[5, 4, 3, 3], 80)));
    assert_ne!(template_key(&marks(&[3, 4, 5], 2)), template_key(&marks(&[6, 7, 8], 2)));
    assert_eq!(template_key(&[ParagraphMark::default()]), 0);
}

/// A document of random short paragraphs, with marks that fit it or do not.
fn random_document(chance: &mut Chance) -> (Document, Vec<ParagraphMark>) {
    const PARTS: [&str; 14] =
        ["Views:", "5", "17", "today", "*", "#", "May", "a8f3c1d902", "é", "\\", "=3:ff", "**", "~", "word"];
    let mut document = Document::default();
    for _ in 0..chance.below(14) {
        let start = document.text.len() as u32;
        let words: Vec<&str> = (0..1 + chance.below(9)).map(|_| *chance.pick(&PARTS).unwrap()).collect();
        document.text += &words.join(" ");
        document.paragraphs.push(Paragraph {
            start,
            end: document.text.len() as u32,
            role: *chance.pick(&[Role::Main, Role::ListItem, Role::Footer, Role::Navigation]).unwrap(),
            digest: xxh3_64(words.join(" ").as_bytes()),
            place: chance.below(3) as u16,
            heading: 0,
        });
    }
    let mark = |paragraph: &Paragraph| ParagraphMark {
        digest: paragraph.digest,
        id: 0,
        place: paragraph.place,
        role: paragraph.role,
    };
    let mut marks: Vec<ParagraphMark> = document.paragraphs.iter().map(mark).collect();
    marks.truncate(if chance.happens(0.2) { 3 } else { 99 });
    (document, marks)
}

fn random_change(chance: &mut Chance) -> Change {
    const ALL: [Operation; 6] = [
        Operation::Added,
        Operation::Removed,
        Operation::Edited,
        Operation::Moved,
        Operation::Split,
        Operation::Merged,
    ];
    let mut change = Change::default();
    for kind in Kind::ALL {
        if chance.happens(0.6) {
            change.kinds.insert(kind);
        }
    }
    change.left = change.kinds;
    change.magnitude = 0.5;
    let text = |chance: &mut Chance| {
        chance.happens(0.5).then(|| format!("Views: {} today {}", chance.below(50), chance.below(3)).into())
    };
    for _ in 0..chance.below(12) {
        change.paragraphs.push(ParagraphChange {
            operation: *chance.pick(&ALL).unwrap(),
            id: 0,
            digest: chance.below(9),
            role: Role::Main,
            position: chance.below(20) as u32,
            from: chance.happens(0.5).then(|| chance.below(20) as u32),
            others: vec![chance.below(30) as u32],
            headings: Vec::new(),
            before: text(chance),
            after: text(chance),
        });
    }
    change
}

proptest! {
    #[test]
    fn no_input_makes_a_judgement_panic_or_grow_beyond_its_bounds(number in any::<u64>()) {
        let mut chance = Chance::new(number);
        let (mut book, mut noise) = (NoiseBook::default(), PageNoise::default());
        let site = Site::new("example.org");
        let (mut old, mut old_marks) = random_document(&mut chance);
        for visit in 0..12i64 {
            let (new, new_marks) = random_document(&mut chance);
            let change = random_change(&mut chance);
            let judgement = judge(&NoiseInput {
                site: &site,
                page: PageKey::new(Partition(0), chance.below(4) as u32),
                template: chance.below(2) as u32,
                moment: Moment::from_secs(visit),
                second_look: chance.happens(0.3),
                strict: chance.happens(0.2),
                old_marks: &old_marks,
                new_marks: &new_marks,
                old: chance.happens(0.6).then_some(&old),
                new: &new,
                change: &change,
                book: &book,
                noise: &noise,
            });
            let judged = &judgement.change;
            prop_assert!(judged.paragraphs.len() <= change.paragraphs.len());
            prop_assert!(judged.left.iter().all(|kind| change.left.contains(kind)));
            prop_assert_eq!(judged.kinds, change.kinds);
            prop_assert!((0.0..=1.0).contains(&judged.magnitude));
            book.take(&judgement.lesson.rows);
            if let Some((_, row)) = judgement.lesson.rows.page {
                noise = row;
            }
            prop_assert!(book.rules.len() <= NoiseBook::RULES_MAX);
            prop_assert!(noise.suspects.len() <= PageNoise::SUSPECTS_MAX && noise.known.len() <= PageNoise::KNOWN_MAX);
            prop_assert!(book.rules.windows(2).all(|pair| pair[0].id < pair[1].id));
            (old, old_marks) = (new, new_marks);
        }
    }

    #[test]
    fn without_rules_and_evidence_a_first_difference_stays_as_it_is(number in any::<u64>()) {
        let mut chance = Chance::new(number);
        let ((old, old_marks), (new, new_marks)) = (random_document(&mut chance), random_document(&mut chance));
        let (change, book, noise) = (random_change(&mut chance), NoiseBook::default(), PageNoise::default());
        let judgement = judge(&NoiseInput {
            old_marks: &old_marks,
            new_marks: &new_marks,
            old: Some(&old),
            new: &new,
            ..bare_input(&change, &book, &noise)
        });
        prop_assert_eq!(judgement.change, change);
    }
}

#[test]
#[ignore = "prints what a judgement costs"]
#[expect(clippy::disallowed_methods, reason = "a measurement takes the real time")]
fn what_a_judgement_costs() {
    let (mut watcher, mut book) = (Watcher::new(1), NoiseBook::default());
    let text: Vec<String> = (0..200).map(|line| format!("Line {line} of a long text that stays as it is")).collect();
    let html = |visit: usize| {
        let item =
            |at: usize| format!("item {} of all", "abcdefghijklmnop".as_bytes()[(visit * 5 + at * 3) % 16] as char);
        let items = [item(0), item(1), item(2), item(3)];
        let list = listed(&items.each_ref().map(String::as_str));
        page("Terms", &format!("Views: {visit} today</p><p>{}</p>{list}<p>", text.join("</p><p>")), "Ours")
    };
    (0..8).for_each(|visit| drop(watcher.visit(&mut book, &html(visit))));
    let (old, new) = (crate::watcher::parsed(&html(8)), crate::watcher::parsed(&html(9)));
    let mut change = vernal_document::compare(&old.signature, &new.signature);
    for read_old in [false, true] {
        if read_old {
            vernal_document::diff::explain(&old.document, &new.document, &mut change);
        }
        let input = NoiseInput {
            site: &Site::new("example.org"),
            page: watcher.page,
            template: template_key(&new.signature.paragraphs),
            moment: watcher.moment,
            second_look: false,
            strict: false,
            old_marks: &old.signature.paragraphs,
            new_marks: &new.signature.paragraphs,
            old: read_old.then_some(&old.document),
            new: &new.document,
            change: &change,
            book: &book,
            noise: &watcher.noise,
        };
        let start = std::time::Instant::now();
        (0..1_000).for_each(|_| drop(std::hint::black_box(judge(&input))));
        println!("{} rules, old read: {read_old}: {} µs", book.rules.len(), start.elapsed().as_micros() / 1_000);
    }
}
