//! Replays recorded page histories against the policies of this room, and prints how fresh they kept the copy.
//!
//! `cargo run --release -p vernal-policy --example replay -- web.csv.gz WEBS BUDGETS POLICIES CHANCES`, each a list with
//! commas, such as `pub,ota,stalker 0.05 round-robin,hindsight,bayes,vernal 3`. The web `poisson` is invented.

mod poisson;
mod trace;
mod world;

use std::fs::File;

use trace::Trace;
use world::{Outcome, Replay};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let argument = |index: usize, default: &str| arguments.get(index).cloned().unwrap_or(default.to_owned());
    let (file, webs) = (argument(0, "web.csv.gz"), argument(1, "pub,ota,stalker"));
    let budgets: Vec<f64> = argument(2, "0.05").split(',').filter_map(|share| share.parse().ok()).collect();
    let policies = argument(3, "round-robin,hindsight,bayes,vernal");
    let chances: u64 = argument(4, "1").parse().unwrap_or(1);
    println!("web      budget policy               F      gap  stale  early     CR   age_d  visits");
    for web in webs.split(',') {
        let recorded = trace::named(web).map(|cut| {
            let file = File::open(&file).unwrap_or_else(|error| panic!("open {file}: {error}"));
            trace::read(file, &cut).unwrap_or_else(|error| panic!("read: {error}"))
        });
        for &budget in &budgets {
            let mut rows: Vec<(String, Outcome)> = Vec::new();
            for policy in policies.split(',') {
                let mut sum = Outcome::default();
                for chance in 0..chances {
                    let invented;
                    let trace: &Trace = match &recorded {
                        Some(trace) => trace,
                        None => {
                            invented = poisson::web(chance);
                            &invented
                        }
                    };
                    let mut rule = vernal_policy::by_name(policy).unwrap_or_else(|| panic!("no policy {policy}"));
                    sum.add(&Replay::new(trace, chance).run(rule.as_mut(), budget), chances as f64);
                }
                rows.push((policy.to_owned(), sum));
                print_row(web, budget, &rows, recorded.is_none().then(|| poisson::bound(chances, budget)));
            }
        }
    }
}

fn print_row(web: &str, budget: f64, rows: &[(String, Outcome)], bound: Option<f64>) {
    let of = |name: &str| rows.iter().find(|(policy, _)| policy == name).map(|(_, outcome)| outcome.freshness);
    let Some((policy, outcome)) = rows.last() else { return };
    let (turns, known) = (of("round-robin").unwrap_or(f64::NAN), of("hindsight").unwrap_or(f64::NAN));
    println!(
        "{web:8} {budget:<6} {policy:16} {:.4} {:8.2} {:6.3} {:.4} {:.4} {:7.3} {:7} {}",
        outcome.freshness,
        (outcome.freshness - turns) / (known - turns),
        (1.0 - outcome.freshness) / (1.0 - known),
        outcome.early,
        outcome.change_ratio,
        outcome.age_days,
        outcome.visits,
        bound.map_or(String::new(), |bound| format!("F/F* {:.4}", outcome.freshness / bound)),
    );
}

impl Outcome {
    fn add(&mut self, other: &Outcome, parts: f64) {
        self.freshness += other.freshness / parts;
        self.early += other.early / parts;
        self.change_ratio += other.change_ratio / parts;
        self.age_days += other.age_days / parts;
        self.visits += (other.visits as f64 / parts) as u64;
    }
}
