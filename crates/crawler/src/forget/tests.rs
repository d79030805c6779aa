//! The laws of forgetting, over a crawl of a small web.

use proptest::prelude::*;
use vernal_model::{ErasedCounts, EventKind, ForgetRule, Moment, Outcome, Site, Span};
use vernal_repository::bodies::{scan, segments};
use vernal_repository::{Cursor, KnownState};

use super::forget_on;
use crate::crawler::Crawler;
use crate::testing::{Bench, Web, html, seed, unhindered, url};
use crate::{Act, Acted, ForgetWord, Settings};

const ROOT: &str = "http://a.example/";
const OTHER: &str = "http://a.example/other";
const SECRET: &str = "http://a.example/secret?of=jane";
/// A word that only the page has which is forgotten.
const WORD: &str = "xylophonist";

fn page(text: &str) -> ForgetRule {
    ForgetRule::Page(url(text))
}

fn forget(bench: &mut Bench, rules: Vec<ForgetRule>) -> ErasedCounts {
    let word = ForgetWord { rules, reason: "asked by letter".into(), dry_run: false };
    match bench.crawler.act(Act::Forget(word), bench.now).unwrap() {
        Acted::Forgot { counts, .. } => {
            // A crawl that runs goes on with it in its steps.
            while bench.crawler.forgetting.next(bench.now).is_some() {
                let (crawler, now) = (&mut bench.crawler, bench.now + Span::from_secs(1));
                forget_on(crawler, now).unwrap();
                bench.now = now;
            }
            counts
        }
        other => panic!("forgetting came to {other:?}"),
    }
}

/// Pages that link to one another and to the secret one, which changes at each turn.
fn web(turn: usize) -> Web {
    let mut web = Web::of_sites(&["a.example"], 0);
    let words = format!("The {WORD} number {turn} lives here, behind the second door of the long street of the town.");
    web.put(ROOT, &html("This is where everything begins, as it always did.", &["/other", "/secret?of=jane"]));
    web.put(OTHER, &html("Here is something else that has nothing to do with it.", &["/", "/secret?of=jane"]));
    web.put(SECRET, &html(&words, &["/", "/found-here"]).replace("A page", WORD));
    web.put("http://a.example/found-here", &html("Only the secret page leads to this one.", &[]));
    web
}

fn crawled(days: usize) -> Bench {
    let settings = Settings { refresh_min: Span::from_hours(6), ..unhindered() };
    let mut bench = Bench::seeded(settings, &[ROOT]);
    for turn in 0..days {
        bench.run_for(&web(turn), Span::from_days(1));
    }
    bench.commit();
    bench
}

fn dump(crawler: &Crawler) -> String {
    let mut text = Vec::new();
    crawler.reader().dump(&mut text).unwrap();
    String::from_utf8(text).unwrap()
}

/// The records of the archive, unpacked.
fn archived(crawler: &Crawler) -> Vec<String> {
    let files = segments(crawler.reader().dir()).unwrap();
    let records = files.iter().flat_map(|file| scan(&file.path).unwrap());
    records.map(|item| format!("{:?}", item.unwrap().record)).collect()
}

/// What others are told of a page: its row, versions with bodies, and events.
fn told(bench: &Bench, text: &str) -> String {
    let reader = bench.crawler.reader();
    let page = bench.page(text).unwrap();
    let bodies = reader.versions(page.key).unwrap().into_iter().map(|version| {
        let record = reader.record_of(&page.url, version).unwrap();
        (version, record.map(|record| record.block))
    });
    format!(
        "{page:?} {:?} {:?} {:?}",
        bodies.collect::<Vec<_>>(),
        reader.page_events(page.key),
        reader.document(page.key)
    )
}

#[test]
fn no_row_and_no_record_has_a_word_of_a_forgotten_page() {
    let mut bench = crawled(6);
    let key = bench.page(SECRET).unwrap().key;
    assert!(dump(&bench.crawler).contains(WORD), "it was held, and its events have its words");
    assert!(archived(&bench.crawler).iter().any(|record| record.contains("secret")));
    let versions = bench.crawler.reader().versions(key).unwrap().len() as u64;
    assert!(versions > 2, "{versions} versions");
    let before = [ROOT, OTHER].map(|text| told(&bench, text));
    let counts = forget(&mut bench, vec![page(SECRET)]);
    assert_eq!((counts.pages, counts.waiting, counts.versions), (1, 0, versions));
    let dump = dump(&bench.crawler);
    assert!(!dump.to_lowercase().contains(WORD));
    for line in dump.lines().filter(|line| line.contains("secret")) {
        assert!(line.starts_with("events\t") || line.starts_with("meta\tforgot/"), "{line}");
    }
    let is_its_own = |record: &&String| {
        record.contains("/secret") && !record.contains("nothing to do") && !record.contains("everything begins")
    };
    assert_eq!(archived(&bench.crawler).iter().find(is_its_own), None);
    assert_eq!([ROOT, OTHER].map(|text| told(&bench, text)), before, "others are as they were");
    let report = vernal_repository::bodies::verify(bench.crawler.reader().dir(), &mut |_, _| {}).unwrap();
    assert!(report.is_sound(), "{:?}", report.faults);
}

#[test]
fn events_keep_their_cursors_and_ids_and_say_only_that_the_page_was_erased() {
    let mut bench = crawled(5);
    let reader = bench.crawler.reader();
    let before = reader.events(Cursor(0), 1_000).unwrap();
    forget(&mut bench, vec![page(SECRET)]);
    let after = reader.events(Cursor(0), 1_000).unwrap();
    assert_eq!(after.len(), before.len() + 1, "one is new");
    for ((cursor, id, old), (cursor_now, id_now, new)) in before.iter().zip(&after) {
        assert_eq!((cursor, id), (cursor_now, id_now));
        if old.url != url(SECRET) {
            assert_eq!(old, new);
            continue;
        }
        assert_eq!((new.kind, &new.url, new.seen_different), (EventKind::Erased, &old.url, old.seen_different));
        assert!(new.title.is_empty() && new.change.paragraphs.is_empty() && new.change.notes.is_empty());
    }
    let (_, id, last) = after.last().unwrap();
    assert_eq!((last.kind, &last.url), (EventKind::Erased, &url(SECRET)));
    assert_eq!(reader.event(*id).unwrap().unwrap().2, *last);
    let totals = reader.totals();
    assert_eq!(totals.events, after.len() as u64);
}

#[test]
fn links_never_bring_a_forgotten_page_back_and_a_restart_does_not_either() {
    let mut bench = crawled(3);
    forget(&mut bench, vec![page(SECRET)]);
    for turn in 10..14 {
        bench.asked.clear();
        bench.run_for(&web(turn), Span::from_days(1));
        assert_eq!(bench.times_asked(SECRET), 0);
        bench = bench.reopened();
    }
    let mut fresh = web(20);
    fresh.put("http://a.example/new", &html("A new page that leads there too.", &["/secret?of=jane"]));
    fresh.put(
        ROOT,
        &html(
            "Everything begins anew.",
            &["/new", "http://www.a.example/secret?of=jane", "https://a.example/secret?of=jane"],
        ),
    );
    bench.run_for(&fresh, Span::from_days(2));
    assert!(bench.page("http://a.example/new").is_some());
    assert_eq!(bench.times_asked(SECRET), 0);
    for text in [SECRET, "http://www.a.example/secret?of=jane", "https://a.example/secret?of=jane"] {
        assert_eq!(bench.page(text), None);
        assert_eq!(bench.crawler.core.work.key_of(&url(text)).unwrap(), None, "{text} is known to nobody");
    }
    assert!(!dump(&bench.crawler).contains(WORD));
}

#[test]
fn a_report_that_comes_after_the_deed_keeps_nothing() {
    let mut bench = crawled(2);
    let web = web(9);
    let mut asked = None;
    for _ in 0..2_000 {
        bench.now += Span::from_secs(600);
        let orders = bench.crawler.step(bench.now).unwrap();
        for order in orders {
            let is_it = order.url == url(SECRET);
            let report = web.report(order, bench.now);
            if is_it { asked = Some(report) } else { bench.crawler.report(report, bench.now).unwrap() }
        }
        if asked.is_some() {
            break;
        }
    }
    let report = asked.expect("it is due at some time");
    forget(&mut bench, vec![page(SECRET)]);
    let (now, before) = (bench.now, archived(&bench.crawler).len());
    bench.crawler.report(report, now).unwrap();
    bench.commit();
    assert_eq!(archived(&bench.crawler).len(), before);
    assert!(bench.page(SECRET).is_none() && !dump(&bench.crawler).contains(WORD));
    bench.run_for(&web, Span::from_days(1));
    assert!(bench.page(SECRET).is_none() && !dump(&bench.crawler).contains(WORD));
}

#[test]
fn of_two_pages_with_one_body_the_other_one_stays_whole() {
    let (one, other) = ("http://a.example/one", "http://a.example/two");
    let mut bench = Bench::seeded(unhindered(), &[ROOT]);
    let mut web = Web::of_sites(&["a.example"], 0);
    web.put(ROOT, &html("Two pages have the same body.", &["/one", "/two"]));
    let same = html(&format!("The {WORD} is told of in both, word for word, and in no other place of this site."), &[]);
    [one, other].iter().for_each(|at| web.put(at, &same));
    bench.run_for(&web, Span::from_days(3));
    bench.commit();
    let before = told(&bench, other);
    assert!(before.contains("120, 121, 108, 111"), "its body is there");
    forget(&mut bench, vec![page(one)]);
    assert_eq!(told(&bench, other), before);
    assert_eq!(bench.page(one), None);
}

#[test]
fn other_names_of_a_page_are_forgotten_with_it() {
    let (plain, index) = ("http://a.example/people/", "http://a.example/people/index.html");
    let words = format!(
        "The {WORD} of this town has many friends who come by every day to hear the same old songs again and again, in winter as in summer, and nobody minds at all."
    );
    let mut bench = Bench::seeded(unhindered(), &[ROOT]);
    let mut web = Web::of_sites(&["a.example"], 0);
    web.put(ROOT, &html("Both names are linked.", &["/people/", "/people/index.html"]));
    [plain, index].iter().for_each(|at| web.put(at, &html(&words, &[])));
    bench.run_for(&web, Span::from_days(3));
    bench.commit();
    let (first, second) = (bench.page(plain).unwrap().key, bench.page(index).unwrap().key);
    let rows = [first, second].map(|key| bench.crawler.reader().name_row(key).unwrap());
    assert!(rows.iter().any(|row| row.is_first), "they are one page: {rows:?}");
    let counts = forget(&mut bench, vec![page(index)]);
    assert_eq!(counts.pages, 2);
    assert!(bench.page(plain).is_none() && bench.page(index).is_none());
    assert_eq!(bench.crawler.reader().forgotten().unwrap().len(), 2, "each has its entry");
    bench.run_for(&web, Span::from_days(3));
    assert!(bench.page(plain).is_none() && bench.page(index).is_none() && !dump(&bench.crawler).contains(WORD));
}

#[test]
fn a_whole_site_is_forgotten_with_what_waits_and_its_robots_txt() {
    let mut bench = Bench::seeded(Settings { pages_max: 12, ..unhindered() }, &[ROOT, "http://b.example/"]);
    let mut web = Web::of_sites(&["b.example"], 3);
    let links: Vec<String> = (0..40).map(|number| format!("/{WORD}-{number}")).collect();
    let links: Vec<&str> = links.iter().map(String::as_str).collect();
    web.put(ROOT, &html(&format!("The {WORD} is at home here."), &links));
    for link in &links {
        web.put(&format!("http://a.example{link}"), &html(&format!("More of the {WORD}."), &[]));
    }
    web.put_as("http://a.example/robots.txt", "text/plain", &format!("User-agent: *\nDisallow: /{WORD}-private\n"));
    bench.run_for(&web, Span::from_hours(5));
    bench.commit();
    assert!(bench.crawler.reader().totals().waiting > 0, "some wait for room");
    let counts = forget(&mut bench, vec![ForgetRule::Site(Site::new("a.example"))]);
    assert!(counts.pages > 2 && counts.waiting > 2, "{counts:?}");
    let text = dump(&bench.crawler);
    for line in text.lines().filter(|line| line.contains(WORD)) {
        // Each erased page is told by its address.
        assert!(line.starts_with("events\t") && line.contains("kind: Erased"), "{line}");
    }
    let is_left = |record: &&String| record.contains(WORD) || record.contains("a.example");
    assert_eq!(archived(&bench.crawler).iter().find(is_left), None);
    bench.run_for(&web, Span::from_days(2));
    assert!(bench.asked.iter().all(|(at, asked)| !asked.contains("a.example") || *at < bench.now - Span::from_days(2)));
    let totals = bench.crawler.reader().totals();
    assert_eq!(totals.waiting, 0);
    assert!(totals.held >= 3, "the other site is held");
    let seeds: Vec<String> = bench.crawler.reader().seeds().unwrap().iter().map(|seed| seed.url.to_string()).collect();
    assert_eq!(seeds, ["http://b.example/"]);
}

#[test]
fn a_forgotten_seed_is_refused_by_its_entry_until_that_is_taken_back() {
    let mut bench = crawled(2);
    forget(&mut bench, vec![page(SECRET)]);
    let add = |bench: &mut Bench| bench.crawler.act(Act::AddSeeds(vec![seed(SECRET)]), bench.now).unwrap();
    assert_eq!(add(&mut bench), Acted::ForgottenSeed(url(SECRET), 1));
    assert_eq!(bench.crawler.act(Act::LiftForgotten(7), bench.now).unwrap(), Acted::NotForgotten(7));
    let Acted::Lifted(row) = bench.crawler.act(Act::LiftForgotten(1), bench.now).unwrap() else { panic!("not lifted") };
    assert!(row.lifted.is_some() && row.is_erased);
    assert_eq!(bench.crawler.act(Act::LiftForgotten(1), bench.now).unwrap(), Acted::NotForgotten(1));
    bench.run_for(&web(30), Span::from_days(2));
    let back = bench.page(SECRET).expect("links lead to it again");
    assert_eq!(back.version.map(|version| version.number), Some(1), "its history is gone for good");
    let known = bench.crawler.core.work.key_of(&url(SECRET)).unwrap().unwrap();
    assert_eq!(known.state, KnownState::Visited);
}

#[test]
fn a_url_that_nobody_knows_is_barred_all_the_same() {
    let mut bench = Bench::seeded(unhindered(), &[OTHER]);
    assert_eq!(forget(&mut bench, vec![page(SECRET)]), ErasedCounts::default());
    bench.run_for(&web(1), Span::from_days(2));
    assert!(bench.page(ROOT).is_some() && bench.page(SECRET).is_none());
    assert_eq!(bench.times_asked(SECRET), 0);
}

#[test]
fn trying_it_out_changes_nothing_and_tells_as_much_as_the_deed() {
    let mut bench = crawled(4);
    let before = dump(&bench.crawler);
    let rules = vec![ForgetRule::prefix("http://a.example/s").unwrap()];
    let word = ForgetWord { rules: rules.clone(), reason: String::new(), dry_run: true };
    let Acted::WouldForget { counts, .. } = bench.crawler.act(Act::Forget(word), bench.now).unwrap() else { panic!() };
    assert_eq!(dump(&bench.crawler), before);
    assert_eq!(forget(&mut bench, rules.clone()), counts);
    assert_eq!(forget(&mut bench, rules), ErasedCounts::default(), "twice is once");
    assert_eq!(bench.crawler.reader().forgotten().unwrap().len(), 1);
    assert_eq!(bench.crawler.reader().forgotten().unwrap()[0].erased, counts);
}

#[test]
fn what_a_process_left_to_be_erased_the_next_one_erases() {
    let mut bench = crawled(2);
    bench.crawler.step(bench.now).unwrap();
    let rule = ForgetRule::Site(Site::new("a.example"));
    let core = &mut bench.crawler.core;
    let row = vernal_model::ForgottenRow {
        id: 1,
        rule,
        moment: Moment::EPOCH,
        reason: "".into(),
        erased: ErasedCounts::default(),
        is_erased: false,
        lifted: None,
    };
    core.work.push(crate::work::WHOLE, vernal_model::Deed::Forgot(Box::new(row)));
    let mut bench = bench.reopened();
    bench.run_for(&web(1), Span::from_secs(60));
    assert!(bench.page(ROOT).is_none() && bench.page(SECRET).is_none());
    assert!(bench.crawler.reader().forgotten().unwrap()[0].is_erased);
    assert_eq!(bench.crawler.reader().totals().held, 0);
}

#[test]
fn what_redirects_to_a_forgotten_page_does_not_bring_it_back() {
    let mut bench = crawled(2);
    forget(&mut bench, vec![page(SECRET)]);
    let mut web = web(3);
    let to = Some(url("https://a.example/secret?of=jane"));
    web.answers(OTHER, Outcome::Moved { status: 301, to, permanent: true });
    bench.run_for(&web, Span::from_days(3));
    assert_eq!(bench.page("https://a.example/secret?of=jane"), None);
    assert_eq!(bench.times_asked("https://a.example/secret?of=jane"), 0);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]
    #[test]
    fn what_is_left_is_what_no_rule_covers(chosen in prop::collection::vec(any::<bool>(), 8)) {
        let mut bench = Bench::seeded(unhindered(), &["http://c.example/"]);
        let web = Web::of_sites(&["c.example"], 8);
        bench.run_for(&web, Span::from_days(1));
        bench.commit();
        let pages: Vec<_> = bench.crawler.reader().pages(None, 100).unwrap();
        let (gone, stay): (Vec<_>, Vec<_>) =
            pages.into_iter().zip(chosen.into_iter().chain(std::iter::repeat(false))).partition(|(_, is_chosen)| *is_chosen);
        let before: Vec<String> = stay.iter().map(|(page, _)| told(&bench, page.url.as_str())).collect();
        let rules = gone.iter().map(|(page, _)| ForgetRule::Page(page.url.clone())).collect();
        forget(&mut bench, rules);
        for (page, _) in &gone {
            prop_assert_eq!(bench.page(page.url.as_str()), None);
        }
        let after: Vec<String> = stay.iter().map(|(page, _)| told(&bench, page.url.as_str())).collect();
        prop_assert_eq!(before, after);
        prop_assert_eq!(bench.crawler.reader().totals().held, stay.len() as u64);
        let report = vernal_repository::bodies::verify(bench.crawler.reader().dir(), &mut |_, _| {}).unwrap();
        prop_assert!(report.is_sound(), "{:?}", report.faults);
        bench.run_for(&web, Span::from_days(1));
        for (page, _) in &gone {
            prop_assert_eq!(bench.page(page.url.as_str()), None);
        }
    }
}
