//! Hand-made cases, as a person would tell them.

use vernal_document::diff::{Fallback, WordOperation, explain};
use vernal_model::{Change, Document, Kind, Kinds};

use crate::{differ, name, page};

/// What happened, one line to a paragraph: the operation, and the words with what went and came marked.
fn told(old: &Document, new: &Document) -> Vec<String> {
    let found = differ(old, new);
    assert_eq!(found.fallback, None);
    let lines = found.paragraphs.iter().map(|paragraph| {
        let words = match (&paragraph.before, &paragraph.after) {
            (Some(_), Some(after)) if paragraph.words.is_empty() => after.to_string(),
            (Some(_), Some(_)) => {
                let marked = paragraph.words.iter().map(|word| match word.op {
                    WordOperation::Same => word.text.to_string(),
                    WordOperation::Added => format!("{{+{}+}}", word.text),
                    WordOperation::Removed => format!("[-{}-]", word.text),
                });
                marked.collect()
            }
            (before, after) => before.as_deref().or(after.as_deref()).unwrap_or_default().to_string(),
        };
        format!("{} {}", name(paragraph.op), words.replace('\n', "¶"))
    });
    lines.collect()
}

#[track_caller]
fn case(old: &str, new: &str, expected: &[&str]) {
    assert_eq!(told(&page(old), &page(new)), expected);
}

#[test]
fn a_sentence_is_edited() {
    case(
        "<p>First.<p>The cat sat on the mat.<p>Last.",
        "<p>First.<p>The cat lay on the mat.<p>Last.",
        &["edited The cat[- sat-]{+ lay+} on the mat."],
    );
}

#[test]
fn a_price_changes_in_a_table_row() {
    case(
        "<table><tr><td>Basic<td>€5.00<tr><td>Pro<td>€9.99<tr><td>Team<td>€49.00</table>",
        "<table><tr><td>Basic<td>€5.00<tr><td>Pro<td>€12.99<tr><td>Team<td>€49.00</table>",
        &["edited Pro €[-9.99-]{+12.99+}"],
    );
}

#[test]
fn a_price_alone_is_edited_not_replaced() {
    case("<p>Price<p>€9.99<p>per month", "<p>Price<p>€12.99<p>per month", &["edited €[-9.99-]{+12.99+}"]);
}

#[test]
fn a_date_changes() {
    case(
        "<h1>Terms</h1><p>Effective 1 May 2026<p>Rules follow here.",
        "<h1>Terms</h1><p>Effective 1 June 2026<p>Rules follow here.",
        &["edited Effective 1[- May-]{+ June+} 2026"],
    );
}

#[test]
fn a_list_item_comes_in_the_middle() {
    case("<ul><li>apple<li>pear<li>plum</ul>", "<ul><li>apple<li>cherry<li>pear<li>plum</ul>", &["added cherry"]);
}

#[test]
fn a_list_item_goes() {
    case("<ul><li>apple<li>pear<li>plum</ul>", "<ul><li>apple<li>plum</ul>", &["removed pear"]);
}

#[test]
fn a_reordered_menu_is_one_move() {
    let menu = |items: &[&str]| format!("<nav><ul><li>{}</ul></nav><p>The text stays.", items.join("<li>"));
    let (old, new) = (page(&menu(&["Home", "News", "About", "Help"])), page(&menu(&["Help", "About", "News", "Home"])));
    let found = differ(&old, &new);
    assert_eq!(found.paragraphs.len(), 1, "{found:#?}");
    assert_eq!(found.paragraphs[0].reordered.len(), 2);
    assert_eq!(name(found.paragraphs[0].op), "moved");
}

#[test]
fn a_reordered_list_with_a_new_item_is_a_move_and_an_addition() {
    let list = |items: &str| format!("<ul><li>{}</ul>", items.replace(' ', "<li>"));
    let found = differ(&page(&list("ant bee cat dog")), &page(&list("dog cat elk bee ant")));
    let mut names: Vec<&str> = found.paragraphs.iter().map(|paragraph| name(paragraph.op)).collect();
    names.sort_unstable();
    assert_eq!(names, ["added", "moved"]);
}

#[test]
fn a_paragraph_is_split() {
    case(
        "<p>Intro.<p>One two three four five six. Seven eight nine ten.<p>End.",
        "<p>Intro.<p>One two three four five six.<p>Seven eight nine ten.<p>End.",
        &["split One two three four five six.{+¶+} Seven eight nine ten."],
    );
}

#[test]
fn a_paragraph_is_split_in_three_and_a_word_is_changed() {
    case(
        "<p>We sell apples and pears here. You may pay by card or in cash. We open at nine every morning.",
        "<p>We sell apples and plums here.<p>You may pay by card or in cash.<p>We open at nine every morning.",
        &[
            "split We sell apples and[- pears-]{+ plums+} here.{+¶+} You may pay by card or in cash.{+¶+} We open at nine \
           every morning.",
        ],
    );
}

#[test]
fn two_are_merged() {
    case(
        "<p>Intro.<p>One two three four five six.<p>Seven eight nine ten.<p>End.",
        "<p>Intro.<p>One two three four five six. Seven eight nine ten.<p>End.",
        &["merged One two three four five six.[-¶-] Seven eight nine ten."],
    );
}

#[test]
fn a_section_moves_with_its_heading() {
    let alpha = "<h2>Alpha</h2><p>Alpha has some text of its own.<p>And a second paragraph about alpha.";
    let beta = "<h2>Beta</h2><p>Beta speaks of other things.<p>It also has more to say.<p>And more still.";
    let (old, new) = (page(&format!("<h1>All</h1>{alpha}{beta}")), page(&format!("<h1>All</h1>{beta}{alpha}")));
    let found = differ(&old, &new);
    assert!(found.paragraphs.iter().all(|paragraph| name(paragraph.op) == "moved"), "{found:#?}");
    assert_eq!(found.paragraphs.len(), 3);
    assert_eq!(found.paragraphs[1].headings.last().map(|heading| &**heading), Some("Alpha"));
}

#[test]
fn a_paragraph_moves_and_is_edited_on_the_way() {
    case(
        "<p>The quick brown fox jumps over the lazy dog.<p>Second one.<p>Third one.<p>Fourth one.",
        "<p>Second one.<p>Third one.<p>Fourth one.<p>The quick red fox jumps over the lazy dog.",
        &["moved The quick[- brown-]{+ red+} fox jumps over the lazy dog."],
    );
}

#[test]
fn the_newest_of_a_list_of_news_is_not_its_oldest_come_back() {
    let news = |versions: &[&str]| {
        let items =
            versions.iter().map(|version| format!("<p>Apache Lucene {version} is now available<p>about {version}"));
        page(&items.collect::<String>())
    };
    let lines = told(&news(&["8.9", "8.8", "8.7", "8.6"]), &news(&["9.0", "8.9", "8.8", "8.7"]));
    assert_eq!(
        lines,
        [
            "added Apache Lucene 9.0 is now available",
            "added about 9.0",
            "removed Apache Lucene 8.6 is now available",
            "removed about 8.6",
        ]
    );
}

#[test]
fn one_of_several_equal_paragraphs_goes() {
    case(
        "<p>Read more<p>A b c<p>Read more<p>D e f<p>Read more",
        "<p>Read more<p>A b c<p>Read more<p>D e f",
        &["removed Read more"],
    );
}

#[test]
fn equal_paragraphs_stay_around_a_new_story() {
    case(
        "<p>Story one is here<p>Read more<p>Story two is there<p>Read more",
        "<p>Quite another tale<p>Read more<p>Story one is here<p>Read more<p>Story two is there<p>Read more",
        &["added Quite another tale", "added Read more"],
    );
}

#[test]
fn everything_is_replaced() {
    case(
        "<p>apple pear plum cherry<p>iron copper zinc lead",
        "<p>monday tuesday friday sunday<p>north south east west",
        &[
            "removed apple pear plum cherry",
            "removed iron copper zinc lead",
            "added monday tuesday friday sunday",
            "added north south east west",
        ],
    );
}

#[test]
fn from_nothing_all_is_added_and_to_nothing_all_is_removed() {
    case("", "<p>One.<p>Two.", &["added One.", "added Two."]);
    case("<p>One.<p>Two.", "", &["removed One.", "removed Two."]);
    case("", "", &[]);
}

#[test]
fn letters_of_every_alphabet_are_letters() {
    case(
        "<p>Ο γάτος κάθισε στο χαλί — ήσυχα 🐈.",
        "<p>Ο γάτος κοιμήθηκε στο χαλί — ήσυχα 🐕.",
        &["edited Ο γάτος[- κάθισε-]{+ κοιμήθηκε+} στο χαλί — ήσυχα[- 🐈-]{+ 🐕+}."],
    );
}

#[test]
fn text_without_spaces_is_compared_by_characters() {
    case(
        "<p>東京は日本の首都であり、世界最大の都市の一つです。",
        "<p>東京は日本の首都であり、世界有数の都市の一つです。",
        &["edited 東京は日本の首都であり、世界[-最大-]{+有数+}の都市の一つです。"],
    );
}

#[test]
fn a_very_long_paragraph_shows_its_one_word() {
    let words: Vec<String> = (0..30_000).map(|number| format!("word{number}")).collect();
    let old = page(&format!("<p>{}", words.join(" ")));
    let mut changed = words;
    changed[17_000] = "otherwise".into();
    let found = differ(&old, &page(&format!("<p>{}", changed.join(" "))));
    let paragraph = &found.paragraphs[0];
    assert_eq!((found.fallback, name(paragraph.op), paragraph.words.len()), (None, "edited", 4));
    assert_eq!((&*paragraph.words[1].text, &*paragraph.words[2].text), (" word17000", " otherwise"));
}

#[test]
fn a_paragraph_beyond_the_limit_is_told_whole() {
    let text = "a b ".repeat(60_000);
    let found = differ(&page(&format!("<p>{text} end")), &page(&format!("<p>{text} stop")));
    assert_eq!((found.fallback, found.paragraphs[0].words.len()), (Some(Fallback::WholeParagraph), 2));
}

#[test]
fn a_title_is_edited_whatever_its_words() {
    case("<title>Shop</title><p>Text.", "<title>Welcome to us</title><p>Text.", &["edited [-Shop-]{+Welcome to us+}"]);
}

#[test]
fn a_word_comes_first_and_another_goes_last() {
    case("<p>red green blue grey", "<p>black red green blue", &["edited {+black+} red green blue[- grey-]"]);
}

#[test]
fn a_comma_is_a_change_of_its_own() {
    case("<p>Yes no one came", "<p>Yes, no one came", &["edited Yes{+,+} no one came"]);
}

#[test]
fn neighbours_edited_alike_are_paired_with_themselves() {
    case(
        "<table><tr><td>Monday open 9 to 17<tr><td>Tuesday open 9 to 17<tr><td>Friday open 9 to 15</table>",
        "<table><tr><td>Monday open 10 to 18<tr><td>Tuesday open 10 to 18<tr><td>Friday open 10 to 16</table>",
        &[
            "edited Monday open[- 9-]{+ 10+} to[- 17-]{+ 18+}",
            "edited Tuesday open[- 9-]{+ 10+} to[- 17-]{+ 18+}",
            "edited Friday open[- 9-]{+ 10+} to[- 15-]{+ 16+}",
        ],
    );
}

#[test]
fn a_heading_is_renamed_and_its_text_stays() {
    case(
        "<h2>Opening hours</h2><p>Nine to five.<h2>Prices</h2><p>Low.",
        "<h2>Hours of opening</h2><p>Nine to five.<h2>Prices</h2><p>Low.",
        &["edited [-Opening hours-]{+Hours of opening+}"],
    );
}

fn explained(old: &str, new: &str) -> Change {
    let mut kinds = Kinds::default();
    kinds.insert(Kind::Content);
    let mut change = Change { kinds, left: kinds, ..Change::default() };
    explain(&page(old), &page(new), &mut change);
    change
}

#[test]
fn other_boundaries_of_equal_words_are_no_change_of_paragraphs() {
    assert!(explained("<p>One two three four five.", "<p>One two<p>three four five.").paragraphs.is_empty());
    let change = explained("<p>One two three four five.<p>Six.", "<p>One two<p>three four five.<p>Seven.");
    assert!(!change.paragraphs.is_empty());
}

#[test]
fn an_explanation_names_headings_places_and_words() {
    let change = explained(
        "<h1>Shop</h1><h2>Plans</h2><p>Basic is free for all.<p>Pro costs €9.99 a month.",
        "<h1>Shop</h1><h2>Plans</h2><p>Basic is free for all.<p>Pro costs €12.99 a month.",
    );
    let [paragraph] = &change.paragraphs[..] else { panic!("{change:?}") };
    assert_eq!((name(paragraph.operation), paragraph.position, paragraph.from), ("edited", 3, Some(3)));
    assert_eq!(paragraph.headings.last().map(|heading| &**heading), Some("Plans"));
    assert_eq!(paragraph.before.as_deref(), Some("Pro costs €9.99 a month."));
    assert_eq!(paragraph.after.as_deref(), Some("Pro costs €12.99 a month."));
}

#[test]
fn what_is_all_noise_tells_of_no_paragraphs() {
    let mut kinds = Kinds::default();
    kinds.insert(Kind::Content);
    let mut change = Change { kinds, ..Change::default() };
    explain(&page("<p>one"), &page("<p>two"), &mut change);
    assert!(change.paragraphs.is_empty());
}
