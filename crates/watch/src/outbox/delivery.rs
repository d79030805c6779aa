//! One delivery: what is to be told, on which route, and what became of it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use vernal_model::{Moment, Span};

use crate::told::Told;

/// What is kept of an answer.
pub const ANSWER_BYTES_MAX: usize = 500;
/// Tries that are kept; all are counted.
const TRIES_KEPT_MAX: usize = 12;
/// After so many seconds a try follows another; then every six hours.
const DELAYS_S: [u64; 6] = [10, 30, 120, 480, 1_800, 7_200];
const LAST_DELAY: Span = Span::from_hours(6);
/// Nothing is tried longer than this.
pub const TRIED_FOR_MAX: Span = Span::from_days(3);

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Delivery {
    /// Stable, so that a repeat can be told: watch, event and route.
    pub id: String,
    pub watch: String,
    pub watch_name: String,
    pub route: String,
    pub alert: Alert,
    pub made: Moment,
    pub state: DeliveryState,
    pub tries: u32,
    pub latest: Vec<Try>,
    /// Not tried before this.
    pub next: Moment,
}

/// What a delivery says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Alert {
    pub reason: Reason,
    /// What is said where the events do not say it.
    pub says: Option<String>,
    pub events: Vec<Told>,
    /// Events that are not among these.
    pub more: u64,
    /// The cursor from which on the feed has all of them.
    pub since: Option<String>,
}

/// Why something is told.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reason {
    Changed,
    Digest,
    /// The page, or what matched on it, is lost, blocked or moved.
    Lost,
    /// It still is, and nobody has acknowledged it.
    StillLost,
    Silent,
    /// Another route took nothing.
    GivenUp,
    Test,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DeliveryState {
    Waiting,
    Sent,
    GivenUp,
}

/// One try.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Try {
    pub at: Moment,
    pub took_ms: u64,
    /// Of HTTP or SMTP, or the exit code of a command.
    pub status: Option<u16>,
    pub taken: bool,
    /// The beginning of the answer, or why there was none.
    pub answer: String,
}

impl Delivery {
    pub fn new(id: String, watch: (&str, String), route: &str, alert: Alert, now: Moment) -> Delivery {
        Delivery {
            id,
            watch: watch.0.to_owned(),
            watch_name: watch.1,
            route: route.to_owned(),
            alert,
            made: now,
            state: DeliveryState::Waiting,
            tries: 0,
            latest: Vec::new(),
            next: now,
        }
    }

    pub fn is_waiting(&self) -> bool {
        self.state == DeliveryState::Waiting
    }

    /// The pages whose order it must keep.
    pub fn pages(&self) -> impl Iterator<Item = &str> {
        self.alert.events.iter().map(|told| told.url.as_str())
    }

    pub(super) fn note(&mut self, tried: Try) {
        self.tries += 1;
        if self.latest.len() >= TRIES_KEPT_MAX {
            self.latest.remove(0);
        }
        self.latest.push(tried);
    }
}

impl Alert {
    pub fn of_event(told: Told) -> Alert {
        Alert { reason: Reason::Changed, says: None, since: Some(told.cursor.clone()), events: vec![told], more: 0 }
    }

    /// What it says in one line, which is never empty.
    pub fn line(&self) -> String {
        if let Some(says) = self.says.as_ref().filter(|says| !says.trim().is_empty()) {
            return says.clone();
        }
        match &self.events[..] {
            [] => "nothing more is known of it".to_owned(),
            [told] => told.line(),
            many => {
                let total = many.len() as u64 + self.more;
                let mut sites: Vec<&str> = many.iter().map(|told| told.site.as_str()).collect();
                sites.sort_unstable();
                sites.dedup();
                match sites[..] {
                    [site] => format!("{total} changes of {site}"),
                    _ => format!("{total} changes of {} sites", sites.len()),
                }
            }
        }
    }

    /// Whether there is something that a person can read.
    pub fn is_readable(&self) -> bool {
        let says = self.says.as_ref().is_some_and(|says| !says.trim().is_empty());
        says || !self.events.is_empty() && self.events.iter().all(Told::is_readable)
    }
}

impl Reason {
    pub fn name(self) -> &'static str {
        match self {
            Reason::Changed => "changed",
            Reason::Digest => "digest",
            Reason::Lost => "lost",
            Reason::StillLost => "still-lost",
            Reason::Silent => "silent",
            Reason::GivenUp => "given-up",
            Reason::Test => "test",
        }
    }
}

impl DeliveryState {
    pub fn name(self) -> &'static str {
        match self {
            DeliveryState::Waiting => "waiting",
            DeliveryState::Sent => "sent",
            DeliveryState::GivenUp => "given-up",
        }
    }
}

/// How long to wait after so many failures in a row.
pub fn delay(failures: u32) -> Span {
    let place = failures.saturating_sub(1) as usize;
    DELAYS_S.get(place).map_or(LAST_DELAY, |secs| Span::from_secs(*secs))
}

/// When to try again after so many tries; `None` where it is given up.
pub fn next_try(tries: u32, made: Moment, now: Moment) -> Option<Moment> {
    let next = now + delay(tries);
    (next <= made + TRIED_FOR_MAX).then_some(next)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tries_come_after_longer_and_longer_waits_for_three_days() {
        let made = Moment::from_secs(1_000_000);
        let (mut now, mut tries, mut waits) = (made, 0, Vec::new());
        loop {
            tries += 1;
            let Some(next) = next_try(tries, made, now) else { break };
            waits.push(next.since(now).secs_f64() as u64);
            now = next;
        }
        assert_eq!(waits[..8], [10, 30, 120, 480, 1_800, 7_200, 21_600, 21_600]);
        assert!(now.since(made) <= TRIED_FOR_MAX && now.since(made) > Span::from_hours(60));
    }
}
