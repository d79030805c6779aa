//! One cycle of sampling by topic: how many pages of each topic to sample, which, what the samples say and how sure that
//! is, and what is downloaded then (Algorithms 3 and 4 and equation 8 of seed 001).
//!
//! Slips in print: Algorithm 3 uses r for the share and for the random number, and steps j twice, so that it would sample
//! half of what it should; here every topic gets its k distinct pages.

use vernal_model::Chance;

use crate::estimate::{Interval, wilson, z_of};
use crate::schedule::sample_size;

/// How the sample is shared out among topics.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum SampleSizes {
    /// √(N·r) pages of every topic, N being the mean number of pages in a topic.
    Same,
    /// In proportion to the topic's share of all pages (equation 8): n_c·|C|/|ℜ| times as many.
    BySize,
    /// In proportion to its share of all memberships, since a page may be in many topics: n_c·|C|/Σ|C| times as many.
    ByMemberships,
}

/// Which pages of a topic are sampled.
#[derive(Copy, Clone, Debug, PartialEq)]
pub enum Draw<'a> {
    Uniform,
    /// In proportion to the reputation of each page in the topic, which the seed left open (4.2): topic by topic, in the
    /// order of its pages.
    ByAuthority(&'a [Vec<f64>]),
}

/// How a page counts for a topic after another topic has sampled it.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Overlap {
    /// It is one of the topic's k pages (Algorithm 3).
    Spent,
    /// It counts in the estimate beside the k pages (Algorithm 4).
    Free,
}

/// How one cycle is run.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Cycle<'a> {
    /// D: pages that may be downloaded, samples included.
    pub downloads: usize,
    /// Pages of all topics together, each counted once.
    pub pages: usize,
    pub sizes: SampleSizes,
    pub draw: Draw<'a>,
    pub overlap: Overlap,
}

/// The sample of one topic.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sample {
    /// Its own k pages.
    pub own: Vec<u32>,
    /// Pages that other topics have sampled.
    pub free: Vec<u32>,
}

/// What a sample says of the share of changed pages in its topic.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Estimate {
    pub changed: u32,
    pub sampled: u32,
    /// In which the true share lies with the confidence asked for (equation 9).
    pub interval: Interval,
}

impl Estimate {
    pub fn share(&self) -> f64 {
        f64::from(self.changed) / f64::from(self.sampled.max(1))
    }
}

/// How many pages of each topic to sample: at least one, at most all.
pub fn sizes(members: &[Vec<u32>], pages: usize, share: f64, how: SampleSizes) -> Vec<usize> {
    let memberships: usize = members.iter().map(Vec::len).sum();
    let topics = members.len().max(1) as f64;
    let size = sample_size(memberships as f64 / topics, share);
    let factor = |of: usize| match how {
        SampleSizes::Same => 1.0,
        SampleSizes::BySize => topics * of as f64 / pages.max(1) as f64,
        SampleSizes::ByMemberships => topics * of as f64 / memberships.max(1) as f64,
    };
    members.iter().map(|of| ((size * factor(of.len())).round() as usize).max(1).min(of.len())).collect()
}

/// The samples of all topics, one after the other.
pub fn draw(
    members: &[Vec<u32>],
    sizes: &[usize],
    how: Draw<'_>,
    overlap: Overlap,
    chance: &mut Chance,
) -> Vec<Sample> {
    let highest = members.iter().flatten().copied().max().map_or(0, |page| page as usize + 1);
    let mut is_sampled = vec![false; highest];
    let mut samples = Vec::with_capacity(members.len());
    for (topic, (pages, &size)) in members.iter().zip(sizes).enumerate() {
        let mut sample = Sample::default();
        for page in shuffled(topic, pages, how, chance) {
            if sample.own.len() == size {
                break;
            }
            let was_sampled = std::mem::replace(&mut is_sampled[page as usize], true);
            match overlap {
                Overlap::Free if was_sampled => sample.free.push(page),
                _ => sample.own.push(page),
            }
        }
        samples.push(sample);
    }
    samples
}

/// The pages of a topic in the order in which they are drawn.
fn shuffled(topic: usize, pages: &[u32], how: Draw<'_>, chance: &mut Chance) -> Vec<u32> {
    let Draw::ByAuthority(reputations) = how else {
        let mut pages = pages.to_vec();
        chance.shuffle(&mut pages);
        return pages;
    };
    // The first of exponential waits whose rates are the weights: drawing in proportion, without putting back
    // (Efraimidis and Spirakis 2006).
    let weight = |at: usize| reputations.get(topic).and_then(|of| of.get(at)).copied().unwrap_or(0.0).max(1e-12);
    let mut waits: Vec<(f64, u32)> =
        pages.iter().enumerate().map(|(at, &page)| (chance.wait(weight(at)), page)).collect();
    waits.sort_by(|one, other| one.0.total_cmp(&other.0).then(one.1.cmp(&other.1)));
    waits.into_iter().map(|(_, page)| page).collect()
}

/// What the samples say, once it is known which pages have changed.
pub fn estimates(samples: &[Sample], changed: &dyn Fn(u32) -> bool, confidence: f64) -> Vec<Estimate> {
    let estimate = |sample: &Sample| {
        let sampled = (sample.own.len() + sample.free.len()) as u32;
        let changed = sample.own.iter().chain(&sample.free).filter(|&&page| changed(page)).count() as u32;
        Estimate { changed, sampled, interval: wilson(changed, sampled, z_of(confidence)) }
    };
    samples.iter().map(estimate).collect()
}

/// What one cycle downloads, in order: the samples, then topic after topic whole, the one with the largest share of
/// changes first. No page is downloaded twice, and never more than D.
pub fn enact(members: &[Vec<u32>], cycle: &Cycle<'_>, changed: &dyn Fn(u32) -> bool, chance: &mut Chance) -> Vec<u32> {
    let share = cycle.downloads as f64 / cycle.pages.max(1) as f64;
    let sizes = sizes(members, cycle.pages, share, cycle.sizes);
    let samples = draw(members, &sizes, cycle.draw, cycle.overlap, chance);
    let estimates = estimates(&samples, changed, CONFIDENCE);
    let mut order: Vec<usize> = (0..members.len()).collect();
    // Equal shares in an order of chance, not in that of the topics' numbers.
    chance.shuffle(&mut order);
    order.sort_by(|&one, &other| estimates[other].share().total_cmp(&estimates[one].share()));
    let highest = members.iter().flatten().copied().max().map_or(0, |page| page as usize + 1);
    let mut is_taken = vec![false; highest];
    let mut downloads = Vec::with_capacity(cycle.downloads);
    let sampled = samples.iter().flat_map(|sample| sample.own.iter().copied());
    let rest = order.into_iter().flat_map(|topic| shuffled(topic, &members[topic], Draw::Uniform, chance));
    for page in sampled.chain(rest) {
        if downloads.len() == cycle.downloads {
            break;
        }
        if !std::mem::replace(&mut is_taken[page as usize], true) {
            downloads.push(page);
        }
    }
    downloads
}

/// The default confidence of an estimate.
const CONFIDENCE: f64 = 0.95;
