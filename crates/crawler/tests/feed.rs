//! The feed and the history under kills: crawler and consumer end at random instants, a hundred times.

#![allow(clippy::unwrap_used, reason = "the helpers of tests fail as tests do")]

mod invented;

use std::collections::BTreeMap;

use invented::{opened, seeded};
use vernal_crawler::Settings;
use vernal_model::{Chance, Day, Event, Hour, Span, VisitCounts};
use vernal_repository::{Cursor, EventId, Reader};
use vernal_simulator::trial::Trial;
use vernal_simulator::web::{Web, WebSettings};

const ROUNDS: usize = 100;

fn settings() -> Settings {
    Settings { budget: "600/day".parse().unwrap(), history: true, concurrency: 8, ..Settings::default() }
}

/// A program that follows the feed and writes down its cursor now and then.
#[derive(Default)]
struct Consumer {
    told: BTreeMap<Cursor, (EventId, Event)>,
    cursor: Cursor,
    saved: Cursor,
}

impl Consumer {
    fn read(&mut self, reader: &Reader, limit: usize) {
        for (cursor, id, event) in reader.events(self.cursor, limit).unwrap() {
            assert!(cursor > self.cursor, "{cursor} after {}", self.cursor);
            self.cursor = cursor;
            let again = self.told.insert(cursor, (id, event.clone()));
            assert!(again.is_none_or(|before| before == (id, event)), "{cursor} was told otherwise before");
        }
    }

    /// Killed: what it has read since it saved its cursor is read again.
    fn killed(&mut self) {
        self.cursor = self.saved;
    }
}

/// Every visit is in the row of one hour, and in that of one day of one site.
fn assert_counts_every_visit(reader: &Reader) {
    let (every, last) = ((Hour(0), Hour(u32::MAX)), Day(u32::MAX));
    let mut hours = VisitCounts::default();
    reader.hours(every.0, every.1).unwrap().iter().for_each(|(_, row)| hours.add(&row.counts));
    reader.days(Day(0), last).unwrap().iter().for_each(|(_, row)| hours.add(&row.counts));
    hours.add(&reader.open_hour().unwrap().counts);
    let totals = reader.totals();
    assert_eq!((u64::from(hours.visits), hours.wire_bytes), (totals.visits, totals.wire_bytes));
    assert_eq!((u64::from(hours.changed), hours.body_bytes), (totals.changes, totals.body_bytes));
    let mut sites = VisitCounts::default();
    for site in reader.sites() {
        reader.site_days(&site.site, Day(0), last).unwrap().iter().for_each(|(_, counts)| sites.add(counts));
    }
    reader.open_site_days().iter().for_each(|(_, _, counts)| sites.add(counts));
    assert_eq!(sites, hours);
}

#[test]
fn over_a_hundred_kills_no_event_is_missed_or_told_otherwise_and_every_visit_is_counted_once() {
    let web = Web::new(WebSettings::plain(3, 40)).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let mut now = web.settings().origin;
    let mut chance = Chance::new(25).stream("kills");
    let mut consumer = Consumer::default();
    for round in 0..ROUNDS {
        let crawler = match round {
            0 => seeded(&web, folder.path(), settings(), now),
            _ => opened(folder.path(), settings(), now),
        };
        let mut trial = Trial::new(&web, crawler, now, chance.bits());
        for _ in 0..1 + chance.below(3) {
            trial.run_until_idle(chance.below(90) as usize).unwrap();
            consumer.read(&trial.crawler().reader(), chance.below(20) as usize);
            match chance.below(3) {
                0 => consumer.killed(),
                1 => consumer.saved = consumer.cursor,
                _ => {}
            }
        }
        now = trial.now() + Span::from_millis(chance.below(500));
        // Dropped where it stands: what was not committed is lost, as at a kill.
    }
    let reader = opened(folder.path(), settings(), now).reader();
    consumer.killed();
    consumer.read(&reader, usize::MAX);
    let told: Vec<_> = consumer.told.into_iter().map(|(cursor, (id, event))| (cursor, id, event)).collect();
    assert_eq!(told, reader.events(Cursor::START, usize::MAX).unwrap());
    assert!(told.len() > 150, "{} events", told.len());
    for (cursor, id, _) in told.iter().step_by(17) {
        assert_eq!(reader.event(*id).unwrap().map(|(at, ..)| at), Some(*cursor));
    }
    let hours = reader.hours(Hour(0), Hour(u32::MAX)).unwrap();
    assert!(hours.len() > 20, "{} hours", hours.len());
    assert!(hours.iter().any(|(_, row)| row.gauges.is_some_and(|gauges| gauges.held > 50)), "{hours:?}");
    assert_counts_every_visit(&reader);
}

#[test]
fn hours_of_more_than_400_days_ago_are_days() {
    let web = Web::new(WebSettings::plain(1, 5)).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let start = web.settings().origin;
    let mut trial = Trial::new(&web, seeded(&web, folder.path(), settings(), start), start, 1);
    trial.run_until(start + Span::from_days(2)).unwrap();
    let later = start + Span::from_days(401);
    let now = trial.now();
    drop(trial);
    let before = opened(folder.path(), settings(), now).reader();
    let hours = before.hours(Hour(0), Hour(u32::MAX)).unwrap().len();
    drop(before);
    let mut trial = Trial::new(&web, opened(folder.path(), settings(), later), later, 1);
    trial.run_until(later + Span::from_hours(5)).unwrap();
    let reader = trial.crawler().reader();
    let days = reader.days(Day(0), Day(u32::MAX)).unwrap();
    assert!(!days.is_empty() && hours > 40, "{} days of {hours} hours", days.len());
    let left = reader.hours(Hour(0), Hour(u32::MAX)).unwrap();
    assert!(left.iter().all(|(hour, _)| days.iter().all(|(day, _)| hour.day() != *day)), "a folded day has no hours");
    assert!(left.iter().all(|(hour, _)| hour.begins() + Span::from_days(402) > later));
    assert_counts_every_visit(&reader);
}
