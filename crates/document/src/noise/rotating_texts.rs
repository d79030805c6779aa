//! Texts that rotate on pages of a template, such as quotes: what looks have proven on some pages, other pages need not prove anew.
//!
//! Only texts that were seen to rotate are noise there. A text that is met for the first time is told.

use vernal_model::{NoisePattern, NoiseRule, RuleForce, RuleReach, RuleState, TextClass};
use xxhash_rust::xxh3::xxh3_64;

use super::active_rules::ActiveRules;
use super::changed_spots::{Side, Spot};
use super::class;
use super::rules::TEMPLATE_PAGES_MIN;

/// Marks of pages and digests of texts that one rule remembers.
const SEEN_MAX: usize = 256;

impl ActiveRules<'_> {
    /// The rule that knows all texts of this spot as rotating.
    pub fn rotating(&self, spot: &Spot<'_>) -> Option<u32> {
        let (_, rule) = self.in_force().find(|(_, rule)| rule.row.what == NoisePattern::Texts { place: spot.place })?;
        let is_known = |side: &Side<'_>| side.offset == 0 || rule.row.seen.contains(&side.digest);
        let is_whole = spot.before.offset > 0 || spot.after.offset > 0;
        let holds = is_whole && is_known(&spot.before) && is_known(&spot.after);
        (holds && class::of_replaced(spot) <= rule.row.class).then_some(rule.row.id)
    }

    /// Remembers the texts of spots that rules on slots of main text explain, each with the number of its rule.
    pub fn remember_rotating<'s>(&mut self, explained: impl Iterator<Item = (&'s Spot<'s>, u32)>) {
        for (spot, id) in explained {
            let Some(rule) = self.rules.get(&id).map(|rule| &rule.row) else { continue };
            let is_proven = rule.class == TextClass::Main && rule.standing == RuleState::Learned;
            if is_proven && matches!(rule.what, NoisePattern::Slot { .. }) && self.input.template != 0 {
                let rule = rule.clone();
                self.remember_texts(spot, &rule);
            }
        }
    }

    fn remember_texts(&mut self, spot: &Spot<'_>, of_page: &NoiseRule) {
        let what = NoisePattern::Texts { place: spot.place };
        let on = RuleReach::Template(self.input.template);
        let known = self.rules.values().find(|rule| rule.row.what == what && rule.row.on == on);
        let mut row = match known.map(|rule| rule.row.clone()) {
            Some(row) => row,
            None => {
                let Some(id) = self.new_id() else { return };
                NoiseRule {
                    id,
                    what,
                    on,
                    standing: RuleState::Suspected,
                    since: self.input.moment,
                    force: RuleForce::default(),
                    template: self.input.template,
                    pages: 0,
                    looks: Default::default(),
                    seen: Vec::new(),
                    ..of_page.clone()
                }
            }
        };
        if matches!(row.standing, RuleState::Allowed | RuleState::Content) {
            return;
        }
        let page = xxh3_64(&self.input.page.bytes());
        let is_new_page = !row.seen.contains(&page);
        let sides = [&spot.before, &spot.after].map(|side| side.digest);
        let fresh: Vec<u64> = sides.into_iter().filter(|digest| *digest != 0 && !row.seen.contains(digest)).collect();
        if (!is_new_page && fresh.is_empty()) || row.seen.len() + fresh.len() >= SEEN_MAX {
            return;
        }
        row.seen.extend(fresh);
        if is_new_page {
            row.seen.push(page);
            row.pages += 1;
            row.looks.join(&of_page.looks);
            row.last = self.input.moment;
            row.reason = format!("texts that looks have shown to rotate on {} pages of its template", row.pages).into();
        }
        if row.standing != RuleState::Learned && row.pages >= TEMPLATE_PAGES_MIN {
            row.standing = RuleState::Learned;
            row.force = RuleForce::since(self.input.moment);
        }
        self.put(row);
    }
}
