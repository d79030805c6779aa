//! How long pages were stale at a stretch, and the age that few exceed.

/// Lengths of staleness are told apart in steps of an eighth of a doubling, from a minute to some 250 years.
const LENGTH_STEPS: usize = 216;
const LENGTH_STEPS_PER_DOUBLING: f64 = 8.0;
const LENGTH_DAYS_MIN: f64 = 1.0 / 1_440.0;

/// How long pages were stale at a stretch. Within a stretch of length L the age runs through 0..L evenly, so that the
/// time spent above an age x is the sum of L − x over the longer stretches.
pub(super) struct Lengths {
    counts: [f64; LENGTH_STEPS],
    days: [f64; LENGTH_STEPS],
}

impl Default for Lengths {
    fn default() -> Self {
        Lengths { counts: [0.0; LENGTH_STEPS], days: [0.0; LENGTH_STEPS] }
    }
}

impl Lengths {
    pub fn add(&mut self, length_days: f64, count: f64) {
        if length_days <= 0.0 {
            return;
        }
        let step = ((length_days / LENGTH_DAYS_MIN).log2() * LENGTH_STEPS_PER_DOUBLING).floor() + 1.0;
        let step = step.clamp(0.0, LENGTH_STEPS as f64 - 1.0) as usize;
        self.counts[step] += count;
        self.days[step] += count * length_days;
    }

    /// The age that page-time exceeds for this share of the whole; exact at the edges of steps, straight between them.
    pub fn age_exceeded_by(&self, share: f64, online_days: f64) -> f64 {
        let wanted = share * online_days;
        let (mut count, mut days) = (0.0, 0.0);
        let mut above = (f64::INFINITY, 0.0);
        for step in (0..LENGTH_STEPS).rev() {
            count += self.counts[step];
            days += self.days[step];
            let edge = if step == 0 { 0.0 } else { edge_days(step) };
            let time = days - count * edge;
            if time >= wanted {
                let (upper, upper_time) = above;
                if upper.is_infinite() || time <= upper_time {
                    return edge;
                }
                return edge + (upper - edge) * (time - wanted) / (time - upper_time);
            }
            above = (edge, time);
        }
        0.0
    }
}

/// Where a step of lengths begins.
fn edge_days(step: usize) -> f64 {
    LENGTH_DAYS_MIN * ((step as f64 - 1.0) / LENGTH_STEPS_PER_DOUBLING).exp2()
}
