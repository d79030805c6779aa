//! What the importance of a page says of its change rate: pages that count about as much are often alike in that too.
//!
//! Pages stand in octaves of importance. Once a day each octave is asked how many times as often its pages are believed to
//! change as pages of their paths and sites do, and that is what is expected of its pages from then on. The more important
//! an octave is the fewer pages it has, and the more is at stake: so it leans towards its neighbour with more pages, not
//! towards the mean of all, and a trend is followed to where hardly anybody can be asked. Where all pages are in one octave
//! nothing here is ever reckoned.
//!
//! Turned down: octaves without their sites, held to with more confidence where they foretell better; it wins next to nothing.

use std::collections::BTreeMap;

use super::page::Page;
use super::policy::Index;
use super::site::POOLING;

/// What is expected of an octave moves only when it is off by this much, in logarithm: each move looks at all pages.
const STEP: f64 = 0.2;
/// Nobody is expected to change so many times as often, or as rarely, as its siblings.
const TIMES_MAX: f32 = 1e4;

#[derive(Clone, Debug, Default)]
pub(super) struct Octaves {
    /// How many pages stand in each.
    pages: BTreeMap<u8, u32>,
    /// How many times as often as their siblings its pages are expected to change; 1 where nothing is said.
    times: BTreeMap<u8, f32>,
    /// The day on which that was last reckoned.
    day: u32,
}

/// What the compared pages of one octave show: how many pages there are and how many were compared, and Σ of how many times
/// as often as their siblings they change.
#[derive(Copy, Clone, Debug, Default, PartialEq)]
struct Shown {
    pages: u32,
    compared: f64,
    times: f64,
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

    /// How many times as often as its siblings a page of this octave is expected to change.
    pub fn times(&self, octave: u8) -> f64 {
        if self.times.is_empty() {
            return 1.0;
        }
        self.times.get(&octave).map_or(1.0, |&times| f64::from(times))
    }

    /// Day (4), octaves (1, then for each: number 1, times 4), little-endian.
    pub fn write(&self, bytes: &mut Vec<u8>) {
        bytes.extend(self.day.to_le_bytes());
        bytes.push(self.times.len().min(usize::from(u8::MAX)) as u8);
        for (octave, times) in self.times.iter().take(usize::from(u8::MAX)) {
            bytes.push(*octave);
            bytes.extend(times.to_le_bytes());
        }
    }

    /// Reads what `write` wrote; the pages are counted by whoever recalls them.
    pub fn read(bytes: &mut &[u8]) -> Option<Octaves> {
        let day = u32::from_le_bytes(*bytes.split_off(..4)?.first_chunk()?);
        let count = *bytes.split_off_first()?;
        let mut known = BTreeMap::new();
        for _ in 0..count {
            let octave = *bytes.split_off_first()?;
            let times = f32::from_le_bytes(*bytes.split_off(..4)?.first_chunk()?);
            known.insert(octave, Some(times).filter(|times| (1.0 / TIMES_MAX..=TIMES_MAX).contains(times))?);
        }
        Some(Octaves { pages: BTreeMap::new(), times: known, day })
    }

    /// Remembers what others knew, of the pages that are counted here.
    pub fn remember(&mut self, known: Octaves) {
        *self = Octaves { pages: std::mem::take(&mut self.pages), ..known };
    }

    /// Takes what each octave is expected to do now; whether any moved.
    fn settle(&mut self, expected: &BTreeMap<u8, f64>) -> bool {
        let mut has_moved = false;
        for (&octave, &times) in expected {
            if (times / self.times(octave)).ln().abs() >= STEP {
                self.times.insert(octave, (times as f32).clamp(1.0 / TIMES_MAX, TIMES_MAX));
                has_moved = true;
            }
        }
        has_moved
    }
}

/// What is expected of each octave: from the one with the most pages on, upwards and downwards, each leans towards the one
/// before.
fn expected(shown: &BTreeMap<u8, Shown>) -> BTreeMap<u8, f64> {
    let Some((&middle, _)) = shown.iter().max_by_key(|(_, shown)| shown.pages) else { return BTreeMap::new() };
    let mut all = BTreeMap::new();
    let mut walk = |octaves: &mut dyn Iterator<Item = (&u8, &Shown)>| {
        let mut times = 1.0;
        for (&octave, shown) in octaves {
            times = (POOLING * times + shown.times) / (POOLING + shown.compared);
            all.insert(octave, times);
        }
    };
    walk(&mut shown.range(middle..));
    walk(&mut shown.range(..=middle).rev());
    all
}

impl Index {
    /// Asks the octaves anew if a day has passed.
    pub(super) fn ask_octaves(&mut self, today: u32) {
        if self.octaves.pages.len() < 2 || self.octaves.day == today || self.rule.known_rates {
            return;
        }
        self.octaves.day = today;
        let mut shown: BTreeMap<u8, Shown> = BTreeMap::new();
        for number in self.pages.numbers() {
            let page = self.pages.at(number);
            let octave = shown.entry(page.octave()).or_default();
            octave.pages += 1;
            if page.rate() > 0.0 {
                octave.compared += 1.0;
                octave.times += self.belief_of(page).mean() / self.siblings_of(page);
            }
        }
        if self.octaves.settle(&expected(&shown)) {
            self.shake_all();
        }
    }

    /// How many times as often as its siblings a page is expected to change, for what it counts.
    pub(super) fn times_of(&self, page: &Page) -> f64 {
        self.octaves.times(page.octave())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(pages: u32, times: f64) -> Shown {
        Shown { pages, compared: f64::from(pages), times: times * f64::from(pages) }
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
        let mut octaves = Octaves { day: 7, ..Octaves::default() };
        octaves.settle(&BTreeMap::from([(120, 3.0), (121, 0.25), (122, 1.05)]));
        assert_eq!(octaves.times(122), 1.0, "that is no step");
        let mut bytes = Vec::new();
        octaves.write(&mut bytes);
        let mut rest = &bytes[..];
        let read = Octaves::read(&mut rest).unwrap();
        assert!(rest.is_empty());
        assert_eq!((read.day, read.times), (7, octaves.times));
        assert!(Octaves::read(&mut &bytes[..bytes.len() - 1]).is_none());
        let last = bytes.len() - 4;
        bytes[last..].copy_from_slice(&f32::NAN.to_le_bytes());
        assert!(Octaves::read(&mut &bytes[..]).is_none());
    }
}
