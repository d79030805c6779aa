//! Topics as a level of pooling in replays: where nobody tells topics, everything is as if there were none.

#![allow(clippy::unwrap_used, reason = "the helpers of tests fail as tests do")]

use vernal_model::{Chance, Moment, PageKey, PolicyState};
use vernal_policy::{Believing, Held, Hinted, Refresh, Seen, Valued, View, by_name};
use vernal_simulator::lab::trace::{self, Selection};
use vernal_simulator::lab::{LabScenario, LabTrial, Options, World};

/// A policy that is pooled over topics at every turn, as the crawler does it, with no topic ever told.
struct Pooled(Box<dyn Refresh>);

impl Refresh for Pooled {
    fn name(&self) -> &'static str {
        self.0.name()
    }

    fn recall(&mut self, held: &Held<'_>) {
        self.0.recall(held);
        self.0.topical().into_iter().for_each(|topical| topical.topics(held.page, &[]));
    }

    fn choose(&mut self, view: &dyn View, now: Moment, chance: &mut Chance) -> Vec<PageKey> {
        if let Some(topical) = self.0.topical() {
            let (samples, rates) = (topical.topic_samples(), topical.topic_rates());
            topical.hear_topic_samples(&samples);
            topical.hear_topic_rates(&rates);
        }
        self.0.choose(view, now, chance)
    }

    fn learn(&mut self, seen: &Seen) -> PolicyState {
        self.0.topical().into_iter().for_each(|topical| topical.topics(seen.page, &[]));
        self.0.learn(seen)
    }

    fn put_back(&mut self, page: PageKey) {
        self.0.put_back(page);
    }

    fn forget(&mut self, page: PageKey) {
        self.0.forget(page);
    }

    fn next_due(&self, view: &dyn View, now: Moment) -> Option<Moment> {
        self.0.next_due(view, now)
    }

    fn why(&self, page: PageKey, now: Moment) -> Vec<(String, String)> {
        self.0.why(page, now)
    }

    fn valued(&mut self) -> Option<&mut dyn Valued> {
        self.0.valued()
    }

    fn hinted(&mut self) -> Option<&mut dyn Hinted> {
        self.0.hinted()
    }

    fn believing(&self) -> Option<&dyn Believing> {
        self.0.believing()
    }
}

fn findings(world: &World, name: &str, is_pooled: bool, recorded: bool) -> String {
    let options = Options { numbers_drawn: recorded, ..Options::default() };
    let plain = by_name(name).unwrap();
    let mut policy = if is_pooled { Box::new(Pooled(plain)) } else { plain };
    serde_json::to_string(&LabTrial::run(world, &mut *policy, &options).unwrap()).unwrap()
}

#[test]
fn replays_with_and_without_pooling_over_topics_are_the_same_bytes_where_no_topics_are_told() {
    let recording = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/traces/small.csv.gz");
    let (recorded, _) = trace::load(recording.as_ref(), &Selection::default()).unwrap();
    let invented = LabScenario::by_name("w1-small").unwrap().world(1).unwrap();
    for (world, is_recorded) in [(&recorded, true), (&invented, false)] {
        for name in ["vernal", "bayes"] {
            let [plain, pooled] = [false, true].map(|is_pooled| findings(world, name, is_pooled, is_recorded));
            assert!(plain.len() > 500, "{plain}");
            assert!(plain == pooled, "{name} on {} differs", world.name);
        }
    }
}
