//! Laws of the policies by value as a whole.

use proptest::prelude::*;
use vernal_model::{Chance, Moment, PageKey, Partition, PolicyState, Span};

use super::model::Model;
use super::policy::ByValue;
use super::sites::SECTION_PAGES_MIN;
use crate::{Held, Hinted, Refresh, Seen, TestView, Valued, Weighable};

fn key(number: u32) -> PageKey {
    PageKey::new(Partition(0), number)
}

const SITES: u32 = 10;
const PAGES: u32 = 40;
const LIVELY: f32 = 1.0;
const QUIET: f32 = 8.0;

fn day(day: u32) -> Moment {
    Moment::from_secs(1_700_000_000) + Span::from_days(u64::from(day))
}

/// Sites that differ only in how many of their pages are important.
fn is_quiet(number: u32) -> bool {
    let (site, within) = (number / PAGES, number % PAGES);
    within < 4 * (site + 1) - 2
}

fn recall_weighing(policy: &mut ByValue, number: u32, importance: f32) {
    let unknown = PolicyState::default();
    policy.recall(&Held { importance, ..Held::new(key(number), number / PAGES, day(0), &unknown) });
}

fn learn(policy: &mut ByValue, number: u32, today: u32, changed: bool) {
    let (moment, changed) = (day(today), Some(changed));
    policy.learn(&Seen { changed, ..Seen::new(key(number), moment) });
}

#[test]
fn rates_that_are_a_matter_of_importance_leave_sites_alike() {
    let mut policy = ByValue::named("bayes").unwrap();
    for number in 0..SITES * PAGES {
        recall_weighing(&mut policy, number, if is_quiet(number) { QUIET } else { LIVELY });
    }
    for today in 1..=40 {
        for number in 0..SITES * PAGES {
            let every = if is_quiet(number) { 20 } else { 2 };
            learn(&mut policy, number, today, (today + number) % every == 0);
        }
    }
    let times = |number: u32| policy.model.beliefs.times_of(policy.model.pages.at(number));
    let quieter = times(0) / times(PAGES - 1);
    // One change in twenty visits against one in two is a rate of 0.051 against 0.69.
    assert!((0.04..0.15).contains(&quieter), "{quieter}");
    let means: Vec<f32> = policy.model.sites.iter().skip(1).map(|site| site.all.mean).collect();
    let (least, most) = (means.iter().copied().fold(f32::MAX, f32::min), means.iter().copied().fold(0.0, f32::max));
    // One site has two quiet pages of forty and another has thirty-eight: as they are, their rates differ eightfold.
    assert!(most / least < 2.5, "{means:?}");
    assert_eq!(policy.model.beliefs.strength.shape(), 4.0, "every page is as its bucket is");
}

#[test]
fn what_sites_count_is_what_counting_anew_gives() {
    let mut policy = ByValue::named("vernal").unwrap();
    let mut chance = Chance::new(3).stream("octaves");
    let pages = SITES * PAGES;
    let importance = |chance: &mut Chance| (10.0 * chance.share()).exp2() as f32;
    (0..pages).for_each(|number| recall_weighing(&mut policy, number, importance(&mut chance)));
    for step in 0..4_000u32 {
        let number = (chance.share() * f64::from(pages)) as u32;
        match step % 20 {
            0 => policy.weigh(key(number), importance(&mut chance)),
            1 => policy.forget(key(number)),
            2 => recall_weighing(&mut policy, number, importance(&mut chance)),
            _ => learn(&mut policy, number, 1 + step / 100, chance.happens(0.3)),
        }
    }
    assert!(policy.model.beliefs.importance.are_fitted());
    let told = |model: &Model| -> Vec<(u32, f64)> {
        model.sites.iter().map(|site| (site.all.compared, site.all.rates)).collect()
    };
    let model = &policy.model;
    let mut anew = Model::new(*model.rule());
    for number in model.pages.numbers() {
        let page = *model.pages.at(number);
        let place = anew.sites.place_of(page.site);
        let alike = f64::from(page.rate()) / model.beliefs.times_of(&page);
        let share = anew.sites.at(place).share();
        anew.sites.at_mut(place).count_rate(0, 0.0, alike as f32);
        anew.beliefs.global.count(share, anew.sites.at(place).share());
    }
    let (counted, counted_anew) = (told(model), told(&anew));
    assert!(counted.iter().any(|&(compared, _)| compared > 0));
    for (site, (compared, rates)) in (0u32..).zip(counted) {
        let place = anew.sites.place_of(site) as usize;
        let (compared_anew, rates_anew) = counted_anew.get(place).copied().unwrap_or_default();
        assert_eq!(compared, compared_anew);
        assert!((rates - rates_anew).abs() < 1e-5 * rates_anew.max(1.0), "{rates} {rates_anew}");
    }
    let ratio = model.beliefs.global.sums.weighted / anew.beliefs.global.sums.weighted;
    assert!((ratio - 1.0).abs() < 1e-5, "{ratio}");
}

#[test]
fn pages_that_cool_down_while_their_section_begins_become_eligible_in_it() {
    let pages = 2 * SECTION_PAGES_MIN;
    let (mut policy, start) = (ByValue::named("vernal").unwrap(), Moment::from_secs(1_700_000_000));
    let recall = |policy: &mut ByValue, number: u32| {
        policy.recall(&Held { path: number % 2, ..Held::new(key(number), 0, start, &PolicyState::default()) });
    };
    let choose = |policy: &mut ByValue, day: u64| {
        let view = TestView::of(pages.into(), pages as usize);
        let now = start + Span::from_hours(24 * day);
        let mut chosen = policy.choose(&view, now, &mut Chance::new(1));
        for &page in &chosen {
            policy.learn(&Seen { changed: Some(false), ..Seen::new(page, now) });
        }
        chosen.sort_unstable();
        chosen
    };
    // The last page makes both paths sections, and all others cool down by then.
    (0..pages - 1).for_each(|number| recall(&mut policy, number));
    assert_eq!(choose(&mut policy, 1).len() as u32, pages - 1);
    recall(&mut policy, pages - 1);
    let all: Vec<PageKey> = (0..pages).map(key).collect();
    assert_eq!(choose(&mut policy, 2), all);
    assert_eq!(policy.model.sites.iter().filter(|site| site.section_of > 0).count(), 2);
}

/// Sites of the pages that are acted on at random.
const FEW_SITES: u32 = 3;

#[derive(Clone, Debug)]
enum Act {
    Recall(u32, u64),
    Forget(u32),
    Weigh(u32, f32),
    Hint(u32),
    /// So many visits are chosen; each is put back, or finds a change or none.
    Choose(usize, Option<bool>),
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let page = || 0u32..40;
    let act = prop_oneof![
        8 => (page(), 0u64..90).prop_map(|(page, age)| Act::Recall(page, age)),
        1 => page().prop_map(Act::Forget),
        2 => (page(), 1u8..3).prop_map(|(page, importance)| Act::Weigh(page, importance.into())),
        1 => page().prop_map(Act::Hint),
        4 => (0usize..4, any::<Option<bool>>()).prop_map(|(visits, changed)| Act::Choose(visits, changed)),
    ];
    prop::collection::vec(act, 1..60)
}

fn recall(policy: &mut ByValue, number: u32, last_visit: Moment) {
    policy.recall(&Held {
        path: number % 2,
        ..Held::new(key(number), number % FEW_SITES, last_visit, &PolicyState::default())
    });
}

fn act(policy: &mut ByValue, act: &Act, now: Moment) {
    match *act {
        Act::Recall(number, age) => recall(policy, number, now - Span::from_hours(age)),
        Act::Forget(number) => policy.forget(key(number)),
        Act::Weigh(number, importance) => policy.weigh(key(number), importance),
        Act::Hint(number) => policy.hint(key(number), Span::from_hours(7)),
        Act::Choose(visits_left, found) => {
            let view = TestView::of(40, visits_left);
            for page in policy.choose(&view, now, &mut Chance::new(1)) {
                match found {
                    None => policy.put_back(page),
                    Some(changed) => {
                        policy.learn(&Seen { changed: Some(changed), ..Seen::new(page, now) });
                    }
                }
            }
        }
    }
}

fn waiting(policy: &ByValue) -> u32 {
    policy.queue.waiting(&policy.model)
}

proptest! {
    #[test]
    fn the_queue_holds_whatever_becomes_of_its_pages(acts in acts()) {
        for name in ["vernal", "bayes", "index"] {
            let mut policy = ByValue::named(name).unwrap();
            let mut now = Moment::from_secs(1_700_000_000);
            for one in &acts {
                act(&mut policy, one, now);
                now += Span::from_hours(1);
                policy.best(&TestView::of(40, 1), now);
                policy.queue.check(&policy.model);
            }
        }
    }

    #[test]
    fn the_order_in_which_pages_came_home_changes_no_choice(ages in prop::collection::vec(0u64..200, 1..40), turned in any::<u64>()) {
        let now = Moment::from_secs(1_700_000_000);
        let numbers: Vec<u32> = (0..ages.len() as u32).collect();
        let mut mixed = numbers.clone();
        mixed.sort_by_key(|&number| Chance::new(turned).numbered(number.into()).below(1 << 30));
        let [mut at_once, mut one_by_one] = [0, 1].map(|_| ByValue::named("vernal").unwrap());
        let view = TestView::of(ages.len() as u64, 7);
        let last = |number: u32| now - Span::from_hours(ages[number as usize]);
        numbers.iter().for_each(|&number| recall(&mut at_once, number, last(number)));
        for &number in &mixed {
            recall(&mut one_by_one, number, last(number));
            one_by_one.best(&view, now);
        }
        for hour in 1..20 {
            let now = now + Span::from_hours(hour);
            let chosen = at_once.choose(&view, now, &mut Chance::new(1));
            prop_assert_eq!(&chosen, &one_by_one.choose(&view, now, &mut Chance::new(1)));
            let rested = |policy: &mut ByValue| chosen.iter().skip(3).for_each(|&page| policy.put_back(page));
            rested(&mut at_once);
            rested(&mut one_by_one);
        }
    }
}

#[test]
fn pages_go_alone_where_bytes_count() {
    let mut policy = ByValue::named("vernal").unwrap();
    let now = Moment::from_secs(1_700_000_000);
    (0..30).for_each(|number| recall(&mut policy, number, now - Span::from_hours(number.into())));
    let hour = || TestView::of(30, 1);
    policy.best(&hour(), now);
    assert_eq!(waiting(&policy), 2 * FEW_SITES);
    policy.best(&TestView { counts_bytes: true, ..hour() }, now);
    policy.queue.check(&policy.model);
    assert_eq!(waiting(&policy), 30);
}
