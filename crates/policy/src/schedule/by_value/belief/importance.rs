//! What the importance of a page says of its change rate: pages of about the same importance are often alike in that too.
//!
//! Pages are sorted into buckets of importance, each up to twice as important as the one below. Once a day, or less often while
//! nothing moves, each bucket is fitted: how many times as often its pages are believed to change as pages of their paths and
//! sites do. That is what is expected of its pages from then on. Sites are compared by what their pages' rates would be without
//! this factor, so that neither counts what the other has counted already: a rate that depends on importance alone leaves sites
//! alike, and one that depends on the site alone leaves all buckets at 1.
//!
//! The more important a bucket is, the fewer pages it has, and the more is at stake. So it leans towards its neighbour with
//! more pages, not towards the mean of all, and a trend is followed to where hardly any page was compared. Where all pages
//! are in one bucket nothing is ever fitted.
//!
//! Turned down: buckets without their sites; and finer buckets where they hold many pages, which won as much where quiet
//! pages count most as it lost where lively ones do.

use std::collections::BTreeMap;

use crate::schedule::by_value::site::POOLING;

/// What is expected of a bucket moves only when it is off by this much, in logarithm: each move looks at all pages.
const STEP: f64 = 0.2;
/// No page is expected to change more than so many times as often, or as rarely, as its siblings.
const TIMES_MAX: f64 = 1e4;
/// How often beliefs and expectations are computed from each other in one fit, and when they have converged, in logarithm. A
/// single round moves too little to be a step where pages hardly ever change.
const ROUNDS_MAX: u32 = 16;
const CONVERGED: f64 = 0.01;
/// The most days from one fit to the next.
const DAYS_MAX: u8 = 8;
/// As many as there can be.
const BUCKETS: usize = 1 << u8::BITS;

#[derive(Clone, Debug, Default)]
pub struct ImportanceBuckets {
    /// How many pages are in each.
    pages: BTreeMap<u8, u32>,
    /// How many times as often as their siblings its pages are expected to change; 1 where nothing is said.
    times: BTreeMap<u8, f32>,
    /// The day on which they were last fitted, and how many days later they are fitted again.
    day: u32,
    days: u8,
}

/// A page that was compared, as the buckets see it.
#[derive(Copy, Clone, Debug)]
pub struct Compared {
    pub bucket: u8,
    pub rate: f32,
    /// What is expected of its siblings.
    pub siblings: f64,
}

/// What the pages of one bucket show: how many there are and how many were compared, Σ of the rates that are believed of
/// these, and Σ of their siblings' rates.
#[derive(Copy, Clone, Debug, Default, PartialEq)]
struct Shown {
    pages: u32,
    compared: u32,
    believed: f64,
    siblings: f64,
}

impl ImportanceBuckets {
    /// One more page.
    pub fn count(&mut self, bucket: u8) {
        *self.pages.entry(bucket).or_default() += 1;
    }

    /// One page less.
    pub fn discount(&mut self, bucket: u8) {
        if let Some(pages) = self.pages.get_mut(&bucket) {
            *pages -= 1;
            if *pages == 0 {
                self.pages.remove(&bucket);
            }
        }
    }

    /// Whether they were ever fitted to more than 1.
    pub fn are_fitted(&self) -> bool {
        !self.times.is_empty()
    }

    /// How many times as often as its siblings a page of this bucket is expected to change.
    pub fn times(&self, bucket: u8) -> f64 {
        if self.times.is_empty() {
            return 1.0;
        }
        self.times.get(&bucket).map_or(1.0, |&times| f64::from(times))
    }

    /// Day (4), days until the next fit (1), buckets (1, then for each: number 1, times 4), little-endian.
    pub fn write(&self, bytes: &mut Vec<u8>) {
        bytes.extend(self.day.to_le_bytes());
        bytes.push(self.days);
        bytes.push(self.times.len().min(usize::from(u8::MAX)) as u8);
        for (bucket, times) in self.times.iter().take(usize::from(u8::MAX)) {
            bytes.push(*bucket);
            bytes.extend(times.to_le_bytes());
        }
    }

    /// Reads what `write` wrote; pages are counted as they are recalled. An older format fitted every day and did not write
    /// when the next fit is.
    pub fn read(bytes: &mut &[u8], is_every_day: bool) -> Option<ImportanceBuckets> {
        let day = u32::from_le_bytes(*bytes.split_off(..4)?.first_chunk()?);
        let days = if is_every_day { 1 } else { *bytes.split_off_first()? };
        if days > DAYS_MAX {
            return None;
        }
        let count = *bytes.split_off_first()?;
        let mut known = BTreeMap::new();
        for _ in 0..count {
            let bucket = *bytes.split_off_first()?;
            let times = f32::from_le_bytes(*bytes.split_off(..4)?.first_chunk()?);
            known.insert(
                bucket,
                Some(times).filter(|&times| (1.0 / TIMES_MAX..=TIMES_MAX).contains(&f64::from(times)))?,
            );
        }
        Some(ImportanceBuckets { pages: BTreeMap::new(), times: known, day, days })
    }

    /// Whether they are to be fitted: the day after they moved, and twice as late each time that they did not.
    pub fn is_fitting_due(&self, today: u32) -> bool {
        self.pages.len() >= 2 && !(self.day..self.day + u32::from(self.days)).contains(&today)
    }

    /// What they should be by these pages; `None` if that is about what they are. `belief` gives the mean rate that is
    /// believed of a page by what was expected of it: its number, and that prior.
    ///
    /// What is believed of a page depends on what is expected of its bucket, and that on what is believed of its pages: so
    /// they are computed from each other until they converge.
    pub fn fit(
        &mut self,
        today: u32,
        compared: impl Iterator<Item = (u32, Compared)> + Clone,
        belief: impl Fn(u32, f64) -> f64,
    ) -> Option<BTreeMap<u8, f32>> {
        let expected = self.converged(compared.clone(), belief);
        let has_moved = self.off(&expected) >= STEP;
        (self.day, self.days) = (today, if has_moved { 1 } else { (2 * self.days).clamp(1, DAYS_MAX) });
        has_moved.then(|| scaled(&expected, compared))
    }

    /// Takes the day of the last fit from what another process remembered; what it expected.
    pub fn take_fitting(&mut self, known: ImportanceBuckets) -> BTreeMap<u8, f32> {
        (self.day, self.days) = (known.day, known.days);
        known.times
    }

    pub fn set_times(&mut self, times: BTreeMap<u8, f32>) {
        self.times = times;
    }

    fn converged(
        &self,
        compared: impl Iterator<Item = (u32, Compared)> + Clone,
        belief: impl Fn(u32, f64) -> f64,
    ) -> BTreeMap<u8, f64> {
        let mut times: [f64; BUCKETS] = std::array::from_fn(|bucket| self.times(bucket as u8));
        for _ in 0..ROUNDS_MAX {
            let mut shown = [Shown::default(); BUCKETS];
            for (number, Compared { bucket, siblings, .. }) in compared.clone() {
                let shown = &mut shown[usize::from(bucket)];
                shown.compared += 1;
                shown.siblings += siblings;
                shown.believed += belief(number, siblings * times[usize::from(bucket)]);
            }
            let pages = self.pages.iter();
            let shown =
                pages.map(|(&bucket, &pages)| (bucket, Shown { pages, ..shown[usize::from(bucket)] })).collect();
            let mut moved: f64 = 0.0;
            for (bucket, next) in expected(&shown) {
                let before = std::mem::replace(&mut times[usize::from(bucket)], next);
                moved = moved.max((next / before).ln().abs());
            }
            if moved < CONVERGED {
                break;
            }
        }
        self.pages.keys().map(|&bucket| (bucket, times[usize::from(bucket)])).collect()
    }

    /// How far what is expected of any bucket lies from this, in logarithm.
    fn off(&self, expected: &BTreeMap<u8, f64>) -> f64 {
        expected.iter().map(|(&bucket, times)| (times / self.times(bucket)).ln().abs()).fold(0.0, f64::max)
    }
}

/// What is expected of each bucket: from the one with the most pages on, upwards and downwards, each leans towards the one
/// before, as far as a few pages of the mean rate would make it.
fn expected(shown: &BTreeMap<u8, Shown>) -> BTreeMap<u8, f64> {
    let Some((&middle, _)) = shown.iter().max_by_key(|(_, shown)| shown.pages) else { return BTreeMap::new() };
    let compared: u32 = shown.values().map(|shown| shown.compared).sum();
    let siblings: f64 = shown.values().map(|shown| shown.siblings).sum();
    let lean = (POOLING * siblings / f64::from(compared.max(1))).max(f64::MIN_POSITIVE);
    let leaning = |before: f64, shown: &Shown| (lean * before + shown.believed) / (lean + shown.siblings);
    let mut all = BTreeMap::new();
    let mut walk = |from: f64, buckets: &mut dyn Iterator<Item = (&u8, &Shown)>| {
        let mut times = from;
        for (&bucket, shown) in buckets {
            times = leaning(times, shown);
            all.insert(bucket, times);
        }
    };
    walk(1.0, &mut shown.range(middle..));
    walk(leaning(1.0, &shown[&middle]), &mut shown.range(..middle).rev());
    all
}

/// Scales all so that the mean of all rates is the same with them and without: partitions compare their means.
fn scaled(expected: &BTreeMap<u8, f64>, compared: impl Iterator<Item = (u32, Compared)>) -> BTreeMap<u8, f32> {
    let (mut rates, mut alike) = (0.0, 0.0);
    for (_, page) in compared {
        rates += f64::from(page.rate);
        alike += f64::from(page.rate) / expected[&page.bucket];
    }
    let scale = if rates > 0.0 { alike / rates } else { 1.0 };
    let within = |times: f64| (times * scale).clamp(1.0 / TIMES_MAX, TIMES_MAX) as f32;
    expected.iter().map(|(&bucket, &times)| (bucket, within(times))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let buckets = ImportanceBuckets {
            day: 7,
            days: 4,
            times: BTreeMap::from([(120, 3.0), (121, 0.25)]),
            ..ImportanceBuckets::default()
        };
        let mut bytes = Vec::new();
        buckets.write(&mut bytes);
        let mut rest = &bytes[..];
        let read = ImportanceBuckets::read(&mut rest, false).unwrap();
        assert!(rest.is_empty());
        assert_eq!((read.day, read.days, read.times), (7, 4, buckets.times));
        assert!(ImportanceBuckets::read(&mut &bytes[..bytes.len() - 1], false).is_none());
        let last = bytes.len() - 4;
        bytes[last..].copy_from_slice(&f32::NAN.to_le_bytes());
        assert!(ImportanceBuckets::read(&mut &bytes[..], false).is_none());
    }

    /// Pages of two buckets on sites that are alike, of which the more important ones change less often.
    fn pages(quiet: f64, lively: f64) -> Vec<(u32, Compared)> {
        let page = |number: u32| {
            let (bucket, rate) = if number.is_multiple_of(4) { (130, quiet) } else { (127, lively) };
            (number, Compared { bucket, rate: rate as f32, siblings: 0.1 })
        };
        (0..400).map(page).collect()
    }

    #[test]
    fn what_pages_of_a_bucket_show_is_expected_of_them_and_the_mean_stays() {
        let (mut buckets, pages) = (ImportanceBuckets::default(), pages(0.02, 0.2));
        pages.iter().for_each(|(_, page)| buckets.count(page.bucket));
        assert!(buckets.is_fitting_due(0) || buckets.is_fitting_due(1));
        let rate = |number: u32, _: f64| f64::from(pages[number as usize].1.rate);
        let times = buckets.fit(1, pages.iter().copied(), rate).expect("they differ");
        assert!(times[&130] / times[&127] < 0.2, "{times:?}");
        let all: f64 = pages.iter().map(|(_, page)| f64::from(page.rate)).sum();
        let alike: f64 = pages.iter().map(|(_, page)| f64::from(page.rate) / f64::from(times[&page.bucket])).sum();
        assert!((all / alike - 1.0).abs() < 1e-5);
        buckets.set_times(times);
        assert!(buckets.are_fitted() && !buckets.is_fitting_due(1) && buckets.is_fitting_due(2));
    }

    #[test]
    fn buckets_that_do_not_move_are_fitted_ever_more_rarely() {
        let (mut buckets, pages) = (ImportanceBuckets::default(), pages(0.1, 0.1));
        pages.iter().for_each(|(_, page)| buckets.count(page.bucket));
        let mut fitted = Vec::new();
        for today in 1..40 {
            if buckets.is_fitting_due(today) {
                assert_eq!(buckets.fit(today, pages.iter().copied(), |_, prior| prior), None);
                fitted.push(today);
            }
        }
        assert_eq!(fitted, [1, 2, 4, 8, 16, 24, 32]);
    }
}
