//! Topics in the ring: passes over what was crawled, held against Algorithm 1 as it is printed.

#![allow(clippy::unwrap_used, reason = "the helpers of tests fail as tests do")]

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;

use vernal_crawler::topics::TopicWork;
use vernal_crawler::{Act, Crawler, Settings};
use vernal_model::{
    Fingerprint, LinkKind, Moment, PageKey, PageState, Rel, Seed, Span, TopicId, TopicOf, TopicRow, Url,
};
use vernal_policy::topic::{Graph, Reckoning, TOPICS_OF_A_PAGE, Workspace, by_pushes, by_sweeps};
use vernal_repository::{Reader, Repository};
use vernal_simulator::trial::{StopReason, Trial};
use vernal_simulator::web::{Shares, Web, WebSettings};

const STEPS_MAX: usize = 2_000_000;

fn settings() -> Settings {
    Settings { once: true, concurrency: 32, topics_every: Some(Span::from_days(30)), ..Settings::default() }
}

fn opened(dir: &Path, settings: Settings, now: Moment) -> Crawler {
    let fixed = vernal_repository::Settings { id: Some(7), ..vernal_repository::Settings::default() };
    let (repository, _) = Repository::open(dir, fixed, now).unwrap();
    Crawler::open(repository, settings, now).unwrap()
}

/// Everything that webs have but traps: what is learned of sessions changes the links of pages that are read afterwards.
fn still_web(chance: u64) -> Web {
    let share = Shares { trap_sites: 0.0, ..Shares::realistic() };
    Web::new(WebSettings { chance, share, ..WebSettings::realistic(4, 60) }.still()).unwrap()
}

fn start_of(web: &Web) -> Moment {
    web.settings().origin + Span::from_days(1)
}

fn seeded(web: &Web, dir: &Path, settings: Settings) -> Crawler {
    let now = start_of(web);
    let mut crawler = opened(dir, settings, now);
    let root = |site| Seed::new(Url::parse(&format!("{}/", web.root(site))).unwrap(), now);
    crawler.act(Act::AddSeeds((0..web.sites()).map(root).collect()), now).unwrap();
    crawler
}

type Topics = BTreeMap<PageKey, Vec<TopicOf>>;

fn topics(reader: &Reader) -> (Topics, BTreeMap<TopicId, TopicRow>) {
    let pages = reader.categorised().map(Result::unwrap).collect();
    (pages, reader.topics().map(|row| row.unwrap()).map(|row| (row.id, row)).collect())
}

fn crawled(web: &Web, dir: &Path, settings: Settings) -> Reader {
    let mut trial = Trial::new(web, seeded(web, dir, settings), start_of(web), 1);
    assert_eq!(trial.run_until_idle(STEPS_MAX).unwrap(), StopReason::Idle);
    trial.crawler().reader()
}

/// The reputations of all pages on a topic, and what pushes may lack of them in all.
type Truth = BTreeMap<TopicId, (Vec<f64>, f64)>;

/// The held pages with their numbers, their links, and who has which word by the rows.
fn reckoned_by_hand(reader: &Reader, rows: &BTreeMap<TopicId, TopicRow>) -> (Vec<PageKey>, Truth) {
    let held: Vec<_> = reader.held_pages().map(Result::unwrap).collect();
    let numbers: HashMap<Fingerprint, u32> =
        held.iter().enumerate().map(|(at, page)| (page.url.fingerprint(), at as u32)).collect();
    let by_word: HashMap<&str, TopicId> = rows.values().map(|row| (&*row.word, row.id)).collect();
    let mut graph = Graph::new();
    let mut holders: BTreeMap<TopicId, BTreeSet<u32>> = BTreeMap::new();
    let mut said: BTreeMap<(u32, TopicId), u32> = BTreeMap::new();
    for (at, page) in held.iter().enumerate() {
        let followed = |kind: LinkKind, rel: Rel| {
            !rel.contains(Rel::NOFOLLOW)
                && matches!(
                    kind,
                    LinkKind::Anchor | LinkKind::Frame | LinkKind::Redirect | LinkKind::Canonical | LinkKind::Alternate
                )
        };
        let links = reader.document(page.key).unwrap().map(|row| row.links).unwrap_or_default();
        let targets: BTreeSet<_> =
            links.iter().filter(|link| followed(link.kind, link.rel)).map(|link| link.target).collect();
        let held: Vec<u32> = targets.iter().filter_map(|target| numbers.get(target).copied()).collect();
        graph.push(&held, targets.len() as u32);
        let terms = reader.terms(page.key).unwrap().expect("every held page has its words");
        assert_eq!(terms.version, page.version.unwrap().number);
        for topic in terms.words.iter().filter_map(|word| by_word.get(&**word)) {
            holders.entry(*topic).or_default().insert(at as u32);
        }
        for anchor in &terms.anchors {
            let Some(&target) = numbers.get(&anchor.target) else { continue };
            for topic in anchor.words.iter().filter_map(|word| by_word.get(&**word)) {
                *said.entry((target, *topic)).or_default() += 1;
            }
        }
    }
    let mut by_page: BTreeMap<u32, Vec<(u32, &str, TopicId)>> = BTreeMap::new();
    for ((page, topic), count) in said {
        by_page.entry(page).or_default().push((u32::MAX - count, &rows[&topic].word, topic));
    }
    for (page, mut words) in by_page {
        words.sort();
        for (_, _, topic) in words.into_iter().take(8) {
            holders.entry(topic).or_default().insert(page);
        }
    }
    let exact = Reckoning { tolerance: 1e-9, ..Reckoning::default() };
    let column = |(topic, pages): (TopicId, BTreeSet<u32>)| {
        assert_eq!(rows[&topic].holders as usize, pages.len(), "N_t of {}", rows[&topic].word);
        let pages: Vec<u32> = pages.into_iter().collect();
        let column = by_sweeps(&graph, &pages, exact);
        let rough =
            by_pushes(&graph, &pages, Reckoning::default().for_pages(held.len()), &mut Workspace::new(held.len()));
        (topic, ((0..held.len() as u32).map(|page| column.of(page)).collect(), rough.missing))
    };
    (held.iter().map(|page| page.key).collect(), holders.into_iter().map(column).collect())
}

/// d and the topics per page are parameters of the policies that sample by topic.
#[test]
fn a_policy_says_how_many_topics_a_page_has_and_how_far_links_carry_them() {
    let web = still_web(1);
    let of = |policy: &str| {
        let folder = tempfile::tempdir().unwrap();
        topics(&crawled(&web, folder.path(), Settings { policy: policy.into(), ..settings() })).0
    };
    let most = |pages: &Topics| pages.values().map(Vec::len).max().unwrap();
    let best = |pages: &Topics| pages.values().filter_map(|of| Some(f64::from(of.first()?.reputation))).sum::<f64>();
    let (plain, few, jumping) = (of("correlated"), of("correlated:topics=2"), of("correlated:topics=2,d=0.9"));
    assert_eq!((most(&plain), most(&few)), (TOPICS_OF_A_PAGE, 2));
    assert!(few.iter().all(|(page, of)| plain[page].starts_with(of)), "the best of them");
    assert!((best(&jumping) - best(&few)).abs() > 0.1 * best(&few), "{} {}", best(&jumping), best(&few));
}

#[test]
fn a_pass_gives_pages_the_topics_that_algorithm_1_gives_them() {
    let (web, folder) = (still_web(1), tempfile::tempdir().unwrap());
    let reader = crawled(&web, folder.path(), settings());
    let (pages, rows) = topics(&reader);
    let mark = reader.topic_mark().unwrap();
    assert_eq!((mark.passes, mark.pages as usize), (1, pages.len()));
    assert!(pages.len() > 100 && rows.len() > 20, "{} pages, {} topics", pages.len(), rows.len());
    let (keys, truth) = reckoned_by_hand(&reader, &rows);
    let (mut off, mut all_of_them) = (0.0, 0.0);
    for (number, key) in keys.iter().enumerate() {
        let ours = pages.get(key).map_or(&[][..], Vec::as_slice);
        let all = truth.values().filter(|(column, _)| column[number] > 0.0).count();
        assert!(ours.len() <= all.min(TOPICS_OF_A_PAGE), "{key}");
        assert!(ours.is_sorted_by(|one, other| one.reputation >= other.reputation), "{key}");
        for of in ours {
            let (column, missing) = &truth[&of.topic];
            let (reputation, exact) = (f64::from(of.reputation), column[number]);
            assert!(
                reputation <= exact + 1e-6 && reputation + missing >= exact - 1e-6,
                "{key} {of:?} {exact} {missing}"
            );
            (off, all_of_them) = (off + (exact - reputation) / exact, all_of_them + 1.0);
        }
    }
    // A page with very many links into it lacks some of what each of them holds back; few pages are such.
    assert!(off / all_of_them < 0.1, "in the mean {} of a reputation is lacking", off / all_of_them);
    let counted: u32 = rows.values().map(|row| row.pages).sum();
    assert_eq!(counted as usize, pages.values().map(Vec::len).sum::<usize>());
}

fn dump(reader: &Reader) -> String {
    let mut bytes = Vec::new();
    reader.dump(&mut bytes).unwrap();
    String::from_utf8(bytes).unwrap()
}

#[test]
fn the_same_chance_number_gives_the_same_topics() {
    let web = still_web(2);
    let run = || {
        let folder = tempfile::tempdir().unwrap();
        dump(&crawled(&web, folder.path(), Settings { policy: "correlated".into(), ..settings() }))
    };
    let (one, two) = (run(), run());
    assert!(one.contains("page_topics\t"));
    assert!(one == two, "two trials differ");
}

/// Words that were read from the kept bodies are those that were read when the pages came.
#[test]
fn topics_that_are_wanted_later_are_those_that_were_wanted_at_once() {
    let (web, folder, other) = (still_web(3), tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let at_once = topics(&crawled(&web, folder.path(), settings()));
    drop(crawled(&web, other.path(), Settings { topics_every: None, ..settings() }));
    let now = start_of(&web) + Span::from_days(1);
    let mut trial = Trial::new(&web, opened(other.path(), settings(), now), now, 1);
    assert_eq!(trial.run_until_idle(STEPS_MAX).unwrap(), StopReason::Idle);
    let later = topics(&trial.crawler().reader());
    assert!(at_once.0 == later.0, "pages have other topics");
    let words = |rows: &BTreeMap<TopicId, TopicRow>| rows.values().map(|row| row.word.clone()).collect::<Vec<_>>();
    assert!(words(&at_once.1) == words(&later.1), "there are other topics");
}

/// A process that makes so many turns of a pass and dies; what it did, and whether the pass ended.
fn life(dir: &Path, settings: &Settings, now: Moment, turns: usize) -> (TopicWork, bool) {
    // No order leaves: a step is a turn of the pass alone.
    let mut crawler = opened(dir, Settings { visits_max: Some(0), ..settings.clone() }, now);
    let has_ended = (0..turns).any(|_| {
        crawler.step(now).unwrap();
        crawler.reader().topic_mark().unwrap().passes > 0
    });
    (crawler.topic_work(), has_ended)
}

#[test]
fn a_pass_that_is_cut_at_every_turn_finds_what_one_finds_that_is_not_and_does_nothing_twice() {
    let web = still_web(4);
    let folders = [(); 3].map(|()| tempfile::tempdir().unwrap());
    for folder in &folders {
        drop(crawled(&web, folder.path(), Settings { topics_every: None, ..settings() }));
    }
    let [whole, cut, torn] = [0, 1, 2].map(|at: usize| folders[at].path());
    let (now, settings) = (start_of(&web) + Span::from_days(1), Settings { pass_piece_pages: 1, ..settings() });
    // Every opening is a deed of its own, so that the counts of deeds differ; nothing else does.
    let dump = |dir: &Path| {
        let dump = dump(&opened(dir, settings.clone(), now).reader());
        dump.lines().filter(|line| !line.starts_with("state\t")).map(str::to_owned).collect::<Vec<_>>()
    };
    let (at_once, has_ended) = life(whole, &settings, now, usize::MAX);
    assert!(has_ended && at_once.bodies > 100 && at_once.columns > 100 && at_once.categorised > 100, "{at_once:?}");
    assert_eq!((at_once.counted, at_once.gathered), (at_once.bodies, at_once.bodies));
    let expected = dump(whole);
    assert!(expected.iter().any(|line| line.starts_with("page_topics\t")));

    let (mut all, mut lives) = (TopicWork::default(), 0);
    loop {
        // Whoever writes has to live as long as that takes: three turns here.
        let (work, has_ended) = life(cut, &settings, now, 3);
        lives += 1;
        all += work;
        if has_ended {
            break;
        }
    }
    assert!(lives > 3, "it was cut {lives} times");
    assert_eq!(all, at_once, "what was done was not done again");
    assert!(dump(cut) == expected, "the tables differ");

    // Whatever is left of a pass may be torn: it begins anew, and ends the same.
    let mut lives = 0;
    while !life(torn, &settings, now, 2 + lives).1 {
        lives += 1;
        let path = torn.join("passes").join(["topics", "topics-gathered"][lives % 2]);
        if let Ok(bytes) = std::fs::read(&path) {
            std::fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
        }
    }
    assert!(lives > 2, "it was torn {lives} times");
    assert!(dump(torn) == expected, "the tables differ");
}

/// After a pass a page that is read has topics at once, and one that is gone has none; a later pass finds the rest.
#[test]
fn pages_that_come_and_go_after_a_pass_have_their_topics_at_once() {
    let web = Web::new(WebSettings { chance: 5, ..WebSettings::realistic(4, 60) }).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let settings = Settings {
        once: false,
        topics_every: Some(Span::from_days(60)),
        pages_max: 120,
        delay: Span::from_millis(10),
        ..settings()
    };
    let start = start_of(&web);
    let mut trial = Trial::new(&web, seeded(&web, folder.path(), settings.clone()), start, 1);
    trial.run_until(start + Span::from_hours(2)).unwrap();
    let passes = |reader: &Reader| reader.topic_mark().unwrap().passes;
    assert_eq!(passes(&trial.crawler().reader()), 1);
    let before: BTreeSet<PageKey> = trial.crawler().reader().held_pages().map(|page| page.unwrap().key).collect();
    trial.close().unwrap();

    let more = Settings { pages_max: 400, ..settings };
    let now = start + Span::from_hours(3);
    let mut trial = Trial::new(&web, opened(folder.path(), more, now), now, 2);
    trial.run_until(now + Span::from_days(20)).unwrap();
    let reader = trial.crawler().reader();
    assert_eq!(passes(&reader), 1, "no pass came in between");
    let (pages, _) = topics(&reader);
    let held: Vec<_> = reader.held_pages().map(Result::unwrap).collect();
    let new: Vec<_> = held.iter().filter(|page| !before.contains(&page.key)).collect();
    let with_topics = new.iter().filter(|page| pages.contains_key(&page.key)).count();
    assert!(new.len() > 20 && with_topics * 10 > new.len() * 8, "{with_topics} of {} new pages", new.len());
    for page in reader.pages(None, usize::MAX).unwrap() {
        assert!(page.state == PageState::Held || !pages.contains_key(&page.key), "{} is {:?}", page.url, page.state);
    }
    trial.run_until(start + Span::from_days(61)).unwrap();
    assert_eq!(passes(&trial.crawler().reader()), 2);
}
