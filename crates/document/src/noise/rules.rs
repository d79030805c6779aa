//! Makes, merges and widens rules, for one page or for all pages of its template.

use vernal_model::{NoiseBook, NoisePattern, NoiseRule, RuleForce, RuleReach, RuleState, Suspect};
use xxhash_rust::xxh3::xxh3_64;

use super::active_rules::{ActiveRules, Rule};
use super::changed_spots::Side;
use super::evidence::{NOTES_MAX, SLOT_PARAGRAPHS_MAX};
use super::shape::Shape;
use crate::parse::links::limited;

/// So many pages of a template must show a difference before its rule applies to the template.
pub(super) const TEMPLATE_PAGES_MIN: u32 = 3;
/// The length limit of a quoted difference.
const QUOTED_BYTES_MAX: usize = 120;

impl ActiveRules<'_> {
    /// Makes a rule from a suspect, for this page or, when enough pages have the same, for its template. `None` where a person
    /// said otherwise, looks have shown that it is content, or there is no room.
    pub fn learn(&mut self, suspect: &Suspect, reason: &str, before: &str, after: &str) -> Option<u32> {
        let on = RuleReach::Page(self.input.page);
        let same = |rule: &&Rule| same_thing(&rule.row.what, &suspect.what);
        let known = self.rules.values().filter(same);
        let is_content = |rule: &Rule| matches!(rule.row.standing, RuleState::Allowed | RuleState::Content);
        if known.clone().any(|rule| is_content(rule) && self.reaches(&rule.row)) {
            return None;
        }
        let earlier = known.filter(|rule| rule.row.on == on).map(|rule| rule.row.id).next();
        let id = match earlier {
            Some(id) => id,
            None => self.new_id()?,
        };
        let row = NoiseRule {
            id,
            what: suspect.what.clone(),
            on,
            class: suspect.class,
            standing: RuleState::Learned,
            since: suspect.since,
            last: self.input.moment,
            force: RuleForce::since(self.input.moment),
            differed: suspect.differed.into(),
            compared: suspect.compared.into(),
            looks: suspect.looks.clone(),
            quiet: 0,
            pages: 1,
            template: self.input.template,
            before: limited(before, QUOTED_BYTES_MAX).into(),
            after: limited(after, QUOTED_BYTES_MAX).into(),
            reason: reason.into(),
            seen: Vec::new(),
        };
        self.put(row);
        self.used.insert(id);
        self.widen(id);
        Some(id)
    }

    /// Records a difference that is new on this page. Returns the rule's number once pages enough have shown it, each
    /// in its own way: one same change everywhere is a new template and no noise.
    pub fn suspect_of_template(&mut self, suspect: &Suspect, mark: u64, before: &str, after: &str) -> Option<u32> {
        let template = self.input.template;
        if template == 0 {
            return None;
        }
        let on = RuleReach::Template(template);
        let of_page = xxh3_64(&self.input.page.bytes());
        let same = |rule: &&Rule| rule.row.on == on && same_thing(&rule.row.what, &suspect.what);
        let Some(known) = self.rules.values().find(same).map(|rule| rule.row.clone()) else {
            let row = NoiseRule {
                id: self.new_id()?,
                what: suspect.what.clone(),
                on,
                class: suspect.class,
                standing: RuleState::Suspected,
                since: self.input.moment,
                last: self.input.moment,
                force: RuleForce::default(),
                differed: 1,
                compared: 1,
                looks: suspect.looks.clone(),
                quiet: 0,
                pages: 1,
                template,
                before: limited(before, QUOTED_BYTES_MAX).into(),
                after: limited(after, QUOTED_BYTES_MAX).into(),
                reason: "differed on one page of its template".into(),
                seen: vec![of_page, mark],
            };
            self.put(row);
            return None;
        };
        let seen_before = known.seen.contains(&mark) || known.seen.contains(&of_page);
        if known.standing != RuleState::Suspected || seen_before {
            return None;
        }
        let mut row = known;
        row.seen.extend([of_page, mark]);
        row.pages += 1;
        row.differed += 1;
        row.compared += 1;
        row.last = self.input.moment;
        let id = row.id;
        let ripe = row.pages >= TEMPLATE_PAGES_MIN;
        row.reason = format!("differed on {} pages of its template, each in its own way", row.pages).into();
        if ripe {
            row.standing = RuleState::Learned;
            row.force = RuleForce::since(row.last);
            row.seen.clear();
            self.used.insert(id);
        }
        self.put(row);
        ripe.then_some(id)
    }

    /// The active rule on this slot, which is shortened.
    pub fn narrower(&self, what: &NoisePattern) -> Option<&NoiseRule> {
        let is = |rule: &&NoiseRule| rule.standing == RuleState::Learned && same_thing(&rule.what, what);
        self.in_force().map(|(_, rule)| &rule.row).find(|rule| matches!(what, NoisePattern::Slot { .. }) && is(rule))
    }

    /// A replaced paragraph is no anchor: if it was in a slot or at its end, the differences after it belong to
    /// that slot.
    pub fn join(&mut self, gone: &Side<'_>) {
        let on = RuleReach::Page(self.input.page);
        let slot = |wanted: &dyn Fn(u64, u16) -> bool| {
            let learned = |row: &NoiseRule| row.standing == RuleState::Learned && row.on == on;
            self.in_force().filter(|(_, rule)| learned(&rule.row)).find_map(|(id, rule)| match rule.row.what {
                NoisePattern::Slot { place, after, count, .. } => {
                    (place == gone.place && wanted(after, count)).then_some((id, count))
                }
                _ => None,
            })
        };
        let stands = gone.offset > 0 && gone.digest != gone.anchor;
        let around = slot(&|after, count| after == gone.anchor && gone.offset <= count.saturating_add(1));
        let behind = slot(&|after, _| after == gone.digest);
        let (Some((id, count)), Some((other, further)), true) = (around, behind, stands) else { return };
        let reach = gone.offset.saturating_add(further).min(SLOT_PARAGRAPHS_MAX);
        if let Some(Rule { row, .. }) = self.rules.get_mut(&id)
            && let NoisePattern::Slot { count: so_far, .. } = &mut row.what
        {
            *so_far = reach.max(count);
            self.changed.insert(id);
        }
        self.rules.remove(&other);
        self.changed.remove(&other);
        self.forgotten.insert(other);
    }

    /// Merges rules of single pages into one of the template.
    fn widen(&mut self, id: u32) {
        let Some(rule) = self.rules.get(&id).map(|rule| rule.row.clone()) else { return };
        let alone = match &rule.what {
            NoisePattern::Words { .. } => self.shape(id).is_some_and(Shape::is_bare),
            NoisePattern::Slot { after, .. } => *after == 0,
            NoisePattern::Kind { .. } | NoisePattern::Texts { .. } => false,
        };
        if rule.template == 0 || alone {
            return;
        }
        let on = RuleReach::Template(rule.template);
        let same = |other: &&NoiseRule| {
            let of_page = matches!(other.on, RuleReach::Page(_)) && other.template == rule.template;
            let of_template = other.on == on && !is_settled(other.standing);
            (of_page && other.standing == RuleState::Learned || of_template) && same_thing(&other.what, &rule.what)
        };
        let all: Vec<NoiseRule> = self.rules.values().map(|rule| &rule.row).filter(same).cloned().collect();
        let pages = all.iter().filter(|other| matches!(other.on, RuleReach::Page(_))).count() as u32;
        if pages < TEMPLATE_PAGES_MIN {
            return;
        }
        let mut wide = rule;
        wide.on = on;
        wide.pages = pages;
        wide.since = all.iter().map(|other| other.since).min().unwrap_or(wide.since);
        wide.differed = all.iter().map(|other| other.differed).fold(0, u32::saturating_add);
        wide.compared = all.iter().map(|other| other.compared).fold(0, u32::saturating_add);
        wide.reason = format!("{}; the same on {pages} pages of its template", wide.reason).into();
        for other in all.iter().filter(|other| other.id != id) {
            wide.what = wider(wide.what, &other.what);
            wide.class = wide.class.min(other.class);
            wide.looks.join(&other.looks);
            self.rules.remove(&other.id);
            self.changed.remove(&other.id);
            self.forgotten.insert(other.id);
        }
        self.put(wide);
    }

    pub(super) fn put(&mut self, row: NoiseRule) {
        self.changed.insert(row.id);
        self.rules.insert(row.id, Rule::new(row));
    }

    /// The number for a new rule. Evicts another rule if necessary.
    pub(super) fn new_id(&mut self) -> Option<u32> {
        if self.rules.len() >= NoiseBook::RULES_MAX {
            let order = |row: &NoiseRule| match row.standing {
                RuleState::Suspected => Some((0, row.last)),
                RuleState::Turned | RuleState::Content => Some((1, row.last)),
                RuleState::Learned => Some((2, row.last)),
                RuleState::Added | RuleState::Allowed => None,
            };
            let free = |rule: &&Rule| !self.used.contains(&rule.row.id);
            let may_go = self.rules.values().filter(free).filter_map(|rule| Some((order(&rule.row)?, rule.row.id)));
            let (_, gone) = may_go.min()?;
            self.rules.remove(&gone);
            self.changed.remove(&gone);
            self.forgotten.insert(gone);
        }
        self.last_id = self.last_id.checked_add(1)?;
        Some(self.last_id)
    }
}

fn same_thing(one: &NoisePattern, other: &NoisePattern) -> bool {
    match (one, other) {
        (NoisePattern::Slot { place, after, .. }, NoisePattern::Slot { place: at, after: behind, .. }) => {
            (place, after) == (at, behind)
        }
        (NoisePattern::Kind { kind, .. }, NoisePattern::Kind { kind: of, .. }) => kind == of,
        (one, other) => one == other,
    }
}

/// Whether a person or looks have decided about the rule, so that learning leaves it alone.
fn is_settled(standing: RuleState) -> bool {
    matches!(standing, RuleState::Allowed | RuleState::Added | RuleState::Content)
}

/// The pattern that covers two patterns of the same kind.
fn wider(one: NoisePattern, other: &NoisePattern) -> NoisePattern {
    match (one, other) {
        (NoisePattern::Slot { place, after, count, words }, NoisePattern::Slot { count: further, .. }) => {
            NoisePattern::Slot { place, after, count: count.max(*further), words }
        }
        (NoisePattern::Kind { kind, mut notes }, NoisePattern::Kind { notes: more, .. }) => {
            let fresh: Vec<Box<str>> = more.iter().filter(|what| !notes.contains(what)).cloned().collect();
            notes.extend(fresh);
            notes.truncate(NOTES_MAX);
            NoisePattern::Kind { kind, notes }
        }
        (one, _) => one,
    }
}
