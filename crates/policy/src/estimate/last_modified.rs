//! The change rate from Last-Modified: a visit that finds a change also tells when the last one was (Cho and
//! Garcia-Molina 2003, section 5).
//!
//! Seen backwards from the visit, the last change is the first event, so the time back to it, or to the previous visit
//! if there was none, is the sample of a Poisson process. The time from the previous visit up to the last change is no
//! such sample: it is longer the more changes there were.

/// N changes in T days without one, from n visits.
#[derive(Copy, Clone, Debug, Default, PartialEq)]
pub struct LastModified {
    visits: f64,
    changes: f64,
    days: f64,
}

impl LastModified {
    /// Adds a visit `days` after the previous one. If it found a change, `changed_ago` is how many days before the
    /// visit the page was last modified; a value outside the time between the visits is clamped to it.
    pub fn hear(&mut self, days: f64, changed_ago: Option<f64>) {
        self.visits += 1.0;
        match changed_ago {
            None => self.days += days,
            Some(ago) => {
                self.changes += 1.0;
                self.days += ago.clamp(0.0, days);
            }
        }
    }

    /// N/T; `None` before the first observation.
    pub fn rate(&self) -> Option<f64> {
        (self.days > 0.0).then(|| self.changes / self.days)
    }

    /// ((N − 1) − N/(n·ln(1 − N/n)))/T, nearly without bias; the plain rate where it is not defined.
    pub fn bias_reduced(&self) -> Option<f64> {
        let share = self.changes / self.visits;
        if self.changes <= 0.0 || share >= 1.0 {
            return self.rate();
        }
        let numerator = (self.changes - 1.0) - self.changes / (self.visits * (1.0 - share).ln());
        (self.days > 0.0).then(|| numerator / self.days)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use vernal_model::Chance;

    #[test]
    fn a_change_adds_only_the_time_since_it() {
        let mut pages = LastModified::default();
        pages.hear(4.0, None);
        pages.hear(4.0, Some(1.0));
        assert_eq!(pages.rate(), Some(1.0 / 5.0));
        // (1 − 1) − 1/(2·ln ½), over five days.
        assert!((pages.bias_reduced().unwrap() - 0.721_347_5 / 5.0).abs() < 1e-6);
    }

    #[test]
    fn the_reduced_rate_is_nearer_to_the_truth_than_the_plain_one() {
        // Ten visits a page, three days apart, 0.3 changes a day: the mean over many pages.
        let (mut chance, mut plain, mut reduced, pages) = (Chance::new(8), 0.0, 0.0, 20_000);
        for _ in 0..pages {
            let mut page = LastModified::default();
            for _ in 0..10 {
                let (mut at, mut last) = (chance.wait(0.3), None);
                while at < 3.0 {
                    last = Some(at);
                    at += chance.wait(0.3);
                }
                page.hear(3.0, last.map(|last| 3.0 - last));
            }
            plain += page.rate().unwrap_or(0.0) / f64::from(pages);
            reduced += page.bias_reduced().unwrap_or(0.0) / f64::from(pages);
        }
        assert!(plain > 0.3 && (reduced - 0.3).abs() < (plain - 0.3).abs() / 3.0, "{plain} {reduced}");
    }
}
