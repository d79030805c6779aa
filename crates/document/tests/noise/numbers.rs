//! A date, a price, a percentage or a number in the main text stays a content event until looks minutes after a visit have shown that
//! it differs there too.

use vernal_model::{NoiseBook, TextClass};

use crate::watcher::{Watcher, has_content};

/// Before, after, and after once more.
const CASES: [[&str; 3]; 56] = [
    ["Effective 1 May 2026", "Effective 1 June 2026", "Effective 1 July 2026"],
    ["Price: €9.99", "Price: €12.99", "Price: €14.99"],
    ["$5 per month", "$6 per month", "$7 per month"],
    ["Interest rate 3.5 %", "Interest rate 4.0 %", "Interest rate 4.5 %"],
    ["VAT is 19%", "VAT is 16%", "VAT is 19%"],
    ["The fee is 100 EUR", "The fee is 120 EUR", "The fee is 150 EUR"],
    ["Version 1.2.3 is current", "Version 1.3.0 is current", "Version 2.0.0 is current"],
    ["Deadline: 2026-05-01", "Deadline: 2026-06-01", "Deadline: 2026-07-01"],
    ["Opening hours 9:00 to 17:00", "Opening hours 10:00 to 17:00", "Opening hours 10:00 to 16:00"],
    ["Call 555-0100", "Call 555-0199", "Call 555-0123"],
    ["Room 12 is booked", "Room 14 is booked", "Room 15 is booked"],
    ["Population 10,200", "Population 10,450", "Population 10,600"],
    ["The limit is 30 days", "The limit is 14 days", "The limit is 7 days"],
    ["We keep data for 6 months", "We keep data for 12 months", "We keep data for 24 months"],
    ["Closed on Monday", "Closed on Tuesday", "Closed on Sunday"],
    ["Next meeting: Friday 3 April", "Next meeting: Friday 10 April", "Next meeting: Friday 17 April"],
    ["Salary up to £40,000", "Salary up to £45,000", "Salary up to £50,000"],
    ["Seats left: 12", "Seats left: 3", "Seats left: 0"],
    ["In stock: 5", "In stock: 4", "In stock: 9"],
    ["Score 2:1", "Score 2:2", "Score 3:2"],
    ["Temperature 21°C", "Temperature 23°C", "Temperature 19°C"],
    ["Dose: 50 mg daily", "Dose: 75 mg daily", "Dose: 100 mg daily"],
    ["Article 12 applies", "Article 13 applies", "Article 14 applies"],
    ["Minimum age 16", "Minimum age 18", "Minimum age 21"],
    ["Speed limit 50 km/h", "Speed limit 30 km/h", "Speed limit 20 km/h"],
    ["Exchange rate 1.08", "Exchange rate 1.10", "Exchange rate 1.12"],
    ["Dividend $0.24", "Dividend $0.26", "Dividend $0.28"],
    ["Chapter 3 of 10", "Chapter 4 of 10", "Chapter 5 of 10"],
    ["Updated 1 January", "Updated 2 January", "Updated 3 January"],
    ["Born 1950", "Born 1951", "Born 1952"],
    ["Width: 120 cm", "Width: 125 cm", "Width: 130 cm"],
    ["Rated 4.5 stars", "Rated 4.6 stars", "Rated 4.4 stars"],
    ["Download (12 MB)", "Download (13 MB)", "Download (15 MB)"],
    ["Total: 1.234,56 €", "Total: 1.334,56 €", "Total: 1.434,56 €"],
    ["Gültig ab 1. Mai", "Gültig ab 1. Juni", "Gültig ab 1. Juli"],
    ["Prix : 10 €", "Prix : 12 €", "Prix : 15 €"],
    ["Hasta el 3 de mayo", "Hasta el 3 de junio", "Hasta el 3 de julio"],
    ["9.99", "12.99", "14.99"],
    ["€9.99", "€12.99", "€15.49"],
    ["2026-05-01", "2026-06-01", "2026-07-01"],
    ["15%", "20%", "25%"],
    ["May 1, 2026", "June 1, 2026", "July 1, 2026"],
    ["Monday", "Tuesday", "Friday"],
    ["Today: sunny, 21 degrees", "Today: rainy, 17 degrees", "Today: windy, 15 degrees"],
    ["Flight at 12:30 from gate 4", "Flight at 12:45 from gate 7", "Flight at 13:30 from gate 7"],
    ["Ticket price 25, students 15", "Ticket price 30, students 20", "Ticket price 35, students 25"],
    ["Only 3 left in stock", "Only 2 left in stock", "Only 1 left in stock"],
    ["CVE-2026-1000 is fixed", "CVE-2026-1001 is fixed", "CVE-2026-1002 is fixed"],
    ["Release candidate 1", "Release candidate 2", "Release candidate 3"],
    ["Act No. 114 of 1999", "Act No. 115 of 1999", "Act No. 116 of 2001"],
    ["Paragraph 7 is repealed", "Paragraph 8 is repealed", "Paragraph 9 is repealed"],
    ["up to 20 devices", "up to 10 devices", "up to 5 devices"],
    ["Refund within 14 days", "Refund within 7 days", "Refund within 3 days"],
    ["Q1 revenue: 3.2 billion", "Q1 revenue: 3.3 billion", "Q1 revenue: 3.4 billion"],
    ["Winner: number 17", "Winner: number 23", "Winner: number 42"],
    ["Due in 5 days", "Due in 3 days", "Due in 1 day"],
];

fn page(text: &str) -> String {
    format!(
        "<html><head><title>Terms</title></head><body><nav><a href=/>Home</a></nav><main><h1>Terms</h1><p>What we agree on \
         stands here.</p><p>{text}</p><p>Nothing else does.</p></main><footer><p>The firm</p></footer></body></html>"
    )
}

#[test]
fn a_number_that_changed_once_or_twice_is_content() {
    for [before, after, once_more] in CASES {
        let (mut watcher, mut book) = (Watcher::new(1), NoiseBook::default());
        watcher.visit(&mut book, &page(before));
        for text in [after, after, once_more, once_more] {
            let differs = book.last_id == 0;
            assert!(differs, "{before}: nothing was learned");
            let change = watcher.visit(&mut book, &page(text));
            if change.kinds.contains(vernal_model::Kind::Content) {
                assert!(has_content(&change), "{before} -> {text}");
                assert!(change.noise.is_empty(), "{before} -> {text}");
            }
        }
        assert!(book.rules.is_empty(), "{before}: {:#?}", book.rules);
    }
}

#[test]
fn a_number_that_changed_twice_in_a_row_is_content_and_so_is_a_second_look_at_it() {
    for [before, after, once_more] in CASES {
        let (mut watcher, mut book) = (Watcher::new(1), NoiseBook::default());
        watcher.visit(&mut book, &page(before));
        assert!(has_content(&watcher.second_look(&mut book, &page(after))), "{before} -> {after}");
        assert!(has_content(&watcher.visit(&mut book, &page(once_more))), "{after} -> {once_more}");
        assert!(book.rules.is_empty(), "{before}: {:#?}", book.rules);
    }
}

#[test]
fn without_looks_no_number_of_the_main_text_is_ever_silenced() {
    for [before, after, once_more] in CASES {
        let (mut watcher, mut book) = (Watcher::new(1), NoiseBook::default());
        watcher.visit(&mut book, &page(before));
        for _ in 0..5 {
            for text in [after, once_more, before] {
                let change = watcher.visit(&mut book, &page(text));
                assert!(has_content(&change) || change.kinds.is_empty(), "{text}: {:#?}", book.rules);
            }
        }
    }
}

#[test]
fn what_differed_at_two_looks_is_noise_and_its_rule_tells_why() {
    let (mut watcher, mut book) = (Watcher::new(1), NoiseBook::default());
    let views = |count: u32| page(&format!("Views: {count} today"));
    watcher.visit(&mut book, &views(5));
    assert!(has_content(&watcher.second_look(&mut book, &views(9))), "one look proves nothing in main text");
    assert!(watcher.wants_look, "but another may");
    assert!(!has_content(&watcher.second_look(&mut book, &views(17))));
    let change = watcher.visit(&mut book, &views(23));
    assert!(!has_content(&change) && change.is_noise(), "{change:#?}");
    let rule = &book.rules[0];
    assert_eq!(change.noise[0].rule, Some(rule.id));
    assert_eq!((rule.differed, rule.compared, rule.pages), (3, 3, 1));
    assert_eq!((rule.class, rule.looks.made, rule.looks.differed), (TextClass::Main, 2, 2));
    assert_eq!(rule.looks.latest.len(), 2);
    assert_eq!((&*rule.before, &*rule.after), ("Views: 9 today", "Views: 17 today"));
    assert_eq!(rule.what, vernal_model::NoisePattern::Words { shape: "Views: # today".into(), place: 0 });
    assert_eq!(&*rule.reason, "differed at 2 of 2 looks minutes after a visit");
}
