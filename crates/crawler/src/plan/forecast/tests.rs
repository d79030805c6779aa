//! A plan keeps to its budget and to the limits of sites, and makes no request.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use vernal_model::{Moment, SiteState, Span, Url};

use super::{Plan, plan};
use crate::testing::{Bench, START, after, failed, held, unhindered, url};
use crate::{Act, Settings};

const DAY: Span = Span::from_days(1);

fn bench(policy: &str, pages: u32) -> Bench {
    let mut bench = Bench::new(Settings { policy: policy.into(), ..unhindered() });
    for number in 0..pages {
        let site = if number % 2 == 0 { "a" } else { "b" };
        bench.hold(&held(&format!("http://{site}.example/{number}"), number));
    }
    bench
}

fn planned(bench: &Bench, budgets: &[&str], visits_max: usize) -> Plan {
    let budgets: Vec<_> = budgets.iter().map(|budget| budget.parse().unwrap()).collect();
    plan(&bench.crawler.reader(), bench.crawler.settings(), &budgets, DAY, visits_max, (after(86_400), None)).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, ..ProptestConfig::default() })]
    #[test]
    fn a_plan_spends_no_more_than_its_budget_and_lists_its_first_visits_in_order(
        pages in 1u32..12, per_day in 1u32..60, visits_max in 0usize..30, is_vernal in any::<bool>(),
    ) {
        let bench = bench(if is_vernal { "vernal" } else { "round-robin" }, pages);
        let plan = planned(&bench, &[&format!("{per_day}/day")], visits_max);
        let forecast = &plan.forecasts[0];
        // What is in hand at the start is an hour's pay at most.
        prop_assert!(forecast.visits <= u64::from(per_day + per_day / 24 + 1), "{forecast:?}");
        prop_assert!(forecast.pages_visited <= forecast.visits.min(u64::from(pages)));
        prop_assert_eq!(plan.visits.len() as u64, forecast.visits.min(visits_max as u64));
        prop_assert!(plan.visits.is_sorted_by_key(|visit| visit.at));
        let mut last: BTreeMap<&Url, Moment> = BTreeMap::new();
        for visit in &plan.visits {
            prop_assert!(visit.at >= after(86_400) && visit.at <= after(2 * 86_400));
            prop_assert_eq!(visit.last_visit, last.insert(&visit.url, visit.at).unwrap_or(START));
            prop_assert_eq!(&visit.site, &visit.url.site());
        }
    }
}

#[test]
fn only_the_first_of_several_budgets_is_listed_and_more_is_never_less() {
    let bench = bench("vernal", 8);
    let plan = planned(&bench, &["4/day", "8/day", "80/day"], 1_000);
    assert_eq!(plan.visits.len() as u64, plan.forecasts[0].visits);
    assert!(plan.forecasts.is_sorted_by_key(|forecast| forecast.visits));
    let fresh: Vec<f64> = plan.forecasts.iter().map(|forecast| forecast.end.expect("it has a model")).collect();
    assert!(fresh.is_sorted(), "{fresh:?}");
    assert!(fresh.iter().all(|fresh| (0.0..=1.0).contains(fresh)));
}

#[test]
fn a_policy_without_a_model_plans_visits_and_believes_nothing() {
    let plan = planned(&bench("round-robin", 4), &["4/day"], 10);
    assert!(plan.forecasts[0].visits > 0);
    assert_eq!((plan.forecasts[0].now, plan.forecasts[0].end, plan.forecasts[0].mean), (None, None, None));
}

#[test]
fn sites_that_are_not_asked_and_pages_that_are_not_well_are_not_planned() {
    let mut bench = bench("round-robin", 6);
    bench.hold(&failed("http://a.example/x", 50, START));
    let site = url("http://b.example/").site();
    assert!(bench.crawler.core.set_standing(&site, SiteState::Paused));
    bench.commit();
    let plan = planned(&bench, &["1000/day"], 1_000);
    let visited: BTreeSet<&str> = plan.visits.iter().map(|visit| visit.url.as_str()).collect();
    assert_eq!(visited, ["http://a.example/0", "http://a.example/2", "http://a.example/4"].into());
}

#[test]
fn planning_changes_nothing() {
    let bench = bench("vernal", 5);
    let (cursor, orders) = (bench.crawler.reader().cursor(), bench.crawler.pulse().orders_sent);
    let first = planned(&bench, &["20/day"], 50);
    assert_eq!(planned(&bench, &["20/day"], 50), first);
    assert_eq!((bench.crawler.reader().cursor(), bench.crawler.pulse().orders_sent), (cursor, orders));
}

#[test]
fn promises_that_the_budget_breaks_are_counted() {
    let mut bench = bench("vernal", 4);
    let hourly = vernal_model::Seed {
        at_least_every: Some(Span::from_hours(1)),
        scope: vernal_model::Scope::Site,
        ..crate::testing::seed("http://a.example/")
    };
    bench.crawler.act(Act::AddSeeds(vec![hourly]), START).unwrap();
    let plan = planned(&bench, &["1/day", "1000/day"], 10);
    let broken: Vec<u64> = plan.forecasts.iter().map(|forecast| forecast.promises_broken).collect();
    assert_eq!(plan.forecasts[0].promises, 2);
    assert_eq!(broken[0], 2);
    assert!(plan.forecasts[0].longest_overdue > plan.forecasts[1].longest_overdue);
}
