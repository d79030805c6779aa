//! The frontier's window against a naive model that looks at everything at every draw, under random lives.

use std::cmp::Reverse;

use proptest::prelude::*;
use vernal_frontier::{Allocator, Frontier, FrontierLimits, Politeness, PolitenessSettings, Waiting, thirds};
use vernal_model::{Moment, PageKey, Partition, Site, Span, Url, Via, WaitingPlace};

fn site(number: u8) -> Site {
    Site::new(&format!("s{number}.org"))
}

fn waiting(arrival: u64, of_site: u8, rank: i32) -> Waiting {
    Waiting {
        page: PageKey::new(Partition(of_site), arrival as u32),
        url: Url::parse(&format!("http://s{of_site}.org/{arrival}")).expect("a plain URL"),
        place: WaitingPlace { site: site(of_site), band: 0, arrival },
        rank,
        depth: 1,
        via: Via::Link,
        found_on: None,
        admitted: Moment::EPOCH,
    }
}

type Rank = (Reverse<i32>, u64, PageKey);

fn rank_of(waiting: &Waiting) -> Rank {
    (Reverse(waiting.rank), waiting.place.arrival, waiting.page)
}

/// The same rules, told without any index.
#[derive(Default)]
struct Naive {
    all: Vec<Waiting>,
    cuts: Option<[Rank; 2]>,
    arrivals: usize,
    allocator: Allocator,
    /// The highest rank of the sites that are free always goes first.
    is_strict: bool,
}

impl Naive {
    fn list_of(&self, waiting: &Waiting) -> usize {
        match self.cuts {
            Some([first, _]) if rank_of(waiting) <= first => 0,
            Some([_, second]) if rank_of(waiting) <= second => 1,
            Some(_) => 2,
            None => 0,
        }
    }

    fn push(&mut self, waiting: Waiting) {
        self.all.push(waiting);
        self.all.sort_by_key(rank_of);
        self.arrivals += 1;
    }

    fn next(&mut self, politeness: &Politeness, now: Moment) -> Option<Waiting> {
        let mut lengths = [0; 3];
        self.all.iter().for_each(|waiting| lengths[self.list_of(waiting)] += 1);
        let dry = lengths.contains(&0) && lengths.iter().any(|&length| length > self.all.len().div_ceil(3));
        if !self.is_strict && (dry || self.arrivals >= (self.all.len() / 8).max(64)) {
            let [first, second, _] = thirds(self.all.len());
            let last = |end: usize| end.checked_sub(1).map(|last| rank_of(&self.all[last]));
            self.cuts = last(first.end).zip(last(second.end)).map(|(first, second)| [first, second]);
            self.arrivals = 0;
        }
        let best = |list: usize| {
            let free = |waiting: &Waiting| politeness.may_ask(&waiting.place.site, now);
            self.all.iter().position(|waiting| self.list_of(waiting) == list && free(waiting))
        };
        let best = [best(0), best(1), best(2)];
        let list = self.allocator.next(best.map(|place| place.is_some()))?;
        best[list].map(|place| self.all.remove(place))
    }
}

#[derive(Clone, Debug)]
enum Step {
    Accept {
        site: u8,
        rank: i32,
    },
    Burst {
        ranks: Vec<i32>,
    },
    Next,
    Answer,
    Wait(u64),
    PutBack,
    Hold {
        site: u8,
        millis: u64,
    },
    Close(u8),
    Reopen(u8),
    Drop(u8),
    /// One URL is taken past all others, wherever it stands.
    Take(usize),
}

const SITES: u8 = 6;

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let site = 0..SITES;
    let step = prop_oneof![
        8 => (site.clone(), -5i32..60).prop_map(|(site, rank)| Step::Accept { site, rank }),
        1 => prop::collection::vec(-50i32..200, 0..90).prop_map(|ranks| Step::Burst { ranks }),
        10 => Just(Step::Next),
        6 => Just(Step::Answer),
        4 => (0u64..1_500).prop_map(Step::Wait),
        1 => Just(Step::PutBack),
        1 => (site.clone(), 0u64..4_000).prop_map(|(site, millis)| Step::Hold { site, millis }),
        1 => site.clone().prop_map(Step::Close),
        2 => site.clone().prop_map(Step::Reopen),
        1 => site.prop_map(Step::Drop),
        2 => (0usize..400).prop_map(Step::Take),
    ];
    prop::collection::vec(step, 1..250)
}

proptest! {
    #[test]
    fn the_window_draws_what_looking_at_everything_would_draw(
        life in steps(), per_site in 1u16..3, is_strict in any::<bool>(),
    ) {
        let settings = PolitenessSettings { delay: Span::from_secs(1), per_site, ..PolitenessSettings::default() };
        let mut now = Moment::from_secs(1_000);
        let mut politeness = Politeness::new(settings, now);
        let limits = FrontierLimits { window_max: 400, per_site_max: 90 };
        let (plain, mut naive) = (Frontier::new(limits), Naive { is_strict, ..Naive::default() });
        let mut frontier = if is_strict { plain.in_strict_order() } else { plain };
        let (mut arrival, mut drawn) = (0u64, Vec::<Waiting>::new());
        for step in life {
            let accepted = match step {
                Step::Accept { site, rank } => vec![(site, rank)],
                Step::Burst { ref ranks } => ranks.iter().map(|&rank| (rank.unsigned_abs() as u8 % SITES, rank)).collect(),
                _ => Vec::new(),
            };
            for (of_site, rank) in accepted {
                arrival += 1;
                let new = waiting(arrival, of_site, rank);
                let room = frontier.room_for(&new.place.site);
                prop_assert_eq!(frontier.accept(new.clone()), room > 0);
                prop_assert!(!frontier.accept(new.clone()), "a page is in the window once");
                if room > 0 {
                    naive.push(new);
                }
            }
            match step {
                Step::Accept { .. } | Step::Burst { .. } => {}
                Step::Next => {
                    let next = frontier.next(&politeness, now);
                    prop_assert_eq!(&next, &naive.next(&politeness, now));
                    if let Some(next) = next {
                        politeness.asked(&next.place.site, now);
                        drawn.push(next);
                    }
                }
                Step::Answer => if !drawn.is_empty() {
                    politeness.answered(&drawn.remove(0).place.site, now);
                },
                Step::PutBack => if let Some(back) = drawn.pop() {
                    politeness.answered(&back.place.site, now);
                    frontier.put_back(back.clone());
                    naive.push(back);
                },
                Step::Wait(millis) => now += Span::from_millis(millis),
                Step::Hold { site: of_site, millis } => politeness.hold(&site(of_site), now + Span::from_millis(millis)),
                Step::Close(of_site) => politeness.close(&site(of_site)),
                Step::Reopen(of_site) => politeness.reopen(&site(of_site)),
                Step::Drop(of_site) => {
                    let mut dropped = frontier.drop_site(&site(of_site));
                    dropped.sort_by_key(rank_of);
                    let (gone, stay) = naive.all.drain(..).partition(|waiting| waiting.place.site == site(of_site));
                    naive.all = stay;
                    prop_assert_eq!(dropped, gone);
                }
                Step::Take(place) => if !naive.all.is_empty() {
                    let wanted = naive.all.remove(place % naive.all.len());
                    let taken = frontier.take(&wanted.place.site, wanted.page);
                    prop_assert_eq!(taken.as_ref(), Some(&wanted));
                    prop_assert_eq!(frontier.take(&wanted.place.site, wanted.page), None, "it is there no more");
                },
            }
            prop_assert_eq!(frontier.len(), naive.all.len());
        }
    }

    #[test]
    fn everything_accepted_comes_out_once_and_politely(ranks in prop::collection::vec((0..SITES, -9i32..99), 1..150)) {
        let mut frontier = Frontier::new(FrontierLimits::default());
        for (arrival, &(of_site, rank)) in ranks.iter().enumerate() {
            frontier.accept(waiting(arrival as u64, of_site, rank));
        }
        let mut now = Moment::from_secs(5);
        let mut politeness = Politeness::new(PolitenessSettings::default(), now);
        let mut book = Vec::new();
        loop {
            while let Some(next) = frontier.next(&politeness, now) {
                politeness.asked(&next.place.site, now);
                politeness.answered(&next.place.site, now);
                book.push((next.place.site, now, now));
            }
            if frontier.is_empty() {
                break;
            }
            let woken = politeness.next_free(now).unwrap();
            prop_assert!(woken > now);
            now = woken;
        }
        prop_assert_eq!(book.len(), ranks.len());
        prop_assert_eq!(vernal_frontier::audit(book.into_iter(), Span::from_secs(1), 1), []);
    }
}

/// Of ten thousand sites all but one are held. The free one is found by its head, and each held site is met once.
#[test]
fn a_window_of_sleeping_sites_still_finds_the_one_that_is_free() {
    let now = Moment::from_secs(1_000);
    let mut politeness = Politeness::new(PolitenessSettings::default(), now);
    let mut frontier = Frontier::new(FrontierLimits::default());
    for number in 0..10_000u64 {
        let mut new = waiting(number, 0, 50);
        new.place.site = Site::new(&format!("site-{number}.org"));
        if number != 7_777 {
            politeness.hold(&new.place.site, now + Span::from_hours(1));
        }
        assert!(frontier.accept(new));
    }
    let next = frontier.next(&politeness, now).unwrap();
    assert_eq!(next.place.site.as_str(), "site-7777.org");
    assert_eq!(frontier.next(&politeness, now), None);
    assert!(frontier.next(&politeness, now + Span::from_hours(1)).is_some(), "held sites are eligible again in time");
}
