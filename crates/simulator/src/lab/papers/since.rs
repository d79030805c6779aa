//! What came after the founding papers: closed forms, beside printed numbers or beside numbers that were reckoned by other
//! means.

use vernal_policy::estimate::{Gamma, bias_reduced, irregular, most_likely, naive};
use vernal_policy::schedule::allocation::{Allocation, Wanted};

use super::Vector;
use super::exhibit::{Exhibit, Page};
use super::trials::{Experiment, Trials};

pub(super) const EXPERIMENTS: &[Experiment] = &[Experiment::worked("since", tell)];

fn tell(_: &Trials) -> Vec<Exhibit> {
    let method =
        "`policy/schedule/allocation.rs`, for five pages that change one to five times a day and five visits a day.";
    vec![
        at("Allocation").exhibit("How a budget is split over known rates", method, splits()),
        at("Estimators").exhibit("Change rates from visits", "`policy/estimate` of the product.", estimators()),
    ]
}

fn at(place: &'static str) -> Page {
    Page { paper: "since", place }
}

/// Five pages that change one to five times a day, five visits a day.
fn splits() -> Vec<Vector> {
    let pages: Vec<Wanted> = (1..=5).map(|rate| Wanted { rate: f64::from(rate), importance: 1.0 }).collect();
    let split = |allocation: Allocation| {
        let price = allocation.price(&pages, 5.0);
        pages.iter().map(|&page| allocation.visits(page, price)).collect::<Vec<f64>>()
    };
    let fresh = |visits: &[f64]| {
        let page = |(page, &visits): (&Wanted, &f64)| {
            if visits > 0.0 { visits / page.rate * -(-page.rate / visits).exp_m1() } else { 0.0 }
        };
        pages.iter().zip(visits).map(page).sum::<f64>() / 5.0
    };
    let optimal = split(Allocation::Optimal);
    let three = [fresh(&optimal), fresh(&[1.0; 5]), fresh(&[1.0, 2.0, 3.0, 4.0, 5.0].map(|rate| rate / 3.0))];
    let (cho, azar, lambda) =
        (at("Cho and Garcia-Molina 2003"), at("Azar and others 2018"), at("Kolobov and others 2019"));
    let parked = "the fastest page gets nothing; uniform is better than proportional for every mix of rates";
    vec![
        cho.numbers("visits a day", &optimal, &[1.15, 1.36, 1.35, 1.14, 0.0], 2, parked),
        cho.numbers("freshness: optimal, uniform, proportional", &three, &[0.37389, 0.36505, 0.31674], 5, parked),
        azar.numbers(
            "visits a day at random instants",
            &split(Allocation::RandomOptimal),
            &[1.386, 1.3743, 1.1326, 0.7719, 0.3352],
            4,
            "",
        )
        .derived(),
        lambda
            .numbers(
                "visits a day, harmonic",
                &split(Allocation::Lambda),
                &[0.7829, 0.9472, 1.0372, 1.0956, 1.1371],
                4,
                "",
            )
            .derived(),
    ]
}

fn estimators() -> Vec<Vector> {
    let six = [naive(10.0, 6.0, 1.0), most_likely(10.0, 6.0, 1.0), bias_reduced(10.0, 6.0, 1.0)];
    let looks = [(1.0, true), (2.0, true), (1.0, false), (3.0, false)];
    let seen = Gamma { a: 1.0, b: 20.0 }.seen_changed(10.0);
    let value = |a: f64| {
        let belief = Gamma { a, b: 20.0 };
        belief.fresh_time(10.0) - 10.0 * belief.survival(10.0)
    };
    vec![
        at("Estimators")
            .numbers("six changes in ten visits: naive, most likely, bias-reduced", &six, &[0.6, 0.9163, 0.8473], 4, "")
            .derived(),
        at("Estimators")
            .number("ten changes in ten visits, bias-reduced", bias_reduced(10.0, 10.0, 1.0), 3.0445, 4, "")
            .derived(),
        at("Estimators").number("irregular visits", irregular(&looks).unwrap_or(f64::NAN), 0.374159, 6, "").derived(),
        at("Estimators")
            .numbers("belief (1, 20) after a change in 10 days", &[seen.a, seen.b], &[1.923077, 23.076923], 6, "")
            .derived(),
        at("Bayes index")
            .numbers(
                "value at a = 1, 2, 0.5",
                &[value(1.0), value(2.0), value(0.5)],
                &[1.442635, 2.222222, 0.824829],
                6,
                "",
            )
            .derived(),
    ]
}
