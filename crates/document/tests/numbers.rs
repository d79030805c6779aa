//! The hard law of the built-in detectors: a date, a price, a percentage or a number in the text is never silenced by
//! them, while what a machine writes into every answer is.

use vernal_document::{Input, Parsed, compare, compare_pages, read, read_closely};
use vernal_model::{Digest, Kind, Operation, Url};

/// What a reader must be told: before and after.
const LOUD: [(&str, &str); 64] = [
    ("Effective 1 May", "Effective 1 June"),
    ("€9.99", "€12.99"),
    ("3 items", "4 items"),
    ("Price: 10 EUR today", "Price: 12 EUR today"),
    ("Effective date: May 1, 2025", "Effective date: June 1, 2025"),
    ("Last updated 2025-05-01", "Last updated 2025-06-01"),
    ("Last updated: 01/05/2025", "Last updated: 02/05/2025"),
    ("Updated 12:30", "Updated 14:45"),
    ("Interest rate 3.5 %", "Interest rate 3.75 %"),
    ("A fee of 2%", "A fee of 3%"),
    ("You must be 16 years old", "You must be 18 years old"),
    ("within 14 days", "within 30 days"),
    ("30 days after delivery", "60 days after delivery"),
    ("Version 2.0.1", "Version 2.0.2"),
    ("Release 1.9.8 is out", "Release 1.9.9 is out"),
    ("© 2024 Example Ltd", "© 2025 Example Ltd"),
    ("1,234 views", "1,235 views"),
    ("12 comments", "13 comments"),
    ("Rated 4.5 of 5", "Rated 4.4 of 5"),
    ("In stock: 7", "In stock: 0"),
    ("Temperature 21 °C", "Temperature 24 °C"),
    ("Score 2:1", "Score 3:1"),
    ("Call 020 7946 0958", "Call 020 7946 0959"),
    ("Room 101", "Room 102"),
    ("Gate B12", "Gate C4"),
    ("Flight BA 2490", "Flight BA 2491"),
    ("IBAN DE89370400440532013000", "IBAN DE75512108001245126199"),
    ("Order number 100200300", "Order number 100200301"),
    ("Case 2023-1234", "Case 2023-1235"),
    ("CVE-2024-3094", "CVE-2024-3095"),
    ("ISBN 9783161484100", "ISBN 9780306406157"),
    ("SHA-256 9f86d081884c7d659a2feaa0c55ad015", "SHA-256 60303ae22b998861bce3b28f33eec1be"),
    ("commit 3f2a9c1b7d", "commit 99aa88bb77"),
    ("Bitcoin 1BoatSLRHtKNngkdXEeobR76b53LETtpyT", "Bitcoin 1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa"),
    ("Population 1700000000", "Population 1700000001"),
    ("Deadline in 3 days", "Deadline in 2 days"),
    ("Offer ends in 24 hours", "Offer ends in 12 hours"),
    ("Delivery in 2 days", "Delivery in 5 days"),
    ("The war ended 80 years before", "The war ended 81 years before"),
    ("Sold 5 minutes from the station", "Sold 9 minutes from the station"),
    ("A walk of 10 minutes", "A walk of 15 minutes"),
    ("Opening hours 9-17", "Opening hours 10-18"),
    ("Monday 8 a.m.", "Monday 9 a.m."),
    ("Q1 2025 results", "Q2 2025 results"),
    ("Section 4.2 applies", "Section 4.3 applies"),
    ("up to 5 users", "up to 10 users"),
    ("100 GB of storage", "200 GB of storage"),
    ("minimum 8 characters", "minimum 12 characters"),
    ("$1,000,000 prize", "$2,000,000 prize"),
    ("¥1200", "¥1400"),
    ("-5 points", "+5 points"),
    ("1 in 4 people", "1 in 5 people"),
    ("half of 40 states", "half of 50 states"),
    ("12.05.2025", "13.05.2025"),
    ("May 2025", "June 2025"),
    ("five minutes ago it began", "five minutes later it began"),
    ("long ago", "not so long ago"),
    ("The plant was built in 1912", "The plant was built in 1913"),
    ("created in 2 colours", "created in 3 colours"),
    ("served in 12 countries", "served in 14 countries"),
    ("Reference 12 of the list", "Reference 13 of the list"),
    ("Event 3", "Event 4"),
    ("vor 2020 gebaut", "vor 2021 gebaut"),
    ("à partir de 15 €", "à partir de 18 €"),
];

/// What no reader needs.
const QUIET: [(&str, &str); 10] = [
    ("posted 5 minutes ago", "posted 7 minutes ago"),
    ("an hour ago", "2 hours ago"),
    ("(3 days ago)", "(4 days ago)"),
    ("5h ago", "6h ago"),
    ("just now", "1 minute ago"),
    ("vor 3 Stunden", "vor 4 Stunden"),
    ("Cloudflare Ray ID: 8f2a9c1b7d3e4f56", "Cloudflare Ray ID: 90bb9c1b7d3e4f57"),
    ("Request ID 123e4567-e89b-12d3-a456-426614174000", "Request ID 00000001-e89b-12d3-a456-426614174999"),
    ("Page generated in 0.012 seconds.", "Page generated in 0.4 seconds."),
    ("rendered in 12ms", "rendered in 9ms"),
];

/// Attributes and scripts that differ at every answer.
const QUIET_MARKUP: [(&str, &str); 12] = [
    ("<script nonce=\"abc\">go()</script>", "<script nonce=\"xyz\">go()</script>"),
    ("<input type=hidden name=csrf_token value=1a2b>", "<input type=hidden name=csrf_token value=3c4d>"),
    ("<meta name=csrf-token content=\"q1\">", "<meta name=csrf-token content=\"q2\">"),
    ("<div class=\"card css-1x2y3z\"></div>", "<div class=\"card css-9q8w7e\"></div>"),
    ("<div id=\"num88966858\"></div>", "<div id=\"num33370784\"></div>"),
    (
        "<a data-cfemail=\"5439\" href=\"/cdn-cgi/l/email-protection#5439\">m</a>",
        "<a data-cfemail=\"a1b2\" href=\"/cdn-cgi/l/email-protection#a1b2\">m</a>",
    ),
    ("<script src=\"/app.3f2a9c1b.js\"></script>", "<script src=\"/app.0b1c2d3e.js\"></script>"),
    ("<link rel=stylesheet href=\"/a.css?v=1.2.3\">", "<link rel=stylesheet href=\"/a.css?v=1.2.4\">"),
    ("<img src=\"/i.png?t=1700000000\" alt=x>", "<img src=\"/i.png?t=1700000999\" alt=x>"),
    ("<a href=\"/cart;jsessionid=12AB\">c</a>", "<a href=\"/cart;jsessionid=99CD\">c</a>"),
    (
        "<script>var t=1700000000123, k=\"AKx9fQ2mZ7pL0wE4\";</script>",
        "<script>var t=1700000999123, k=\"Zq8LmP3vX6rT1yB5\";</script>",
    ),
    ("<ins class=\"adsbygoogle\" data-ad-slot=1></ins>", "<ins class=\"adsbygoogle\" data-ad-slot=2></ins>"),
];

/// Markup that a person changed.
const LOUD_MARKUP: [(&str, &str, Kind); 8] = [
    ("<a href=\"/terms-1\">t</a>", "<a href=\"/terms-2\">t</a>", Kind::Presentation),
    ("<img src=\"/a-1.png\" alt=x>", "<img src=\"/a-2.png\" alt=x>", Kind::Presentation),
    ("<img src=\"/a.png\" alt=\"3 dogs\">", "<img src=\"/a.png\" alt=\"4 dogs\">", Kind::Presentation),
    ("<form action=\"/pay\"></form>", "<form action=\"/steal\"></form>", Kind::Behaviour),
    ("<a href=x onclick=\"go(1)\">t</a>", "<a href=x onclick=\"go(2)\">t</a>", Kind::Behaviour),
    ("<script src=\"/a.js\"></script>", "<script src=\"//evil.example/a.js\"></script>", Kind::Behaviour),
    ("<script>pay(10)</script>", "<script>pay(20)</script>", Kind::Behaviour),
    ("<p class=\"col-md-6\">t</p>", "<p class=\"col-md-4\">t</p>", Kind::Presentation),
];

fn page(main: &str, payload: u8, closely: bool) -> Parsed {
    let url = Url::parse("https://www.example.org/a").expect("a plain URL");
    let body = format!("<html><head><title>T</title></head><body><nav>Home</nav><main>{main}</main></body></html>");
    let input = Input {
        url: &url,
        bytes: body.as_bytes(),
        content_type: Some("text/html"),
        content_language: None,
        robots_tags: &[],
        payload: Digest([payload; 20]),
    };
    if closely { read_closely(&input) } else { read(&input) }
}

#[test]
fn numbers_dates_and_prices_in_the_text_are_always_content() {
    for (before, after) in LOUD {
        let (old, new) = (page(&format!("<p>{before}</p>"), 1, true), page(&format!("<p>{after}</p>"), 2, true));
        let change = compare_pages(&old, &new);
        assert!(change.kinds.contains(Kind::Content) && change.left.contains(Kind::Content), "{before} -> {after}");
        assert!(!change.paragraphs.is_empty() && change.noise.is_empty(), "{before} -> {after}");
    }
}

#[test]
fn machine_noise_in_the_text_is_told_and_set_aside() {
    for (before, after) in QUIET {
        let (old, new) = (page(&format!("<p>{before}</p>"), 1, true), page(&format!("<p>{after}</p>"), 2, true));
        let change = compare_pages(&old, &new);
        assert!(change.kinds.contains(Kind::Content) && change.is_noise(), "{before} -> {after}");
        assert!(change.paragraphs.is_empty(), "{before} -> {after}");
    }
}

#[test]
fn a_real_edit_beside_noise_is_still_found() {
    let old = page("<p>5 minutes ago</p><p>Price 10 EUR for all of us</p>", 1, true);
    let new = page("<p>6 minutes ago</p><p>Price 12 EUR for all of us</p>", 2, true);
    let change = compare_pages(&old, &new);
    assert!(change.left.contains(Kind::Content));
    let edited: Vec<_> = change.paragraphs.iter().filter(|told| told.operation != Operation::Moved).collect();
    assert!(edited.iter().any(|told| told.after.as_deref() == Some("Price 12 EUR for all of us")), "{edited:?}");
}

#[test]
fn noise_in_markup_is_told_with_its_detector() {
    for (before, after) in QUIET_MARKUP {
        let (old, new) = (page(before, 1, true), page(after, 2, true));
        let change = compare_pages(&old, &new);
        assert!(change.is_noise(), "{before} -> {after}: {:?} {:?}", change.left, change.notes);
        assert!(!change.noise.is_empty() && change.notes.is_empty(), "{before} -> {after}: {change:?}");
    }
}

#[test]
fn what_a_person_changed_in_markup_is_told_as_a_note() {
    for (before, after, kind) in LOUD_MARKUP {
        let (old, new) = (page(before, 1, true), page(after, 2, true));
        let change = compare_pages(&old, &new);
        assert!(change.left.contains(kind) && !change.kinds.contains(Kind::Content), "{before} -> {after}");
        assert!(change.notes.iter().any(|note| note.kind == kind), "{before} -> {after}: {:?}", change.notes);
    }
}

#[test]
fn the_same_place_of_a_template_has_the_same_mark() {
    let body = |class: &str, words: &str| {
        format!("<div class=\"card {class}\" id=\"x-1\"><p>{words}</p></div><ul><li>a</li></ul>")
    };
    let (one, two) = (page(&body("css-1x2y3z", "one"), 1, false), page(&body("css-9q8w7e", "two words"), 2, false));
    let places = |page: &Parsed| page.signature.paragraphs.iter().map(|mark| mark.place).collect::<Vec<_>>();
    assert_eq!(places(&one), places(&two));
    let other = page(&body("wide", "one"), 1, false);
    assert_ne!(places(&one), places(&other));
    assert_eq!(compare(&one.signature, &one.signature).kinds, Default::default());
}

#[test]
fn headings_know_their_level() {
    let parsed = page("<h1>A</h1><p>b</p><h3>C <em>d</em></h3>", 1, false);
    let headings: Vec<u8> = parsed.document.paragraphs.iter().map(|paragraph| paragraph.heading).collect();
    assert_eq!(headings, [0, 0, 1, 0, 3]);
}
