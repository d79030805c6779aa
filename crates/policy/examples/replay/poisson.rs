//! The invented web W1: pages that change independently, with rates that differ by site and by page.

use vernal_model::Chance;
use vernal_policy::schedule::allocation::{Allocation, Wanted};

use crate::trace::{DAY, Page, Trace};

const PAGES: u32 = 5_000;
const SITES: u32 = 100;
const DAYS: f64 = 200.0;
const FROM: f64 = 1_600_000_000.0 - 1_600_000_000.0 % DAY;

fn normal(chance: &mut Chance) -> f64 {
    let radius = (-2.0 * (1.0 - chance.share()).ln()).sqrt();
    radius * (std::f64::consts::TAU * chance.share()).cos()
}

fn rates(chance: u64) -> Vec<(u32, f64)> {
    let mut chance = Chance::new(chance).stream("rates");
    let sites: Vec<f64> = (0..SITES).map(|_| 1.2 * normal(&mut chance)).collect();
    let page = |number: u32| {
        let site = number % SITES;
        (site, (sites[site as usize] + normal(&mut chance)).exp() / 30.0)
    };
    (0..PAGES).map(page).collect()
}

pub fn web(chance: u64) -> Trace {
    let mut changes = Chance::new(chance).stream("changes");
    let until = FROM + DAYS * DAY;
    let page = |(site, rate): (u32, f64)| {
        let mut times = Vec::new();
        let mut time = FROM;
        loop {
            time += changes.wait(rate) * DAY;
            if time >= until {
                break;
            }
            times.push(time);
        }
        Page { site, path: 0, online: (FROM, until), changes: times }
    };
    Trace { pages: rates(chance).into_iter().map(page).collect(), from: FROM, until, sites: SITES }
}

/// The best mean freshness with known rates, over the chance numbers.
pub fn bound(chances: u64, budget: f64) -> f64 {
    let of = |chance: u64| {
        let pages: Vec<Wanted> = rates(chance).iter().map(|&(_, rate)| Wanted { rate, importance: 1.0 }).collect();
        let price = Allocation::Optimal.price(&pages, budget * f64::from(PAGES));
        let fresh = |page: &Wanted| match Allocation::Optimal.visits(*page, price) {
            visits if visits > 0.0 => visits / page.rate * -(-page.rate / visits).exp_m1(),
            _ => 0.0,
        };
        pages.iter().map(fresh).sum::<f64>() / f64::from(PAGES)
    };
    (0..chances).map(of).sum::<f64>() / chances as f64
}
