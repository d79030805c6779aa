//! The crawler through its public functions, over small webs written by hand.

use std::collections::BTreeMap;

use proptest::prelude::*;
use vernal_model::{Failure, OrderKind, Outcome, PageState, Report, Site, SiteState, Span};

use crate::testing::{Bench, START, Web, after, html, order, seed, unhindered, url};
use crate::{Act, Acted, DiskFreeMin, Error, GroupLimits, Settings};

const ROOT: &str = "http://a.example/";

fn once() -> Settings {
    Settings { once: true, ..unhindered() }
}

/// What the tables say of pages, visits, sites and links.
fn rows(bench: &mut Bench) -> BTreeMap<String, String> {
    bench.commit();
    let reader = bench.crawler.reader();
    let mut rows = BTreeMap::new();
    for page in reader.pages_after(None).map(|page| page.unwrap()) {
        let (key, at) = (page.key, page.url.to_string());
        rows.insert(format!("visits of {at}"), format!("{:?}", reader.visits(key).unwrap()));
        rows.insert(format!("document of {at}"), format!("{:?}", reader.document(key).unwrap()));
        let known = reader.key_of(&page.url).unwrap();
        rows.insert(format!("links to {at}"), format!("{:?}", known.map(|known| known.back_links)));
        rows.insert(at, format!("{page:?}"));
    }
    for site in reader.sites() {
        rows.insert(format!("site {}", site.site), format!("{:?}", site.profile));
    }
    rows
}

/// Page texts for each round, so that some pages change and others do not.
fn changing(round: u64) -> Web {
    let mut web = Web::of_sites(&["a.example", "b.example"], 6);
    for page in (0..6).step_by(2) {
        let words = format!("In round {} this page of a.example tells another story than before.", round * 31 + page);
        web.put(&format!("http://a.example/p{page}"), &html(&words, &["/", &format!("/r{round}")]));
        web.put(&format!("http://a.example/r{round}"), &html("A page that came later.", &["/"]));
    }
    web.answers("http://b.example/p1", Outcome::Failed(Failure::Truncated));
    let entry =
        |page| format!("<url><loc>http://a.example/p{page}</loc><lastmod>2026-05-0{}</lastmod></url>", 1 + round);
    let entries: String = (0..6).step_by(2).map(entry).collect();
    let map = format!("<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">{entries}</urlset>");
    web.put_as("http://a.example/sitemap.xml", "application/xml", &map);
    web
}

#[test]
fn where_a_group_ends_decides_nothing() {
    let crawl = |visits: usize, (policy, hints): (&str, bool)| {
        let group = GroupLimits { visits, bytes: usize::MAX };
        let settings = Settings {
            group,
            policy: policy.into(),
            hints,
            topics_every: hints.then_some(Span::from_hours(2)),
            budget: "960/day".parse().unwrap(),
            delay: Span::from_secs(1),
            ..unhindered()
        };
        let mut bench = Bench::seeded(settings, &[ROOT, "http://b.example/"]);
        for round in 0..3 {
            bench.run_for(&changing(round), Span::from_hours(3));
        }
        (std::mem::take(&mut bench.asked), rows(&mut bench))
    };
    for of in [("round-robin", false), ("vernal", true)] {
        let (requests, tables) = crawl(1, of);
        assert!(requests.len() > 100, "{}", requests.len());
        for visits in [5, 512] {
            let (other_requests, other_tables) = crawl(visits, of);
            assert_eq!(requests, other_requests, "{of:?} with groups of {visits}");
            assert_eq!(tables, other_tables, "{of:?} with groups of {visits}");
        }
    }
}

#[test]
fn the_same_settings_and_the_same_web_give_the_same_crawl() {
    let crawl = || {
        let mut bench = Bench::seeded(unhindered(), &[ROOT]);
        bench.run_for(&changing(0), Span::from_hours(1));
        (std::mem::take(&mut bench.asked), rows(&mut bench))
    };
    assert_eq!(crawl(), crawl());
}

#[test]
fn every_page_that_links_lead_to_is_read_once_and_the_crawl_comes_to_its_end() {
    let web = Web::of_sites(&["a.example", "b.example"], 40);
    let mut bench = Bench::seeded(once(), &[ROOT, "http://b.example/"]);
    bench.run_until_idle(&web);
    bench.commit();
    assert_eq!(bench.crawler.reader().totals().held, 82);
    for site in ["a.example", "b.example"] {
        assert_eq!(bench.times_asked(&format!("http://{site}/robots.txt")), 1);
        for page in 0..40 {
            assert_eq!(bench.times_asked(&format!("http://{site}/p{page}")), 1);
        }
    }
    let pulse = bench.crawler.pulse();
    assert_eq!((pulse.in_flight, pulse.orders_sent, pulse.reports_taken), (0, 84, 84));
}

#[test]
fn robots_txt_goes_before_every_page_of_its_origin() {
    let mut web = Web::of_sites(&["a.example"], 3);
    web.put_as("http://a.example/robots.txt", "text/plain", "User-agent: *\nDisallow: /p1\n");
    let mut bench = Bench::seeded(once(), &[ROOT]);
    bench.run_until_idle(&web);
    assert_eq!(bench.asked[0].1, "http://a.example/robots.txt");
    assert_eq!(bench.times_asked("http://a.example/p1"), 0);
    assert_eq!(bench.page("http://a.example/p1").map(|page| page.state), Some(PageState::Refused));
    assert_eq!(bench.times_asked("http://a.example/p2"), 1);
}

#[test]
fn a_paused_crawl_gives_no_orders_takes_reports_and_stays_paused_in_the_next_process() {
    let web = Web::of_sites(&["a.example"], 3);
    let mut bench = Bench::seeded(once(), &[ROOT]);
    let orders = bench.crawler.step(START).unwrap();
    assert_eq!(orders.len(), 1);
    assert_eq!(bench.crawler.act(Act::Pause(None), START).unwrap(), Acted::Done);
    for order in orders {
        bench.crawler.report(web.report(order, START), START).unwrap();
    }
    for second in 0..5 {
        assert_eq!(bench.crawler.step(after(second)).unwrap(), []);
    }
    assert_eq!((bench.crawler.next_wake(after(5)), bench.crawler.pulse().paused), (None, true));
    let mut bench = bench.reopened();
    assert!(bench.crawler.pulse().paused);
    assert_eq!(bench.crawler.step(after(9)).unwrap(), []);
    bench.crawler.act(Act::Resume(None), after(10)).unwrap();
    bench.now = after(10);
    bench.run_until_idle(&web);
    assert_eq!(bench.crawler.reader().totals().held, 4);
}

#[test]
fn a_site_that_is_paused_or_blocked_is_not_asked_and_others_are() {
    for standing in [SiteState::Paused, SiteState::Blocked] {
        let web = Web::of_sites(&["a.example", "b.example"], 3);
        let mut bench = Bench::seeded(once(), &[ROOT, "http://b.example/"]);
        let site = Site::new("a.example");
        let act = |site: &Site| match standing {
            SiteState::Blocked => Act::Block(site.clone()),
            _ => Act::Pause(Some(site.clone())),
        };
        assert_eq!(bench.crawler.act(act(&site), START).unwrap(), Acted::UnknownSite(site.clone()));
        bench.step(&web);
        assert_eq!(bench.crawler.act(act(&site), START).unwrap(), Acted::Done);
        let before = bench.asked.iter().filter(|(_, at)| at.starts_with(ROOT)).count();
        bench.run_for(&web, Span::from_secs(60));
        assert_eq!(bench.asked.iter().filter(|(_, at)| at.starts_with(ROOT)).count(), before, "{standing:?}");
        assert_eq!(bench.times_asked("http://b.example/p1"), 1);
        let mut bench = bench.reopened();
        bench.run_for(&web, Span::from_secs(60));
        assert_eq!(bench.asked.iter().filter(|(_, at)| at.starts_with(ROOT)).count(), 0, "nor by the next process");
        assert_eq!(bench.crawler.act(Act::Resume(Some(site)), bench.now).unwrap(), Acted::Done);
        bench.run_until_idle(&web);
        assert_eq!(bench.times_asked("http://a.example/p2"), 1);
    }
}

#[test]
fn a_full_disk_stops_the_orders_and_room_starts_them_again() {
    let web = Web::of_sites(&["a.example"], 3);
    let mut bench = Bench::seeded(once(), &[ROOT]);
    bench.crawler.set_disk_free_min(DiskFreeMin { bytes: u64::MAX, share: 2.0 });
    assert_eq!(bench.crawler.step(START).unwrap(), []);
    assert!(bench.crawler.pulse().disk_full);
    assert_eq!(bench.crawler.next_wake(START), Some(after(1)), "it is looked at again");
    bench.crawler.set_disk_free_min(DiskFreeMin::NOTHING);
    bench.now = after(1);
    bench.run_until_idle(&web);
    assert_eq!(bench.crawler.reader().totals().held, 4);
}

#[test]
fn no_more_requests_leave_than_the_life_of_the_process_may_have() {
    let web = Web::of_sites(&["a.example", "b.example"], 20);
    for visits_max in [0, 1, 5, 17] {
        let settings = Settings { visits_max: Some(visits_max), ..once() };
        let mut bench = Bench::seeded(settings, &[ROOT, "http://b.example/"]);
        bench.run_for(&web, Span::from_hours(1));
        assert_eq!(bench.crawler.pulse().orders_sent, visits_max);
        assert_eq!(bench.asked.len() as u64, visits_max);
    }
}

#[test]
fn never_are_more_requests_under_way_than_may_be() {
    let sites: Vec<String> = (0..12).map(|number| format!("s{number}.example")).collect();
    let sites: Vec<&str> = sites.iter().map(String::as_str).collect();
    let seeds: Vec<String> = sites.iter().map(|site| format!("http://{site}/")).collect();
    let seeds: Vec<&str> = seeds.iter().map(String::as_str).collect();
    let web = Web::of_sites(&sites, 2);
    let mut bench = Bench::seeded(Settings { concurrency: 5, ..once() }, &seeds);
    let (mut under_way, mut most) = (Vec::new(), 0);
    for second in 0..600 {
        let now = after(second);
        under_way.extend(bench.crawler.step(now).unwrap());
        let mut busy: Vec<String> = under_way.iter().map(|order| order.url.site().to_string()).collect();
        most = most.max(under_way.len());
        assert!(under_way.len() <= 5);
        busy.sort_unstable();
        busy.dedup();
        assert_eq!(busy.len(), under_way.len(), "one request at a time for each site");
        if second % 2 == 1 && !under_way.is_empty() {
            let order = under_way.remove(0);
            bench.crawler.report(web.report(order, now), now).unwrap();
        }
    }
    assert_eq!((most, under_way.len()), (5, 0));
    assert_eq!(bench.crawler.reader().totals().held + bench.crawler.pulse().in_flight as u64, 36);
}

#[test]
fn a_report_that_nobody_asked_for_is_an_error_and_changes_nothing() {
    let web = Web::of_sites(&["a.example"], 1);
    let mut bench = Bench::seeded(once(), &[ROOT]);
    let stray = Report::unanswered(order(ROOT, Default::default()), START, START, Outcome::NotModified);
    assert!(matches!(bench.crawler.report(stray, START), Err(Error::StrayReport(0))));
    let order = bench.crawler.step(START).unwrap().remove(0);
    assert_eq!(order.kind, OrderKind::Robots);
    bench.crawler.report(web.report(order.clone(), START), START).unwrap();
    let twice = bench.crawler.report(web.report(order.clone(), START), START);
    assert!(matches!(twice, Err(Error::StrayReport(id)) if id == order.id.0));
    bench.run_until_idle(&web);
    assert_eq!(bench.crawler.reader().totals().held, 2);
}

#[test]
fn an_act_is_durable_when_it_returns_and_a_crash_loses_only_the_open_group() {
    let folder = tempfile::tempdir().unwrap();
    let settings = Settings { group: GroupLimits { visits: 1_000, bytes: usize::MAX }, ..once() };
    let open = || crate::Crawler::open(crate::testing::repository(&folder, START), settings.clone(), START).unwrap();
    let mut crawler = open();
    let mut tagged = seed(ROOT);
    tagged.tags = vec!["first".into()];
    let acted = crawler.act(Act::AddSeeds(vec![tagged.clone(), seed("http://b.example/")]), START).unwrap();
    assert_eq!(acted, Acted::Seeds { new: 2, known: 0 });
    let acted = crawler.act(Act::AddSeeds(vec![seed(ROOT)]), START).unwrap();
    assert_eq!(acted, Acted::Seeds { new: 0, known: 1 }, "its wishes are renewed");
    assert_eq!(crawler.act(Act::RemoveSeed(url("http://b.example/")), START).unwrap(), Acted::Removed(true));
    assert_eq!(crawler.act(Act::RemoveSeed(url("http://b.example/")), START).unwrap(), Acted::Removed(false));
    crawler.act(Act::Pause(None), START).unwrap();
    drop(crawler);
    let mut crawler = open();
    assert!(crawler.pulse().paused);
    let seeds = crawler.reader().seeds().unwrap();
    assert_eq!((seeds.len(), &seeds[0].url, seeds[0].tags.len()), (1, &url(ROOT), 0));
    crawler.act(Act::Resume(None), START).unwrap();
    let web = Web::of_sites(&["a.example"], 2);
    for second in 0..4 {
        for order in crawler.step(after(second)).unwrap() {
            crawler.report(web.report(order, after(second)), after(second)).unwrap();
        }
    }
    assert!(crawler.has_uncommitted());
    let acknowledged = crawler.reader().totals();
    drop(crawler);
    let mut crawler = open();
    assert_eq!(crawler.reader().totals(), acknowledged);
    for second in 10..100 {
        for order in crawler.step(after(second)).unwrap() {
            crawler.report(web.report(order, after(second)), after(second)).unwrap();
        }
    }
    crawler.commit(after(100)).unwrap();
    assert_eq!(crawler.reader().totals().held, 3, "what was lost is asked for again");
}

#[test]
fn seeds_that_are_known_keep_when_they_were_added_and_where_they_moved() {
    let mut bench = Bench::seeded(unhindered(), &[ROOT]);
    bench.admit(&[]);
    bench.meet(ROOT, Outcome::Moved { status: 301, to: Some(url("http://b.example/")), permanent: true });
    let again = vernal_model::Seed { added: after(99), weight: 4.0, ..seed(ROOT) };
    bench.crawler.act(Act::AddSeeds(vec![again]), after(99)).unwrap();
    let seeds = bench.crawler.reader().seeds().unwrap();
    assert_eq!((seeds[0].added, seeds[0].weight), (START, 4.0));
    assert_eq!(seeds[0].moved_to, Some(url("http://b.example/")));
}

#[test]
fn a_crawl_that_was_closed_goes_on_where_it_was() {
    let web = Web::of_sites(&["a.example", "b.example"], 30);
    let settings = Settings { visits_max: Some(20), refresh_min: Span::from_days(30), ..once() };
    let mut bench = Bench::seeded(settings, &[ROOT, "http://b.example/"]);
    let mut asked = BTreeMap::new();
    for _ in 0..6 {
        bench.run_for(&web, Span::from_secs(300));
        for (_, at) in std::mem::take(&mut bench.asked) {
            *asked.entry(at).or_insert(0) += 1;
        }
        let now = bench.now + Span::from_secs(10);
        bench = bench.reopened();
        bench.now = now;
    }
    assert_eq!(bench.crawler.reader().totals().held, 62);
    let pages = asked.iter().filter(|(at, _)| at.contains("/p"));
    assert!(pages.clone().all(|(_, &times)| times == 1) && pages.count() == 60);
}

#[test]
fn a_crawl_that_stops_within_a_page_is_not_idle_and_says_when_to_wake_it() {
    let mut bench = Bench::seeded(once(), &[ROOT]);
    assert!(!bench.crawler.is_idle(START));
    let order = bench.crawler.step(START).unwrap().remove(0);
    assert!(!bench.crawler.is_idle(START), "an order is under way");
    let failed = Outcome::Failed(Failure::Status { status: 503, retry_after: None });
    bench.crawler.report(Report::unanswered(order, START, START, failed), START).unwrap();
    let wake = bench.crawler.next_wake(START).expect("the site is asked again");
    assert!(wake > START && !bench.crawler.is_idle(START));
    assert!(bench.crawler.next_wake_or_soon(START, after(1_000)).is_some_and(|soon| soon <= after(1_000)));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]
    #[test]
    fn a_report_may_come_at_any_time_and_in_any_order(
        picks in prop::collection::vec((0usize..8, any::<bool>()), 40..120), visits in 1usize..5,
    ) {
        let web = Web::of_sites(&["a.example", "b.example", "c.example"], 4);
        let group = GroupLimits { visits, bytes: usize::MAX };
        let seeds = [ROOT, "http://b.example/", "http://c.example/"];
        let mut bench = Bench::seeded(Settings { group, per_site: 3, ..once() }, &seeds);
        let mut under_way = Vec::new();
        for (pick, fails) in picks {
            bench.now += Span::from_secs(1);
            under_way.extend(bench.crawler.step(bench.now).unwrap());
            if under_way.is_empty() {
                continue;
            }
            let order = under_way.swap_remove(pick % under_way.len());
            let report = match fails && order.kind == OrderKind::Page {
                true => Report::unanswered(order, bench.now, bench.now, Outcome::Failed(Failure::Truncated)),
                false => web.report(order, bench.now),
            };
            bench.crawler.report(report, bench.now).unwrap();
        }
        for order in under_way {
            bench.crawler.report(web.report(order, bench.now), bench.now).unwrap();
        }
        bench.run_until_idle(&web);
        bench.commit();
        let totals = bench.crawler.reader().totals();
        prop_assert!(totals.held + totals.failed == 15, "{totals:?}");
        prop_assert_eq!(bench.crawler.core.partitions.held(), totals.held);
        prop_assert_eq!(bench.crawler.core.partitions.waiting(), totals.waiting);
        prop_assert_eq!(bench.crawler.core.work.requests().0, totals.visits);
    }
}
