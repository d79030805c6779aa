//! The oldest last visit first: every page in its turn, whatever it did before.

use vernal_model::{Chance, Moment, PageKey, PolicyState};

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
        self.agenda.draw(view, view.refresh_min(), now)
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
        self.agenda.next_due(view, view.refresh_min(), now)
    }

    fn why(&self, page: PageKey, now: Moment) -> Vec<(String, String)> {
        let Some(entry) = self.agenda.find(page) else { return Vec::new() };
        vec![
            ("policy".into(), "round-robin: the page whose last visit is oldest comes first".into()),
            ("last visit".into(), format!("{}, {} ago", entry.last_visit, now.since(entry.last_visit))),
        ]
    }
}
