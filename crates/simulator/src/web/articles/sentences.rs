//! A small grammar: a sentence is a pattern, the words that fill its places, and its number, price and date.

use std::fmt::Write;

use vernal_model::{Chance, Moment, Span};

use super::themes::Theme;

/// Places for words in one sentence.
const WORDS_MAX: usize = 6;

/// Two sentences are told apart by these alone.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) struct Sentence {
    pattern: u8,
    words: [u8; WORDS_MAX],
    number: u32,
    cents: u32,
    day: u32,
    /// Which long word has two letters the wrong way round; 0 for none.
    typo: u8,
}

/// What a pattern has besides words.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Figure {
    Number,
    Price,
    Date,
}

const PATTERNS: [&str; 16] = [
    "{who} {did} {number} {things} {place}.",
    "The {adjective} {things} {place} are {state} until {date}.",
    "One of the {adjective} {things} costs {price} {when}.",
    "{who} says that the {things} {place} will be {state} {when}.",
    "Since {past}, {who} has looked after {number} {adjective} {things}.",
    "Nobody had expected {number} {things} {when}.",
    "Visitors will find the {adjective} {things} {place}, next to the {adjective} ones.",
    "On {past}, {who} {did} the last {number} {things}.",
    "The {things} are {state} {why}.",
    "Ask {who} for the {adjective} {things}; a set costs {price}.",
    "It took {who} {number} days to look through the {things} {place}.",
    "{when}, {who} {did} the {adjective} {things} {place}.",
    "If it goes on like this, the {things} will be {state} by {date}.",
    "Most of the {things} {place} are {adjective} and {state} {why}.",
    "There is room for {number} more {things} {place}, according to {who}.",
    "With {adjective} {things} at {price}, {who} has nothing to complain about {when}.",
];

const WHEN: [&str; 8] = [
    "this week",
    "in the evenings",
    "before the holidays",
    "for the first time",
    "once again",
    "at the weekend",
    "in the morning",
    "sooner than planned",
];

const WHY: [&str; 8] = [
    "because of the rain",
    "after a quiet winter",
    "thanks to a donation",
    "although nobody noticed",
    "as every year",
    "for want of space",
    "since the last meeting",
    "to the surprise of all",
];

/// A piece of a pattern: text as it stands, or a place to fill.
enum Piece {
    Text(&'static str),
    Place(&'static str),
}

fn pieces(pattern: &'static str) -> impl Iterator<Item = Piece> {
    let mut rest = pattern;
    std::iter::from_fn(move || {
        if let Some(inner) = rest.strip_prefix('{') {
            let (name, after) = inner.split_once('}')?;
            rest = after;
            return Some(Piece::Place(name));
        }
        let end = rest.find('{').unwrap_or(rest.len());
        let (text, after) = rest.split_at(end);
        rest = after;
        (!text.is_empty()).then_some(Piece::Text(text))
    })
}

/// The words that may fill a place; `None` for figures.
fn choice(theme: &'static Theme, place: &str) -> Option<&'static [&'static str]> {
    Some(match place {
        "who" => &theme.who,
        "did" => &theme.did,
        "adjective" => &theme.adjectives,
        "things" => &theme.things,
        "place" => &theme.places,
        "state" => &theme.states,
        "when" => &WHEN,
        "why" => &WHY,
        _ => return None,
    })
}

impl Sentence {
    pub fn draw(theme: &'static Theme, chance: &mut Chance) -> Self {
        let pattern = chance.below(PATTERNS.len() as u64) as u8;
        let mut words = [0; WORDS_MAX];
        for (word, place) in words.iter_mut().zip(places(theme, pattern)) {
            *word = chance.below(place.len() as u64) as u8;
        }
        Sentence {
            pattern,
            words,
            number: 3 + chance.below(240) as u32,
            cents: 50 * (3 + chance.below(160) as u32) - 5,
            day: chance.below(240) as u32,
            typo: 0,
        }
    }

    pub fn has(&self, figure: Figure) -> bool {
        let places: &[&str] = match figure {
            Figure::Number => &["{number}"],
            Figure::Price => &["{price}"],
            Figure::Date => &["{date}", "{past}"],
        };
        places.iter().any(|place| PATTERNS[usize::from(self.pattern)].contains(place))
    }

    pub fn has_typo(&self) -> bool {
        self.typo > 0
    }

    /// Puts another word of the same kind into one of its places.
    pub fn change_word(&mut self, theme: &'static Theme, chance: &mut Chance) {
        let places: Vec<usize> = places(theme, self.pattern).map(<[_]>::len).collect();
        let place = chance.below(places.len() as u64) as usize;
        let others = places[place] as u64 - 1;
        self.words[place] = ((u64::from(self.words[place]) + 1 + chance.below(others)) % places[place] as u64) as u8;
    }

    pub fn change_figure(&mut self, figure: Figure, chance: &mut Chance) {
        match figure {
            Figure::Number => self.number += 1 + chance.below(u64::from(self.number / 4 + 2)) as u32,
            Figure::Price => self.cents = other_price(self.cents, chance),
            Figure::Date => self.day += 1 + chance.below(20) as u32,
        }
    }

    pub fn misspell(&mut self, chance: &mut Chance) {
        self.typo = 1 + chance.below(100) as u8;
    }

    pub fn correct_spelling(&mut self) {
        self.typo = 0;
    }

    pub fn text(&self, theme: &'static Theme, origin: Moment) -> String {
        let mut text = String::with_capacity(96);
        let mut words = self.words.iter();
        for piece in pieces(PATTERNS[usize::from(self.pattern)]) {
            let place = match piece {
                Piece::Text(plain) => {
                    text.push_str(plain);
                    continue;
                }
                Piece::Place(place) => place,
            };
            match choice(theme, place) {
                Some(choice) => text.push_str(choice[usize::from(*words.next().unwrap_or(&0)) % choice.len()]),
                None if place == "number" => _ = write!(text, "{}", self.number),
                None if place == "price" => text.push_str(&price_text(self.cents)),
                None if place == "past" => text.push_str(&date_text(origin - Span::from_days(u64::from(self.day)))),
                None => text.push_str(&date_text(origin + Span::from_days(u64::from(self.day)))),
            }
        }
        capitalise(&mut text);
        if self.has_typo() { misspelt(&text, self.typo) } else { text }
    }
}

/// The words that may fill each place of a pattern, in order.
fn places(theme: &'static Theme, pattern: u8) -> impl Iterator<Item = &'static [&'static str]> {
    pieces(PATTERNS[usize::from(pattern)]).filter_map(move |piece| match piece {
        Piece::Place(place) => choice(theme, place),
        Piece::Text(_) => None,
    })
}

pub(super) fn other_price(cents: u32, chance: &mut Chance) -> u32 {
    let step = 50 * (1 + chance.below(8) as u32);
    if chance.happens(0.6) || cents <= step + 100 { cents + step } else { cents - step }
}

pub(super) fn price_text(cents: u32) -> String {
    format!("€ {}.{:02}", cents / 100, cents % 100)
}

/// "6 November 2026".
fn date_text(moment: Moment) -> String {
    const MONTHS: [&str; 12] = [
        "January",
        "February",
        "March",
        "April",
        "May",
        "June",
        "July",
        "August",
        "September",
        "October",
        "November",
        "December",
    ];
    let date = moment.warc_date();
    let (year, month, day) = (&date[..4], date[5..7].parse().unwrap_or(1usize), date[8..10].trim_start_matches('0'));
    format!("{day} {} {year}", MONTHS[(month - 1) % 12])
}

/// "Early beans in the north bed".
pub(in crate::web) fn title(theme: &'static Theme, chance: &mut Chance) -> String {
    let [adjective, thing, place] = title_words(theme, chance);
    let mut title = format!("{adjective} {thing} {place}");
    capitalise(&mut title);
    title
}

/// The first two words of the title, for a path.
pub(in crate::web) fn slug(theme: &'static Theme, chance: &mut Chance) -> String {
    let [adjective, thing, _] = title_words(theme, chance);
    format!("{adjective}-{thing}").to_lowercase().replace([' ', '\''], "-")
}

/// A saying that has nothing to do with its page.
pub(in crate::web) fn quote(chance: &mut Chance) -> &'static str {
    QUOTES[chance.below(QUOTES.len() as u64) as usize]
}

pub(in crate::web) fn advertisement(chance: &mut Chance) -> String {
    let mut word = |list: &[&'static str]| list[chance.below(list.len() as u64) as usize];
    let (what, why) =
        (word(&["Umbrellas", "Insurance", "Night trains", "Sofas", "Language courses", "Bicycles"]), word(&WHEN));
    format!("{what} {why}: {} % off today!", 5 + chance.below(60))
}

const QUOTES: [&str; 8] = [
    "A small leak is best found early.",
    "Who waits for good weather works in the rain.",
    "Ask twice and measure once more.",
    "The last one out puts the kettle away.",
    "A good list is a short list.",
    "Nothing is as patient as paper.",
    "Half a plan is more than a whole wish.",
    "Even a slow clock tells the time.",
];

fn title_words(theme: &'static Theme, chance: &mut Chance) -> [&'static str; 3] {
    let mut word = |list: &[&'static str]| list[chance.below(list.len() as u64) as usize];
    [word(&theme.adjectives), word(&theme.things), word(&theme.places)]
}

fn capitalise(text: &mut str) {
    if let Some(first) = text.get_mut(..1) {
        first.make_ascii_uppercase();
    }
}

/// The text with two letters of a long word the wrong way round.
fn misspelt(text: &str, typo: u8) -> String {
    let is_long = |word: &str| word.len() >= 5 && word.bytes().all(|byte| byte.is_ascii_lowercase());
    let turned = |word: &str| {
        let mut bytes = word.as_bytes().to_vec();
        let place = (1..bytes.len() - 1).find(|&place| bytes[place] != bytes[place + 1])?;
        bytes.swap(place, place + 1);
        String::from_utf8(bytes).ok()
    };
    let long: Vec<usize> = text.split(' ').enumerate().filter(|(_, word)| is_long(word)).map(|(at, _)| at).collect();
    let Some(&chosen) = long.get(usize::from(typo) % long.len().max(1)) else { return format!("{text} ") + "Sic." };
    let words = text.split(' ').enumerate().map(|(at, word)| match at == chosen {
        true => turned(word).unwrap_or_else(|| word.to_owned()),
        false => word.to_owned(),
    });
    words.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_read_as_sentences_and_have_no_place_left_empty() {
        let mut chance = Chance::new(7);
        for site in 0..8 {
            let theme = Theme::of_site(site);
            for _ in 0..200 {
                let mut sentence = Sentence::draw(theme, &mut chance);
                let text = sentence.text(theme, Moment::from_secs(1_767_225_600));
                assert!(!text.contains(['{', '}']) && !text.contains("  "), "{text}");
                assert!(text.ends_with('.') && text.starts_with(|first: char| first.is_ascii_uppercase()), "{text}");
                let before = text.clone();
                sentence.misspell(&mut chance);
                assert_ne!(sentence.text(theme, Moment::from_secs(1_767_225_600)), before);
                sentence.correct_spelling();
                assert_eq!(sentence.text(theme, Moment::from_secs(1_767_225_600)), before);
            }
        }
    }

    #[test]
    fn every_pattern_has_words_to_change_and_no_more_than_there_are_places() {
        let theme = Theme::of_site(0);
        for pattern in 0..PATTERNS.len() as u8 {
            let count = places(theme, pattern).count();
            assert!((1..=WORDS_MAX).contains(&count), "{}", PATTERNS[usize::from(pattern)]);
        }
    }

    #[test]
    fn dates_and_prices_are_written_as_people_write_them() {
        assert_eq!(date_text(Moment::from_secs(1_767_225_600)), "1 January 2026");
        assert_eq!(price_text(1205), "€ 12.05");
    }
}
