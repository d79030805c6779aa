//! The policy `correlated` with real topics: across sites, overlapping, changing, and judged over several partitions.

#![allow(clippy::unwrap_used, reason = "the helpers of tests fail as tests do")]

use vernal_model::{Chance, Moment, PageKey, Partition, PolicyState, Span, TopicId, TopicOf};
use vernal_policy::{Held, OneCycle, Refresh, Seen, by_name};

/// One cycle: pages with a site, topics, and whether they have changed.
#[derive(Clone)]
struct Web {
    pages: Vec<(u32, Vec<u32>, bool)>,
    downloads: usize,
}

impl Web {
    fn view(&self) -> OneCycle {
        OneCycle { pages: self.pages.len(), downloads: self.downloads }
    }
}

fn key(number: usize) -> PageKey {
    PageKey::new(Partition(0), number as u32)
}

fn topics(of: &[u32]) -> Vec<TopicOf> {
    of.iter().enumerate().map(|(at, &id)| TopicOf { topic: TopicId(id), reputation: 1.0 / (at + 1) as f32 }).collect()
}

fn recall(policy: &mut dyn Refresh, number: usize, site: u32, path: u32) {
    policy.recall(&Held { path, ..Held::new(key(number), site, Moment::EPOCH, &PolicyState::default()) });
}

fn started(name: &str, web: &Web) -> Box<dyn Refresh> {
    let mut policy = by_name(name).unwrap();
    for (number, (site, of, _)) in web.pages.iter().enumerate() {
        recall(policy.as_mut(), number, *site, 0);
        policy.topical().unwrap().topics(key(number), &topics(of));
    }
    policy
}

fn learn(policy: &mut dyn Refresh, page: PageKey, now: Moment, changed: bool) {
    policy.learn(&Seen {
        page,
        moment: now,
        previous: Some(Moment::EPOCH),
        changed: Some(changed),
        degree: 0.5,
        last_modified: None,
        wire_bytes: 1,
    });
}

fn week(number: u64) -> Moment {
    Moment::from_secs(0) + Span::from_days(7 * (100 + number))
}

fn change_ratio(name: &str, web: &Web, chance: u64) -> f64 {
    let mut policy = started(name, web);
    let mut changes = 0;
    for visit in 0..web.downloads {
        let now = week(chance) + Span::from_secs(1 + visit as u64);
        let [page] = policy.choose(&web.view(), now, &mut Chance::new(chance))[..] else { panic!("{name} stopped") };
        let changed = web.pages[page.number as usize].2;
        changes += u32::from(changed);
        learn(policy.as_mut(), page, now, changed);
    }
    f64::from(changes) / web.downloads as f64
}

fn mean(name: &str, web: &Web) -> f64 {
    (0..60).map(|chance| change_ratio(name, web, chance)).sum::<f64>() / 60.0
}

/// Seed 001, 2.3, with topics that reach over both sites.
fn example() -> Web {
    let changes = [[20, 20, 20, 10, 0], [20, 10, 0, 0, 0]];
    let mut pages = Vec::new();
    for (site, row) in changes.iter().enumerate() {
        for (topic, &changed) in row.iter().enumerate() {
            pages.extend((0..20).map(|number| (site as u32, vec![topic as u32], number < changed)));
        }
    }
    Web { pages, downloads: 100 }
}

#[test]
fn topics_across_sites_find_0_77_where_sites_find_0_66() {
    let web = example();
    let (site, topic, path) = (mean("greedy", &web), mean("correlated", &web), mean("correlated:path", &web));
    assert!((site - 0.66).abs() < 0.04, "by site {site}");
    assert!((topic - 0.77).abs() < 0.04, "by topic {topic}");
    assert!((path - site).abs() < 0.05, "one path for each site is the site: {path}");
}

/// What a cycle tells of itself is what it did.
#[test]
fn a_cycle_tells_its_quota_its_samples_and_what_they_found() {
    let web = example();
    let mut policy = started("greedy", &web);
    let told = |policy: &dyn Refresh| policy.sampled().unwrap().cycle();
    assert_eq!(told(policy.as_ref()), None, "the first has not begun");
    let mut found = 0;
    for visit in 0..web.downloads {
        let now = week(1) + Span::from_secs(1 + visit as u64);
        let [page] = policy.choose(&web.view(), now, &mut Chance::new(1))[..] else { panic!("stopped") };
        let changed = web.pages[page.number as usize].2;
        found += u64::from(changed);
        learn(policy.as_mut(), page, now, changed);
    }
    let cycle = told(policy.as_ref()).unwrap();
    assert!(cycle.begins <= week(1) && week(1) < cycle.ends);
    assert_eq!((cycle.groups, cycle.pages, cycle.sampled + cycle.downloaded), (2, 200, 100));
    assert!(cycle.sampled >= cycle.quota && cycle.compared == cycle.sampled, "{cycle:?}");
    assert!(cycle.changed > 0 && cycle.changed < found, "{cycle:?}");
    let twice = cycle.plus(cycle);
    assert_eq!((twice.pages, twice.begins, twice.change_ratio()), (400, cycle.begins, cycle.change_ratio()));
    assert!(by_name("round-robin").unwrap().sampled().is_none());
}

/// Until topics are known, and for the pages that have none, `correlated` samples paths.
#[test]
fn without_topics_correlated_is_sampling_by_path() {
    let mut web = example();
    for page in &mut web.pages {
        page.1.clear();
    }
    for chance in 0..10 {
        assert_eq!(change_ratio("correlated", &web, chance), change_ratio("correlated:path", &web, chance));
    }
}

/// Algorithm 4: a page that was sampled counts in every topic it is in, so that overlapping topics need fewer samples.
#[test]
fn a_sampled_page_counts_for_every_topic_it_is_in() {
    let twice = Web { pages: (0..200).map(|n| (n % 5, vec![n % 4, 4 + n % 4], n % 4 == 0)).collect(), downloads: 100 };
    let mut policy = started("correlated", &twice);
    let now = week(1);
    let mut samples = 0;
    while policy.topical().unwrap().topic_samples().len() < 8 {
        let [page] = policy.choose(&twice.view(), now, &mut Chance::new(1))[..] else { panic!("stopped") };
        learn(policy.as_mut(), page, now, page.number % 4 == 0);
        samples += 1;
    }
    assert_eq!(samples, 4, "each visit should have answered for two topics");
    for sample in policy.topical().unwrap().topic_samples() {
        assert_eq!((sample.sampled, sample.changed), (1, u32::from(sample.topic.0 % 4 == 0)));
    }
}

/// Algorithm 4: "increase the sample size by one". What another topic sampled counts beside the quota, and spends none of it.
#[test]
fn pages_of_several_topics_come_on_top_of_the_quota() {
    let web = Web { pages: (0..60).map(|n| (n % 5, vec![1, 2], false)).collect(), downloads: 40 };
    let once = Web { pages: (0..60).map(|n| (n % 5, vec![1 + n / 30], false)).collect(), downloads: 40 };
    let samples = |web: &Web, restart: bool| {
        let mut policy = started("correlated:k=4", web);
        let now = week(1);
        let mut states = Vec::new();
        for _ in 0..web.downloads {
            let [page] = policy.choose(&web.view(), now, &mut Chance::new(1))[..] else { panic!("stopped") };
            let seen = Seen { changed: Some(false), previous: Some(Moment::EPOCH), ..Seen::new(page, now) };
            states.push((page, policy.learn(&seen)));
        }
        if restart {
            policy = started("correlated:k=4", web);
            for (page, state) in &states {
                let site = page.number % 5;
                policy.recall(&Held { last_visit: now, ..Held::new(*page, site, Moment::EPOCH, state) });
            }
            assert!(policy.choose(&web.view(), now, &mut Chance::new(1)).len() == 1);
        }
        policy.topical().unwrap().topic_samples().iter().map(|sample| sample.sampled).collect::<Vec<_>>()
    };
    assert_eq!(samples(&once, false), [4, 4]);
    assert_eq!(samples(&web, false), [8, 8], "four of its own, and the four of the other topic");
    assert_eq!(samples(&web, true), [8, 8], "which topic drew a page is kept");
}

/// A page that changes its topics in the middle of a cycle counts where it is now, and nowhere twice.
#[test]
fn counts_follow_a_page_from_topic_to_topic() {
    let web = Web { pages: (0..40).map(|n| (0, vec![n % 2], false)).collect(), downloads: 20 };
    let mut policy = started("correlated", &web);
    let now = week(2);
    let [page] = policy.choose(&web.view(), now, &mut Chance::new(1))[..] else { panic!("stopped") };
    learn(policy.as_mut(), page, now, true);
    let before = policy.topical().unwrap().topic_samples();
    assert_eq!((before.len(), before[0].changed), (1, 1));
    policy.topical().unwrap().topics(page, &topics(&[9, 8, 7]));
    let told = |policy: &mut dyn Refresh| {
        policy.topical().unwrap().topic_samples().iter().map(|sample| sample.topic.0).collect::<Vec<_>>()
    };
    assert_eq!(told(policy.as_mut()), [9, 8, 7]);
    policy.topical().unwrap().topics(page, &[]);
    assert!(told(policy.as_mut()).is_empty());
    policy.topical().unwrap().topics(page, &topics(&[1]));
    policy.forget(page);
    assert!(policy.topical().unwrap().topic_samples().is_empty());
    assert!(policy.why(page, now).is_empty());
}

/// What other partitions found in a topic decides here too.
#[test]
fn partitions_judge_topics_together() {
    let web = Web { pages: (0..100).map(|n| (n % 3, vec![n % 2], false)).collect(), downloads: 50 };
    let mut policy = started("correlated", &web);
    let now = week(3);
    for _ in 0..12 {
        let [page] = policy.choose(&web.view(), now, &mut Chance::new(1))[..] else { panic!("stopped") };
        learn(policy.as_mut(), page, now, false);
    }
    let mut all = policy.topical().unwrap().topic_samples();
    for sample in &mut all {
        (sample.sampled, sample.changed) = (sample.sampled + 10, if sample.topic.0 == 1 { 9 } else { 0 });
    }
    policy.topical().unwrap().hear_topic_samples(&all);
    for _ in 0..10 {
        let [page] = policy.choose(&web.view(), now, &mut Chance::new(1))[..] else { panic!("stopped") };
        assert_eq!(page.number % 2, 1, "the topic that changes elsewhere comes first");
        learn(policy.as_mut(), page, now, false);
    }
}

/// With authority, the pages of the best reputation are sampled first.
#[test]
fn authority_samples_the_pages_of_the_best_reputation_first() {
    let web = Web { pages: (0..100).map(|_| (0, vec![1], false)).collect(), downloads: 50 };
    let mut firsts = 0;
    for chance in 0..40 {
        let mut policy = started("correlated:authority", &web);
        for number in 0..10 {
            policy.topical().unwrap().topics(key(number), &[TopicOf { topic: TopicId(1), reputation: 100.0 }]);
        }
        let [page] = policy.choose(&web.view(), week(chance), &mut Chance::new(chance))[..] else { panic!("stopped") };
        firsts += u32::from(page.number < 10);
    }
    assert!(firsts >= 30, "{firsts} of 40");
}
