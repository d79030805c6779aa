//! Sites speak, visits show who was right, and hubs are asked to send.

use vernal_model::{
    Cadence, Failure, HintFile, HintRows, HintSource, Order, OrderKind, Outcome, Page, PageHints, PageKey, Report,
    Site, SiteListKind, Span, SubscriptionState, TrustRow, Url,
};

use super::Hints;
use super::schedule::is_proved;
use crate::crawler::Crawler;
use crate::in_flight::Asked;
use crate::plan::volatile_tables::VolatileTables;
use crate::settings::Callback;
use crate::testing::{Bench, START, after, answered, held, html, order, unhindered, url};
use crate::{Act, Acted, HubWord, Settings};

const PAGE: &str = "http://a.example/x";
const MAP: &str = "http://a.example/sitemap.xml";
const DAY: Span = Span::from_days(1);

fn hearing() -> Settings {
    let callback = Some(Callback::new(url("https://us.example/hub"), "secret".into()));
    Settings { hints: true, policy: "vernal".into(), callback, ..unhindered() }
}

/// A site whose page is held.
fn bench() -> Bench {
    let mut bench = Bench::seeded(hearing(), &["http://a.example/"]);
    bench.admit(&[PAGE, MAP]);
    bench.read(PAGE, &html("These are the words.", &[]));
    bench.commit();
    bench.now = START + DAY;
    bench
}

fn push(bench: &mut Bench, urls: &[&str]) -> Acted {
    let urls = urls.iter().map(|text| url(text)).collect();
    bench.crawler.act(Act::Hint { source: HintSource::IndexNow, urls }, bench.now).unwrap()
}

fn hints_of(bench: &Bench, text: &str) -> PageHints {
    let (core, key) = (&bench.crawler.core, bench.page(text).unwrap().key);
    bench.crawler.hints.book.page(key, core.work.acknowledged()).unwrap()
}

fn trust(bench: &Bench, source: HintSource) -> TrustRow {
    bench.crawler.hints.book.trust(&Site::new("a.example"), source).cloned().unwrap_or_default()
}

fn sitemap(entries: &[(&str, &str)]) -> String {
    let entry = |(at, day): &(&str, &str)| format!("<url><loc>{at}</loc><lastmod>{day}</lastmod></url>");
    let entries: String = entries.iter().map(entry).collect();
    format!("<?xml version=\"1.0\"?><urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">{entries}</urlset>")
}

fn read_map(bench: &mut Bench, entries: &[(&str, &str)], beside: &str) {
    let body = format!("{}<!-- {beside} -->", sitemap(entries));
    bench.visit(MAP, |order, now| answered(order, now, "application/xml", &body));
}

#[test]
fn known_pages_are_hinted_new_urls_are_found_and_others_are_none_of_ours() {
    let mut bench = bench();
    let before = bench.crawler.core.work.new_urls();
    let acted = push(&mut bench, &[PAGE, "http://a.example/new", "http://elsewhere.example/", MAP]);
    assert_eq!(acted, Acted::Hinted { hinted: 1, found: 1, ignored: 2 });
    assert_eq!(bench.crawler.core.work.new_urls(), before + 1);
    let hints = hints_of(&bench, PAGE);
    let hint = hints.pending_of(HintSource::IndexNow).expect("it waits for the next visit");
    assert_eq!((hint.said, hint.heard), (bench.now, bench.now));
    assert!(hint.worth > Span::ZERO, "before anything is known a source is heard");
}

#[test]
fn who_does_not_hear_hints_ignores_them() {
    let mut bench = Bench::seeded(Settings { hints: false, ..hearing() }, &["http://a.example/"]);
    bench.admit(&[PAGE]);
    bench.read(PAGE, &html("These are the words.", &[]));
    let acted = push(&mut bench, &[PAGE, "http://a.example/new"]);
    assert_eq!(acted, Acted::Hinted { hinted: 0, found: 0, ignored: 2 });
}

#[test]
fn a_second_word_of_the_same_source_adds_nothing_but_its_hour() {
    let mut bench = bench();
    push(&mut bench, &[PAGE, PAGE]);
    let first = hints_of(&bench, PAGE).pending;
    bench.now += Span::from_hours(1);
    push(&mut bench, &[PAGE]);
    let second = hints_of(&bench, PAGE).pending;
    assert_eq!((first.len(), second.len()), (1, 1));
    assert_eq!((second[0].heard, second[0].worth), (first[0].heard, first[0].worth));
    assert_eq!(second[0].said, bench.now);
    assert_eq!(trust(&bench, HintSource::IndexNow).heard, 3, "but every word is counted");
}

#[test]
fn hints_of_a_page_end_with_its_visit_and_are_judged_by_it() {
    for changes in [true, false] {
        let mut bench = bench();
        push(&mut bench, &[PAGE]);
        bench.now += Span::from_hours(1);
        bench.meet(PAGE, Outcome::Failed(Failure::Truncated));
        assert_eq!(hints_of(&bench, PAGE).pending.len(), 1, "a visit that read nothing ends nothing");
        let words = if changes { "Other words have come here." } else { "These are the words." };
        bench.read(PAGE, &html(words, &[]));
        assert!(hints_of(&bench, PAGE).pending.is_empty());
        let row = trust(&bench, HintSource::IndexNow);
        assert_eq!(row.right > row.wrong, changes, "{row:?}");
        bench.commit();
        assert_eq!(hints_of(&bench.reopened(), PAGE).pending.len(), 0);
    }
}

#[test]
fn a_change_that_a_source_did_not_tell_is_missed_by_it() {
    let mut bench = bench();
    push(&mut bench, &[PAGE]);
    bench.read(PAGE, &html("Other words have come here.", &[]));
    let before = trust(&bench, HintSource::IndexNow).missed;
    bench.now += DAY;
    bench.read(PAGE, &html("And now there are third ones.", &[]));
    assert!(trust(&bench, HintSource::IndexNow).missed > before);
}

#[test]
fn a_list_announces_only_what_moved() {
    let mut bench = bench();
    let found = |bench: &Bench| bench.crawler.core.work.new_urls();
    let (one, two) = ("http://a.example/one", "http://a.example/two");
    let before = found(&bench);
    read_map(&mut bench, &[(one, "2020-01-01"), (PAGE, "2020-01-01")], "first");
    assert_eq!(found(&bench), before + 2, "both may be new for all that the list knows");
    assert!(hints_of(&bench, PAGE).pending.is_empty(), "it is older than our visit");
    let file = |bench: &Bench| {
        let key = bench.page(MAP).unwrap().key;
        bench.crawler.hints.book.file(&Site::new("a.example"), key).cloned().expect("it is a list")
    };
    assert_eq!((file(&bench).entries, file(&bench).dated, file(&bench).moved), (2, 2, 2));
    bench.now += DAY;
    let changes = bench.page(MAP).unwrap().changes;
    read_map(&mut bench, &[(one, "2020-01-01"), (PAGE, "2020-01-01")], "second");
    assert_eq!((found(&bench), file(&bench).moved), (before + 2, 0));
    assert!(bench.page(MAP).unwrap().changes >= changes);
    bench.now += DAY;
    let today = bench.now.rfc3339();
    read_map(&mut bench, &[(one, "2020-01-01"), (PAGE, &today), (two, "2020-01-01")], "third");
    assert_eq!((found(&bench), file(&bench).moved), (before + 3, 2));
    let hints = hints_of(&bench, PAGE);
    assert_eq!(hints.pending.iter().map(|hint| hint.source).collect::<Vec<_>>(), [HintSource::Sitemap]);
    assert_ne!(hints.spoken_of & HintSource::Sitemap.bit(), 0);
    let key = bench.page(MAP).unwrap().key;
    let listed = bench.crawler.core.work.listed(key).unwrap();
    assert_eq!(listed.len(), 3);
    bench.commit();
    assert_eq!(bench.crawler.core.work.listed(key).unwrap(), listed);
    bench.now += DAY;
    read_map(&mut bench, &[(PAGE, &today)], "fourth");
    assert_eq!(bench.crawler.core.work.listed(key).unwrap().len(), 1, "what went is gone");
}

#[test]
fn a_list_teaches_its_policy_what_moved_and_not_what_its_bytes_say() {
    let mut bench = bench();
    read_map(&mut bench, &[(PAGE, "2020-01-01")], "first");
    for (beside, day, moved) in [("second", "2020-01-01", false), ("third", "2020-01-02", true)] {
        bench.now += DAY;
        let body = format!("{}<!-- {beside} -->", sitemap(&[(PAGE, day)]));
        let (key, asked) = bench.asked_for(MAP);
        let Asked::Again(before) = asked else { panic!("it was read before") };
        let report = answered(order(MAP, key), bench.now, "application/xml", &body);
        let arrived =
            crate::intake::Arrived { report, before: Some(*before), waiting: None, second_look: false, restored: None };
        let effects = bench.crawler.intake.effects(&mut bench.crawler.core, arrived).unwrap().unwrap();
        assert_eq!(effects.finding.learned, Some(moved), "{beside}");
        read_map(&mut bench, &[(PAGE, day)], beside);
    }
}

#[test]
fn pages_rest_only_by_words_that_proved_good_and_not_while_a_hint_waits() {
    let (mut hints, site) = (Hints::default(), Site::new("a.example"));
    let cadence = Cadence { source: HintSource::MetaUpdates, period: Span::from_days(10) };
    let said = PageHints { cadence: vec![cadence], ..PageHints::default() };
    assert_eq!(hints.rest_by_hints(&site, &PageHints::default()), None);
    assert_eq!(hints.rest_by_hints(&site, &said), None, "nobody knows yet");
    let good = TrustRow { right: 20.0, ..TrustRow::default() };
    hints.book.take(HintRows { sources: vec![(HintSource::MetaUpdates, good)], ..HintRows::of(&site) });
    let rest = hints.rest_by_hints(&site, &said).expect("it proved good");
    assert!(rest > Span::from_days(5) && rest <= cadence.period);
    let hint = vernal_model::PendingHint { source: HintSource::Feed, said: START, heard: START, worth: DAY };
    assert_eq!(hints.rest_by_hints(&site, &PageHints { pending: vec![hint], ..said.clone() }), None);
    let worthless = vernal_model::PendingHint { worth: Span::ZERO, ..hint };
    assert_eq!(hints.rest_by_hints(&site, &PageHints { pending: vec![worthless], ..said }), Some(rest));
}

#[test]
fn a_source_is_proved_by_enough_outcomes_of_which_half_were_right() {
    let row = |right, wrong| TrustRow { right, wrong, ..TrustRow::default() };
    assert!(!is_proved(&row(4.0, 0.0)), "too few");
    assert!(is_proved(&row(8.0, 2.0)));
    assert!(!is_proved(&row(2.0, 20.0)));
    let muted = vernal_model::Muted { since: START, why: "it cries".into(), by_look: false };
    assert!(!is_proved(&TrustRow { muted: Some(muted), ..row(8.0, 2.0) }));
}

#[test]
fn files_are_given_their_places_anew_every_six_hours() {
    let mut bench = bench();
    read_map(&mut bench, &[(PAGE, "2020-01-01")], "first");
    let Crawler { core, hints, .. } = &mut bench.crawler;
    hints.files_placed = after(0);
    hints.place_files(core, &|_| false, after(6 * 3_600 - 1)).unwrap();
    assert_eq!(hints.files_placed, after(0));
    hints.place_files(core, &|_| false, after(6 * 3_600)).unwrap();
    assert_eq!(hints.files_placed, after(6 * 3_600));
}

const HUB: &str = "http://hub.example/";
const FEED: &str = "http://a.example/feed";

fn feed(hub: Option<&str>, topic: Option<&str>) -> HintFile {
    HintFile {
        url: url(FEED),
        kind: SiteListKind::Feed,
        source: HintSource::Feed,
        read: START,
        entries: 1,
        dated: 0,
        dropped: 0,
        moved: 0,
        depth: 1,
        note: None,
        hub: hub.map(url),
        topic: topic.map(url),
    }
}

/// A crawl that knows of a feed with a hub, and the feed.
fn subscriber() -> (Bench, PageKey) {
    let mut bench = Bench::new(hearing());
    bench.hold(&held(FEED, 1));
    let key = held(FEED, 1).key;
    want(&mut bench, key, &feed(Some(HUB), None));
    bench.crawler.core.coordinator.account.in_hand = 100.0;
    (bench, key)
}

fn want(bench: &mut Bench, key: PageKey, file: &HintFile) {
    let Crawler { core, hints, .. } = &mut bench.crawler;
    hints.want_subscription(core, key, &Site::new("a.example"), file, None, bench.now);
}

fn next_order(bench: &mut Bench) -> Option<Order> {
    let Crawler { core, hints, .. } = &mut bench.crawler;
    hints.subscription_order(core, bench.now).unwrap()
}

/// The next request to the hub, behind its robots.txt.
fn hub_order(bench: &mut Bench) -> Order {
    for _ in 0..20 {
        match next_order(bench) {
            Some(order) if order.kind == OrderKind::Robots => {
                let report = Report::unanswered(order, bench.now, bench.now, Outcome::Gone { status: 404 });
                bench.crawler.report(report, bench.now).unwrap();
            }
            Some(order) => return order,
            None => bench.now = bench.crawler.hints.subscriptions.next().unwrap().max(bench.now),
        }
    }
    panic!("the hub is never asked");
}

fn answer(bench: &mut Bench, order: Order, outcome: Outcome) {
    bench.crawler.report(Report::unanswered(order, bench.now, bench.now, outcome), bench.now).unwrap();
}

fn standing(bench: &mut Bench, key: PageKey) -> SubscriptionState {
    bench.crawler.hints.subscriptions.feed(key).unwrap().row.as_ref().unwrap().standing
}

fn wait(bench: &Bench) -> Span {
    bench.crawler.hints.subscriptions.next().unwrap().since(bench.now)
}

#[test]
fn a_hub_is_asked_behind_its_robots_txt_and_once_until_it_answers() {
    let (mut bench, _) = subscriber();
    let first = next_order(&mut bench).expect("it is time");
    assert_eq!((first.kind.clone(), first.url.as_str()), (OrderKind::Robots, "http://hub.example/robots.txt"));
    answer(&mut bench, first, Outcome::Gone { status: 404 });
    let order = hub_order(&mut bench);
    assert_eq!(order.url, url(HUB));
    assert!(matches!(order.kind, OrderKind::Subscription(_)));
    assert_eq!(next_order(&mut bench), None);
    assert_eq!(bench.crawler.hints.subscriptions.next(), None, "nothing is due before it answers");
}

#[test]
fn a_subscription_that_was_verified_is_renewed_before_its_lease_ends() {
    let (mut bench, key) = subscriber();
    let order = hub_order(&mut bench);
    answer(&mut bench, order, Outcome::Read { status: 202 });
    assert_eq!((standing(&mut bench, key), wait(&bench)), (SubscriptionState::Asked, DAY));
    for (lease, expected) in [
        (Some(Span::from_days(10)), 9.0),
        (None, 9.0),
        (Some(Span::from_days(1_000)), 54.0),
        (Some(Span::ZERO), 0.9 / 24.0),
    ] {
        let word = HubWord::Verifies { lease };
        let acted = bench.crawler.act(Act::Hub { topic: url(FEED), word }, bench.now).unwrap();
        assert_eq!(acted, Acted::Subscribed(true));
        assert_eq!(standing(&mut bench, key), SubscriptionState::Verified);
        assert!((wait(&bench).days_f64() - expected).abs() < 1e-6, "{lease:?}");
    }
    let other = Act::Hub { topic: url(PAGE), word: HubWord::Denies };
    assert_eq!(bench.crawler.act(other, bench.now).unwrap(), Acted::Subscribed(false), "nobody asked for that");
    let denied = Act::Hub { topic: url(FEED), word: HubWord::Denies };
    assert_eq!(bench.crawler.act(denied, bench.now).unwrap(), Acted::Subscribed(true));
    assert_eq!((standing(&mut bench, key), wait(&bench)), (SubscriptionState::Denied, Span::from_days(7)));
}

#[test]
fn a_hub_that_fails_is_asked_again_later_and_later_up_to_a_week() {
    let (mut bench, key) = subscriber();
    let mut waits = Vec::new();
    for _ in 0..12 {
        let order = hub_order(&mut bench);
        answer(&mut bench, order, Outcome::Failed(Failure::Truncated));
        assert_eq!(standing(&mut bench, key), SubscriptionState::Failed);
        waits.push(wait(&bench));
        bench.now += wait(&bench);
        bench.crawler.core.coordinator.account.in_hand = 100.0;
    }
    for (failures, &wait) in waits.iter().enumerate() {
        let doubled = Span::from_hours(1).scaled(2f64.powi(failures as i32)).min(Span::from_days(7));
        assert_eq!(wait, doubled, "{failures}");
    }
}

#[test]
fn a_hub_may_send_us_on_five_times_at_once() {
    let (mut bench, key) = subscriber();
    for hop in 1..=5 {
        let order = hub_order(&mut bench);
        let to = Url::parse(&format!("http://hub{hop}.example/")).ok();
        answer(&mut bench, order, Outcome::Moved { status: 307, to: to.clone(), permanent: false });
        assert_eq!(bench.crawler.hints.subscriptions.feed(key).unwrap().sent_to, to);
    }
    let order = hub_order(&mut bench);
    assert_eq!(order.url, url("http://hub5.example/"));
    let to = Url::parse("http://hub6.example/").ok();
    answer(&mut bench, order, Outcome::Moved { status: 307, to, permanent: false });
    assert_eq!(standing(&mut bench, key), SubscriptionState::Failed);
    assert_eq!(hub_order(&mut bench).url, url(HUB), "the next request begins anew");
}

#[test]
fn a_feed_without_its_hub_is_forgotten_and_speaks_for_no_other_site() {
    let (mut bench, key) = subscriber();
    want(&mut bench, key, &feed(Some(HUB), Some("http://other.example/feed")));
    assert_eq!(bench.crawler.hints.subscriptions.feed(key).map(|feed| feed.topic.clone()), Some(url(FEED)));
    want(&mut bench, key, &feed(Some(HUB), Some("http://a.example/all")));
    assert_eq!(bench.crawler.hints.subscriptions.of_topic(&url("http://a.example/all")), [key]);
    assert!(bench.crawler.hints.subscriptions.of_topic(&url(FEED)).is_empty());
    want(&mut bench, key, &feed(Some("ftp://hub.example/"), None));
    assert!(bench.crawler.hints.subscriptions.feed(key).is_none());
    assert_eq!(bench.crawler.hints.subscriptions.next(), None);
}

#[test]
fn subscriptions_outlive_the_process_with_their_turn() {
    let mut bench = bench();
    bench.admit(&[FEED]);
    let body = format!(
        "<?xml version=\"1.0\"?><feed xmlns=\"http://www.w3.org/2005/Atom\"><title>News</title>\
         <link rel=\"hub\" href=\"{HUB}\"/><link rel=\"self\" href=\"{FEED}\"/>\
         <entry><title>One</title><id>1</id><link href=\"{PAGE}\"/><updated>2020-01-01T00:00:00Z</updated></entry></feed>"
    );
    bench.visit(FEED, |order, now| answered(order, now, "application/atom+xml", &body));
    bench.crawler.core.coordinator.account.in_hand = 100.0;
    let key = bench.page(FEED).unwrap().key;
    let order = hub_order(&mut bench);
    answer(&mut bench, order, Outcome::Read { status: 202 });
    let word = HubWord::Verifies { lease: Some(Span::from_days(20)) };
    bench.crawler.act(Act::Hub { topic: url(FEED), word }, bench.now).unwrap();
    let next = bench.crawler.hints.subscriptions.next();
    let mut bench = bench.reopened();
    assert_eq!(bench.crawler.hints.subscriptions.next(), next);
    assert_eq!(standing(&mut bench, key), SubscriptionState::Verified);
}

#[test]
fn a_list_of_a_page_that_is_held_no_more_says_nothing() {
    let mut bench = bench();
    let page = Page { state: vernal_model::PageState::Gone, ..held(MAP, 50) };
    let listing = vernal_model::SiteList {
        kind: SiteListKind::Sitemap,
        entries: vec![vernal_model::ListEntry { url: url("http://a.example/new"), stamp: None }],
        dropped: 0,
        note: None,
        hub: None,
        topic: None,
    };
    let delta = super::moved_entries::delta(page.key, &listing, Default::default());
    let before = bench.crawler.core.work.new_urls();
    let Crawler { core, hints, .. } = &mut bench.crawler;
    hints.take_list(core, &mut VolatileTables::default(), &page, (&listing, delta), START).unwrap();
    assert_eq!(core.work.new_urls(), before);
    assert!(hints.book.file(&Site::new("a.example"), page.key).is_none());
}
