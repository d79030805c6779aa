//! The stages of a visit, first alone and then applied.

use std::collections::HashSet;

use vernal_model::{
    DecidedBy, Deed, Event, EventKind, Failure, Location, Moment, Operation, Outcome, PageState, Refusal, Report, Site,
    Span, Url, Via, Wall,
};

use super::discovery::HOPS_MAX;
use super::page_life::{VisitOwner, visit_owner};
use super::verdict::Verdict;
use super::{Arrived, Restored, VisitEffects};
use crate::in_flight::Asked;
use crate::testing::{Bench, START, answered, held, html, order, unhindered, url};
use crate::work::WHOLE;

const PAGE: &str = "http://a.example/x";

/// A crawl of one site that knows of one page.
fn bench() -> Bench {
    let mut bench = Bench::seeded(unhindered(), &["http://a.example/"]);
    bench.admit(&[PAGE]);
    bench
}

fn gone() -> Outcome {
    Outcome::Gone { status: 404 }
}

fn moved(to: &str) -> Outcome {
    Outcome::Moved { status: 301, to: Url::parse(to).ok(), permanent: true }
}

fn later(bench: &mut Bench, span: Span) {
    bench.now += span;
}

/// What a visit would change, of which nothing is done.
fn effects(bench: &mut Bench, second_look: bool, answer: impl FnOnce(crate::testing::Given) -> Report) -> VisitEffects {
    let (key, asked) = bench.asked_for(PAGE);
    let (before, waiting) = match asked {
        Asked::First(waiting) => (None, Some(waiting)),
        Asked::Again(page) => (Some(*page), None),
        _ => panic!("a page was asked for"),
    };
    let report = answer((order(PAGE, key), bench.now));
    let arrived = Arrived { report, before, waiting, second_look, restored: None };
    bench.crawler.intake.effects(&mut bench.crawler.core, arrived).unwrap().expect("it is known")
}

fn says(body: &str) -> impl FnOnce(crate::testing::Given) -> Report {
    move |(order, now)| answered(order, now, "text/html", body)
}

fn meets(outcome: Outcome) -> impl FnOnce(crate::testing::Given) -> Report {
    move |(order, now)| Report::unanswered(order, now, now, outcome)
}

fn last_event(bench: &mut Bench) -> Option<Event> {
    bench.commit();
    bench.crawler.reader().latest_events(1).unwrap().pop().map(|(_, _, event)| event)
}

fn version(bench: &Bench) -> u32 {
    bench.page(PAGE).and_then(|page| page.version).map_or(0, |version| version.number)
}

#[test]
fn a_first_body_is_a_version_with_its_record_its_row_and_its_event() {
    let mut bench = bench();
    let links = ["/a", "/b", "/a", "http://elsewhere.example/"];
    let effects = effects(&mut bench, false, says(&html("These are the words.", &links)));
    assert_eq!(effects.finding.verdict, Verdict::First);
    assert!(effects.finding.is_new_version && effects.finding.counted.is_none() && effects.finding.learned.is_none());
    assert_eq!(effects.page.version.map(|version| (version.number, version.location)), Some((1, effects.record)));
    assert!(effects.record.is_some());
    assert_eq!(effects.event.map(|event| event.kind), Some(EventKind::New));
    let row = effects.document.expect("a row of the version");
    assert_eq!((row.links.len(), row.content_before), (4, None));
    assert!(row.next_paragraph as usize > row.signature.paragraphs.len());
    assert!(row.signature.paragraphs.iter().all(|mark| mark.id > 0), "every paragraph has its number");
    let urls: Vec<&str> = effects.found.values().flat_map(|here| &here.urls).map(|found| found.url.as_str()).collect();
    assert_eq!(urls, ["http://a.example/a", "http://a.example/b"], "each once, and nothing out of scope");
    let counted = row.links.iter().filter(|link| link.counted.partition().is_some());
    assert_eq!(counted.count(), 2);
}

#[test]
fn working_out_what_a_visit_changes_changes_nothing() {
    let mut bench = bench();
    let before = (bench.crawler.core.partitions.held(), bench.crawler.core.work.is_empty());
    effects(&mut bench, false, says(&html("These are the words.", &["/a"])));
    assert_eq!((bench.crawler.core.partitions.held(), bench.crawler.core.work.is_empty()), before);
    assert_eq!(bench.page(PAGE), None);
}

#[test]
fn the_same_page_is_told_by_the_cheapest_test() {
    let mut bench = bench();
    let body = html("These are the words.", &["/a"]);
    bench.read(PAGE, &body);
    later(&mut bench, Span::from_days(1));
    for (answer, by) in [(Some(&body), DecidedBy::Digest), (None, DecidedBy::Validators)] {
        let effects = match answer {
            Some(body) => effects(&mut bench, false, says(body)),
            None => effects(&mut bench, false, meets(Outcome::NotModified)),
        };
        assert_eq!(effects.finding.verdict, Verdict::Same(by));
        assert_eq!((effects.finding.counted, effects.finding.learned), (Some(false), Some(false)));
        assert!(effects.event.is_none() && effects.document.is_none() && effects.found.is_empty());
        assert_eq!(effects.page.last_confirmed, Some(bench.now));
        assert_eq!((effects.page.compared, effects.page.changes), (1, 0));
    }
    assert_eq!(version(&bench), 1);
}

#[test]
fn other_words_are_a_new_version_that_keeps_the_numbers_of_what_stayed() {
    let mut bench = bench();
    bench.read(PAGE, &html("These words go away.", &["/a", "/b"]));
    let first = bench.crawler.core.work.document(bench.page(PAGE).unwrap().key).unwrap().unwrap();
    later(&mut bench, Span::from_days(1));
    let effects = effects(&mut bench, false, says(&html("Others have come in their place today.", &["/a", "/c"])));
    assert!(matches!(effects.finding.verdict, Verdict::Differs(_)));
    assert_eq!((effects.finding.counted, effects.finding.learned), (Some(true), Some(true)));
    assert!(effects.finding.degree > 0.0);
    let event = effects.event.expect("somebody can read it");
    assert_eq!((event.kind, event.previous, event.version), (EventKind::Changed, Some(1), Some(2)));
    assert!(!event.change.paragraphs.is_empty());
    let second = effects.document.expect("a new version");
    assert_eq!(second.content_before, Some(first.signature.content));
    for mark in &second.signature.paragraphs {
        let stayed = first.signature.paragraphs.iter().find(|old| old.digest == mark.digest);
        assert!(stayed.is_none_or(|old| old.id == mark.id));
        assert!(stayed.is_some() || mark.id >= first.next_paragraph, "a new paragraph has a number of its own");
    }
    let (new, gone) = effects.found.into_values().fold((Vec::new(), Vec::new()), |(mut new, mut gone), here| {
        new.extend(here.urls.into_iter().map(|found| found.url));
        gone.extend(here.gone);
        (new, gone)
    });
    assert_eq!((new, gone), (vec![url("http://a.example/c")], vec![url("http://a.example/b").fingerprint()]));
}

#[test]
fn a_second_look_teaches_the_policy_nothing() {
    let mut bench = bench();
    bench.read(PAGE, &html("These words go away.", &[]));
    later(&mut bench, Span::from_secs(300));
    let effects = effects(&mut bench, true, says(&html("Others have come in their place today.", &[])));
    assert!(effects.finding.second_look && effects.finding.learned.is_none());
}

#[test]
fn what_the_answer_does_not_tell_costs_neither_the_version_nor_an_event() {
    let mut bench = bench();
    bench.read(PAGE, &html("These are the words.", &["/a"]));
    later(&mut bench, Span::from_days(1));
    for outcome in [
        Outcome::Failed(Failure::Truncated),
        Outcome::Failed(Failure::Status { status: 500, retry_after: None }),
        Outcome::Refused(Refusal::Robots),
        gone(),
    ] {
        let effects = effects(&mut bench, false, meets(outcome.clone()));
        assert_eq!(effects.finding.verdict, Verdict::Silent, "{outcome:?}");
        assert!(effects.event.is_none() && effects.finding.counted.is_none() && effects.found.is_empty());
        assert_eq!(
            (effects.page.state, effects.page.version.map(|version| version.number)),
            (PageState::Held, Some(1))
        );
        assert!(matches!(visit_owner(&effects.page), VisitOwner::Retry { .. }));
        assert!(effects.record.is_none(), "there is nothing to keep");
    }
}

#[test]
fn a_wall_before_a_held_page_is_told_once() {
    let mut bench = bench();
    bench.read(PAGE, &html("These are the words.", &[]));
    let wall = || Outcome::Blocked { wall: Wall::Login, status: 403, evidence: "a form".into() };
    later(&mut bench, Span::from_days(1));
    bench.meet(PAGE, wall());
    assert_eq!(last_event(&mut bench).map(|event| event.kind), Some(EventKind::Blocked));
    later(&mut bench, Span::from_days(1));
    assert!(effects(&mut bench, false, meets(wall())).event.is_none());
}

#[test]
fn a_page_that_goes_takes_its_paragraphs_and_links_with_it_and_brings_them_back() {
    let mut bench = bench();
    let body = html("These are the words.", &["/a", "/b"]);
    bench.read(PAGE, &body);
    let paragraphs = bench.crawler.core.work.document(bench.page(PAGE).unwrap().key).unwrap().unwrap();
    let mut misses = 0;
    while bench.page(PAGE).is_some_and(|page| page.state == PageState::Held) {
        later(&mut bench, Span::from_hours(13));
        bench.meet(PAGE, gone());
        misses += 1;
    }
    assert_eq!(misses, 3);
    let event = last_event(&mut bench).expect("it is told");
    assert_eq!(event.kind, EventKind::Gone);
    assert!(event.change.paragraphs.iter().all(|change| change.operation == Operation::Removed));
    let removed: Vec<u32> = event.change.paragraphs.iter().map(|change| change.id).collect();
    assert_eq!(removed, paragraphs.signature.paragraphs.iter().map(|mark| mark.id).collect::<Vec<_>>());
    assert_eq!(bench.crawler.core.partitions.held(), 0);
    let back_links = |bench: &mut Bench| {
        let Bench { crawler, now, .. } = bench;
        crawler.plan.sieve(&mut crawler.core, *now).unwrap();
        crawler.core.work.commit(*now).unwrap();
        crawler.core.work.key_of(&url("http://a.example/a")).unwrap().map(|known| known.back_links)
    };
    assert_eq!(back_links(&mut bench), Some(0), "its links count no more");
    later(&mut bench, Span::from_days(30));
    bench.read(PAGE, &body);
    assert_eq!(last_event(&mut bench).map(|event| event.kind), Some(EventKind::Back));
    assert_eq!((bench.crawler.core.partitions.held(), version(&bench)), (1, 1), "the same bytes are the same version");
    assert_eq!(back_links(&mut bench), Some(1));
}

#[test]
fn a_page_that_asks_for_no_copy_has_none() {
    let mut bench = bench();
    let body = "<html><head><meta name=\"robots\" content=\"noarchive\"></head><body><p>Words.</p></body></html>";
    let effects = effects(&mut bench, false, says(body));
    assert_eq!(effects.record, None);
    assert_eq!(effects.page.version.map(|version| (version.number, version.location)), Some((1, None)));
    assert!(effects.document.is_some(), "what it was compared by is kept");
}

#[test]
fn a_page_that_forbids_to_follow_its_links_leads_nowhere() {
    let mut bench = bench();
    let body = html("Words.", &["/a"]).replace("<head>", "<head><meta name=\"robots\" content=\"nofollow\">");
    assert!(effects(&mut bench, false, says(&body)).found.is_empty());
    let body = html("Words.", &["/a"]).replace("<a ", "<a rel=\"nofollow\" ");
    let mut bench = self::bench();
    assert!(effects(&mut bench, false, says(&body)).found.is_empty());
}

#[test]
fn the_target_of_a_redirect_is_found_one_hop_further_and_no_chain_is_endless() {
    let mut bench = bench();
    let found = effects(&mut bench, false, meets(moved("http://a.example/y"))).redirect;
    let (found, is_in_scope) = found.expect("there is a target");
    assert_eq!((found.via, found.url.as_str(), is_in_scope), (Via::Redirect { hops: 1 }, "http://a.example/y", true));
    let mut bench = self::bench();
    let (_, is_in_scope) = effects(&mut bench, false, meets(moved("http://b.example/"))).redirect.unwrap();
    assert!(!is_in_scope);
    let mut bench = self::bench();
    assert!(effects(&mut bench, false, meets(moved(PAGE))).redirect.is_none(), "to itself");
    let mut report = Report::unanswered(order(PAGE, Default::default()), START, START, moved("http://a.example/y"));
    let hops = |report: &Report, hops| super::discovery::redirect(report, hops, 3, Default::default());
    let last = hops(&report, HOPS_MAX - 1).expect("the last hop");
    assert_eq!((last.via, last.depth), (Via::Redirect { hops: HOPS_MAX }, 3), "a redirect is no level deeper");
    assert!(hops(&report, HOPS_MAX).is_none());
    for target in ["gopher://10.0.0.1:6379/1SET", "gopher://a.example/", "ftp://a.example/"] {
        report.outcome = moved(target);
        assert!(hops(&report, 0).is_none(), "{target}");
    }
    report.outcome = Outcome::Moved { status: 302, to: None, permanent: false };
    assert!(hops(&report, 0).is_none());
}

#[test]
fn a_seed_that_has_moved_takes_its_scope_along() {
    let mut bench = Bench::seeded(unhindered(), &["http://a.example/"]);
    bench.admit(&[]);
    bench.meet("http://a.example/", moved("http://b.example/"));
    let core = &bench.crawler.core;
    assert!(core.scope.contains(&url("http://b.example/deep"), 3));
    assert!(core.scope.contains(&url("http://a.example/deep"), 3));
    assert_eq!(core.work.new_urls(), 1, "and the target is found");
    bench.commit();
    let seeds = bench.crawler.reader().seeds().unwrap();
    assert_eq!(seeds[0].moved_to, Some(url("http://b.example/")));
}

#[test]
fn a_restored_report_is_kept_where_it_lies_and_the_sites_that_were_asked_are_its_scope() {
    let mut bench = Bench::new(unhindered());
    bench.admit(&[]);
    let page = held(PAGE, 0);
    let report = answered(
        order(PAGE, page.key),
        START,
        "text/html",
        &html("Words.", &["/a", "http://b.example/", "http://c.example/"]),
    );
    let location = Location { segment: 7, offset: 8, length: 9 };
    let sites: HashSet<Site> = ["a.example", "b.example"].map(Site::new).into();
    let restored = Restored { location: Some(location), sites: Some(&sites) };
    let waiting = Some(Box::new(crate::testing::waiting(PAGE, 0)));
    let arrived = Arrived { report, before: None, waiting, second_look: false, restored: Some(&restored) };
    let effects = bench.crawler.intake.effects(&mut bench.crawler.core, arrived).unwrap().unwrap();
    assert_eq!(effects.record, Some(location));
    assert_eq!(effects.page.version.and_then(|version| version.location), Some(location));
    let mut urls: Vec<&str> =
        effects.found.values().flat_map(|here| &here.urls).map(|found| found.url.as_str()).collect();
    urls.sort_unstable();
    assert_eq!(urls, ["http://a.example/a", "http://b.example/"]);
}

#[test]
fn a_report_of_a_page_that_nobody_knew_changes_nothing() {
    let mut bench = bench();
    let report = Report::unanswered(order(PAGE, Default::default()), START, START, gone());
    let arrived = Arrived { report, before: None, waiting: None, second_look: false, restored: None };
    assert!(bench.crawler.intake.effects(&mut bench.crawler.core, arrived).unwrap().is_none());
}

#[test]
fn sessions_that_were_learned_are_dropped_from_links_and_not_from_the_targets_of_redirects() {
    let session =
        |number: u64| format!("http://a.example/s?visitor={:016x}", number.wrapping_mul(0x9E37_79B9_7F4A_7C15));
    let taught = || {
        let mut bench = bench();
        let traps = &mut bench.crawler.core.partitions.of_mut(url(PAGE).partition()).sites.traps;
        (1..9).for_each(|number| drop(traps.learn_session(&url(&session(number)), 7)));
        bench
    };
    let body = html("Words.", &[&session(77), &session(78)]);
    let found = effects(&mut taught(), false, says(&body)).found;
    let urls: Vec<&str> = found.values().flat_map(|here| &here.urls).map(|found| found.url.as_str()).collect();
    assert_eq!(urls, ["http://a.example/s"]);
    let (found, _) = effects(&mut taught(), false, meets(moved(&session(79)))).redirect.unwrap();
    assert_eq!(found.url, url(&session(79)));
}

#[test]
fn the_deed_of_the_visit_is_the_last_of_its_visit() {
    let (mut bench, written) = Bench::recorded(unhindered());
    let seed = crate::testing::seed("http://a.example/");
    bench.crawler.core.scope.set_seeds(vec![seed]);
    bench.admit(&[PAGE]);
    for (day, words) in ["One.", "Another paragraph.", "A third one that differs."].into_iter().enumerate() {
        bench.now = START + Span::from_days(day as u64);
        written.lock().unwrap().clear();
        bench.read(PAGE, &html(words, &[&format!("/{day}")]));
        bench.crawler.core.work.commit(bench.now).unwrap();
        let deeds = written.lock().unwrap();
        assert!(matches!(deeds.last(), Some((_, Deed::Visited(_)))), "{deeds:?}");
        assert_eq!(deeds.iter().filter(|(_, deed)| matches!(deed, Deed::Visited(_))).count(), 1);
        assert!(deeds.iter().any(|(_, deed)| matches!(deed, Deed::Found { .. })));
        assert!(deeds.iter().all(|(id, _)| *id != WHOLE || url(PAGE).partition() == WHOLE));
    }
}

#[test]
fn held_pages_are_counted_when_they_come_and_when_they_go() {
    let mut bench = bench();
    let site = url(PAGE).site();
    let held = |bench: &Bench| {
        let sites = &bench.crawler.core.partitions.of(url(PAGE).partition()).sites;
        (bench.crawler.core.partitions.held(), sites.held_of(&site))
    };
    bench.meet(PAGE, Outcome::Failed(Failure::Truncated));
    bench.commit();
    assert_eq!(held(&bench), (0, 0));
    bench.read(PAGE, &html("Words.", &[]));
    assert_eq!(held(&bench), (1, 1));
    bench.read(PAGE, &html("Words.", &[]));
    assert_eq!(held(&bench), (1, 1));
    later(&mut bench, Span::from_days(1));
    bench.meet(PAGE, moved("http://a.example/y"));
    assert_eq!(held(&bench), (0, 0));
}

#[test]
fn a_site_learns_from_sixty_four_visits_before_they_are_written_down() {
    let (mut bench, written) = Bench::recorded(crate::Settings { policy: "vernal".into(), ..unhindered() });
    bench.crawler.core.scope.set_seeds(vec![crate::testing::seed("http://a.example/")]);
    bench.admit(&[PAGE]);
    let noted = |written: &crate::testing::Written| {
        let of_site = |deed: &Deed| matches!(deed, Deed::SiteSeen(_, profile) if !profile.policy.is_empty());
        written.lock().unwrap().iter().filter(|(_, deed)| of_site(deed)).count()
    };
    for visit in 0..130u64 {
        bench.now = START + Span::from_hours(visit * 5);
        bench.read(PAGE, &html(&format!("Visit number {} found these words here.", visit / 2), &[]));
        bench.crawler.core.work.commit(bench.now).unwrap();
        assert!(noted(&written) <= (visit as usize + 1) / 64, "after {visit}");
    }
    assert_eq!(noted(&written), 2);
}

#[test]
fn the_row_of_robots_txt_and_its_delay_reach_the_site() {
    let mut bench = bench();
    let robots = vernal_model::Order {
        kind: vernal_model::OrderKind::Robots,
        ..order("http://a.example/robots.txt", Default::default())
    };
    let report = answered(robots, START, "text/plain", "User-agent: *\nCrawl-delay: 5\nDisallow: /no\n");
    let (origin, home) = (url(PAGE).origin(), url(PAGE).site());
    let crate::crawler::Crawler { core, .. } = &mut bench.crawler;
    super::take_robots(core, (&origin, &home), &report, None, START).unwrap();
    assert_eq!(core.partitions.of(url(PAGE).partition()).sites.politeness.delay(&home), Span::from_secs(5));
    let row = core.work.robots(&origin).unwrap().expect("it was read");
    assert!(matches!(&row.answer, vernal_model::RobotsAnswer::Text(text) if text.contains("/no")));
    core.work.commit(START).unwrap();
    assert_eq!(core.work.robots(&origin).unwrap(), Some(row), "and is there after the commit");
    let visits: Vec<Moment> =
        bench.crawler.reader().visit_book().filter_map(|row| row.ok()).map(|(_, visit)| visit.started).collect();
    assert_eq!(visits, [START]);
}
