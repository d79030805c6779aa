//! Politeness under random histories: no request breaks the delay, and the next free Moment is the earliest of all.

use proptest::prelude::*;
use vernal_frontier::{Politeness, PolitenessSettings, audit};
use vernal_model::{Moment, Site, Span};

fn politeness(per_site: u16) -> Politeness {
    let settings = PolitenessSettings { delay: Span::from_secs(1), delay_max: Span::from_secs(30), per_site };
    Politeness::new(settings, Moment::from_secs(1_000))
}

/// One step of a random history.
#[derive(Clone, Debug)]
enum Step {
    Wait(u64),
    Ask(usize),
    Answer(usize),
    Hold(usize, u64),
    CrawlDelay(usize, Option<u64>),
    Close(usize),
    Reopen(usize),
    Restart,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let site = 0usize..4;
    let step = prop_oneof![
        4 => (0u64..900).prop_map(Step::Wait),
        6 => site.clone().prop_map(Step::Ask),
        6 => any::<usize>().prop_map(Step::Answer),
        1 => (site.clone(), 0u64..5_000).prop_map(|(site, millis)| Step::Hold(site, millis)),
        1 => (site.clone(), any::<Option<u16>>()).prop_map(|(site, d)| Step::CrawlDelay(site, d.map(u64::from))),
        1 => site.clone().prop_map(Step::Close),
        1 => site.prop_map(Step::Reopen),
        1 => Just(Step::Restart),
    ];
    prop::collection::vec(step, 1..300)
}

proptest! {
    #[test]
    fn no_trace_breaks_the_delay_not_even_across_restarts(history in steps(), per_site in 1u16..4) {
        let sites: Vec<Site> = (0..4).map(|number| Site::new(&format!("s{number}.org"))).collect();
        let (mut politeness, mut now) = (politeness(per_site), Moment::from_secs(1_000));
        let (mut in_flight, mut book) = (Vec::<(usize, Moment)>::new(), Vec::new());
        for step in history {
            match step {
                Step::Wait(millis) => now += Span::from_millis(millis),
                Step::Ask(site) => if politeness.may_ask(&sites[site], now) {
                    politeness.asked(&sites[site], now);
                    in_flight.push((site, now));
                },
                Step::Answer(which) => if !in_flight.is_empty() {
                    let (site, started) = in_flight.remove(which % in_flight.len());
                    politeness.answered(&sites[site], now);
                    book.push((sites[site].clone(), started, now));
                },
                Step::Hold(site, millis) => {
                    politeness.hold(&sites[site], now + Span::from_millis(millis));
                    prop_assert!(millis == 0 || !politeness.may_ask(&sites[site], now));
                }
                Step::CrawlDelay(site, millis) => politeness.set_crawl_delay(&sites[site], millis.map(Span::from_millis)),
                Step::Close(site) => politeness.close(&sites[site]),
                Step::Reopen(site) => politeness.reopen(&sites[site]),
                Step::Restart => {
                    // Requests in flight are lost, and end with the process at the latest.
                    book.extend(in_flight.drain(..).map(|(site, started)| (sites[site].clone(), started, now)));
                    politeness = Politeness::new(*politeness.settings(), now);
                    sites.iter().for_each(|site| politeness.asked_before(site));
                }
            }
            let soonest = sites.iter().map(|site| politeness.earliest(site)).filter(|&m| m > now && m != Moment::NEVER).min();
            prop_assert_eq!(politeness.next_free(now), soonest);
        }
        prop_assert_eq!(audit(book.into_iter(), Span::from_secs(1), per_site), []);
    }
}
