//! The events of one Poisson process, counted in random access: a binary tree over time whose every node says how many of
//! its events fall into its first half.

use vernal_model::Chance;

use super::HORIZON_SECS;

/// Above this mean a Poisson number is drawn from the normal law, which is then closer than any test could tell.
const POISSON_EXACT_MEAN_MAX: f64 = 256.0;

/// A Poisson process over the horizon: its chance number and how many events it has in all.
#[derive(Clone, Debug)]
pub(super) struct Tree {
    pub number: u64,
    pub total: u32,
}

impl Tree {
    pub fn draw(expected: f64, chance: &mut Chance) -> Self {
        Tree { number: chance.bits(), total: draw_poisson(expected, chance) }
    }

    pub fn count_before(&self, second: u64) -> u32 {
        if second >= HORIZON_SECS {
            return self.total;
        }
        let (mut node, mut half, mut start) = (1, HORIZON_SECS / 2, 0);
        let (mut within, mut before) = (self.total, 0);
        while within > 0 && half > 0 {
            let left = self.first_half(node, within);
            node *= 2;
            if second >= start + half {
                before += left;
                within -= left;
                start += half;
                node += 1;
            } else {
                within = left;
            }
            half /= 2;
        }
        before
    }

    /// The second of the event with this number, counted from 0.
    pub fn second_of(&self, nth: u32) -> u64 {
        let (mut node, mut half, mut start) = (1, HORIZON_SECS / 2, 0);
        let (mut within, mut nth) = (self.total, nth);
        while half > 0 {
            let left = self.first_half(node, within);
            node *= 2;
            if nth >= left {
                nth -= left;
                within -= left;
                start += half;
                node += 1;
            } else {
                within = left;
            }
            half /= 2;
        }
        start
    }

    /// How many of a node's events fall into its first half.
    fn first_half(&self, node: u64, events: u32) -> u32 {
        let mut chance = Chance::new(self.number ^ node.wrapping_mul(0xD6E8_FEB8_6659_FD93));
        let mut ones = 0;
        for _ in 0..events / 64 {
            ones += chance.bits().count_ones();
        }
        match events % 64 {
            0 => ones,
            rest => ones + (chance.bits() >> (64 - rest)).count_ones(),
        }
    }
}

/// Box and Muller 1958.
pub(super) fn draw_normal(chance: &mut Chance) -> f64 {
    let radius = (-2.0 * (1.0 - chance.share()).ln()).sqrt();
    radius * (std::f64::consts::TAU * chance.share()).cos()
}

fn draw_poisson(mean: f64, chance: &mut Chance) -> u32 {
    if mean <= 0.0 {
        return 0;
    }
    if mean > POISSON_EXACT_MEAN_MAX {
        return (mean + mean.sqrt() * draw_normal(chance)).round().max(0.0) as u32;
    }
    let (mut events, mut waited) = (0, chance.wait(1.0));
    while waited <= mean {
        events += 1;
        waited += chance.wait(1.0);
    }
    events
}
