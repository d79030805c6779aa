//! The oldest last visit first: every page in its turn, whatever it did before.
//!
//! When in the day the visits happen is a choice of its own (Cho and Garcia-Molina, "Effective page refresh policies",
//! synchronisation points). The budget decides how many visits there are; a policy can only wait with them, so that those
//! with a window save up the visits of a day.

use vernal_model::{BudgetAccount, Chance, Moment, PageKey, PolicyState, Span};

use super::agenda::{Agenda, Terms};
use super::words::{Words, last_visit, word};
use crate::{Held, Refresh, Seen, View};

/// When in the day (UTC: a site's own hours are not known) visits may happen.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub enum Points {
    /// Whenever the budget pays for a visit.
    #[default]
    AsPaid,
    /// All of the day's visits at its beginning.
    AtOnce,
    /// In the first quarter of the day, as early as may be.
    FrontLoaded,
    /// The same number in every hour.
    Even,
    /// While most people sleep and sites have little to do, the same number in every hour.
    QuietHours,
}

const HOUR: Span = Span::from_hours(1);
const DAY_HOURS: u64 = 24;

impl Points {
    /// The hours of the day in which visits may happen, from and to.
    fn hours(self) -> (u64, u64) {
        match self {
            Points::AsPaid | Points::Even => (0, DAY_HOURS),
            Points::AtOnce => (0, 1),
            Points::FrontLoaded | Points::QuietHours => (0, 6),
        }
    }

    /// `now`, or the next Moment at which the window is open.
    fn open_from(self, now: Moment) -> Moment {
        let (from, to) = self.hours();
        let day = day_of(now);
        let (opens, closes) = (day + Span::from_hours(from), day + Span::from_hours(to));
        match now {
            now if now < opens => opens,
            now if now < closes => now,
            _ => opens + Span::from_days(1),
        }
    }

    fn words(self) -> &'static str {
        match self {
            Points::AsPaid => "whenever the budget pays for a visit",
            Points::AtOnce => "all at the beginning of the day: from 00:00 to 01:00 UTC",
            Points::FrontLoaded => "front-loaded: from 00:00 to 06:00 UTC",
            Points::Even => "the same number in every hour of the day",
            Points::QuietHours => "in quiet hours: the same number in every hour from 00:00 to 06:00 UTC",
        }
    }
}

#[derive(Clone, Debug, Default)]
pub struct RoundRobin {
    agenda: Agenda<()>,
    points: Points,
    /// The hour of the last visit, and how many visits it had: what an even day counts.
    hour: Moment,
    visits_in_hour: usize,
    /// The hour of the last choice, and how many of its pages are still out.
    chosen_hour: Moment,
    out_in_hour: usize,
}

impl RoundRobin {
    pub const NAME: &'static str = "round-robin";

    pub fn new(points: Points) -> Self {
        RoundRobin { points, ..RoundRobin::default() }
    }

    fn count(&mut self, visit: Moment) {
        let hour = hour_of(visit);
        if hour > self.hour {
            (self.hour, self.visits_in_hour) = (hour, 0);
        }
        self.visits_in_hour += usize::from(hour == self.hour);
    }

    /// How many visits the synchronisation points allow now.
    fn allowed(&self, view: &dyn View, now: Moment) -> usize {
        if self.points.open_from(now) > now {
            return 0;
        }
        let visits_left = view.visits_left();
        if !matches!(self.points, Points::Even | Points::QuietHours) {
            return visits_left;
        }
        let (from, to) = self.points.hours();
        let an_hour = (view.per_day() / (to - from) as f64).ceil().max(1.0) as usize;
        let visited = if self.hour == hour_of(now) { self.visits_in_hour } else { 0 };
        let out = if self.chosen_hour == hour_of(now) { self.out_in_hour } else { 0 };
        visits_left.min(an_hour.saturating_sub(visited + out))
    }
}

impl Refresh for RoundRobin {
    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn recall(&mut self, held: &Held<'_>) {
        if self.agenda.find(held.page).is_none() {
            self.count(held.last_visit);
        }
        self.agenda.put(held.page, Some(held.site), held.last_visit, held.last_visit, ());
    }

    fn choose(&mut self, view: &dyn View, now: Moment, _: &mut Chance) -> Vec<PageKey> {
        let terms = Terms { wait: view.refresh_min(), until: now, now };
        let drawn = self.agenda.draw(view, terms, self.allowed(view, now));
        if self.chosen_hour != hour_of(now) {
            (self.chosen_hour, self.out_in_hour) = (hour_of(now), 0);
        }
        self.out_in_hour += drawn.len();
        drawn
    }

    fn saves_up(&self) -> Span {
        match self.points {
            Points::AsPaid | Points::Even => BudgetAccount::IN_HAND_MAX,
            Points::AtOnce | Points::FrontLoaded | Points::QuietHours => Span::from_days(1),
        }
    }

    fn learn(&mut self, seen: &Seen) -> PolicyState {
        self.count(seen.moment);
        self.out_in_hour = self.out_in_hour.saturating_sub(1);
        self.agenda.put(seen.page, None, seen.moment, seen.moment, ());
        PolicyState::default()
    }

    fn put_back(&mut self, page: PageKey) {
        self.out_in_hour = self.out_in_hour.saturating_sub(1);
        self.agenda.put_back(page);
    }

    fn forget(&mut self, page: PageKey) {
        self.agenda.forget(page);
    }

    fn next_due(&self, view: &dyn View, now: Moment) -> Option<Moment> {
        let due = self.agenda.next_due(view, view.refresh_min(), now)?;
        let open = self.points.open_from(due);
        let spent = open == now && view.visits_left() > 0 && self.allowed(view, now) == 0;
        Some(if spent { self.points.open_from(hour_of(now) + HOUR) } else { open })
    }

    fn why(&self, page: PageKey, now: Moment) -> Words {
        let Some(entry) = self.agenda.find(page) else { return Vec::new() };
        vec![
            word("policy", "round-robin: the page whose last visit is oldest comes first"),
            last_visit(entry.last_visit, now),
            word("synchronisation points", self.points.words()),
        ]
    }
}

fn day_of(moment: Moment) -> Moment {
    floor(moment, Span::from_days(1))
}

fn hour_of(moment: Moment) -> Moment {
    floor(moment, HOUR)
}

fn floor(moment: Moment, unit: Span) -> Moment {
    let unit = unit.micros() as i64;
    Moment::from_micros(moment.micros().div_euclid(unit) * unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_open_at_the_next_day_once_they_are_over() {
        let at = |hours: u64| Moment::from_secs(86_400 * 5) + Span::from_hours(hours);
        assert_eq!(Points::AtOnce.open_from(at(0)), at(0));
        assert_eq!(Points::AtOnce.open_from(at(1)), at(24));
        assert_eq!(Points::QuietHours.open_from(at(5)), at(5));
        assert_eq!(Points::FrontLoaded.open_from(at(6)), at(24));
        assert_eq!(Points::Even.open_from(at(23)), at(23));
    }
}
