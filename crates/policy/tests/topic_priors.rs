//! Topics as a level of pooling: what the default policy expects of a site of which it has seen nothing.

#![allow(clippy::unwrap_used, reason = "the helpers of tests fail as tests do")]

use vernal_model::{Chance, Moment, PageKey, Partition, PolicyState, Span, TopicId, TopicOf};
use vernal_policy::{Held, Refresh, Seen, TopicRates, View, by_name};

const FAST: TopicId = TopicId(1);
const SLOW: TopicId = TopicId(2);
const PAGES_PER_SITE: u32 = 5;

struct Day;

impl View for Day {
    fn visits_left(&self) -> usize {
        40
    }

    fn has_room(&self, _: PageKey) -> bool {
        true
    }

    fn refresh_min(&self) -> Span {
        Span::from_hours(1)
    }

    fn held(&self) -> u64 {
        100
    }

    fn per_day(&self) -> f64 {
        40.0
    }
}

fn day(day: u32) -> Moment {
    Moment::from_secs(1_777_593_600) + Span::from_days(u64::from(day))
}

fn key(number: u32) -> PageKey {
    PageKey::new(Partition(0), number)
}

fn take_up(policy: &mut dyn Refresh, number: u32, now: Moment, state: &PolicyState) {
    policy.recall(&Held::new(key(number), number / PAGES_PER_SITE, now, state));
}

fn told(policy: &mut dyn Refresh, number: u32, topic: TopicId) {
    policy.topical().unwrap().topics(key(number), &[TopicOf { topic, reputation: 1.0 }]);
}

/// Sites 0 to 7: pages of even ones change daily, those of odd ones never. Watched for so many days.
fn taught(topics: bool, days: u32) -> (Box<dyn Refresh>, Vec<PolicyState>, Vec<PageKey>) {
    let mut policy = by_name("vernal").unwrap();
    let mut states = vec![PolicyState::default(); 8 * PAGES_PER_SITE as usize];
    for number in 0..8 * PAGES_PER_SITE {
        take_up(&mut *policy, number, day(0), &PolicyState::default());
        if topics {
            told(&mut *policy, number, topic_of(number));
        }
    }
    let (mut chance, mut chosen) = (Chance::new(1), Vec::new());
    let mut last = vec![day(0); states.len()];
    for today in 1..=days {
        for page in policy.choose(&Day, day(today), &mut chance) {
            let at = page.number as usize;
            states[at] = policy.learn(&seen(page, today, last[at]));
            last[at] = day(today);
            chosen.push(page);
        }
    }
    (policy, states, chosen)
}

/// Pages of the fast topic have changed at every visit, others never.
fn seen(page: PageKey, today: u32, previous: Moment) -> Seen {
    Seen {
        page,
        moment: day(today),
        previous: Some(previous),
        changed: Some(topic_of(page.number) == FAST),
        degree: 0.0,
        last_modified: None,
        wire_bytes: 0,
    }
}

fn topic_of(number: u32) -> TopicId {
    if (number / PAGES_PER_SITE).is_multiple_of(2) { FAST } else { SLOW }
}

/// Changes a day that are expected of a page before it was ever compared, and whence.
fn prior(policy: &dyn Refresh, number: u32) -> (f64, String) {
    let reasons = policy.why(key(number), day(100));
    let text = reasons.into_iter().find(|(name, _)| name == "prior").unwrap().1;
    (text.split(' ').next().unwrap().parse().unwrap(), text)
}

#[test]
fn a_new_site_of_a_fast_topic_is_expected_to_change_sooner_than_one_of_a_slow_topic() {
    let (mut policy, _, _) = taught(true, 20);
    for (number, topic) in [(40, Some(FAST)), (45, Some(SLOW)), (50, None)] {
        take_up(&mut *policy, number, day(20), &PolicyState::default());
        topic.into_iter().for_each(|topic| told(&mut *policy, number, topic));
    }
    let [(fast, whence), (slow, _), (none, of_all)] = [40, 45, 50].map(|number| prior(&*policy, number));
    assert!(fast > 2.0 * none && slow < none / 2.0, "{fast} {none} {slow}");
    assert!(whence.ends_with("of its site's topics") && of_all.ends_with("of all pages"), "{whence}, {of_all}");
    let seen = policy.topical().unwrap().topic_rates().into_iter().find(|rates| rates.topic == FAST).unwrap().sums;
    assert!(fast < seen.weighted / seen.weight, "it leans towards all: {fast} of {seen:?}");
}

#[test]
fn a_topic_that_nobody_has_seen_says_nothing() {
    let (mut policy, _, _) = taught(true, 20);
    for (number, topic) in [(40, Some(TopicId(9))), (45, None)] {
        take_up(&mut *policy, number, day(20), &PolicyState::default());
        topic.into_iter().for_each(|topic| told(&mut *policy, number, topic));
    }
    assert_eq!(prior(&*policy, 40).0, prior(&*policy, 45).0);
}

#[test]
fn what_one_partition_has_seen_of_a_topic_another_expects() {
    let (mut taught, _, _) = taught(true, 20);
    let mut other = by_name("vernal").unwrap();
    for (number, topic) in [(0, FAST), (5, SLOW)] {
        take_up(&mut *other, number, day(20), &PolicyState::default());
        told(&mut *other, number, topic);
    }
    assert_eq!(prior(&*other, 0).0, prior(&*other, 5).0);
    let rates: Vec<TopicRates> = taught.topical().unwrap().topic_rates();
    assert_eq!(rates.iter().map(|rates| rates.topic).collect::<Vec<_>>(), [FAST, SLOW]);
    other.topical().unwrap().hear_topic_rates(&rates);
    assert!(prior(&*other, 0).0 > 4.0 * prior(&*other, 5).0, "{:?} {:?}", prior(&*other, 0), prior(&*other, 5));
    // Hearing the same again adds nothing.
    let before = prior(&*other, 0);
    other.topical().unwrap().hear_topic_rates(&rates);
    assert_eq!(prior(&*other, 0), before);
}

#[test]
fn sums_are_those_of_the_pages_that_are_known_however_they_came_and_went() {
    let (mut policy, states, _) = taught(true, 20);
    let mut anew = by_name("vernal").unwrap();
    // Topics before states, states before topics, taken up twice, in a topic that it is not in any more.
    for number in (0..8 * PAGES_PER_SITE).rev() {
        take_up(&mut *anew, number, day(20), &PolicyState::default());
        told(&mut *anew, number, SLOW);
        told(&mut *anew, number, topic_of(number));
        take_up(&mut *anew, number, day(20), &states[number as usize]);
    }
    take_up(&mut *anew, 60, day(20), &states[0]);
    told(&mut *anew, 60, FAST);
    anew.forget(key(60));
    for (one, other) in policy.topical().unwrap().topic_rates().iter().zip(anew.topical().unwrap().topic_rates()) {
        assert_eq!((one.topic, one.sums.weight), (other.topic, other.sums.weight));
        assert!((one.sums.weighted - other.sums.weighted).abs() < 1e-4, "{one:?} {other:?}");
    }
}

#[test]
fn without_topics_every_choice_is_as_it_was() {
    let (_, states, chosen) = taught(false, 30);
    let mut policy = taught(false, 0).0;
    // Nobody has told anything; what others tell concerns nobody here.
    let sums = vernal_policy::RateSums { weighted: 50.0, weight: 9.0 };
    policy.topical().unwrap().hear_topic_rates(&[TopicRates { topic: FAST, sums }]);
    let (mut chance, mut again) = (Chance::new(1), Vec::new());
    let mut last = vec![day(0); states.len()];
    for today in 1..=30 {
        for page in policy.choose(&Day, day(today), &mut chance) {
            let at = page.number as usize;
            policy.topical().unwrap().topics(page, &[]);
            policy.learn(&seen(page, today, last[at]));
            last[at] = day(today);
            again.push(page);
        }
    }
    assert_eq!(again, chosen);
    assert!(policy.topical().unwrap().topic_rates().is_empty());
}
