//! What the importance of a page says of its change rate: pages that count about as much are often alike in that too.
//!
//! Pages stand in octaves of importance. Once a day, or less often while nothing moves, each octave is asked how many times as often its pages are believed to
//! change as pages of their paths and sites do, and that is what is expected of its pages from then on. Sites are compared by
//! what their pages' rates would be without it, so that neither tells what the other has told already: a rate that is all a
//! matter of importance leaves sites alike, and one that is all a matter of the site leaves the octaves at 1.
//!
//! The more important an octave is the fewer pages it has, and the more is at stake: so it leans towards its neighbour with
//! more pages, not towards the mean of all, and a trend is followed to where hardly anybody can be asked. Where all pages
//! are in one octave nothing here is ever reckoned.
//!
//! Turned down: octaves without their sites; and octaves cut finer where they hold many pages, which won as much where quiet
//! pages count most as it lost where lively ones do.

use std::collections::BTreeMap;

use super::page::Page;
use super::policy::Index;
use super::site::POOLING;

/// What is expected of an octave moves only when it is off by this much, in logarithm: each move looks at all pages.
const STEP: f64 = 0.2;
/// Nobody is expected to change so many times as often, or as rarely, as its siblings.
const TIMES_MAX: f64 = 1e4;
/// How often beliefs and expectations are reckoned from each other in a day, and when they rest, in logarithm. A single step is
/// too small to be taken where pages hardly ever change.
const ROUNDS_MAX: u32 = 16;
const AT_REST: f64 = 0.01;
/// The most days from one time that they are asked to the next.
const DAYS_MAX: u8 = 8;
/// As many as there can be.
const OCTAVES: usize = 1 << u8::BITS;

#[derive(Clone, Debug, Default)]
pub(super) struct Octaves {
    /// How many pages stand in each.
    pages: BTreeMap<u8, u32>,
    /// How many times as often as their siblings its pages are expected to change; 1 where nothing is said.
    times: BTreeMap<u8, f32>,
    /// The day on which they were last asked, and how many later they are asked again.
    day: u32,
    days: u8,
}

/// What the pages of one octave show: how many there are and how many were compared, Σ of the rates that are believed of
/// these, and Σ of their siblings' rates.
#[derive(Copy, Clone, Debug, Default, PartialEq)]
struct Shown {
    pages: u32,
    compared: u32,
    believed: f64,
    siblings: f64,
}

impl Octaves {
    pub fn count(&mut self, octave: u8) {
        *self.pages.entry(octave).or_default() += 1;
    }

    pub fn discount(&mut self, octave: u8) {
        if let Some(pages) = self.pages.get_mut(&octave) {
            *pages -= 1;
            if *pages == 0 {
                self.pages.remove(&octave);
            }
        }
    }

    /// Whether anything was ever said of them.
    pub fn are_known(&self) -> bool {
        !self.times.is_empty()
    }

    /// How many times as often as its siblings a page of this octave is expected to change.
    pub fn times(&self, octave: u8) -> f64 {
        if self.times.is_empty() {
            return 1.0;
        }
        self.times.get(&octave).map_or(1.0, |&times| f64::from(times))
    }

    /// Day (4), days until the next (1), octaves (1, then for each: number 1, times 4), little-endian.
    pub fn write(&self, bytes: &mut Vec<u8>) {
        bytes.extend(self.day.to_le_bytes());
        bytes.push(self.days);
        bytes.push(self.times.len().min(usize::from(u8::MAX)) as u8);
        for (octave, times) in self.times.iter().take(usize::from(u8::MAX)) {
            bytes.push(*octave);
            bytes.extend(times.to_le_bytes());
        }
    }

    /// Reads what `write` wrote; the pages are counted by whoever recalls them. While they were asked every day nobody wrote
    /// down when the next one is.
    pub fn read(bytes: &mut &[u8], is_every_day: bool) -> Option<Octaves> {
        let day = u32::from_le_bytes(*bytes.split_off(..4)?.first_chunk()?);
        let days = if is_every_day { 1 } else { *bytes.split_off_first()? };
        if days > DAYS_MAX {
            return None;
        }
        let count = *bytes.split_off_first()?;
        let mut known = BTreeMap::new();
        for _ in 0..count {
            let octave = *bytes.split_off_first()?;
            let times = f32::from_le_bytes(*bytes.split_off(..4)?.first_chunk()?);
            known.insert(
                octave,
                Some(times).filter(|&times| (1.0 / TIMES_MAX..=TIMES_MAX).contains(&f64::from(times)))?,
            );
        }
        Some(Octaves { pages: BTreeMap::new(), times: known, day, days })
    }

    /// How far what is expected of any octave lies from this, in logarithm.
    fn off(&self, expected: &BTreeMap<u8, f64>) -> f64 {
        expected.iter().map(|(&octave, times)| (times / self.times(octave)).ln().abs()).fold(0.0, f64::max)
    }
}

/// What is expected of each octave: from the one with the most pages on, upwards and downwards, each leans towards the one
/// before, as far as a few pages of the mean rate would make it.
fn expected(shown: &BTreeMap<u8, Shown>) -> BTreeMap<u8, f64> {
    let Some((&middle, _)) = shown.iter().max_by_key(|(_, shown)| shown.pages) else { return BTreeMap::new() };
    let compared: u32 = shown.values().map(|shown| shown.compared).sum();
    let siblings: f64 = shown.values().map(|shown| shown.siblings).sum();
    let lean = (POOLING * siblings / f64::from(compared.max(1))).max(f64::MIN_POSITIVE);
    let leaning = |before: f64, shown: &Shown| (lean * before + shown.believed) / (lean + shown.siblings);
    let mut all = BTreeMap::new();
    let mut walk = |from: f64, octaves: &mut dyn Iterator<Item = (&u8, &Shown)>| {
        let mut times = from;
        for (&octave, shown) in octaves {
            times = leaning(times, shown);
            all.insert(octave, times);
        }
    };
    walk(1.0, &mut shown.range(middle..));
    walk(leaning(1.0, &shown[&middle]), &mut shown.range(..middle).rev());
    all
}

impl Index {
    /// Asks the octaves anew if it is time: the day after they moved, and twice as late each time that they did not.
    pub(super) fn ask_octaves(&mut self, today: u32) {
        let Octaves { ref pages, day, days, .. } = self.octaves;
        if pages.len() < 2 || self.rule.known_rates || (day..day + u32::from(days)).contains(&today) {
            return;
        }
        let expected = self.asked();
        let has_moved = self.octaves.off(&expected) >= STEP;
        (self.octaves.day, self.octaves.days) = (today, if has_moved { 1 } else { (2 * days).clamp(1, DAYS_MAX) });
        if has_moved {
            let times = self.scaled(&expected);
            self.count_anew(times);
        }
        if self.firmness.settle() || has_moved {
            self.shake_all();
        }
    }

    /// How many times as often as its siblings a page is expected to change, for what it counts.
    pub(super) fn times_of(&self, page: &Page) -> f64 {
        self.octaves.times(page.octave())
    }

    /// A page takes another importance, and its rate is counted as one of that.
    pub(super) fn take_importance(&mut self, number: u32, importance: f32) {
        let rate = self.pages.at(number).rate();
        self.count_rate(number, rate, 0.0);
        let page = self.pages.at_mut(number);
        self.octaves.discount(page.octave());
        page.set_importance(importance);
        self.octaves.count(page.octave());
        self.count_rate(number, 0.0, rate);
    }

    /// Remembers what others knew, of the pages that are counted here.
    pub(super) fn remember_octaves(&mut self, known: Octaves) {
        (self.octaves.day, self.octaves.days) = (known.day, known.days);
        self.count_anew(known.times);
    }

    /// What the octaves say now. What is believed of a page depends on what is expected of its octave, and that on what is
    /// believed of its pages: so they are reckoned from each other until they rest.
    fn asked(&self) -> BTreeMap<u8, f64> {
        let mut times: [f64; OCTAVES] = std::array::from_fn(|octave| self.octaves.times(octave as u8));
        for _ in 0..ROUNDS_MAX {
            let mut shown = [Shown::default(); OCTAVES];
            for number in self.pages.numbers() {
                let page = self.pages.at(number);
                if page.is_compared() {
                    let (siblings, octave) = (self.siblings_of(page), usize::from(page.octave()));
                    shown[octave].compared += 1;
                    shown[octave].siblings += siblings;
                    shown[octave].believed += self.belief_from(page, siblings * times[octave]).mean();
                }
            }
            let pages = self.octaves.pages.iter();
            let shown =
                pages.map(|(&octave, &pages)| (octave, Shown { pages, ..shown[usize::from(octave)] })).collect();
            let mut moved: f64 = 0.0;
            for (octave, next) in expected(&shown) {
                let before = std::mem::replace(&mut times[usize::from(octave)], next);
                moved = moved.max((next / before).ln().abs());
            }
            if moved < AT_REST {
                break;
            }
        }
        self.octaves.pages.keys().map(|&octave| (octave, times[usize::from(octave)])).collect()
    }

    /// Scales all so that the mean of all rates is the same with them and without: partitions compare their means.
    fn scaled(&self, expected: &BTreeMap<u8, f64>) -> BTreeMap<u8, f32> {
        let (mut rates, mut alike) = (0.0, 0.0);
        for number in self.pages.numbers() {
            let page = self.pages.at(number);
            rates += f64::from(page.rate());
            alike += f64::from(page.rate()) / expected[&page.octave()];
        }
        let scale = if rates > 0.0 { alike / rates } else { 1.0 };
        let within = |times: f64| (times * scale).clamp(1.0 / TIMES_MAX, TIMES_MAX) as f32;
        expected.iter().map(|(&octave, &times)| (octave, within(times))).collect()
    }

    /// Counts the rates of all pages by what is expected of their octaves now.
    fn count_anew(&mut self, times: BTreeMap<u8, f32>) {
        let compared: Vec<u32> = self.pages.numbers().filter(|&number| self.pages.at(number).is_compared()).collect();
        for &number in &compared {
            self.count_rate(number, self.pages.at(number).rate(), 0.0);
        }
        self.octaves.times = times;
        for &number in &compared {
            self.count_rate(number, 0.0, self.pages.at(number).rate());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Held, Refresh, Seen};
    use vernal_model::{Chance, Moment, PageKey, Partition, PolicyState, Span};

    fn shown(pages: u32, times: f64) -> Shown {
        Shown { pages, compared: pages, believed: 0.1 * times * f64::from(pages), siblings: 0.1 * f64::from(pages) }
    }

    #[test]
    fn few_important_pages_lean_towards_their_neighbours_and_not_towards_all() {
        let few = Shown { pages: 3, ..Shown::default() };
        let expected = expected(&BTreeMap::from([(120, shown(4_000, 1.0)), (121, shown(400, 0.3)), (125, few)]));
        assert!((expected[&120] - 1.0).abs() < 1e-9 && (expected[&121] - 0.3).abs() < 0.01, "{expected:?}");
        assert_eq!(expected[&125], expected[&121], "nobody was compared there");
    }

    #[test]
    fn the_least_important_lean_upwards() {
        let known = BTreeMap::from([(118, shown(1, 9.0)), (119, shown(1_000, 2.0)), (120, shown(4_000, 1.0))]);
        let expected = expected(&known);
        assert!((expected[&118] - (5.0 * expected[&119] + 9.0) / 6.0).abs() < 1e-9, "{expected:?}");
    }

    #[test]
    fn what_is_written_is_read_and_broken_bytes_are_refused() {
        let octaves =
            Octaves { day: 7, days: 4, times: BTreeMap::from([(120, 3.0), (121, 0.25)]), ..Octaves::default() };
        let mut bytes = Vec::new();
        octaves.write(&mut bytes);
        let mut rest = &bytes[..];
        let read = Octaves::read(&mut rest, false).unwrap();
        assert!(rest.is_empty());
        assert_eq!((read.day, read.days, read.times), (7, 4, octaves.times));
        assert!(Octaves::read(&mut &bytes[..bytes.len() - 1], false).is_none());
        let last = bytes.len() - 4;
        bytes[last..].copy_from_slice(&f32::NAN.to_le_bytes());
        assert!(Octaves::read(&mut &bytes[..], false).is_none());
    }

    const SITES: u32 = 10;
    const PAGES: u32 = 40;
    const LIVELY: f32 = 1.0;
    const QUIET: f32 = 8.0;

    fn key(number: u32) -> PageKey {
        PageKey::new(Partition(0), number)
    }

    fn day(day: u32) -> Moment {
        Moment::from_secs(1_700_000_000) + Span::from_days(u64::from(day))
    }

    /// Sites that differ only in how many of their pages are important.
    fn is_quiet(number: u32) -> bool {
        let (site, within) = (number / PAGES, number % PAGES);
        within < 4 * (site + 1) - 2
    }

    fn recall(policy: &mut Index, number: u32, importance: f32) {
        let unknown = PolicyState::default();
        policy.recall(&Held { importance, ..Held::new(key(number), number / PAGES, day(0), &unknown) });
    }

    fn learn(policy: &mut Index, number: u32, today: u32, changed: bool) {
        let (moment, changed) = (day(today), Some(changed));
        let seen = Seen {
            page: key(number),
            moment,
            previous: None,
            changed,
            degree: 0.0,
            last_modified: None,
            wire_bytes: 0,
        };
        policy.learn(&seen);
    }

    #[test]
    fn rates_that_are_a_matter_of_importance_leave_sites_alike() {
        let mut policy = Index::named("bayes").unwrap();
        for number in 0..SITES * PAGES {
            recall(&mut policy, number, if is_quiet(number) { QUIET } else { LIVELY });
        }
        for today in 1..=40 {
            for number in 0..SITES * PAGES {
                let every = if is_quiet(number) { 20 } else { 2 };
                learn(&mut policy, number, today, (today + number) % every == 0);
            }
        }
        let times = |number: u32| policy.times_of(policy.pages.at(number));
        let quieter = times(0) / times(PAGES - 1);
        // One change in twenty visits against one in two is a rate of 0.051 against 0.69.
        assert!((0.04..0.15).contains(&quieter), "{quieter}");
        let means: Vec<f32> = policy.sites[1..].iter().map(|site| site.all.mean).collect();
        let (least, most) = (means.iter().copied().fold(f32::MAX, f32::min), means.iter().copied().fold(0.0, f32::max));
        // One site has two quiet pages of forty and another has thirty-eight: as they are, their rates differ eightfold.
        assert!(most / least < 2.5, "{means:?}");
        assert_eq!(policy.firmness.shape(), 4.0, "every page is as its octave is");
    }

    #[test]
    fn what_sites_count_is_what_counting_anew_gives() {
        let mut policy = Index::named("vernal").unwrap();
        let mut chance = Chance::new(3).stream("octaves");
        let pages = SITES * PAGES;
        let importance = |chance: &mut Chance| (10.0 * chance.share()).exp2() as f32;
        (0..pages).for_each(|number| recall(&mut policy, number, importance(&mut chance)));
        for step in 0..4_000u32 {
            let number = (chance.share() * f64::from(pages)) as u32;
            match step % 20 {
                0 => policy.weigh(key(number), importance(&mut chance)),
                1 => policy.forget(key(number)),
                2 => recall(&mut policy, number, importance(&mut chance)),
                _ => learn(&mut policy, number, 1 + step / 100, chance.happens(0.3)),
            }
        }
        assert!(policy.octaves.are_known());
        let told = |policy: &Index| -> Vec<(u32, f64)> {
            policy.sites.iter().map(|site| (site.all.compared, site.all.rates)).collect()
        };
        let (counted, sums) = (told(&policy), policy.shared.sums);
        assert!(counted.iter().any(|&(compared, _)| compared > 0));
        for site in &mut policy.sites {
            (site.all.compared, site.all.rates) = (0, 0.0);
            site.groups.iter_mut().for_each(|group| (group.compared, group.rates) = (0, 0.0));
        }
        policy.shared.sums = Default::default();
        for number in policy.pages.numbers().collect::<Vec<_>>() {
            let rate = policy.pages.at(number).rate();
            policy.count_rate(number, 0.0, rate);
        }
        for ((compared, rates), (compared_anew, rates_anew)) in counted.into_iter().zip(told(&policy)) {
            assert_eq!(compared, compared_anew);
            assert!((rates - rates_anew).abs() < 1e-9 * rates_anew.max(1.0), "{rates} {rates_anew}");
        }
        assert!((sums.weighted / policy.shared.sums.weighted - 1.0).abs() < 1e-9);
    }
}
