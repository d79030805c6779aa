//! The progress line of a crawl: rate, pages held, URLs waiting, time left.

use std::time::Duration;

use tokio::time::Instant;
use vernal_repository::Totals;

use super::crawl::Crawl;
use super::live::LoopStatus;
use crate::log::Log;

/// On a terminal one line is overwritten each second; elsewhere a plain line is logged now and then.
const LIVE_EVERY: Duration = Duration::from_secs(1);
const PLAIN_EVERY: Duration = Duration::from_secs(10);

pub struct Progress {
    log: Log,
    visits: u64,
    at: Instant,
    /// The last plain line: a crawl that waits does not repeat it.
    last: String,
}

impl Progress {
    pub fn new(log: Log, totals: &Totals) -> Progress {
        Progress { log, visits: totals.visits, at: Instant::now(), last: String::new() }
    }

    pub fn every(&self) -> Duration {
        if self.log.progress_is_live() { LIVE_EVERY } else { PLAIN_EVERY }
    }

    pub fn show(&mut self, crawl: &Crawl) {
        let totals = crawl.reader.totals();
        let secs = self.at.elapsed().as_secs_f64().max(1e-3);
        let rate = totals.visits.saturating_sub(self.visits) as f64 / secs;
        (self.visits, self.at) = (totals.visits, Instant::now());
        let line = line(rate, &totals, &crawl.handle.status());
        if self.log.progress_is_live() {
            self.log.progress(&line);
        } else if line != self.last {
            tracing::info!("{line}");
            self.last = line;
        }
    }
}

fn line(rate: f64, totals: &Totals, status: &LoopStatus) -> String {
    let pulse = &status.pulse;
    let mut line = format!(
        "{rate:.1} visits/s, {} held, {} waiting, {} in flight, {} changes",
        totals.held, totals.waiting, pulse.in_flight, totals.changes
    );
    // A crawl that waits for budget goes on when the budget does, whatever its rate was until then.
    if rate > 0.0 && totals.waiting > 0 && !status.waits_for_budget {
        line.push_str(&format!(", about {} left", left(totals.waiting as f64 / rate)));
    }
    let words = [
        (pulse.paused, ", paused"),
        (status.waits_for_budget, ", waiting for budget"),
        (pulse.disk_full, ", the disk is nearly full"),
    ];
    for (is_so, words) in words {
        if is_so {
            line.push_str(words);
        }
    }
    line
}

fn left(secs: f64) -> String {
    vernal_model::Span::from_secs_f64(secs.ceil()).to_string()
}
