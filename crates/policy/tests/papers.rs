//! The worked examples of the founding papers. A slip in print is noted beside its test, never imitated.

use std::collections::BTreeMap;

use vernal_model::{Chance, Moment, PageKey, Partition, PolicyState, Span};
use vernal_policy::schedule::{
    adjusted, allocation, allocation_as_printed, groups_needed, proportional_quotas, sample_size, storage_share,
};
use vernal_policy::{Held, OneCycle, Refresh, Seen, by_name};

fn hundredths(value: f64) -> f64 {
    (value * 100.0).round() / 100.0
}

/// Seed 004, section 3, cases 1 to 3. The paper prints 78.58 after rounding Δt to −21.42; the value is 78.571….
#[test]
fn refresh_time_goes_from_100_to_78_57_to_91_67() {
    assert_eq!(hundredths(adjusted(100.0, 0.6)), 100.0);
    let shorter = adjusted(100.0, 0.85);
    assert_eq!(hundredths(shorter), 78.57);
    assert_eq!(hundredths(adjusted(shorter, 0.25)), 91.67);
}

/// u(x) is 1 for x > 0 only: at the thresholds themselves nothing moves.
#[test]
fn refresh_time_stays_at_the_thresholds() {
    assert_eq!(adjusted(100.0, 0.7), 100.0);
    assert_eq!(adjusted(100.0, 0.3), 100.0);
}

/// Pages with their site and path, and whether each has changed: one cycle of a policy on it.
struct Example {
    pages: Vec<(u32, u32, bool)>,
    downloads: usize,
}

impl Example {
    fn view(&self) -> OneCycle {
        OneCycle { pages: self.pages.len(), downloads: self.downloads }
    }
}

/// What one cycle downloads, one visit after another: (visits, changed) of each site and path.
fn downloaded(name: &str, world: &Example, chance: u64) -> BTreeMap<(u32, u32), (u32, u32)> {
    let mut policy: Box<dyn Refresh> = by_name(name).expect("every name has a policy");
    let start = Moment::from_secs(0) + Span::from_days(7 * (100 + chance));
    let key = |number: usize| PageKey::new(Partition(0), number as u32);
    for (number, &(site, path, _)) in world.pages.iter().enumerate() {
        policy.recall(&Held { path, ..Held::new(key(number), site, Moment::EPOCH, &PolicyState::default()) });
    }
    let mut downloads = BTreeMap::<(u32, u32), (u32, u32)>::new();
    for visit in 0..world.downloads {
        let now = start + Span::from_secs(1 + visit as u64);
        let [page] = policy.choose(&world.view(), now, &mut Chance::new(chance))[..] else { panic!("{name} stopped") };
        let (site, path, changed) = world.pages[page.number as usize];
        let (visits, changes) = downloads.entry((site, path)).or_default();
        *visits += 1;
        *changes += u32::from(changed);
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
    downloads
}

fn change_ratio(downloads: &BTreeMap<(u32, u32), (u32, u32)>) -> f64 {
    let (visits, changes) = downloads.values().fold((0, 0), |(v, c), &(visits, changes)| (v + visits, c + changes));
    f64::from(changes) / f64::from(visits)
}

/// Seed 000, 2.5.4: two sites of 100 pages, samples of ten found 7 and 4 changes, 80 downloads are left. Greedy finds 56
/// more; the seed rounds the parts of the proportional policy up and prints 48 where the value is 47.3.
#[test]
fn greedy_finds_56_changes_where_proportional_finds_47_3() {
    let (rates, left) = ([0.7, 0.4], 80.0);
    let quotas: Vec<f64> = proportional_quotas(&rates, left).into_iter().map(f64::round).collect();
    assert_eq!(quotas, [51.0, 29.0]);
    let proportional: f64 = quotas.iter().zip(rates).map(|(quota, rate)| quota * rate).sum();
    assert_eq!((hundredths(proportional), left * rates[0]), (47.3, 56.0));
}

/// The same two sites given to the policies themselves: greedy spends all that its sample leaves on the first site, the
/// proportional one spends in the ratio of what its samples found.
#[test]
fn the_policies_spend_as_the_example_says() {
    let site = |site: u32, changed: u32| (0..100).map(move |number| (site, 0, number < changed));
    let world = Example { pages: site(0, 70).chain(site(1, 40)).collect(), downloads: 100 };
    // √(100 · 0.5) = 7 pages of each site are sampled.
    let (mut greedy_changes, mut proportional_changes) = (0.0, 0.0);
    for chance in 0..40 {
        let greedy = downloaded("greedy", &world, chance);
        assert!(greedy.values().any(|&(visits, _)| visits == 7), "{greedy:?}");
        assert!(greedy.values().any(|&(visits, _)| visits == 93), "{greedy:?}");
        greedy_changes += change_ratio(&greedy) / 40.0;
        let proportional = downloaded("proportional", &world, chance);
        assert!(proportional.values().all(|&(visits, _)| visits >= 7), "{proportional:?}");
        proportional_changes += change_ratio(&proportional) / 40.0;
    }
    assert!(greedy_changes > proportional_changes, "{greedy_changes} {proportional_changes}");
}

/// Seed 000, 2.6 and seed 001, 4.1: s ≈ √(N·r).
#[test]
fn sample_sizes_are_the_root_of_pages_times_share() {
    assert_eq!(hundredths(sample_size(50.0, 0.2)), 3.16);
    assert_eq!(hundredths(sample_size(100.0, 0.1)), 3.16);
    // Seed 001, 5.3: twenty categories of fifty pages, the best total sample lay between 70 and 90.
    assert_eq!((20.0 * sample_size(50.0, 0.2)).round(), 63.0);
}

/// Seed 000, 2.8: 250,000 sites of 100 pages and a million downloads a week are 4 pages a site; in groups of 10,000
/// sites there are 25 of them, 100 pages a site, each site once in 25 weeks.
#[test]
fn low_resources_are_spent_on_one_group_of_25() {
    let (sites, pages_per_site, downloads) = (250_000.0, 100.0, 1e6);
    assert_eq!(downloads / sites, 4.0);
    let groups = groups_needed(sites * pages_per_site, downloads);
    assert_eq!((groups, sites / groups as f64), (25, 10_000.0));
    assert_eq!(downloads / (sites / groups as f64), 100.0);
}

/// The same at a small scale: ten sites, a budget for two of them. Over many cycles every site has its turn.
#[test]
fn groups_visit_whole_sites_and_every_site_in_its_turn() {
    let pages: Vec<(u32, u32, bool)> = (0..1_000).map(|number| (number / 100, 0, number % 3 == 0)).collect();
    let world = Example { pages, downloads: 200 };
    let mut turns = [0u32; 10];
    for cycle in 0..5 {
        for ((site, _), (visits, _)) in downloaded("groups", &world, cycle) {
            turns[site as usize] += u32::from(visits >= 20);
        }
    }
    assert!(turns.iter().all(|&turn| turn >= 1), "{turns:?}");
}

/// The real change rates of Table 4.2 in seed 000, in the order of the table, per cent. Table 4.1 has 9.09 for the last
/// one: 0.09 is right, for an accuracy of 99.91 needs it.
const REAL: [f64; 9] = [3.27, 25.77, 2.23, 81.95, 0.0, 0.0, 1.55, 43.59, 0.09];

/// Appendix A of seed 000: the next sample of each site. As printed it spends 124 of 100 pages, and 5 of 10.
#[test]
fn the_hybrids_allocation_is_repaired_so_that_it_never_overspends() {
    let raw: Vec<u64> = proportional_quotas(&REAL, 100.0).into_iter().map(|quota| quota.floor() as u64).collect();
    assert_eq!(raw, [2, 16, 1, 51, 0, 0, 0, 27, 0]);
    assert_eq!(allocation_as_printed(&REAL, 100), [5, 16, 5, 51, 5, 5, 5, 27, 5]);
    assert_eq!(allocation_as_printed(&REAL, 10), [0, 0, 0, 5, 0, 0, 0, 0, 0]);
    let repaired = allocation(&REAL, 100, &[]);
    assert_eq!(repaired, [5, 12, 5, 38, 5, 5, 5, 20, 5]);
    assert_eq!(repaired.iter().sum::<u64>(), 100);
    let small = allocation(&REAL, 10, &[]);
    assert_eq!(small, [1, 1, 1, 2, 1, 1, 1, 1, 1]);
}

/// Seed 000, 3.3.1 and 3.3.2.2: the first sample, and the storage that histories take.
#[test]
fn first_samples_and_storage_are_those_of_the_thesis() {
    assert_eq!(hundredths(100.0 / 9.0), 11.11);
    assert_eq!(allocation(&[1.0; 9], 100, &[]).iter().max(), Some(&12));
    assert_eq!(allocation(&[1.0; 9], 100, &[]).iter().min(), Some(&11));
    let percent = |versions: f64, sampled: f64| hundredths(100.0 * storage_share(versions, sampled, 1_140.0));
    assert_eq!((percent(2.0, 100.0), percent(3.0, 100.0)), (17.54, 26.32));
    assert_eq!([10.0, 25.0, 50.0, 75.0].map(|pages| percent(2.0, pages)), [1.75, 4.39, 8.77, 13.16]);
}

/// Seed 001, 2.3: two sites, five topics of forty pages, a hundred downloads. By site the change ratio is 0.66, by topic
/// 0.77: first as the paper counts, then with the policies themselves (`correlated` with the topics as path groups).
#[test]
fn sampling_by_topic_finds_0_77_where_sampling_by_site_finds_0_66() {
    let by_site = (90.0 * 0.7 + 10.0 * 0.3) / 100.0;
    let sampled = 4.0 * (1.0 + 0.75 + 0.5 + 0.25);
    let by_topic = (sampled + 36.0 * 1.0 + 36.0 * 0.75 + 8.0 * 0.5) / 100.0;
    assert_eq!((hundredths(by_site), hundredths(by_topic)), (0.66, 0.77));

    let changes = [[20, 20, 20, 10, 0], [20, 10, 0, 0, 0]];
    let mut pages = Vec::new();
    for (site, row) in changes.iter().enumerate() {
        for (topic, &changed) in row.iter().enumerate() {
            pages.extend((0..20).map(|number| (site, topic, number < changed)));
        }
    }
    let sites = pages.iter().map(|&(site, topic, changed)| (site as u32, topic as u32, changed)).collect();
    // A topic reaches over both sites: one number for each, within one site.
    let topics = pages.iter().map(|&(_, topic, changed)| (0, topic as u32, changed)).collect();
    let (sites, topics) = (Example { pages: sites, downloads: 100 }, Example { pages: topics, downloads: 100 });
    let mean = |name: &str, world: &Example| {
        (0..60).map(|chance| change_ratio(&downloaded(name, world, chance))).sum::<f64>() / 60.0
    };
    let (site, topic) = (mean("greedy", &sites), mean("correlated", &topics));
    assert!((site - 0.66).abs() < 0.04, "by site {site}");
    assert!((topic - 0.77).abs() < 0.04, "by topic {topic}");
}

/// Seed 001, 7.1.1: of a hundred pages five change daily; a sample of two that hits one of them says 0.5 where 0.05 is
/// true. The Wilson interval of the adaptive policy knows how little that says.
#[test]
fn a_sample_of_two_says_little() {
    let interval = vernal_policy::estimate::wilson(1, 2, vernal_policy::estimate::z_of(0.95));
    assert!(interval.low < 0.1 && interval.high > 0.9, "{interval:?}");
}
