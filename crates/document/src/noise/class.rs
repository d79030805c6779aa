//! What kind of text varies, from which follows how much proof it needs before it is silenced.
//!
//! A number that people act on has something beside it that says so: a currency, a per cent sign, a unit, "fee", "due", a month.

use vernal_model::{Role, TextClass};

use super::changed_spots::{Spot, is_main};
use super::shape::{Shape, words};
use super::shape_word::{ShapeWord, is_number};
use super::times::{STAYING, is_time};

/// So many words on either side of a number say what it counts.
const BESIDE_WORDS: usize = 2;
/// A replaced paragraph of main text that is no longer than this and has a number may be a price or a date.
const SHORT_WORDS_MAX: usize = 8;

/// The class of a spot whose words vary where this shape has wildcards.
pub(super) fn of_words(spot: &Spot<'_>, shape: &Shape) -> TextClass {
    let sides = [&spot.before.text, &spot.after.text].into_iter().flatten();
    sides.map(|text| of_text(text, shape, spot.role)).max().unwrap_or(least(spot.role))
}

/// The class of a spot that was replaced as a whole.
pub(super) fn of_replaced(spot: &Spot<'_>) -> TextClass {
    let sides = [&spot.before.text, &spot.after.text].into_iter().flatten();
    let is_short_figure = |text: &str| {
        let words: Vec<&str> = text.split_whitespace().take(SHORT_WORDS_MAX + 1).collect();
        words.len() <= SHORT_WORDS_MAX
            && match spot.is_main() {
                true => words.iter().any(|word| is_number(word)),
                false => (0..words.len()).any(|place| is_number(words[place]) && is_money_beside(&words, place)),
            }
    };
    match sides.into_iter().any(|text| is_short_figure(text)) {
        true => highest(spot.role),
        false => least(spot.role),
    }
}

/// The class of a number that people act on. In the frame it may be the price of an advertisement, and two looks are enough.
fn highest(role: Role) -> TextClass {
    if is_main(role) { TextClass::Figure } else { TextClass::Main }
}

fn least(role: Role) -> TextClass {
    if is_main(role) { TextClass::Main } else { TextClass::Frame }
}

fn of_text(text: &str, shape: &Shape, role: Role) -> TextClass {
    let words = words(text);
    let Some(masks) = shape.masks(&words) else { return least(role) };
    let varies = |place: usize| masks[place].as_ref().is_some_and(|mask| *mask != ShapeWord::Token);
    let varying = || (0..words.len()).filter(|&place| varies(place));
    // Nobody acts on a clock that shows its seconds, or on an age.
    let is_clock = varying().any(|place| shows_seconds(words[place]) || is_age(&words, place));
    let is_figure = |place: usize| {
        is_number(words[place])
            && match is_main(role) {
                false => is_money_beside(&words, place),
                true => is_told_beside(&words, place) || (!is_clock && is_date(&words, place)),
            }
    };
    if varying().any(is_figure) { highest(role) } else { least(role) }
}

fn beside<'w>(words: &'w [&'w str], place: usize) -> impl Iterator<Item = &'w str> {
    let near = place.saturating_sub(BESIDE_WORDS)..(place + BESIDE_WORDS + 1).min(words.len());
    words[near].iter().copied()
}

/// Whether this number is, or stands beside, money, a percentage or a temperature.
fn is_money_beside(words: &[&str], place: usize) -> bool {
    let says_money = |word: &str| word.contains(SIGNS) || has_behind(word, &SIGNS_BEHIND);
    beside(words, place).any(|word| says_money(word) || is_one_of(&MONEY, core_of(word)))
}

/// Whether one of these signs follows a number: texts of East Asia have no blanks between their words.
fn has_behind(word: &str, signs: &[char]) -> bool {
    let mut pairs = word.chars().zip(word.chars().skip(1));
    pairs.any(|(number, sign)| number.is_numeric() && signs.contains(&sign))
}

/// Whether something beside this number says what it measures.
fn is_told_beside(words: &[&str], place: usize) -> bool {
    let unit = words[place].trim_start_matches(|letter: char| !letter.is_alphabetic());
    is_money_beside(words, place)
        || is_one_of(&UNITS, core_of(unit))
        || beside(words, place).any(|word| is_one_of(&UNITS, core_of(word)) || is_one_of(&TELLING, core_of(word)))
        || beside(words, place).any(|word| !word.is_ascii() && TELLING_WITHIN.iter().any(|told| word.contains(told)))
}

/// Whether this is a date or an hour, or part of one.
fn is_date(words: &[&str], place: usize) -> bool {
    let says_date = |word: &str| is_time(word) && !STAYING.contains(&core_of(word));
    let groups = words[place].split(['-', '/', '.', ':']);
    let digits = groups.filter(|group| !group.is_empty() && group.bytes().all(|byte| byte.is_ascii_digit())).count();
    digits >= 3
        || (digits == 2 && words[place].contains(':'))
        || has_behind(words[place], &DATES_BEHIND)
        || beside(words, place).any(says_date)
}

/// Whether this is an hour with minutes and seconds.
fn shows_seconds(word: &str) -> bool {
    let of_two = |group: &str| matches!(group.len(), 1 | 2) && group.bytes().all(|byte| byte.is_ascii_digit());
    let core = word.trim_matches(|letter: char| !letter.is_ascii_digit());
    let hour = core.rsplit_once('T').map_or(core, |(_, hour)| hour);
    hour.split(':').count() == 3 && hour.split(':').all(of_two)
}

/// Whether this number says how long ago something was.
fn is_age(words: &[&str], place: usize) -> bool {
    beside(words, place).any(|word| matches!(core_of(word), "ago" | "vor" | "hace"))
}

fn core_of(word: &str) -> &str {
    word.trim_matches(|letter: char| !letter.is_alphabetic())
}

fn is_one_of(sorted: &[&str], word: &str) -> bool {
    const BYTES_MAX: usize = 16;
    (1..=BYTES_MAX).contains(&word.len()) && sorted.binary_search(&word.to_lowercase().as_str()).is_ok()
}

const SIGNS: [char; 16] = ['￥', '$', '%', '¢', '£', '¥', '°', '€', '₩', '₪', '₫', '₱', '₴', '₹', '₺', '₽'];

/// Currencies, percentages and degrees that follow a number.
const SIGNS_BEHIND: [char; 9] = ['％', '元', '円', '圆', '圓', '원', '度', '℃', '℉'];

/// Years, months and days that follow a number.
const DATES_BEHIND: [char; 7] = ['年', '月', '日', '号', '년', '월', '일'];

/// Words of prices, rates, limits and terms, in texts whose words are not divided.
const TELLING_WITHIN: [&str; 22] = [
    "价", "價", "価格", "가격", "费", "費", "料金", "利率", "汇率", "匯率", "金利", "截止", "締切", "마감", "库存",
    "庫存", "在庫", "比分", "气温", "氣溫", "温度", "溫度",
];

/// Currencies and percentages. Sorted, like the lists below.
const MONEY: [&str; 46] = [
    "aud",
    "brl",
    "btc",
    "cad",
    "cent",
    "cents",
    "chf",
    "cny",
    "czk",
    "degrees",
    "dkk",
    "dollar",
    "dollars",
    "eth",
    "eur",
    "euro",
    "euros",
    "franken",
    "gbp",
    "grad",
    "huf",
    "ils",
    "inr",
    "jpy",
    "krw",
    "kč",
    "mxn",
    "nok",
    "nzd",
    "pence",
    "percent",
    "percentage",
    "pesos",
    "pln",
    "pound",
    "pounds",
    "prozent",
    "rub",
    "rupees",
    "sek",
    "try",
    "usd",
    "yen",
    "yuan",
    "zar",
    "zł",
];

/// Units of measure.
const UNITS: [&str; 48] = [
    "acres", "bar", "bps", "cm", "feet", "ft", "g", "gb", "gbps", "gw", "ha", "hectares", "hpa", "inch", "inches",
    "kb", "kcal", "kg", "km", "km/h", "kmh", "kw", "kwh", "lb", "lbs", "litre", "litres", "m", "mb", "mbps", "mg",
    "miles", "ml", "mm", "mph", "mw", "mwh", "oz", "points", "ppm", "pt", "pts", "tb", "tonnes", "tons", "v", "w",
    "µg",
];

/// Words of prices, rates, scores, limits, stocks and terms.
const TELLING: [&str; 96] = [
    "age",
    "amount",
    "available",
    "balance",
    "bid",
    "bis",
    "close",
    "closed",
    "closes",
    "closing",
    "cost",
    "costing",
    "costs",
    "coût",
    "deadline",
    "delayed",
    "deposit",
    "desde",
    "discount",
    "dose",
    "due",
    "effective",
    "ending",
    "ends",
    "expires",
    "expiry",
    "fee",
    "fees",
    "fine",
    "forecast",
    "frais",
    "frist",
    "gate",
    "gebühr",
    "goals",
    "gültig",
    "hasta",
    "high",
    "index",
    "inflation",
    "interest",
    "kosten",
    "kostet",
    "kurs",
    "left",
    "limit",
    "loan",
    "low",
    "margin",
    "maximum",
    "mindestens",
    "minimum",
    "mortgage",
    "open",
    "opened",
    "opening",
    "opens",
    "penalty",
    "platform",
    "precio",
    "preis",
    "preise",
    "premium",
    "price",
    "priced",
    "prices",
    "prix",
    "quote",
    "quoted",
    "rate",
    "rates",
    "refund",
    "remaining",
    "rent",
    "result",
    "salary",
    "sale",
    "score",
    "scored",
    "scores",
    "seats",
    "share",
    "shares",
    "stock",
    "tarif",
    "tasa",
    "taux",
    "tax",
    "traded",
    "valid",
    "vat",
    "wage",
    "yield",
    "zins",
    "zinsen",
    "zinssatz",
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise::generalise::generalise;

    fn class(old: &str, new: &str, role: Role) -> TextClass {
        let shape = generalise(old, new, None).unwrap_or_else(|| panic!("{old} has no shape")).shape;
        of_text(old, &shape, role).max(of_text(new, &shape, role))
    }

    #[test]
    fn the_lists_are_sorted() {
        assert!(MONEY.is_sorted() && UNITS.is_sorted() && TELLING.is_sorted());
    }

    #[test]
    fn a_number_that_people_act_on_is_a_figure() {
        for [old, new] in [
            ["The key interest rate is 3.25 %", "The key interest rate is 4.00 %"],
            ["Price today: € 9.99", "Price today: € 12.49"],
            ["Applications are due by 1 May 2026", "Applications are due by 1 June 2026"],
            ["ACME closed at 12.34", "ACME closed at 12.80"],
            ["Today: sunny, 21°C", "Today: sunny, 17°C"],
            ["Refund within 14 days of purchase", "Refund within 7 days of purchase"],
            ["Only 3 left", "Only 2 left"],
            ["Download (12 MB)", "Download (13 MB)"],
            ["Last change: 2026-05-01", "Last change: 2026-05-02"],
            ["Doors open at 19:30", "Doors open at 20:00"],
            ["Dose: 50mg daily", "Dose: 75mg daily"],
            ["今日价格：9.99元", "今日价格：12.49元"],
            ["报名截止日期为2026年5月1日", "报名截止日期为2026年5月8日"],
            ["存款利率为 3.25 厘", "存款利率为 4.00 厘"],
            ["営業は 10月1日 から", "営業は 10月8日 から"],
        ] {
            assert_eq!(class(old, new, Role::Main), TextClass::Figure, "{old}");
        }
    }

    #[test]
    fn a_count_without_a_measure_and_a_clock_with_seconds_are_main_text() {
        for [old, new] in [
            ["Read by 12 people", "Read by 13 people"],
            ["5 views today", "9 views today"],
            ["本文阅读次数：12", "本文阅读次数：13"],
            ["共有 286 篇文章", "共有 287 篇文章"],
            ["Server time: 19 Nov 2026 04:20:15", "Server time: 19 Nov 2026 04:25:19"],
            ["Last updated 38 weeks ago by us", "Last updated 5 days ago by us"],
            ["Our newest member is Ada", "Our newest member is Bob"],
            ["The fee is 5 EUR says Ada here", "The fee is 5 EUR says Bob here"],
        ] {
            assert_eq!(class(old, new, Role::Main), TextClass::Main, "{old}");
        }
    }

    #[test]
    fn in_the_frame_money_needs_looks_and_a_date_does_not() {
        assert_eq!(class("EUR/USD is at 1.08", "EUR/USD is at 1.09", Role::Navigation), TextClass::Frame);
        assert_eq!(class("Gold: $ 4100", "Gold: $ 4200", Role::Navigation), TextClass::Main);
        assert_eq!(class("Thursday 19 November", "Friday 20 November", Role::Footer), TextClass::Frame);
        assert_eq!(class("12 users online", "17 users online", Role::Footer), TextClass::Frame);
    }
}
