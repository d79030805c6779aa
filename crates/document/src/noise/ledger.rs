//! The rules of one site while one change is judged: which apply, what was learned, and what turned.

use std::collections::{BTreeMap, BTreeSet};

use vernal_model::{NoiseRows, NoiseRule, PageNoise, Reach, RuleStanding, Suspect, Volatile};
use xxhash_rust::xxh3::xxh3_64;

use super::evidence::{QUIET_MAX, SLOT_PARAGRAPHS_MAX, Seen};
use super::learned::NoiseInput;
use super::shape::Shape;
use super::spot::{Side, Spot, paragraph};
use crate::parse::links::limited;

/// Pages of a template that must show a thing before it is one of the template.
const TEMPLATE_PAGES_MIN: u32 = 3;
/// A rule of many pages hears from all of them, so that it may be silent a little longer.
const QUIET_MAX_OF_MANY: u16 = 12;
/// What a rule quotes of a difference.
const QUOTED_BYTES_MAX: usize = 120;

pub(super) struct Ledger<'a> {
    input: &'a NoiseInput<'a>,
    pub seen: Seen,
    rules: BTreeMap<u32, Rule>,
    last_id: u32,
    changed: BTreeSet<u32>,
    forgotten: BTreeSet<u32>,
    used: BTreeSet<u32>,
    pub page: PageNoise,
}

struct Rule {
    row: NoiseRule,
    /// Of a rule on words, read once.
    shape: Option<Shape>,
}

impl Rule {
    fn new(row: NoiseRule) -> Rule {
        let shape = match &row.what {
            Volatile::Words { shape, .. } => Some(Shape::parse(shape)),
            _ => None,
        };
        Rule { row, shape }
    }
}

/// What the rules say of a spot.
pub(super) enum Cover {
    Rule(u32),
    /// A person said that this means something.
    Allowed,
    Nothing,
}

impl<'a> Ledger<'a> {
    pub fn open(input: &'a NoiseInput<'a>) -> Ledger<'a> {
        Ledger {
            input,
            seen: Seen { moment: input.moment, second_look: input.second_look },
            rules: input.book.rules.iter().map(|row| (row.id, Rule::new(row.clone()))).collect(),
            last_id: input.book.last_id,
            changed: BTreeSet::new(),
            forgotten: BTreeSet::new(),
            used: BTreeSet::new(),
            page: PageNoise { template: input.template, ..input.noise.clone() },
        }
    }

    /// Whether differences that this rule explains are set aside here.
    pub fn sets_aside(&self, id: u32) -> bool {
        self.rules.get(&id).is_some_and(|rule| match rule.row.standing {
            RuleStanding::Learned => !self.input.strict,
            RuleStanding::Added => true,
            RuleStanding::Suspected | RuleStanding::Allowed | RuleStanding::Turned => false,
        })
    }

    fn reaches(&self, rule: &NoiseRule) -> bool {
        match rule.on {
            Reach::Page(page) => page == self.input.page,
            Reach::Template(template) => template == self.input.template,
            Reach::Site => true,
        }
    }

    fn in_force(&self) -> impl Iterator<Item = (u32, &Rule)> {
        let speaks = |row: &NoiseRule| {
            matches!(row.standing, RuleStanding::Learned | RuleStanding::Added | RuleStanding::Allowed)
        };
        self.rules
            .iter()
            .filter(move |(_, rule)| speaks(&rule.row) && self.reaches(&rule.row))
            .map(|(id, rule)| (*id, rule))
    }

    /// Whether this digest of the old version is known to be covered by rules on words.
    pub fn is_masked(&self, digest: u64) -> bool {
        self.input.noise.known.iter().any(|known| known.digest == digest && self.shape(known.rule).is_some())
    }

    pub fn shape(&self, id: u32) -> Option<&Shape> {
        self.rules.get(&id)?.shape.as_ref()
    }

    pub fn knows(&self, digest: u64, rule: u32) -> bool {
        digest != 0 && self.input.noise.known.iter().any(|known| known.digest == digest && known.rule == rule)
    }

    /// Whether paragraphs at this place, so far behind this anchor, were seen to be replaced.
    pub fn has_slot(&self, anchor: u64, at: u16, offset: u16) -> bool {
        let is = |what: &Volatile| match what {
            Volatile::Slot { place, after, count, .. } => (*place, *after) == (at, anchor) && offset <= *count,
            _ => false,
        };
        self.input.noise.suspects.iter().any(|suspect| is(&suspect.what))
            || self.in_force().any(|(_, rule)| is(&rule.row.what))
    }

    /// The rule that explains a spot. A person's word comes first.
    pub fn covering(&self, spot: &Spot<'_>) -> Cover {
        let mut covering = None;
        for (id, rule) in self.in_force() {
            if !self.covers(id, rule, spot) {
                continue;
            }
            if rule.row.standing == RuleStanding::Allowed {
                return Cover::Allowed;
            }
            covering = covering.or(Some(id));
        }
        let moved = || {
            self.slot_over(&spot.before)?;
            self.slot_over(&spot.after)
        };
        covering.or_else(moved).map_or(Cover::Nothing, Cover::Rule)
    }

    /// The rule on a slot that this side lies in.
    pub fn slot_over(&self, side: &Side<'_>) -> Option<u32> {
        let mut rules = self.in_force().filter(|(_, rule)| rule.row.standing != RuleStanding::Allowed);
        rules.find(|(_, rule)| in_slot(&rule.row.what, side)).map(|(id, _)| id)
    }

    fn covers(&self, id: u32, rule: &Rule, spot: &Spot<'_>) -> bool {
        match (&rule.row.what, &rule.shape) {
            (Volatile::Words { place, .. }, Some(shape)) => {
                let at_place = *place != 0 && *place == spot.place;
                spot.is_pair() && (*place == 0 || at_place) && self.words_hold(id, shape, at_place, spot)
            }
            (slot @ Volatile::Slot { .. }, _) => {
                let holds = |side: &Side<'_>| side.offset == 0 || in_slot(slot, side);
                spot.reach() > 0 && holds(&spot.before) && holds(&spot.after)
            }
            _ => false,
        }
    }

    fn words_hold(&self, id: u32, shape: &Shape, at_place: bool, spot: &Spot<'_>) -> bool {
        let known = self.knows(spot.before.digest, id);
        let told = !shape.is_bare() || at_place || known;
        let held = || spot.before.text.as_ref().map_or(known, |before| shape.matches(before));
        let holds = || spot.after.text.as_ref().is_some_and(|after| shape.matches(after));
        // One price that varies says nothing of the price beside it.
        let certain = || known || !(spot.is_main() && shape.has_numbers()) || self.is_sole(id);
        told && held() && holds() && certain()
    }

    /// Whether just one paragraph of the new version has the shape of this rule.
    pub fn is_sole(&self, id: u32) -> bool {
        let Some(shape) = self.shape(id) else { return false };
        let new = self.input.new;
        let texts = (0..new.paragraphs.len()).filter_map(|place| paragraph(new, place));
        texts.filter(|text| shape.matches(text)).take(2).count() == 1
    }

    /// The rule in force on a whole kind.
    pub fn on_kind(&self, kind: vernal_model::Kind) -> Option<(u32, &NoiseRule)> {
        let found =
            self.in_force().find(|(_, rule)| matches!(&rule.row.what, Volatile::Kind { kind: of, .. } if *of == kind));
        found.map(|(id, rule)| (id, &rule.row))
    }

    /// A rule of this page or its template whose words held before and hold no longer.
    pub fn broken_by(&self, spot: &Spot<'_>) -> Option<(u32, &NoiseRule)> {
        let before = spot.before.text.as_ref()?;
        let learned = self.in_force().filter(|(_, rule)| rule.row.standing == RuleStanding::Learned);
        let mut held = learned.filter(|(id, rule)| {
            let Some(shape) = &rule.shape else { return false };
            self.knows(spot.before.digest, *id) || (!shape.is_bare() && shape.matches(before))
        });
        held.next().map(|(id, rule)| (id, &rule.row))
    }

    /// A rule explained something; each counts once per comparison.
    pub fn used(&mut self, id: u32) {
        if !self.used.insert(id) {
            return;
        }
        let is_new_here = !self.input.noise.known.iter().any(|known| known.rule == id);
        let (moment, page) = (self.input.moment, self.input.page);
        let Some(Rule { row, .. }) = self.rules.get_mut(&id) else { return };
        row.last = row.last.max(moment);
        row.differed = row.differed.saturating_add(1);
        row.compared = row.compared.saturating_add(1);
        row.quiet = 0;
        row.pages = row.pages.saturating_add(u32::from(is_new_here && row.on != Reach::Page(page)));
        self.changed.insert(id);
    }

    pub fn was_used(&self, id: u32) -> bool {
        self.used.contains(&id)
    }

    pub fn turn(&mut self, id: u32, reason: &str) {
        let Some(Rule { row, .. }) = self.rules.get_mut(&id) else { return };
        row.standing = RuleStanding::Turned;
        row.reason = reason.into();
        self.changed.insert(id);
    }

    /// Makes a rule of a suspect, for this page; for its template when enough pages have the same. `None` where a person
    /// said otherwise, or there is no room.
    pub fn learn(&mut self, suspect: &Suspect, reason: &str, before: &str, after: &str) -> Option<u32> {
        let on = Reach::Page(self.input.page);
        let same = |rule: &&Rule| same_thing(&rule.row.what, &suspect.what);
        let known = self.rules.values().filter(same);
        if known.clone().any(|rule| rule.row.standing == RuleStanding::Allowed && self.reaches(&rule.row)) {
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
            standing: RuleStanding::Learned,
            since: suspect.since,
            last: self.input.moment,
            differed: suspect.differed.into(),
            compared: suspect.compared.into(),
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

    /// Notes a thing that differs on this page for the first time; the rule's number once pages enough have shown it, each
    /// in its own way: one same change everywhere is a new template and no noise.
    pub fn suspect_of_template(&mut self, suspect: &Suspect, mark: u64, before: &str, after: &str) -> Option<u32> {
        let template = self.input.template;
        if template == 0 {
            return None;
        }
        let on = Reach::Template(template);
        let of_page = xxh3_64(&self.input.page.bytes());
        let same = |rule: &&Rule| rule.row.on == on && same_thing(&rule.row.what, &suspect.what);
        let Some(known) = self.rules.values().find(same).map(|rule| rule.row.clone()) else {
            let row = NoiseRule {
                id: self.new_id()?,
                what: suspect.what.clone(),
                on,
                standing: RuleStanding::Suspected,
                since: self.input.moment,
                last: self.input.moment,
                differed: 1,
                compared: 1,
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
        if known.standing != RuleStanding::Suspected || seen_before {
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
            row.standing = RuleStanding::Learned;
            row.seen.clear();
            self.used.insert(id);
        }
        self.put(row);
        ripe.then_some(id)
    }

    /// The rule in force on this slot, which then reaches less far.
    pub fn narrower(&self, what: &Volatile) -> Option<&NoiseRule> {
        let is = |rule: &&NoiseRule| rule.standing == RuleStanding::Learned && same_thing(&rule.what, what);
        self.in_force().map(|(_, rule)| &rule.row).find(|rule| matches!(what, Volatile::Slot { .. }) && is(rule))
    }

    /// A paragraph that was replaced is no anchor: if it stood in a slot or at its end, what varied behind it belongs to
    /// that slot.
    pub fn join(&mut self, gone: &Side<'_>) {
        let on = Reach::Page(self.input.page);
        let slot = |wanted: &dyn Fn(u64, u16) -> bool| {
            let learned = |row: &NoiseRule| row.standing == RuleStanding::Learned && row.on == on;
            self.in_force().filter(|(_, rule)| learned(&rule.row)).find_map(|(id, rule)| match rule.row.what {
                Volatile::Slot { place, after, count, .. } => {
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
            && let Volatile::Slot { count: so_far, .. } = &mut row.what
        {
            *so_far = reach.max(count);
            self.changed.insert(id);
        }
        self.rules.remove(&other);
        self.changed.remove(&other);
        self.forgotten.insert(other);
    }

    /// Rules of single pages become one of the template.
    fn widen(&mut self, id: u32) {
        let Some(rule) = self.rules.get(&id).map(|rule| rule.row.clone()) else { return };
        let alone = match &rule.what {
            Volatile::Words { .. } => self.shape(id).is_some_and(Shape::is_bare),
            Volatile::Slot { after, .. } => *after == 0,
            Volatile::Kind { .. } => false,
        };
        if rule.template == 0 || alone {
            return;
        }
        let on = Reach::Template(rule.template);
        let same = |other: &&NoiseRule| {
            let of_page = matches!(other.on, Reach::Page(_)) && other.template == rule.template;
            let of_template = other.on == on && !matches!(other.standing, RuleStanding::Allowed | RuleStanding::Added);
            (of_page && other.standing == RuleStanding::Learned || of_template) && same_thing(&other.what, &rule.what)
        };
        let all: Vec<NoiseRule> = self.rules.values().map(|rule| &rule.row).filter(same).cloned().collect();
        let pages = all.iter().filter(|other| matches!(other.on, Reach::Page(_))).count() as u32;
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
            self.rules.remove(&other.id);
            self.changed.remove(&other.id);
            self.forgotten.insert(other.id);
        }
        self.put(wide);
    }

    fn put(&mut self, row: NoiseRule) {
        self.changed.insert(row.id);
        self.rules.insert(row.id, Rule::new(row));
    }

    /// A number for a new rule, and room for it.
    fn new_id(&mut self) -> Option<u32> {
        if self.rules.len() >= vernal_model::NoiseBook::RULES_MAX {
            let order = |row: &NoiseRule| match row.standing {
                RuleStanding::Suspected => Some((0, row.last)),
                RuleStanding::Turned => Some((1, row.last)),
                RuleStanding::Learned => Some((2, row.last)),
                RuleStanding::Added | RuleStanding::Allowed => None,
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

    /// Rules that could have differed here and did not.
    pub fn rest(&mut self, is_present: impl Fn(u64) -> bool) {
        if self.input.second_look {
            return;
        }
        let mut silent: BTreeMap<u32, bool> = BTreeMap::new();
        for known in &self.input.noise.known {
            *silent.entry(known.rule).or_default() |= known.digest == 0 || is_present(known.digest);
        }
        let kinds = self.in_force().filter(|(_, rule)| matches!(rule.row.what, Volatile::Kind { .. }));
        silent.extend(kinds.map(|(id, _)| (id, true)).collect::<Vec<_>>());
        for (id, present) in silent {
            if self.used.contains(&id) {
                continue;
            }
            let Some(Rule { row, .. }) = self.rules.get_mut(&id) else { continue };
            if row.standing != RuleStanding::Learned {
                continue;
            }
            row.compared = row.compared.saturating_add(u32::from(present));
            row.quiet = row.quiet.saturating_add(1);
            self.changed.insert(id);
            let many = !matches!(row.on, Reach::Page(_));
            let limit = if many { QUIET_MAX_OF_MANY } else { QUIET_MAX };
            if row.quiet >= limit {
                let reason = format!("no difference in the last {} comparisons", row.quiet);
                self.turn(id, &reason);
            }
        }
    }

    /// The rules on words and slots that may speak of this page's paragraphs.
    pub fn paragraph_rules(&self) -> Vec<(u32, &NoiseRule, Option<&Shape>)> {
        let speaks = |rule: &Rule| rule.row.standing != RuleStanding::Allowed;
        let rules = self.in_force().filter(|(_, rule)| speaks(rule));
        rules.map(|(id, rule)| (id, &rule.row, rule.shape.as_ref())).collect()
    }

    /// What is to be written.
    pub fn rows(self) -> NoiseRows {
        let Ledger { input, mut rules, last_id, changed, forgotten, page, .. } = self;
        let mut rows = NoiseRows::new(input.site.clone());
        rows.last_id = (last_id != input.book.last_id).then_some(last_id);
        rows.rules = changed.iter().filter_map(|id| rules.remove(id)).map(|rule| rule.row).collect();
        // A rule that came and went within this judgement was never written.
        rows.forgotten = forgotten.into_iter().filter(|id| input.book.rule(*id).is_some()).collect();
        let differs = page != *input.noise && !(page.is_empty() && input.noise.is_empty());
        rows.page = differs.then_some((input.page, page));
        rows
    }
}

fn in_slot(slot: &Volatile, side: &Side<'_>) -> bool {
    let Volatile::Slot { place, after, count, .. } = slot else { return false };
    (*place, *after) == (side.place, side.anchor) && (1..=*count).contains(&side.offset)
}

fn same_thing(one: &Volatile, other: &Volatile) -> bool {
    match (one, other) {
        (Volatile::Slot { place, after, .. }, Volatile::Slot { place: at, after: behind, .. }) => {
            (place, after) == (at, behind)
        }
        (Volatile::Kind { kind, .. }, Volatile::Kind { kind: of, .. }) => kind == of,
        (one, other) => one == other,
    }
}

/// What covers both of two same things.
fn wider(one: Volatile, other: &Volatile) -> Volatile {
    match (one, other) {
        (Volatile::Slot { place, after, count, words }, Volatile::Slot { count: further, .. }) => {
            Volatile::Slot { place, after, count: count.max(*further), words }
        }
        (Volatile::Kind { kind, mut notes }, Volatile::Kind { notes: more, .. }) => {
            let fresh: Vec<Box<str>> = more.iter().filter(|what| !notes.contains(what)).cloned().collect();
            notes.extend(fresh);
            notes.truncate(super::evidence::NOTES_MAX);
            Volatile::Kind { kind, notes }
        }
        (one, _) => one,
    }
}
