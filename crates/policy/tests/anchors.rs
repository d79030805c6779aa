//! Where the policies stand on an invented web of independent pages, against the published trial (5,000 pages, 100
//! sites, lognormal change rates, 5 % a day, hourly choices, 200 days, the first 50 not counted): a smaller web, one
//! chance number, so that the bands are wide. Freshness as a share of the optimum with known rates.

use vernal_model::{Chance, Moment, PageKey, Partition, PolicyState, Span};
use vernal_policy::measure::{OverTime, PageLife, Visits};
use vernal_policy::{Held, NAMES, Refresh, Seen, View, by_name};

const SITES: u32 = 40;
const PAGES: u32 = 2_000;
const PER_DAY: usize = 100;
const DAYS: u64 = 200;
const WARM_UP_DAYS: u64 = 50;

struct Web {
    visits_left: usize,
}

impl View for Web {
    fn visits_left(&self) -> usize {
        self.visits_left
    }
    fn has_room(&self, _: PageKey) -> bool {
        true
    }
    fn refresh_min(&self) -> Span {
        Span::from_hours(1)
    }
    fn held(&self) -> u64 {
        u64::from(PAGES)
    }
    fn per_day(&self) -> f64 {
        PER_DAY as f64
    }
}

/// Changes a day of each page: e to the (ln 1/30 + 1.2·site + 1·page).
fn rates(chance: &mut Chance) -> Vec<f64> {
    let mut normal = || (-2.0 * (1.0 - chance.share()).ln()).sqrt() * (std::f64::consts::TAU * chance.share()).cos();
    let sites: Vec<f64> = (0..SITES).map(|_| 1.2 * normal()).collect();
    (0..PAGES).map(|page| (sites[(page % SITES) as usize] + normal()).exp() / 30.0).collect()
}

fn recalled(name: &str, rates: &[f64], start: Moment) -> Box<dyn Refresh> {
    let mut policy = by_name(name).expect("every name has a policy");
    for (number, &rate) in rates.iter().enumerate() {
        policy.recall(&Held {
            path: number as u32 % (4 * SITES),
            known_rate: Some(rate),
            ..Held::new(
                PageKey::new(Partition(0), number as u32),
                number as u32 % SITES,
                start,
                &PolicyState::default(),
            )
        });
    }
    policy
}

/// Freshness and change ratio of one policy on the web of a chance number.
fn lived(name: &str, number: u64) -> (f64, f64, u64) {
    let (freshness, ratio, never, _) = lived_with_visits(name, number);
    (freshness, ratio, never)
}

fn lived_with_visits(name: &str, number: u64) -> (f64, f64, u64, u64) {
    let chance = Chance::new(number);
    let rates = rates(&mut chance.stream("rates"));
    let start = Moment::from_secs(1_700_000_000 / 86_400 * 86_400);
    let mut policy = recalled(name, &rates, start);
    let mut changes: Vec<Chance> = (0..PAGES).map(|page| chance.stream("changes").numbered(u64::from(page))).collect();
    let mut next: Vec<Moment> = (0..PAGES as usize).map(|page| start + days(changes[page].wait(rates[page]))).collect();
    let mut lives = vec![PageLife::new(start); PAGES as usize];
    let (mut over_time, mut visits, mut choosing) = (OverTime::default(), Visits::default(), chance.stream("choosing"));
    let mut last = vec![start; PAGES as usize];
    let mut paid = 0.0;
    for hour in 0..24 * DAYS {
        let now = start + Span::from_hours(hour + 1);
        if hour == 24 * WARM_UP_DAYS {
            over_time = OverTime::default();
            visits = Visits::default();
            lives.iter_mut().for_each(|life| life.restart(now));
        }
        for page in 0..PAGES as usize {
            while next[page] <= now {
                lives[page].changed(next[page].max(start), 0.3, 1.0, &mut over_time);
                next[page] += days(changes[page].wait(rates[page]));
            }
        }
        paid += PER_DAY as f64 / 24.0;
        let chosen = policy.choose(&Web { visits_left: paid as usize }, now, &mut choosing);
        paid -= chosen.len() as f64;
        for page in chosen {
            let life = &mut lives[page.number as usize];
            let changed = life.visited(now, 1.0, &mut over_time);
            visits.add(1.0, changed);
            let previous = Some(std::mem::replace(&mut last[page.number as usize], now));
            let seen = Seen {
                page,
                moment: now,
                previous,
                changed: Some(changed),
                degree: 0.3,
                last_modified: None,
                wire_bytes: 1,
            };
            policy.learn(&seen);
        }
    }
    let end = start + Span::from_days(DAYS);
    lives.iter_mut().for_each(|life| life.close(end, 1.0, &mut over_time));
    (over_time.freshness().value(), visits.change_ratio().value(), over_time.never_visited, visits.visited)
}

fn days(days: f64) -> Span {
    Span::from_secs_f64(days * 86_400.0)
}

/// Freshness over that of round-robin on the same web, and the change ratio, with the trial's numbers beside them.
#[test]
fn the_papers_policies_stand_where_the_trial_found_them() {
    let (round_robin, ratio, never) = lived("round-robin", 1);
    assert!((0.60..0.72).contains(&round_robin) && never == 0, "round-robin {round_robin}, {ratio}");
    // Trial: .6402, .5988, .6099 and .6023 where round-robin has .6751.
    for (name, low, high) in [
        ("greedy", 0.90, 0.99),
        ("proportional", 0.87, 0.96),
        ("proportional:with-repeats", 0.84, 0.93),
        ("hybrid", 0.82, 0.95),
        ("refresh-time", 0.84, 0.94),
        ("heritrix-fixed", 0.98, 1.02),
        ("round-robin:purely-random", 0.82, 0.92),
    ] {
        let (freshness, _, _) = lived(name, 1);
        let share = freshness / round_robin;
        assert!((low..high).contains(&share), "{name}: {freshness:.4}, {share:.3} of round-robin");
    }
    // What they are made for: more changes for the visits.
    for name in [
        "greedy",
        "adaptive",
        "adaptive-frequency",
        "hybrid",
        "correlated",
        "feature-groups",
        "change-frequency",
        "refresh-time",
    ] {
        let (_, found, _) = lived(name, 1);
        assert!(found > ratio, "{name}: change ratio {found:.3}, round-robin {ratio:.3}");
    }
}

/// Downloads may come again within a cycle, but nobody downloads what was sampled, and no quota is larger than its site: what is
/// left over goes to pages that were not visited.
#[test]
fn repeats_leave_the_sample_alone_and_stay_within_the_size_of_a_site() {
    const SITE_PAGES: u32 = PAGES / SITES;
    // A cycle is a week since 1970; all pages were last visited before it.
    let start = Moment::from_secs(7 * 86_400 * 3_000);
    let before = Moment::from_secs(7 * 86_400 * 3_000 - 86_400);
    let mut policy = recalled("proportional:with-repeats", &[0.1; PAGES as usize], before);
    let (mut visits, mut order) = (vec![0u32; PAGES as usize], Vec::new());
    for hour in 1..7 * 24 {
        let now = start + Span::from_hours(hour);
        for page in policy.choose(&Web { visits_left: PER_DAY / 24 }, now, &mut Chance::new(1)) {
            visits[page.number as usize] += 1;
            order.push(page.number);
            // The pages of one site always change, those of another every second time, and no others do.
            let changed = page.number % SITES == 0 || page.number % SITES == 1 && order.len() % 2 == 0;
            let (previous, last_modified, degree, wire_bytes) = (Some(before), None, 0.3, 1);
            policy.learn(&Seen {
                page,
                moment: now,
                previous,
                changed: Some(changed),
                degree,
                last_modified,
                wire_bytes,
            });
        }
    }
    // √(N·r) of each site, in the first part of the cycle.
    let sample = (f64::from(SITE_PAGES) * 7.0 * PER_DAY as f64 / f64::from(PAGES)).sqrt().round() as usize;
    let sampled = &order[..sample * SITES as usize];
    assert!(sampled.iter().all(|&page| visits[page as usize] == 1), "what was sampled came again");
    assert!(visits.iter().any(|&visits| visits > 1), "downloads come again");
    for site in 0..SITES {
        let of_site: u32 = (site..PAGES).step_by(SITES as usize).map(|page| visits[page as usize]).sum();
        assert!(of_site <= 2 * SITE_PAGES, "site {site}: {of_site} visits");
    }
}

/// The whole budget is spent by every policy: the rivals' rules are scaled to it and the samplers do not wait.
#[test]
fn nothing_of_the_budget_is_left_over() {
    for name in NAMES {
        let (.., visits) = lived_with_visits(name, 2);
        let due = PER_DAY as u64 * (DAYS - WARM_UP_DAYS);
        assert!(visits + 2 * PER_DAY as u64 >= due, "{name} made {visits} visits of {due}");
    }
}
