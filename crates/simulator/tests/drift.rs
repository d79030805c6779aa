//! Laws of the drift: the changes on record are those of the processes named.

#![allow(clippy::unwrap_used, reason = "the helpers of tests may fail as tests do")]

use vernal_model::{Moment, Span};
use vernal_simulator::drift::{DriftSettings, Process};
use vernal_simulator::web::{PageNumber, Web, WebSettings};

fn web(pages: usize, drift: DriftSettings) -> Web {
    Web::new(WebSettings { drift, ..WebSettings::plain(4, pages) }).unwrap()
}

fn pages(web: &Web) -> impl Iterator<Item = PageNumber> + use<> {
    (0..web.pages() as u32).map(PageNumber)
}

fn after(web: &Web, days: u64) -> Moment {
    web.settings().origin + Span::from_days(days)
}

fn assert_within_four_sigma(counted: f64, expected: f64, variance: f64) {
    assert!((counted - expected).abs() < 4.0 * variance.sqrt(), "{counted} instead of {expected}");
}

#[test]
fn independent_changes_come_at_their_rate_in_every_part_of_time() {
    for rate in [0.02, 0.7, 20.0] {
        let web = web(100, DriftSettings::independent(rate));
        for (from, to) in [(0, 30), (30, 31), (300, 500)] {
            let counted: u32 =
                pages(&web).map(|page| web.changes_between(page, after(&web, from), after(&web, to))).sum();
            let expected = rate * (to - from) as f64 * web.pages() as f64;
            assert_within_four_sigma(f64::from(counted), expected, expected);
        }
    }
}

#[test]
fn counts_vary_from_page_to_page_as_poisson_counts_do() {
    let web = web(500, DriftSettings::independent(0.5));
    let counts: Vec<f64> = pages(&web).map(|page| f64::from(web.version_at(page, after(&web, 20)))).collect();
    let mean = counts.iter().sum::<f64>() / counts.len() as f64;
    let variance = counts.iter().map(|count| (count - mean).powi(2)).sum::<f64>() / counts.len() as f64;
    assert!((variance / mean - 1.0).abs() < 4.0 * (2.0 / counts.len() as f64).sqrt(), "{variance} of {mean}");
}

#[test]
fn counting_listing_and_the_last_change_agree() {
    let web = web(60, DriftSettings { publishing_sites: 1.0, bursty: 0.3, daily: 0.2, ..DriftSettings::default() });
    let drift = web.drift();
    for page in pages(&web) {
        let (from, to) = (after(&web, 13), after(&web, 200));
        let times = web.change_times(page, from, to);
        assert!(times.is_sorted());
        assert_eq!(times.len() as u32, web.changes_between(page, from, to));
        for (index, &time) in times.iter().enumerate() {
            let up_to = times.iter().filter(|&&other| other <= time).count() as u32;
            assert_eq!(web.changes_between(page, from, time), up_to, "change {index}");
            assert_eq!(drift.last(page, time), Some(time));
            assert!(web.version_at(page, time - Span::from_micros(1)) < web.version_at(page, time));
        }
        assert_eq!(web.version_at(page, web.settings().origin - Span::from_days(1)), 0);
    }
}

#[test]
fn bursty_changes_keep_their_mean_rate_and_crowd_together() {
    let web = web(200, DriftSettings { bursty: 1.0, ..DriftSettings::independent(1.0) });
    // Whole periods, so that where a burst begins does not count.
    let days = 160;
    let counted: u32 = pages(&web).map(|page| web.version_at(page, after(&web, days))).sum();
    let expected = (days as usize * web.pages()) as f64;
    assert_within_four_sigma(f64::from(counted), expected, expected);
    let mut quiet_days = 0;
    for page in pages(&web).take(50) {
        assert_eq!(web.drift().process(page), Process::Bursty);
        quiet_days +=
            (0..days).filter(|&day| web.changes_between(page, after(&web, day), after(&web, day + 1)) == 0).count();
    }
    // A burst touches two days of eight; a Poisson process of one a day would leave 37 % quiet.
    assert!(quiet_days as f64 / (50 * days) as f64 > 0.7);
}

#[test]
fn daily_pages_change_once_in_each_day_at_their_hour() {
    let web = web(20, DriftSettings { daily: 1.0, ..DriftSettings::independent(1.0) });
    for page in pages(&web) {
        let times = web.change_times(page, after(&web, 0) - Span::from_secs(1), after(&web, 30) - Span::from_secs(1));
        assert_eq!(times.len(), 30);
        assert!(times.windows(2).all(|pair| pair[1].since(pair[0]) == Span::from_days(1)));
    }
}

#[test]
fn publications_change_the_share_of_the_site_at_one_moment() {
    let settings = DriftSettings {
        publishing_sites: 1.0,
        publications_per_day: 2.0,
        publication_pages: 0.25,
        ..DriftSettings::independent(0.001)
    };
    let web = web(300, settings);
    let (mut together, mut chances) = (0, 0);
    for site in 0..web.sites() {
        for moment in web.drift().publications(site, after(&web, 10), after(&web, 15)) {
            let before = moment - Span::from_micros(1);
            together += web.pages_of(site).filter(|&page| web.changes_between(page, before, moment) > 0).count();
            chances += 300;
        }
    }
    assert!(chances > 20 * 300);
    let expected = 0.25 * f64::from(chances);
    assert_within_four_sigma(together as f64, expected, expected * 0.75);
}

#[test]
fn a_still_web_never_changes_and_a_drifting_one_has_pages_that_do_not() {
    let still = web(50, DriftSettings::still());
    assert!(pages(&still).all(|page| still.version_at(page, after(&still, 1_500)) == 0));
    let mixed = web(500, DriftSettings::default());
    let never = pages(&mixed).filter(|&page| mixed.drift().process(page) == Process::Never).count() as f64;
    assert_within_four_sigma(never, 0.25 * 2_000.0, 2_000.0 * 0.25 * 0.75);
    assert!(pages(&mixed).all(|page| {
        mixed.drift().process(page) != Process::Never || mixed.version_at(page, after(&mixed, 1_000)) == 0
    }));
}

#[test]
fn heavy_tailed_rates_span_orders_of_magnitude() {
    let web = web(500, DriftSettings::default());
    let mut rates: Vec<f64> =
        pages(&web).map(|page| web.drift().changes_per_day(page)).filter(|&rate| rate > 0.0).collect();
    rates.sort_by(f64::total_cmp);
    assert!(rates[rates.len() - 1] / rates[0] > 1_000.0);
    assert!(rates.iter().all(|&rate| rate <= 24.0 + 0.5));
}
