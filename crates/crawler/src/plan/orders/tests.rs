//! The conditions that keep a candidate from becoming an order, one at a time.

use std::net::IpAddr;

use vernal_model::{
    AddressLimits, Deed, Digest, Moment, Order, OrderKind, Outcome, Page, PageState, Refusal, Report, RobotsAnswer,
    RobotsRow, Span, Url,
};

use super::{Answer, LOOK_AGAIN};
use crate::coordinator::Lane;
use crate::crawler::Crawler;
use crate::in_flight::Asked;
use crate::plan::candidates::{Candidate, Chooser};
use crate::testing::{Bench, START, after, answered, failed, held, order, unhindered, url, waiting};
use crate::{Result, Settings};

const PAGE: &str = "http://a.example/x";

fn first() -> Candidate {
    Candidate::First(Box::new(waiting(PAGE, 1)))
}

fn again(page: &Page, by: Chooser) -> Candidate {
    Candidate::Again { page: Box::new(page.clone()), by }
}

fn asked(bench: &mut Bench, candidate: Candidate, now: Moment) -> Result<Answer> {
    let Crawler { core, plan, hints, .. } = &mut bench.crawler;
    plan.order(core, hints, Lane::New, candidate, now)
}

/// The robots.txt of the site says this, and is kept for a day.
fn say_robots(bench: &mut Bench, answer: RobotsAnswer) {
    let core = &mut bench.crawler.core;
    let (at, now) = (url(PAGE), START);
    let (expires, last_read) = (now + Span::from_days(1), Some(now));
    let row = RobotsRow { origin: at.origin(), fetched: now, expires, answer, last_read, copy: None };
    let visit = crate::testing::visit(None, &held(PAGE, 0), None).visit;
    core.work.push(at.partition(), Deed::RobotsRead { site: at.site(), row, visit });
}

fn bench(answer: RobotsAnswer) -> Bench {
    let mut bench = Bench::new(unhindered());
    say_robots(&mut bench, answer);
    bench
}

fn expect_order(answer: Answer) -> Order {
    match answer {
        Answer::Order(order) => order,
        Answer::Refused(_, report) => panic!("refused: {:?}", report.outcome),
        Answer::NotNow => panic!("not now"),
    }
}

fn expect_refusal(answer: Answer) -> (Asked, Report) {
    match answer {
        Answer::Refused(asked, report) => (asked, *report),
        Answer::Order(order) => panic!("ordered: {}", order.url),
        Answer::NotNow => panic!("not now"),
    }
}

#[test]
fn an_unknown_origin_is_asked_for_its_robots_txt_first_and_once() {
    let mut bench = Bench::new(unhindered());
    let order = expect_order(asked(&mut bench, first(), START).unwrap());
    assert_eq!((order.kind, order.url.as_str()), (OrderKind::Robots, "http://a.example/robots.txt"));
    let core = &bench.crawler.core;
    assert!(!core.in_flight.has(waiting(PAGE, 1).page) && core.in_flight.len() == 1);
    assert!(core.partitions.of(waiting(PAGE, 1).page.partition).waiting.window.contains(waiting(PAGE, 1).page));
    assert!(matches!(asked(&mut bench, first(), START).unwrap(), Answer::NotNow), "it has been asked for");
    assert_eq!(bench.crawler.core.in_flight.len(), 1);
}

#[test]
fn a_page_that_is_allowed_is_ordered_and_its_site_is_asked() {
    let mut bench = bench(RobotsAnswer::AllowAll);
    let order = expect_order(asked(&mut bench, first(), START).unwrap());
    assert_eq!((order.kind, order.url.as_str(), order.page), (OrderKind::Page, PAGE, waiting(PAGE, 1).page));
    let core = &bench.crawler.core;
    assert!(core.in_flight.has(order.page) && core.in_flight.first_visits() == 1);
    let sites = &core.partitions.of(order.page.partition).sites;
    assert_eq!(sites.politeness.in_flight(&url(PAGE).site()), 1);
    assert_eq!(sites.site(&url(PAGE).site()).map(|life| life.first_visits), Some(1));
    assert!(matches!(asked(&mut bench, first(), START).unwrap(), Answer::NotNow), "one order for one page");
}

#[test]
fn what_robots_txt_forbids_is_refused_without_a_request() {
    let mut bench = bench(RobotsAnswer::Text("User-agent: *\nDisallow: /x\n".into()));
    let (asked, report) = expect_refusal(asked(&mut bench, first(), START).unwrap());
    assert!(matches!(asked, Asked::First(_)));
    assert_eq!(report.outcome, Outcome::Refused(Refusal::Robots));
    assert!(report.exchange.is_none());
    let core = &bench.crawler.core;
    assert_eq!((core.in_flight.len(), core.in_flight.orders()), (0, 0));
}

#[test]
fn where_robots_txt_cannot_be_had_pages_wait_and_are_refused_only_in_the_end() {
    let mut bench = Bench::new(unhindered());
    let mut now = START;
    let mut waits = 0;
    for _ in 0..8 {
        match asked(&mut bench, first(), now).unwrap() {
            Answer::Order(order) => {
                assert_eq!(order.kind, OrderKind::Robots);
                let report = Report::unanswered(order, now, now, Outcome::Failed(vernal_model::Failure::Truncated));
                bench.crawler.report(report, now).unwrap();
            }
            Answer::NotNow => waits += 1,
            Answer::Refused(_, report) => {
                assert_eq!(report.outcome, Outcome::Refused(Refusal::RobotsUnreachable));
                assert!(waits >= 2, "it waited before");
                return;
            }
        }
        let life = &bench.crawler.core.partitions.of(url(PAGE).partition()).sites;
        now = life.politeness.earliest(&url(PAGE).site()).max(now);
    }
    panic!("it waits for ever");
}

#[test]
fn a_busy_address_holds_the_site_until_it_is_free() {
    let settings = Settings { address: AddressLimits { at_once: 1, per_second: 20.0 }, ..unhindered() };
    let mut bench = Bench::new(settings);
    say_robots(&mut bench, RobotsAnswer::AllowAll);
    let address: IpAddr = "192.0.2.1".parse().unwrap();
    let (id, site) = (url(PAGE).partition(), url(PAGE).site());
    bench.crawler.core.partitions.of_mut(id).sites.site_mut(&site).profile.address = Some(address);
    bench.crawler.core.sites.addresses.asked(address, START);
    assert!(matches!(asked(&mut bench, first(), START).unwrap(), Answer::NotNow));
    let politeness = &bench.crawler.core.partitions.of(id).sites.politeness;
    assert!(politeness.earliest(&site) > START && politeness.earliest(&site) <= START + LOOK_AGAIN);
    bench.crawler.core.sites.addresses.answered(address);
    expect_order(asked(&mut bench, first(), after(10)).unwrap());
    assert_eq!(bench.crawler.core.sites.addresses.earliest(address, false), None, "the order takes its place there");
}

/// A crawl that may ask private addresses, in which the site of this URL answered from this address.
fn knows_address(bench: &mut Bench, text: &str, address: &str) {
    let (id, site) = (url(text).partition(), url(text).site());
    bench.crawler.core.partitions.of_mut(id).sites.site_mut(&site).profile.address = Some(address.parse().unwrap());
}

#[test]
fn private_addresses_are_asked_for_seeds_and_for_what_private_pages_lead_to_only() {
    const FROM: &str = "http://from.example/";
    let cases = [
        ("198.51.100.7", false, true, "a public page leads there"),
        ("10.0.0.7", false, false, "a private page leads there"),
        ("::ffff:127.0.0.1", false, false, "a private page in another spelling"),
        ("fd12::1", false, false, "a private page"),
        ("169.254.169.254", false, true, "metadata is no private page"),
        ("198.51.100.7", true, false, "a person named it"),
    ];
    for (address, is_seed, public_only, why) in cases {
        let mut bench = Bench::new(Settings { allow_private: true, ..unhindered() });
        bench.crawler.core.scope.put_seed(crate::testing::seed(FROM));
        bench.admit(&[FROM]);
        bench.visit(FROM, |order, now| answered(order, now, "text/html", "<p>Words.</p>"));
        bench.crawler.core.work.commit(START).unwrap();
        knows_address(&mut bench, FROM, address);
        let (found_on, _) = bench.asked_for(FROM);
        if is_seed {
            bench.crawler.core.scope.put_seed(crate::testing::seed(PAGE));
        }
        let led_to = || {
            let found = vernal_frontier::Waiting { found_on: Some(found_on), ..waiting(PAGE, 1) };
            Candidate::First(Box::new(found))
        };
        let robots = expect_order(asked(&mut bench, led_to(), START).unwrap());
        assert_eq!((robots.kind, robots.public_only), (OrderKind::Robots, public_only), "{why}");
        say_robots(&mut bench, RobotsAnswer::AllowAll);
        let core = &mut bench.crawler.core;
        core.sites.robots = crate::sites::robots::RobotsBook::new("vernal");
        core.partitions.of_mut(url(PAGE).partition()).sites.politeness.answered(&url(PAGE).site(), START);
        let order = expect_order(asked(&mut bench, led_to(), after(10)).unwrap());
        assert_eq!((order.kind, order.public_only), (OrderKind::Page, public_only), "{why}");
    }
}

#[test]
fn a_robots_txt_that_moved_from_a_public_site_is_followed_to_public_addresses_only() {
    for (address, public_only) in [("198.51.100.7", true), ("10.0.0.7", false)] {
        let mut bench = Bench::new(Settings { allow_private: true, ..unhindered() });
        bench.crawler.core.scope.put_seed(crate::testing::seed(PAGE));
        knows_address(&mut bench, PAGE, address);
        let to = url("http://b.example/robots.txt");
        say_robots(&mut bench, RobotsAnswer::MovedTo { to: to.clone(), hops: 1 });
        let order = expect_order(asked(&mut bench, first(), START).unwrap());
        assert_eq!((order.kind, &order.url), (OrderKind::Robots, &to));
        assert_eq!(order.public_only, public_only, "{address}");
    }
}

#[test]
fn what_carries_a_session_is_refused_unless_it_was_held_or_seeded_and_is_found_without_it() {
    let mut bench = bench(RobotsAnswer::AllowAll);
    bench.crawler.core.scope.put_seed(crate::testing::seed("http://a.example/"));
    let (text, site) = ("http://a.example/s?visitor=9e3779b97f4a7c15", url(PAGE).site());
    let traps = &mut bench.crawler.core.partitions.of_mut(url(text).partition()).sites.traps;
    for number in 1..9u64 {
        let value = number.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        traps.learn_session(&url(&format!("http://a.example/s?visitor={value:016x}")), 7);
    }
    let trapped = || Candidate::First(Box::new(waiting(text, 1)));
    let before = bench.crawler.core.work.new_urls();
    let (_, report) = expect_refusal(asked(&mut bench, trapped(), START).unwrap());
    assert!(matches!(report.outcome, Outcome::Refused(Refusal::Trap(_))), "{:?}", report.outcome);
    assert_eq!(bench.crawler.core.work.new_urls(), before + 1, "the URL without its session is found");
    let page = held(text, 2);
    expect_order(asked(&mut bench, again(&page, Chooser::Policy), START).unwrap());
    bench.crawler.core.partitions.of_mut(page.key.partition).sites.politeness.answered(&site, START);
    bench.crawler.core.scope.put_seed(crate::testing::seed(text));
    expect_order(asked(&mut bench, trapped(), after(10)).unwrap());
}

#[test]
fn validators_are_sent_only_with_a_body_that_they_speak_of() {
    let mut bench = bench(RobotsAnswer::AllowAll);
    let validators = vernal_model::Validators { etag: Some("\"1\"".into()), last_modified: None };
    let with_body = Page { validators: validators.clone(), ..held(PAGE, 1) };
    let order = expect_order(asked(&mut bench, again(&with_body, Chooser::Policy), START).unwrap());
    assert_eq!((order.validators, order.held), (validators.clone(), Some(Digest([1; 20]))));
    let without = Page { validators, ..failed("http://a.example/y", 2, START) };
    bench.crawler.core.partitions.of_mut(without.key.partition).sites.politeness.answered(&url(PAGE).site(), START);
    let order = expect_order(asked(&mut bench, again(&without, Chooser::Retry), START).unwrap());
    assert!(order.validators.is_empty() && order.held.is_none());
}

#[test]
fn a_candidate_that_cannot_be_asked_for_waits_where_it_came_from() {
    let mut bench = Bench::new(unhindered());
    let now = after(86_400);
    for by in [Chooser::Policy, Chooser::Sample, Chooser::SecondLook] {
        let page = held(&format!("http://p{}.example/", by as u8), 0);
        bench.hold(&page);
        let (plan, core) = (&mut bench.crawler.plan, &mut bench.crawler.core);
        core.coordinator.account.in_hand = 100.0;
        let sums = core.partitions.sums();
        let chosen = plan.turns.choose(core, by as u64, sums, now);
        assert_eq!(chosen, [page.key]);
        plan.give_back(core, again(&page, by), now);
        let sums = core.partitions.sums();
        assert_eq!(plan.turns.choose(core, by as u64, sums, now), [page.key], "{by:?}");
    }
    let (plan, core) = (&mut bench.crawler.plan, &mut bench.crawler.core);
    let retried = failed("http://r.example/", 0, now + Span::from_days(1));
    plan.give_back(core, again(&retried, Chooser::Retry), now);
    assert!(core.partitions.of(retried.key.partition).retries.is_due(Lane::New, now));

    plan.give_back(core, Candidate::First(Box::new(waiting("http://w.example/", 0))), now);
    let (key, id) = (waiting("http://w.example/", 0).page, url("http://w.example/").partition());
    assert!(core.partitions.of(id).waiting.window.contains(key));

    let row = crate::testing::url_row("http://t.example/", 5);
    let partition = core.partitions.of_mut(row.page.partition);
    let taken = partition.waiting.take(&mut partition.sites, row).unwrap();
    let (key, id) = (taken.page, taken.page.partition);
    plan.give_back(core, Candidate::First(Box::new(taken)), now);
    assert!(!core.partitions.of(id).waiting.window.contains(key), "it was wanted before all others");
    assert_eq!(plan.wanted.take(now, |_, _| now).map(|(key, _)| key), Some(key));

    let left = Page { state: PageState::Left, ..held("http://l.example/", 0) };
    plan.give_back(core, again(&left, Chooser::Wanted), now);
    assert!(plan.wanted.is_empty() && core.partitions.of(left.key.partition).retries.len() == 0);
}

#[test]
fn a_robots_txt_that_has_moved_waits_until_the_other_site_is_free() {
    let to: Url = url("http://b.example/robots.txt");
    let mut bench = bench(RobotsAnswer::MovedTo { to: to.clone(), hops: 1 });
    let there = to.site();
    bench.crawler.core.partitions.of_mut(to.partition()).sites.politeness.hold(&there, after(30));
    assert!(matches!(asked(&mut bench, first(), START).unwrap(), Answer::NotNow));
    let home = &bench.crawler.core.partitions.of(url(PAGE).partition()).sites.politeness;
    assert_eq!(home.earliest(&url(PAGE).site()), after(30), "the page waits as long");
    let order = expect_order(asked(&mut bench, first(), after(30)).unwrap());
    assert_eq!(order.url, to);
    let moved = answered(order, after(30), "text/plain", "User-agent: *\nDisallow: /x\n");
    bench.crawler.report(moved, after(30)).unwrap();
    expect_refusal(asked(&mut bench, first(), after(31)).unwrap());
}

#[test]
fn an_order_to_a_site_with_several_places_keeps_its_gap() {
    let mut bench = Bench::new(Settings { per_site: 3, delay: Span::from_secs(2), ..unhindered() });
    say_robots(&mut bench, RobotsAnswer::AllowAll);
    let given = expect_order(asked(&mut bench, first(), START).unwrap());
    assert_eq!(given.gap, Span::from_secs(2));
    assert_eq!(order(PAGE, given.page).gap, Span::ZERO);
}
