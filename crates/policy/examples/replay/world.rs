//! A replay in hourly slots: pages are born and leave free of charge, the policy spends the rest.

use vernal_model::{Chance, Moment, PageKey, Partition, PolicyState, Span};
use vernal_policy::{Held, Refresh, Seen, View};

use crate::trace::{DAY, Trace};

const SLOT: f64 = 3_600.0;

struct Slot {
    visits_left: usize,
    held: u64,
    per_day: f64,
}

impl View for Slot {
    fn visits_left(&self) -> usize {
        self.visits_left
    }
    fn has_room(&self, _: PageKey) -> bool {
        true
    }
    fn refresh_min(&self) -> Span {
        Span::ZERO
    }
    fn held(&self) -> u64 {
        self.held
    }
    fn per_day(&self) -> f64 {
        self.per_day
    }
}

#[derive(Copy, Clone, Debug, Default)]
pub struct Outcome {
    /// After the warm-up, and during it.
    pub freshness: f64,
    pub early: f64,
    pub change_ratio: f64,
    pub age_days: f64,
    pub visits: u64,
}

struct Copy {
    last: f64,
    /// The first change that the copy may have missed.
    next: usize,
    known: bool,
}

pub struct Replay<'a> {
    trace: &'a Trace,
    /// Days at the start that are counted apart.
    pub warm_up: f64,
    /// The number that each page goes by, so that chance decides between equals.
    numbers: Vec<u32>,
    pages: Vec<u32>,
    copies: Vec<Copy>,
    fresh: [f64; 2],
    held: [f64; 2],
    age: f64,
    visits: u64,
    changed: u64,
}

impl<'a> Replay<'a> {
    pub fn new(trace: &'a Trace, chance: u64) -> Self {
        let mut pages: Vec<u32> = (0..trace.pages.len() as u32).collect();
        Chance::new(chance).shuffle(&mut pages);
        let mut numbers = vec![0; pages.len()];
        pages.iter().enumerate().for_each(|(number, &page)| numbers[page as usize] = number as u32);
        let copies = trace.pages.iter().map(|_| Copy { last: 0.0, next: 0, known: false }).collect();
        let warm_up = 60.0;
        Replay {
            trace,
            warm_up,
            numbers,
            pages,
            copies,
            fresh: [0.0; 2],
            held: [0.0; 2],
            age: 0.0,
            visits: 0,
            changed: 0,
        }
    }

    /// Runs the policy with a budget of `share` of the pages held per day.
    pub fn run(mut self, policy: &mut dyn Refresh, share: f64) -> Outcome {
        let mut births: Vec<usize> = (0..self.trace.pages.len()).collect();
        births.sort_by(|&a, &b| self.trace.pages[a].online.0.total_cmp(&self.trace.pages[b].online.0));
        let mut deaths = births.clone();
        deaths.sort_by(|&a, &b| self.trace.pages[a].online.1.total_cmp(&self.trace.pages[b].online.1));
        let (mut births, mut deaths) = (births.into_iter().peekable(), deaths.into_iter().peekable());
        let mut chance = Chance::new(9);
        let (mut held, mut purse) = (0u64, 0.0);
        let slots = ((self.trace.until - self.trace.from) / SLOT) as u32;
        for slot in 0..slots {
            let now = self.trace.from + f64::from(slot) * SLOT;
            while let Some(page) = births.next_if(|&page| self.trace.pages[page].online.0 <= now) {
                self.hold(page, policy);
                held += 1;
            }
            while let Some(page) = deaths.next_if(|&page| self.trace.pages[page].online.1 <= now) {
                self.close(page, self.trace.pages[page].online.1);
                if self.copies[page].known {
                    policy.forget(key(self.numbers[page]));
                    self.copies[page].known = false;
                    held -= 1;
                }
            }
            let per_day = share * held as f64;
            purse += per_day * SLOT / DAY;
            let view = Slot { visits_left: purse as usize, held, per_day };
            let chosen = policy.choose(&view, moment(now), &mut chance);
            purse -= chosen.len() as f64;
            for page in chosen {
                self.visit(page, now, policy);
            }
        }
        for page in 0..self.copies.len() {
            if self.copies[page].known {
                self.close(page, self.trace.until);
            }
        }
        let mean = |phase: usize| self.fresh[phase] / self.held[phase];
        Outcome {
            freshness: mean(1),
            early: mean(0),
            change_ratio: self.changed as f64 / self.visits.max(1) as f64,
            age_days: self.age / self.held[1] / DAY,
            visits: self.visits,
        }
    }

    fn hold(&mut self, page: usize, policy: &mut dyn Refresh) {
        let life = &self.trace.pages[page];
        let start = life.online.0;
        self.copies[page] = Copy { last: start, next: 0, known: true };
        let days = (life.online.1 - start) / DAY;
        policy.recall(&Held {
            page: key(self.numbers[page]),
            site: life.site,
            path: life.path,
            importance: 1.0,
            admitted: moment(start),
            last_visit: moment(start),
            wire_bytes: 0,
            at_least_every: None,
            at_most_every: None,
            known_rate: Some(life.changes.len() as f64 / days),
            state: &PolicyState::default(),
        });
    }

    fn visit(&mut self, chosen: PageKey, now: f64, policy: &mut dyn Refresh) {
        let page = self.pages[chosen.number as usize] as usize;
        self.close(page, now);
        let changes = &self.trace.pages[page].changes;
        let copy = &mut self.copies[page];
        let changed = changes.get(copy.next).is_some_and(|&change| change <= now);
        copy.next += changes[copy.next..].iter().take_while(|&&change| change <= now).count();
        let previous = std::mem::replace(&mut copy.last, now);
        if now >= self.trace.from + self.warm_up * DAY {
            self.visits += 1;
            self.changed += u64::from(changed);
        }
        policy.learn(&Seen {
            page: chosen,
            moment: moment(now),
            previous: Some(moment(previous)),
            changed: Some(changed),
            degree: 0.5,
            last_modified: changes[..copy.next].last().map(|&change| moment(change)),
            wire_bytes: 0,
        });
    }

    /// Counts the time from the last visit until `until`.
    fn close(&mut self, page: usize, until: f64) {
        let copy = &self.copies[page];
        if !copy.known {
            return;
        }
        let stale_from = self.trace.pages[page].changes.get(copy.next).copied().unwrap_or(until).min(until);
        let border = self.trace.from + self.warm_up * DAY;
        let span = |from: f64, until: f64, phase: usize| match phase {
            0 => (until.min(border) - from).max(0.0),
            _ => (until - from.max(border)).max(0.0),
        };
        for phase in 0..2 {
            self.fresh[phase] += span(copy.last, stale_from, phase);
            self.held[phase] += span(copy.last, until, phase);
        }
        let (from, until) = ((border - stale_from).max(0.0), until - stale_from);
        self.age += if until > from { (until * until - from * from) / 2.0 } else { 0.0 };
    }
}

fn key(number: u32) -> PageKey {
    PageKey::new(Partition(0), number)
}

fn moment(seconds: f64) -> Moment {
    Moment::from_secs(seconds as i64)
}
