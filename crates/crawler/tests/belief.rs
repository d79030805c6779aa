//! One belief about the freshness of the copy: what is said of all pages, of each page, and by a plan, is the same.

#![allow(clippy::unwrap_used, reason = "the helpers of tests fail as tests do")]

mod invented;

use vernal_crawler::{Settings, plan};
use vernal_model::{Moment, PageState, Span};
use vernal_simulator::drift::DriftSettings;
use vernal_simulator::trial::Trial;
use vernal_simulator::web::{Shares, Web, WebSettings};

const DAY: Span = Span::from_days(1);

fn web() -> Web {
    let share = Shares { trap_sites: 0.3, missing: 0.05, ..Shares::none() };
    let drift = DriftSettings { publishing_sites: 0.5, ..DriftSettings::default() };
    Web::new(WebSettings { share, drift, ..WebSettings::plain(6, 60) }).unwrap()
}

fn settings(policy: &str) -> Settings {
    Settings {
        policy: policy.into(),
        budget: "40%/day".parse().unwrap(),
        delay: Span::from_millis(100),
        ..Settings::default()
    }
}

/// A crawl of some days, and when it ended.
fn crawled<'w>(web: &'w Web, policy: &str, folder: &std::path::Path) -> (Trial<'w>, Moment) {
    let start = web.settings().origin;
    let mut trial = Trial::new(web, invented::seeded(web, folder, settings(policy), start), start, 5);
    trial.run_until(start + Span::from_days(9)).unwrap();
    let now = trial.now();
    trial.crawler().commit(now).unwrap();
    (trial, now)
}

/// The probability of being up to date that `why` tells of each held page.
fn told_of_pages(trial: &mut Trial<'_>, now: Moment) -> Vec<f64> {
    let reader = trial.crawler().reader();
    let held = reader.held_pages().map(|page| page.unwrap()).filter(|page| page.state == PageState::Held);
    let urls: Vec<_> = held.map(|page| page.url).collect();
    let told = urls.iter().filter_map(|url| {
        let reasons = trial.crawler().why(url, now).unwrap()?;
        let (_, text) = reasons.into_iter().find(|(name, _)| name == "up to date")?;
        Some(text.split(' ').next()?.parse::<f64>().unwrap() / 100.0)
    });
    told.collect()
}

#[test]
fn status_plan_and_the_mean_of_why_are_one_belief() {
    for policy in ["vernal", "bayes"] {
        let (web, folder) = (web(), tempfile::tempdir().unwrap());
        let (mut trial, now) = crawled(&web, policy, folder.path());
        let told = told_of_pages(&mut trial, now);
        let believed = trial.crawler().believed(now);
        let share = believed.all.share().unwrap();
        let mean = told.iter().sum::<f64>() / told.len() as f64;
        assert_eq!(told.len() as u64, believed.all.pages, "{policy}");
        // `why` rounds to a tenth of a percent.
        assert!((mean - share).abs() < 5e-4, "{policy}: the mean of why is {mean:.5}, and {share:.5} is believed");
        let budget = trial.crawler().settings().budget;
        let (reader, settings) = (trial.crawler().reader(), settings(policy));
        let planned = plan(&reader, &settings, &[budget], Span::from_secs(1), 0, (now, Some(share))).unwrap();
        assert_eq!(planned.forecasts[0].now, Some(share), "{policy}");
        let ahead = plan(&reader, &settings, &[budget], DAY, 0, (now, Some(share))).unwrap();
        let end = ahead.forecasts[0].end.unwrap();
        assert!((end - share).abs() < 0.15, "{policy}: {end:.3} after a day of the same budget, {share:.3} now");
    }
}

#[test]
fn the_belief_is_held_against_samples_and_traps_are_told_apart() {
    let (web, folder) = (web(), tempfile::tempdir().unwrap());
    let (mut trial, now) = crawled(&web, "vernal", folder.path());
    let believed = trial.crawler().believed(now);
    let traps = believed.all.pages - believed.outside_traps.pages;
    assert!(traps > 100, "{traps} of {} pages lie in traps", believed.all.pages);
    let measured = trial.crawler().pulse().measured.unwrap();
    assert!(measured.samples_outside_traps < measured.samples, "{measured:?}");
    let truth = true_share(&web, &mut trial, now);
    let share = believed.outside_traps.share().unwrap();
    println!("{share:.3} believed outside traps, {truth:.3} true; {measured:?}");
    if let Some(calibration) = &measured.calibration {
        assert_eq!(calibration.bins.iter().map(|bin| bin.samples).sum::<u32>(), measured.samples);
        let all = believed.all.share().unwrap();
        assert!(calibration.calibrated(all) >= 0.0 && calibration.error < 0.2, "{calibration:?}");
    }
}

/// A day of the calendar has many days of a busy site's clock, so that a belief may seem to contradict what was seen.
#[test]
fn why_tells_the_changes_of_a_day_of_the_calendar_and_names_the_clock_of_other_days() {
    let (web, folder) = (web(), tempfile::tempdir().unwrap());
    let (mut trial, now) = crawled(&web, "vernal", folder.path());
    let reader = trial.crawler().reader();
    let mut by_clock = 0;
    for page in reader.held_pages().map(|page| page.unwrap()).filter(|page| page.compared > 1) {
        let reasons = trial.crawler().why(&page.url, now).unwrap().unwrap();
        let of = |wanted: &str| reasons.iter().find(|(name, _)| name == wanted).map(|(_, text)| text.as_str());
        let told: f64 = of("changes a day").unwrap().split(' ').next().unwrap().parse().unwrap();
        let days = page.last_visit.since(page.first_visit).days_f64();
        assert!((told - f64::from(page.changes) / days).abs() < 0.006, "{told} of {} in {days}", page.changes);
        let has_clock = of("site clock").is_some_and(|text| text.contains("operational time"));
        for name in ["prior", "history", "posterior"].into_iter().filter_map(of) {
            assert_eq!(name.contains("by the clock of its site"), has_clock, "{name}");
        }
        by_clock += u32::from(has_clock && of("posterior").is_some());
    }
    assert!(by_clock > 20, "{by_clock}");
}

/// The share of the listed pages that are held and have not changed since they were confirmed.
fn true_share(web: &Web, trial: &mut Trial<'_>, now: Moment) -> f64 {
    let numbers: std::collections::BTreeMap<String, _> =
        web.truth().into_iter().filter(|page| !page.is_trap).map(|page| (page.url, page.page)).collect();
    let reader = trial.crawler().reader();
    let pages: Vec<_> = reader.held_pages().map(|page| page.unwrap()).collect();
    let held: Vec<bool> = pages
        .iter()
        .filter_map(|page| {
            let number = *numbers.get(page.url.as_str())?;
            Some(web.changes_between(number, page.last_confirmed?, now) == 0)
        })
        .collect();
    held.iter().filter(|&&fresh| fresh).count() as f64 / held.len() as f64
}
