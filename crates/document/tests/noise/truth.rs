//! What varies on real pages, visited every few minutes, hourly, daily and weekly, with the verdict that a person would give.

use vernal_model::{Chance, Looks, Moment, NoiseBook, RuleState, Span, TextClass};

use crate::sources::QUOTES;
use crate::watcher::{Watcher, has_content};

const MINUTE: u64 = 60;
const HOUR: u64 = 60 * MINUTE;
const DAY: u64 = 24 * HOUR;
const WEEK: u64 = 7 * DAY;

/// How often a page is visited, and how often in all.
const RHYTHMS: [(&str, u64, u32); 4] =
    [("every five minutes", 5 * MINUTE, 700), ("hourly", HOUR, 150), ("daily", DAY, 40), ("weekly", WEEK, 20)];

/// How a value moves.
#[derive(Copy, Clone, Debug)]
enum Moves {
    /// It is another one in each such span.
    Each(u64),
    /// It grows by so many per minute.
    PerMinute(u64),
    /// It is another one in each answer.
    Always,
}

struct Case {
    name: &'static str,
    moves: Moves,
    /// The main text with a value.
    text: fn(u64) -> String,
}

/// What a person wants to be told, every time.
const CONTENT: [Case; 50] = [
    Case {
        name: "key rate",
        moves: Moves::Each(DAY),
        text: |n| format!("The key interest rate is {}.{:02} %", n % 9, n % 97),
    },
    Case {
        name: "rate of the week",
        moves: Moves::Each(WEEK),
        text: |n| format!("Mortgage rate: {}.{:02} percent", n % 7, n % 89),
    },
    Case { name: "price", moves: Moves::Each(DAY), text: |n| format!("Price today: € {}.99", n % 90) },
    Case {
        name: "hourly price",
        moves: Moves::Each(HOUR),
        text: |n| format!("Electricity now costs {} ct/kWh", n % 60),
    },
    Case { name: "price alone", moves: Moves::Each(DAY), text: |n| format!("€{}.49", n % 700) },
    Case { name: "dollars", moves: Moves::Each(WEEK), text: |n| format!("Only ${} per month", n % 300) },
    Case { name: "salary", moves: Moves::Each(4 * WEEK), text: |n| format!("Salary up to £{},000 a year", n % 90) },
    Case {
        name: "closing price",
        moves: Moves::Each(DAY),
        text: |n| format!("ACME closed at {}.{:02}", n % 70, n % 99),
    },
    Case { name: "exchange rate", moves: Moves::Each(DAY), text: |n| format!("1 EUR = 1.{:04} USD", n % 9_973) },
    Case { name: "bitcoin", moves: Moves::Each(HOUR), text: |n| format!("Bitcoin: {},{:03} USD", n % 90, n % 997) },
    Case { name: "temperature", moves: Moves::Each(HOUR), text: |n| format!("Today: sunny, {}°C", n % 40) },
    Case {
        name: "weather in words",
        moves: Moves::Each(6 * HOUR),
        text: |n| {
            format!(
                "The forecast for the coast is {}",
                ["sun", "rain", "fog", "snow", "wind", "hail", "frost"][(n % 7) as usize]
            )
        },
    },
    Case {
        name: "water level",
        moves: Moves::Each(HOUR),
        text: |n| format!("The Rhine at Cologne stands at {} cm", n % 900),
    },
    Case {
        name: "score",
        moves: Moves::Each(WEEK),
        text: |n| format!("City won {}:{} at home", n % 7, n % 5 + n / 1_000 % 9),
    },
    Case { name: "live score", moves: Moves::Each(20 * MINUTE), text: |n| format!("Score {}:{}", n % 23, n % 19) },
    Case {
        name: "league table",
        moves: Moves::Each(WEEK),
        text: |n| format!("Rovers have {} points from 20 games", n % 60),
    },
    Case { name: "stock level", moves: Moves::Each(DAY), text: |n| format!("In stock: {}", n % 997) },
    Case { name: "few left", moves: Moves::Each(HOUR), text: |n| format!("Only {} left in stock", n % 40) },
    Case { name: "seats", moves: Moves::Each(6 * HOUR), text: |n| format!("Seats available: {}", n % 300) },
    Case {
        name: "deadline",
        moves: Moves::Each(WEEK),
        text: |n| format!("Applications are due by {} May 2026", 1 + n % 31),
    },
    Case {
        name: "deadline by month",
        moves: Moves::Each(4 * WEEK),
        text: |n| format!("Effective 1 {} 2026", ["March", "April", "May", "June", "July"][(n % 5) as usize]),
    },
    Case {
        name: "ISO date",
        moves: Moves::Each(DAY),
        text: |n| format!("Deadline: 2026-{:02}-{:02}", 1 + n % 12, 1 + n % 28),
    },
    Case {
        name: "opening hours",
        moves: Moves::Each(WEEK),
        text: |n| format!("We open at {}:30 and close at 18:00", n % 12),
    },
    Case {
        name: "last updated",
        moves: Moves::Each(DAY),
        text: |n| {
            format!(
                "Last updated on {} May 2026</p><p>The {} is open again",
                1 + n % 28,
                ["bridge", "road", "school", "hall", "gate"][(n / 7 % 5) as usize]
            )
        },
    },
    Case {
        name: "headline",
        moves: Moves::Each(HOUR),
        text: |n| format!("Storm number {n} of the season reaches the village"),
    },
    Case {
        name: "news in words",
        moves: Moves::Each(6 * HOUR),
        text: |n| {
            format!(
                "The council met and {} the plan for the new road",
                ["passed", "delayed", "refused", "changed", "praised", "buried"][(n % 6) as usize]
            )
        },
    },
    Case {
        name: "build of a release",
        moves: Moves::Each(WEEK),
        text: |n| format!("The current version is 4.{}.{}", n % 50, n % 7),
    },
    Case { name: "slow counter", moves: Moves::Each(DAY), text: |n| format!("{n} people have signed") },
    Case { name: "stars of a small project", moves: Moves::Each(DAY), text: |n| format!("{n} stars") },
    Case {
        name: "statistics",
        moves: Moves::Each(DAY),
        text: |n| format!("Our library has {n} books in {} languages", n % 83),
    },
    Case {
        name: "person of the day",
        moves: Moves::Each(DAY),
        text: |n| format!("On duty: {}", ["Ada", "Bob", "Cleo", "Dan", "Eve", "Finn", "Gus"][(n % 7) as usize]),
    },
    Case { name: "infections", moves: Moves::Each(DAY), text: |n| format!("{n} new cases were reported") },
    Case {
        name: "refund",
        moves: Moves::Each(4 * WEEK),
        text: |n| format!("Refund within {} days of purchase", 1 + n % 60),
    },
    Case {
        name: "queue",
        moves: Moves::Each(30 * MINUTE),
        text: |n| format!("Waiting time at the border: {} minutes", n % 240),
    },
    Case {
        name: "rate in a table",
        moves: Moves::Each(DAY),
        text: |n| format!("</p><table><tr><th>Base rate<td>{}.{:02}</table><p>", n % 9, n % 97),
    },
    Case {
        name: "prices in a table",
        moves: Moves::Each(DAY),
        text: |n| format!("</p><table><tr><td>Tea<td>{}.50<tr><td>Milk<td>{}.20</table><p>", n % 90, n % 70),
    },
    Case { name: "number alone", moves: Moves::Each(DAY), text: |n| format!("{}", n % 9_973) },
    Case {
        name: "price in a heading",
        moves: Moves::Each(DAY),
        text: |n| format!("</p><h2>From {} euros</h2><p>", n % 900),
    },
    Case {
        name: "price beside words that stay",
        moves: Moves::Each(DAY),
        text: |n| {
            format!("The bicycle that we sold last year for 300 now costs <b>{}</b> with lights and a bell", n % 997)
        },
    },
    Case {
        name: "German rate",
        moves: Moves::Each(DAY),
        text: |n| format!("Der Leitzins beträgt {},{:02} %", n % 9, n % 97),
    },
    Case {
        name: "German deadline",
        moves: Moves::Each(WEEK),
        text: |n| format!("Bewerbungen sind bis zum {}. Mai 2026 möglich", 1 + n % 31),
    },
    Case { name: "French price", moves: Moves::Each(DAY), text: |n| format!("Le menu du jour : {},50 €", n % 70) },
    Case { name: "Chinese price", moves: Moves::Each(DAY), text: |n| format!("今日价格：{}.99元", n % 90) },
    Case {
        name: "Chinese deadline",
        moves: Moves::Each(WEEK),
        text: |n| format!("申请截止日期为2026年5月{}日", 1 + n % 31),
    },
    Case {
        name: "departure",
        moves: Moves::Each(DAY),
        text: |n| format!("The last ferry leaves at {}:{:02}", 12 + n % 11, n % 60),
    },
    Case { name: "change of a share", moves: Moves::Each(HOUR), text: |n| format!("ACME +{}.{} %", n % 9, n % 10) },
    Case {
        name: "updated at an hour",
        moves: Moves::Each(6 * HOUR),
        text: |n| format!("As of 2026-05-{:02}T{:02}:00Z", 1 + n % 28, n % 24),
    },
    Case {
        name: "visitors of yesterday",
        moves: Moves::Each(DAY),
        text: |n| format!("Yesterday {} people came to the museum", 100 + n % 900),
    },
    Case { name: "dose", moves: Moves::Each(4 * WEEK), text: |n| format!("Adults take {} mg twice a day", n % 500) },
    Case {
        name: "date of publication",
        moves: Moves::Each(DAY),
        text: |n| format!("Published {} May 2026", 1 + n % 28),
    },
];

/// What a person does not want to be told.
const NOISE: [Case; 22] = [
    Case { name: "views", moves: Moves::PerMinute(7), text: |n| format!("Views: {n}") },
    Case { name: "views in words", moves: Moves::PerMinute(2), text: |n| format!("This page was read by {n} people") },
    Case { name: "views today", moves: Moves::PerMinute(3), text: |n| format!("{} views today", n % 100_000) },
    Case { name: "counter alone", moves: Moves::PerMinute(11), text: |n| format!("{n}") },
    Case {
        name: "users online",
        moves: Moves::Always,
        text: |n| format!("{} members and {} guests are online", n % 97, n % 89),
    },
    Case { name: "users", moves: Moves::Always, text: |n| format!("{} users online", n % 997) },
    Case { name: "quote", moves: Moves::Always, text: |n| QUOTES[(n % 10) as usize].to_owned() },
    Case {
        name: "advertisement",
        moves: Moves::Always,
        text: |n| {
            format!(
                "{} now and save with {}",
                ["Buy shoes", "Fly south", "Rent a car", "Learn chess", "Drink tea"][(n % 5) as usize],
                ["us", "Ada", "Bob", "them", "Zed", "Yan", "Eve"][(n % 7) as usize]
            )
        },
    },
    Case {
        name: "clock",
        moves: Moves::Always,
        text: |n| format!("Server time: {:02}:{:02}:{:02}", n % 24, n % 60, n % 59),
    },
    Case {
        name: "clock with a date",
        moves: Moves::Always,
        text: |n| format!("It is Thursday {} November 2026 {:02}:{:02}:{:02}", 1 + n % 30, n % 24, n % 60, n % 59),
    },
    Case {
        name: "build of every answer",
        moves: Moves::Always,
        text: |n| format!("Served by node {} as build {n}", n % 31),
    },
    Case {
        name: "stars of a large project",
        moves: Moves::PerMinute(1),
        text: |n| format!("{n} stars and {} forks", n / 3),
    },
    Case {
        name: "statistics of now",
        moves: Moves::PerMinute(90),
        text: |n| format!("We have sent {n} letters so far"),
    },
    Case {
        name: "token",
        moves: Moves::Always,
        text: |n| format!("Ticket {:016x} was opened for you", n.wrapping_mul(0x9E37_79B9_7F4A_7C15)),
    },
    Case { name: "related pages", moves: Moves::Always, text: |n| related(n) },
    Case { name: "views in German", moves: Moves::PerMinute(5), text: |n| format!("{n} Aufrufe") },
    Case { name: "views in Chinese", moves: Moves::PerMinute(6), text: |n| format!("本文阅读次数：{n}") },
    Case { name: "visitor", moves: Moves::Always, text: |n| format!("You are visitor number {n}") },
    Case {
        name: "views in a table",
        moves: Moves::PerMinute(4),
        text: |n| format!("</p><table><tr><td>Views<td>{n}</table><p>"),
    },
    Case {
        name: "counter beside words that stay",
        moves: Moves::PerMinute(8),
        text: |n| format!("Written by Ada, read by {n} people, printed on paper from the village mill"),
    },
    Case {
        name: "word of the answer",
        moves: Moves::Always,
        text: |n| {
            format!(
                "Your captcha word is {}{}",
                ["lamp", "rope", "fish", "moon", "tree", "door", "salt"][(n % 7) as usize],
                ["ka", "lo", "mi", "nu", "re", "so", "ti"][(n / 7 % 7) as usize]
            )
        },
    },
    Case {
        name: "newest member",
        moves: Moves::Always,
        text: |n| {
            format!(
                "Please welcome our newest member {}",
                (0..4).map(|at| ["ka", "lo", "mi", "nu", "re"][(n / 5u64.pow(at) % 5) as usize]).collect::<String>()
            )
        },
    },
];

fn related(n: u64) -> String {
    let item = |at: u64| format!("<li>{}</li>", QUOTES[(n / 10u64.pow(at as u32) % 10) as usize].replace(' ', " so "));
    format!("You may also like</p><ul>{}{}{}</ul><p>The end of the list", item(0), item(1), item(2))
}

fn page(text: &str) -> String {
    format!(
        "<html><head><title>The village press</title></head><body><nav><a href=/>Home</a></nav><main><h1>The village press</h1>\
         <p>What we know stands here.</p><p>{text}</p><p>Nothing else does.</p></main><footer><p>The press</p></footer></body></html>"
    )
}

/// A page whose value moves with time.
struct Moving<'a> {
    case: &'a Case,
    start: Moment,
    answers: u64,
}

impl Moving<'_> {
    fn at(&mut self, moment: Moment) -> String {
        self.answers += 1;
        // Some hours past midnight, so that no visit falls on the moment of a change.
        let secs = moment.since(self.start).secs_f64() as u64 + 2 * MINUTE;
        let drawn = |number: u64| Chance::new(number).stream(self.case.name).bits() >> 40;
        let value = match self.case.moves {
            // Neighbouring values are never the same.
            Moves::Each(span) => secs / span + 3,
            Moves::PerMinute(rate) => 1_000 + secs * rate / MINUTE,
            Moves::Always => drawn(self.answers),
        };
        page(&(self.case.text)(value))
    }
}

/// The visits that told a difference, and those that should have, if every difference counts.
#[derive(Default)]
struct Told {
    told: Vec<u32>,
    differed: Vec<u32>,
}

fn watch(case: &Case, every: u64, visits: u32) -> (Told, NoiseBook) {
    let (mut watcher, mut book, mut told) = (Watcher::new(1), NoiseBook::default(), Told::default());
    let mut page = Moving { case, start: watcher.moment, answers: 0 };
    let (mut last, mut looks) = (String::new(), 0);
    for visit in 0..visits {
        // A look does not delay the next visit.
        let spans = std::iter::once(every - looks * 5 * MINUTE).chain(std::iter::repeat(5 * MINUTE));
        let looks_max = if visit == 0 { 1 } else { (every / (5 * MINUTE)).saturating_sub(1).min(12) };
        looks = 0;
        for (place, span) in spans.enumerate() {
            let span = Span::from_secs(span);
            let html = page.at(watcher.moment + span);
            let differs = !last.is_empty() && html != last;
            let change = watcher.visit_after(&mut book, span, &html);
            if differs {
                told.differed.push(visit);
            }
            if has_content(&change) {
                told.told.push(visit);
            }
            last = html;
            looks = place as u64;
            // The first page of a template is looked at in any case.
            watcher.wants_look |= visit == 0 && place == 0;
            if looks >= looks_max || !watcher.wants_look || every <= 5 * MINUTE {
                break;
            }
        }
    }
    (told, book)
}

#[test]
fn what_people_act_on_is_told_every_time_it_changes() {
    for case in &CONTENT {
        for (rhythm, every, visits) in RHYTHMS {
            let (told, book) = watch(case, every, visits);
            assert_eq!(told.told, told.differed, "{} {rhythm}: {:#?}", case.name, book.rules);
            let silenced = book.rules.iter().any(|rule| rule.standing == RuleState::Learned);
            assert!(!silenced, "{} {rhythm}: {:#?}", case.name, book.rules);
        }
    }
}

#[test]
fn what_nobody_acts_on_falls_silent() {
    for case in &NOISE {
        for (rhythm, every, visits) in RHYTHMS {
            let (told, book) = watch(case, every, visits);
            let late = told.told.iter().filter(|visit| **visit > 5).count();
            assert!(late == 0, "{} {rhythm}: told at {:?}: {:#?}", case.name, told.told, book.rules);
        }
    }
}

#[test]
fn a_look_across_midnight_does_not_silence_a_daily_price() {
    let (mut watcher, mut book) = (Watcher::new(1), NoiseBook::default());
    let price = |day: u32| page(&format!("Price today: € {}.99", 5 + day));
    watcher.visit(&mut book, &price(0));
    for day in 0..40 {
        watcher.visit(&mut book, &price(day));
        let change = watcher.second_look(&mut book, &price(day + 1));
        assert!(has_content(&change), "day {day}: {:#?}", book.rules);
    }
}

#[test]
fn prose_that_goes_to_and_fro_is_told_each_time() {
    let (mut watcher, mut book) = (Watcher::new(1), NoiseBook::default());
    let texts = ["The hall is open on weekdays", "The hall is closed on weekdays"].map(page);
    watcher.visit(&mut book, &texts[0]);
    for visit in 1..20 {
        let change = watcher.visit_and_looks(&mut book, || texts[visit % 2].clone());
        assert!(has_content(&change), "visit {visit}: {:#?}", book.rules);
    }
    assert!(
        watcher.noise.suspects.iter().any(|suspect| suspect.content_since.is_some()),
        "looks have shown what it is"
    );
}

#[test]
fn a_rule_is_withdrawn_when_looks_show_that_it_was_wrong_and_says_which() {
    let (mut watcher, mut book) = (Watcher::new(1), NoiseBook::default());
    let text = |count: u32| page(&format!("So far {count} houses were sold"));
    watcher.visit(&mut book, &text(1));
    for count in 2..4 {
        watcher.second_look(&mut book, &text(count));
    }
    assert!(!has_content(&watcher.visit(&mut book, &text(4))), "two looks saw it differ");
    for count in 5..30 {
        watcher.visit_and_looks(&mut book, || text(count));
    }
    let rule = &book.rules[0];
    assert_eq!(rule.standing, RuleState::Content, "{rule:#?}");
    assert!(rule.reason.starts_with("content: the same at 4 of 6 looks, though it differed in"), "{}", rule.reason);
    assert!(rule.force.until.is_some() && rule.looks.latest.iter().filter(|look| !look.differed).count() == 4);
    for count in 30..40 {
        assert!(has_content(&watcher.visit_and_looks(&mut book, || text(count))), "it is told from now on");
    }
}

#[test]
fn a_rule_that_was_learned_without_looks_says_nothing_of_main_text_any_more() {
    let (mut watcher, mut book) = (Watcher::new(1), NoiseBook::default());
    let text = |count: u32| page(&format!("So far {count} houses were sold"));
    watcher.visit(&mut book, &text(1));
    for count in 2..4 {
        watcher.second_look(&mut book, &text(count));
    }
    // As folders of earlier versions have them.
    book.rules[0].class = TextClass::Frame;
    book.rules[0].looks = Looks::default();
    assert!(has_content(&watcher.visit(&mut book, &text(4))));
    assert_eq!(book.rules[0].standing, RuleState::Turned);
    assert_eq!(&*book.rules[0].reason, "it was learned in main text without looks minutes after a visit");
}
