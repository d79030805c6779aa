//! Freshness day by day.

use vernal_model::Moment;

use super::days_of;
use crate::lab::world::World;

/// Time up to date and time online, day by day. A stretch touches its two end days, and what lies between by a
/// difference, so that a long one costs no more than a short one.
pub(super) struct Days {
    origin: Moment,
    fresh: Daily,
    online: Daily,
}

#[derive(Default)]
struct Daily {
    parts: Vec<f64>,
    steps: Vec<f64>,
}

impl Days {
    pub fn new(world: &World) -> Self {
        let days = world.length().days_f64().ceil() as usize + 1;
        let mut online = Daily::new(days);
        for (number, page) in world.pages.iter().enumerate() {
            let (from, until) = world.life(number);
            online.add(world.origin, from, until, f64::from(page.weight));
        }
        Days { origin: world.origin, fresh: Daily::new(days), online }
    }

    pub fn add(&mut self, from: Moment, until: Moment, weight: f64) {
        self.fresh.add(self.origin, from, until, weight);
    }

    pub fn freshness(&self) -> Vec<f64> {
        let (fresh, online) = (self.fresh.sums(), self.online.sums());
        let mut days: Vec<f64> = Vec::with_capacity(fresh.len());
        for (fresh, online) in fresh.into_iter().zip(online) {
            if online > 1e-9 {
                days.push((fresh / online).min(1.0));
            }
        }
        days
    }
}

impl Daily {
    fn new(days: usize) -> Self {
        Daily { parts: vec![0.0; days + 1], steps: vec![0.0; days + 1] }
    }

    fn add(&mut self, origin: Moment, from: Moment, until: Moment, weight: f64) {
        if until <= from {
            return;
        }
        let (begin, end) = (days_of(origin, from), days_of(origin, until));
        let last = self.parts.len() - 1;
        let (first_day, last_day) = ((begin as usize).min(last), (end as usize).min(last));
        if first_day == last_day {
            self.parts[first_day] += (end - begin) * weight;
            return;
        }
        self.parts[first_day] += (first_day as f64 + 1.0 - begin) * weight;
        self.parts[last_day] += (end - last_day as f64) * weight;
        self.steps[first_day + 1] += weight;
        self.steps[last_day] -= weight;
    }

    fn sums(&self) -> Vec<f64> {
        let mut whole = 0.0;
        let sum = |(part, step): (&f64, &f64)| {
            whole += step;
            part + whole
        };
        self.parts.iter().zip(&self.steps).map(sum).collect()
    }
}
