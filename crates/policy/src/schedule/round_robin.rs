//! The oldest last visit first: every page in its turn, whatever it did before.

use vernal_model::{Chance, Moment, PageKey, PolicyState, Span};

use super::agenda::Agenda;
use crate::{Held, Refresh, Seen, View};

#[derive(Clone, Debug, Default)]
pub struct RoundRobin {
    agenda: Agenda<()>,
}

impl RoundRobin {
    pub const NAME: &'static str = "round-robin";

    pub fn new() -> Self {
        RoundRobin::default()
    }
}

impl Refresh for RoundRobin {
    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn recall(&mut self, held: &Held<'_>) {
        self.agenda.put(held.page, Some(held.site), held.last_visit, held.last_visit, ());
    }

    fn choose(&mut self, view: &dyn View, now: Moment, _: &mut Chance) -> Vec<PageKey> {
        self.agenda.draw(view, turn(view), now)
    }

    fn learn(&mut self, seen: &Seen) -> PolicyState {
        self.agenda.put(seen.page, None, seen.moment, seen.moment, ());
        PolicyState::default()
    }

    fn put_back(&mut self, page: PageKey) {
        self.agenda.put_back(page);
    }

    fn forget(&mut self, page: PageKey) {
        self.agenda.forget(page);
    }

    fn next_due(&self, view: &dyn View, now: Moment) -> Option<Moment> {
        self.agenda.next_due(view, turn(view), now)
    }

    fn why(&self, page: PageKey, now: Moment) -> Vec<(String, String)> {
        let Some(entry) = self.agenda.find(page) else { return Vec::new() };
        vec![
            ("policy".into(), "round-robin: the page whose last visit is oldest comes first".into()),
            ("last visit".into(), format!("{}, {} ago", entry.last_visit, now.since(entry.last_visit))),
        ]
    }
}

/// How long it takes to come round once: as long as the budget needs for all pages, and never less than `refresh_min`.
/// A page is due when its turn has come, so that a crawl that has just been round has nothing to do.
fn turn(view: &dyn View) -> Span {
    let days = view.held() as f64 / view.per_day();
    if days.is_finite() { view.refresh_min().max(Span::from_secs_f64(days * 86_400.0)) } else { view.refresh_min() }
}
