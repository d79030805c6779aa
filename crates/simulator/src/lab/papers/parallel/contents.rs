//! Tables 9, 11 and 12: the two sums on pages that change, and what each of them sees.

use vernal_document::checksum::{PLAIN_POINTS, checksum, heading_points};
use vernal_document::rms::{page_rms, rms};
use vernal_model::Chance;

use super::at;
use super::markup::{word, words};
use crate::lab::papers::Vector;
use crate::lab::papers::exhibit::{Claim, Exhibit, Verdict};
use crate::lab::papers::trials::{CpuSeconds, Experiment, Trials};
use crate::lab::statistics::Interval;

pub const EXPERIMENT: Experiment = Experiment { paper: "003", enact: Some(enact), tell };

/// Pages of one chance number, each with every edit.
const PAGES: usize = 40;
const PARAGRAPHS: usize = 6;
const WORDS: u64 = 30;

/// What is done to one paragraph of a page.
const EDITS: [&str; 9] = [
    "word replaced",
    "word added",
    "word removed",
    "letter replaced",
    "figure changed",
    "capital letter",
    "two words swapped",
    "two letters swapped",
    "white space added",
];
/// What a reader sees of these.
const VISIBLE: [usize; 8] = [0, 1, 2, 3, 4, 5, 6, 7];
const SMALL: [usize; 3] = [0, 1, 2];
const ORDER: [usize; 2] = [6, 7];

/// Where the rows of one chance number lie: root mean square by edit, checksum by edit, then how often only the edited
/// paragraph is named by either, then how often two paragraphs that changed places are seen by either.
const CHECKSUM: usize = EDITS.len();
const ONLY: usize = 2 * EDITS.len();
const PLACES: usize = ONLY + 2;

/// A heading, then paragraphs; some have a figure.
pub(super) fn paragraphs(chance: &mut Chance) -> Vec<String> {
    let mut texts = vec![words(5, chance).join(" ")];
    for number in 1..PARAGRAPHS {
        let count = WORDS as usize / 2 + chance.below(WORDS) as usize;
        texts.push(format!("{} {} {}", words(count, chance).join(" "), 100 + chance.below(900), number));
    }
    texts
}

/// What the two sums say of a page: of the whole, and of each paragraph.
pub(super) struct Sums {
    pub page: [f64; 2],
    pub paragraphs: Vec<[f64; 2]>,
}

impl Sums {
    pub fn of(texts: &[String]) -> Self {
        let points = |number: usize| if number == 0 { heading_points(1) } else { PLAIN_POINTS };
        let one = |(number, text): (usize, &String)| [rms(text), checksum(text, points(number))];
        let paragraphs: Vec<[f64; 2]> = texts.iter().enumerate().map(one).collect();
        let whole: f64 = paragraphs.iter().map(|sums| sums[1]).sum();
        Sums { page: [page_rms(paragraphs.iter().map(|sums| sums[0])), whole], paragraphs }
    }
}

/// Values that differ by less are one: sums of the same letters in another order.
pub(super) fn differ(one: f64, other: f64) -> bool {
    (one - other).abs() > 1e-9
}

fn edited(text: &str, edit: usize, chance: &mut Chance) -> String {
    let mut words: Vec<String> = text.split(' ').map(str::to_owned).collect();
    let at = chance.below(words.len() as u64 - 3) as usize;
    let new = |old: &str, chance: &mut Chance| {
        let mut drawn = word(chance);
        while drawn == old {
            drawn = word(chance);
        }
        drawn.to_owned()
    };
    match edit {
        0 => words[at] = new(&words[at], chance),
        1 => words.insert(at, word(chance).to_owned()),
        2 => drop(words.remove(at)),
        3 => {
            let other = if words[at].starts_with('k') { "z" } else { "k" };
            words[at].replace_range(0..1, other);
        }
        4 => {
            let figure = words.len() - 2;
            let other = if words[figure].starts_with('1') { "2" } else { "1" };
            words[figure].replace_range(0..1, other);
        }
        5 => words[at] = words[at].to_uppercase(),
        6 => words.swap(at, at + 1),
        7 => {
            let swapped: String = words[at].chars().rev().collect();
            words[at] = swapped;
        }
        _ => words[at].push(' '),
    }
    words.join(" ")
}

fn enact(chance: &Chance, _: CpuSeconds<'_>) -> Vec<f64> {
    let mut chance = chance.stream("table 12");
    let mut row = vec![0.0; PLACES + 2];
    let share = 1.0 / PAGES as f64;
    for _ in 0..PAGES {
        let old = paragraphs(&mut chance);
        let sums = Sums::of(&old);
        for edit in 0..EDITS.len() {
            let at = 1 + chance.below(PARAGRAPHS as u64 - 1) as usize;
            let mut new = old.clone();
            new[at] = edited(&old[at], edit, &mut chance);
            let changed = Sums::of(&new);
            for method in 0..2 {
                let seen = differ(sums.page[method], changed.page[method]);
                row[method * CHECKSUM + edit] += share * f64::from(u8::from(seen));
                if edit == 0 {
                    let named =
                        |number: usize| differ(sums.paragraphs[number][method], changed.paragraphs[number][method]);
                    let only = (0..PARAGRAPHS).all(|number| named(number) == (number == at));
                    row[ONLY + method] += share * f64::from(u8::from(only));
                }
            }
        }
        let mut swapped = old.clone();
        swapped.swap(1, 2);
        let changed = Sums::of(&swapped);
        for method in 0..2 {
            row[PLACES + method] += share * f64::from(u8::from(differ(sums.page[method], changed.page[method])));
        }
    }
    row
}

fn tell(trials: &Trials) -> Vec<Exhibit> {
    let method = "Invented pages of a heading and five paragraphs, one edit in one paragraph; `rms`, `page_rms` and `checksum` of the \
                  product, with the font sizes of browsers.";
    let (squares, [sums, relied_on]) = (of_squares(trials), of_sums(trials));
    vec![
        at("Table 9").exhibit("What the root mean square sees", method, squares),
        at("Table 11").exhibit("What the weighted checksum sees", method, sums),
        at("Table 12").exhibit("Whether the checksum can be relied on", method, relied_on),
    ]
}

const BLIND: &str = "a sum over letters does not know their order, and the root mean square not even their case";

/// The least share of some edits that a sum sees.
fn least(trials: &Trials, method: usize, edits: &[usize]) -> Interval {
    trials.by(|row| edits.iter().map(|&edit| row[method * CHECKSUM + edit]).fold(f64::MAX, f64::min))
}

fn claim(
    place: &'static str,
    quote: &'static str,
    what: &'static str,
    measured: Interval,
    note: &'static str,
) -> Vector {
    at(place).claim(Claim { quote, what, measured, verdict: Verdict::near(&measured, 1.0, 0.001), note })
}

fn of_squares(trials: &Trials) -> Vec<Vector> {
    vec![
        at("Table 9").measured(
            "share of edits that the page's root mean square sees",
            &EDITS,
            &trials.range(0..CHECKSUM),
            "",
        ),
        at("Table 9").measured("the same where two paragraphs change places", &[], &[trials.at(PLACES)], ""),
        claim(
            "Table 9",
            "The formula developed is capable to detect minor changes even addition/deletion of few words accurately",
            "the least of word replaced, added and removed",
            least(trials, 0, &SMALL),
            "1 is every edit; where it is less, the change of letters and of their number happened to cancel, or equal sums met",
        ),
        claim(
            "Table 9",
            "It produces unique checksum (RMS value) for entire web page",
            "the least share of an edit that a reader sees",
            least(trials, 0, &VISIBLE),
            BLIND,
        ),
        claim(
            "Table 9",
            "Paragraph checksum helps to identify changes at smaller level",
            "pages whose edited paragraph, and no other, has another value",
            trials.at(ONLY),
            "",
        ),
    ]
}

/// What the checksum sees, and whether that can be relied on.
fn of_sums(trials: &Trials) -> [Vec<Vector>; 2] {
    const GUARANTEE: &str = "guarantees to detect the content level changes even if there are minor changes";
    let sums = trials.range(CHECKSUM..ONLY);
    let seen = vec![
        at("Table 11").measured("share of edits that the page's checksum sees", &EDITS, &sums, ""),
        at("Table 11").measured("the same where two paragraphs change places", &[], &[trials.at(PLACES + 1)], ""),
        claim(
            "Table 11",
            "By monitoring the paragraphs checksum, it is clear that the changes occurred only in the first paragraph",
            "pages whose edited paragraph, and no other, has another value",
            trials.at(ONLY + 1),
            "",
        ),
    ];
    let relied_on = vec![
        claim(
            "Table 12",
            GUARANTEE,
            "the least share of an edit that a reader sees",
            least(trials, 1, &VISIBLE),
            BLIND,
        ),
        claim(
            "Table 12",
            GUARANTEE,
            "the least of two words and two letters swapped",
            least(trials, 1, &ORDER),
            "the same letters have the same sum",
        ),
        at("Table 14").claim(Claim {
            quote: "white spaces are not considered",
            what: "edits of white space that the checksum sees",
            measured: sums[8],
            verdict: Verdict::near(&sums[8], 0.0, 0.001),
            note: "",
        }),
    ];
    [seen, relied_on]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_see_new_words_and_are_blind_to_order_and_white_space() {
        let row = enact(&Chance::new(1).stream("papers"), &|| 0.0);
        for method in [0, CHECKSUM] {
            assert!(SMALL.iter().all(|&edit| row[method + edit] > 0.9), "{row:?}");
            assert_eq!([row[method + 6], row[method + 7], row[method + 8]], [0.0; 3], "order and white space");
        }
        assert!(row[5] == 0.0 && row[CHECKSUM + 5] > 0.999, "capitals count in the checksum only");
        assert_eq!([row[PLACES], row[PLACES + 1]], [0.0; 2], "two paragraphs that change places");
    }
}
