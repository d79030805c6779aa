//! The rules of one site while one change is judged: which apply, what they cover, and which were disproved.

use std::collections::{BTreeMap, BTreeSet};

use vernal_model::{
    NoiseBook, NoisePattern, NoiseRows, NoiseRule, PageKey, PageNoise, RuleReach, RuleState, TextClass,
};

use super::changed_spots::{Side, Spot, paragraph};
use super::class;
use super::evidence::{Observation, QUIET_MAX, is_content, rule_needs_look};
use super::learned::{Lesson, NoiseInput};
use super::shape::Shape;

/// A rule of many pages may have so many more comparisons without a difference, because all of its pages count.
const QUIET_MAX_OF_MANY: u16 = 12;

/// Looks that find a rule unused are noted up to this number, so that a page that is visited every few minutes does not write for ever.
const LOOKS_NOTED_MAX: u32 = 32;

/// The shapes of words that active rules suppress on a page, for blame. Shapes without a fixed word apply to one place of one
/// version and are left out.
pub fn shapes_on(book: &NoiseBook, page: PageKey, template: u32) -> Vec<Shape> {
    let is_in_force = |rule: &&NoiseRule| {
        matches!(rule.standing, RuleState::Learned | RuleState::Added) && reaches(rule.on, page, template)
    };
    let words = book.rules.iter().filter(is_in_force).filter_map(|rule| match &rule.what {
        NoisePattern::Words { shape, .. } => Some(Shape::parse(shape)),
        _ => None,
    });
    words.filter(|shape| !shape.is_bare()).collect()
}

fn reaches(on: RuleReach, page: PageKey, template: u32) -> bool {
    match on {
        RuleReach::Page(of) => of == page,
        RuleReach::Template(of) => of == template,
        RuleReach::Site => true,
    }
}

pub(super) struct ActiveRules<'a> {
    pub input: &'a NoiseInput<'a>,
    pub seen: Observation,
    pub rules: BTreeMap<u32, Rule>,
    pub last_id: u32,
    pub changed: BTreeSet<u32>,
    pub forgotten: BTreeSet<u32>,
    pub used: BTreeSet<u32>,
    pub page: PageNoise,
    /// A visit within minutes could show whether something is noise.
    pub wants_look: bool,
}

pub(super) struct Rule {
    pub row: NoiseRule,
    /// The parsed shape of a rule on words.
    shape: Option<Shape>,
}

impl Rule {
    pub fn new(row: NoiseRule) -> Rule {
        let shape = match &row.what {
            NoisePattern::Words { shape, .. } => Some(Shape::parse(shape)),
            _ => None,
        };
        Rule { row, shape }
    }
}

/// Paragraphs after an anchor: see `NoisePattern`.
pub(super) struct Slot {
    place: u16,
    after: u64,
    count: u16,
}

impl Slot {
    /// Whether a paragraph at this place and distance from this anchor is in the slot.
    pub fn holds(&self, anchor: u64, place: u16, offset: u16) -> bool {
        (self.place, self.after) == (place, anchor) && offset <= self.count
    }
}

/// The verdict of the rules on a spot.
pub(super) enum Cover {
    Rule(u32),
    /// A person said that this difference matters.
    Allowed,
    Nothing,
}

impl<'a> ActiveRules<'a> {
    pub fn open(input: &'a NoiseInput<'a>) -> ActiveRules<'a> {
        ActiveRules {
            input,
            seen: Observation { moment: input.moment, second_look: input.second_look },
            rules: input.book.rules.iter().map(|row| (row.id, Rule::new(row.clone()))).collect(),
            last_id: input.book.last_id,
            changed: BTreeSet::new(),
            forgotten: BTreeSet::new(),
            used: BTreeSet::new(),
            page: PageNoise { template: input.template, ..input.noise.clone() },
            wants_look: false,
        }
    }

    /// Whether differences that this rule explains are suppressed here.
    pub fn suppresses(&self, id: u32) -> bool {
        self.rules.get(&id).is_some_and(|rule| match rule.row.standing {
            RuleState::Learned => !self.input.strict,
            RuleState::Added => true,
            RuleState::Suspected | RuleState::Allowed | RuleState::Turned | RuleState::Content => false,
        })
    }

    pub fn reaches(&self, rule: &NoiseRule) -> bool {
        reaches(rule.on, self.input.page, self.input.template)
    }

    pub fn in_force(&self) -> impl Iterator<Item = (u32, &Rule)> {
        let speaks =
            |row: &NoiseRule| matches!(row.standing, RuleState::Learned | RuleState::Added | RuleState::Allowed);
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

    /// The slots in which paragraphs were replaced.
    pub fn slots(&self) -> Vec<Slot> {
        let slot = |what: &NoisePattern| match *what {
            NoisePattern::Slot { place, after, count, .. } => Some(Slot { place, after, count }),
            _ => None,
        };
        let suspected = self.input.noise.suspects.iter().filter_map(|suspect| slot(&suspect.what));
        suspected.chain(self.in_force().filter_map(|(_, rule)| slot(&rule.row.what))).collect()
    }

    /// The rule that explains a spot. Rules by a person come first.
    pub fn covering(&self, spot: &Spot<'_>) -> Cover {
        let mut covering = None;
        for (id, rule) in self.in_force() {
            if !self.covers(id, rule, spot) {
                continue;
            }
            if rule.row.standing == RuleState::Allowed {
                return Cover::Allowed;
            }
            covering = covering.or(Some(id));
        }
        let moved = || {
            self.slot_over(&spot.before)?;
            self.slot_over(&spot.after)
        };
        covering.or_else(moved).or_else(|| self.rotating(spot)).map_or(Cover::Nothing, Cover::Rule)
    }

    /// The rule on a slot that contains this side.
    pub fn slot_over(&self, side: &Side<'_>) -> Option<u32> {
        let mut rules = self.in_force().filter(|(_, rule)| rule.row.standing != RuleState::Allowed);
        rules.find(|(_, rule)| in_slot(&rule.row.what, side)).map(|(id, _)| id)
    }

    /// Rules of this page that would explain this spot of main text if looks had proven them.
    pub fn unproven_for(&self, spot: &Spot<'_>) -> Vec<u32> {
        let is_unproven = |row: &NoiseRule| row.class == TextClass::Frame && row.on == RuleReach::Page(self.input.page);
        let weak = self.in_force().filter(|(id, rule)| {
            spot.is_main() && is_unproven(&rule.row) && self.matches(*id, rule, spot) && !is_proven_for(rule, spot)
        });
        weak.map(|(id, _)| id).collect()
    }

    fn covers(&self, id: u32, rule: &Rule, spot: &Spot<'_>) -> bool {
        self.matches(id, rule, spot) && is_proven_for(rule, spot)
    }

    fn matches(&self, id: u32, rule: &Rule, spot: &Spot<'_>) -> bool {
        match (&rule.row.what, &rule.shape) {
            (NoisePattern::Words { place, .. }, Some(shape)) => {
                let at_place = *place != 0 && *place == spot.place;
                spot.is_pair() && (*place == 0 || at_place) && self.words_hold(id, shape, at_place, spot)
            }
            (slot @ NoisePattern::Slot { .. }, _) => {
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
        // One price that varies is no evidence for the price next to it.
        let certain = || known || !(spot.is_main() && shape.has_numbers()) || self.is_sole(id);
        told && held() && holds() && certain()
    }

    /// Whether exactly one paragraph of the new version has the shape of this rule.
    pub fn is_sole(&self, id: u32) -> bool {
        let Some(shape) = self.shape(id) else { return false };
        let new = self.input.new;
        let texts = (0..new.paragraphs.len()).filter_map(|place| paragraph(new, place));
        texts.filter(|text| shape.matches(text)).take(2).count() == 1
    }

    /// The active rule on a whole kind.
    pub fn on_kind(&self, kind: vernal_model::Kind) -> Option<(u32, &NoiseRule)> {
        let found = self
            .in_force()
            .find(|(_, rule)| matches!(&rule.row.what, NoisePattern::Kind { kind: of, .. } if *of == kind));
        found.map(|(id, rule)| (id, &rule.row))
    }

    /// A rule of this page or its template whose fixed words matched before and no longer match.
    pub fn broken_by(&self, spot: &Spot<'_>) -> Option<(u32, &NoiseRule)> {
        let before = spot.before.text.as_ref()?;
        let learned = self.in_force().filter(|(_, rule)| rule.row.standing == RuleState::Learned);
        let mut held = learned.filter(|(id, rule)| {
            let Some(shape) = &rule.shape else { return false };
            let still_matches = spot.after.text.as_ref().is_some_and(|after| shape.matches(after));
            !still_matches && (self.knows(spot.before.digest, *id) || (!shape.is_bare() && shape.matches(before)))
        });
        held.next().map(|(id, rule)| (id, &rule.row))
    }

    /// Records that a rule explained something. Each rule counts once per comparison.
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
        self.seen.look(&mut row.looks, true);
        let is_learned = row.standing == RuleState::Learned;
        self.wants_look |= is_learned && !self.seen.second_look && rule_needs_look(row.class, &row.looks, moment);
        row.pages = row.pages.saturating_add(u32::from(is_new_here && row.on != RuleReach::Page(page)));
        self.changed.insert(id);
    }

    pub fn was_used(&self, id: u32) -> bool {
        self.used.contains(&id)
    }

    pub fn turn(&mut self, id: u32, reason: &str) {
        self.withdraw(id, RuleState::Turned, reason);
    }

    /// Ends the force of a rule.
    fn withdraw(&mut self, id: u32, standing: RuleState, reason: &str) {
        let Some(Rule { row, .. }) = self.rules.get_mut(&id) else { return };
        row.standing = standing;
        row.force.until = Some(self.input.moment);
        row.reason = reason.into();
        self.changed.insert(id);
    }

    /// Updates rules that could have shown a difference here and did not.
    pub fn rest(&mut self, is_present: impl Fn(u64) -> bool) {
        let mut silent: BTreeMap<u32, bool> = BTreeMap::new();
        for known in &self.input.noise.known {
            *silent.entry(known.rule).or_default() |= known.digest == 0 || is_present(known.digest);
        }
        let kinds = self.in_force().filter(|(_, rule)| matches!(rule.row.what, NoisePattern::Kind { .. }));
        silent.extend(kinds.map(|(id, _)| (id, true)).collect::<Vec<_>>());
        for (id, present) in silent {
            let is_learned = self.rules.get(&id).is_some_and(|rule| rule.row.standing == RuleState::Learned);
            if self.used.contains(&id) || !is_learned {
                continue;
            }
            match self.seen.second_look {
                true if present => self.stayed_at_look(id),
                true => {}
                false => self.stayed(id, present),
            }
        }
    }

    /// A rule explained nothing at an ordinary visit.
    fn stayed(&mut self, id: u32, present: bool) {
        let Some(Rule { row, .. }) = self.rules.get_mut(&id) else { return };
        row.compared = row.compared.saturating_add(u32::from(present));
        row.quiet = row.quiet.saturating_add(1);
        self.changed.insert(id);
        let many = !matches!(row.on, RuleReach::Page(_));
        let limit = if many { QUIET_MAX_OF_MANY } else { QUIET_MAX };
        if row.quiet >= limit {
            let reason = format!("no difference in the last {} comparisons", row.quiet);
            self.turn(id, &reason);
        }
    }

    /// What a rule explains stayed the same at a look. In main text this may show that it is content.
    fn stayed_at_look(&mut self, id: u32) {
        let Some(Rule { row, .. }) = self.rules.get_mut(&id) else { return };
        if row.class < TextClass::Main || row.looks.made >= LOOKS_NOTED_MAX {
            return;
        }
        self.seen.look(&mut row.looks, false);
        self.changed.insert(id);
        if is_content(&row.looks) {
            let (same, made) = (row.looks.same(), row.looks.made);
            let reason = format!(
                "content: the same at {same} of {made} looks, though it differed in {} of {} comparisons",
                row.differed, row.compared
            );
            self.withdraw(id, RuleState::Content, &reason);
        }
    }

    /// The rules on words and slots that may apply to paragraphs of this page.
    pub fn paragraph_rules(&self) -> Vec<(u32, &NoiseRule, Option<&Shape>)> {
        let speaks = |rule: &Rule| rule.row.standing != RuleState::Allowed;
        let rules = self.in_force().filter(|(_, rule)| speaks(rule));
        rules.map(|(id, rule)| (id, &rule.row, rule.shape.as_ref())).collect()
    }

    /// The rows to write, and whether a look is wanted.
    pub fn lesson(self) -> Lesson {
        let wants_look = self.wants_look;
        Lesson { rows: self.rows(), wants_look }
    }

    fn rows(self) -> NoiseRows {
        let ActiveRules { input, mut rules, last_id, changed, forgotten, page, .. } = self;
        let mut rows = NoiseRows::new(input.site.clone());
        rows.last_id = (last_id != input.book.last_id).then_some(last_id);
        rows.rules = changed.iter().filter_map(|id| rules.remove(id)).map(|rule| rule.row).collect();
        // A rule that was made and removed within this judgement was never written.
        rows.forgotten = forgotten.into_iter().filter(|id| input.book.rule(*id).is_some()).collect();
        let differs = page != *input.noise && !(page.is_empty() && input.noise.is_empty());
        rows.page = differs.then_some((input.page, page));
        rows
    }
}

/// Whether a rule has the proof that the text of this spot needs. A person's rules need none.
fn is_proven_for(rule: &Rule, spot: &Spot<'_>) -> bool {
    let class = || match &rule.shape {
        Some(shape) => class::of_words(spot, shape),
        None => class::of_replaced(spot),
    };
    rule.row.standing != RuleState::Learned || rule.row.class == TextClass::Figure || class() <= rule.row.class
}

fn in_slot(slot: &NoisePattern, side: &Side<'_>) -> bool {
    let NoisePattern::Slot { place, after, count, .. } = slot else { return false };
    (*place, *after) == (side.place, side.anchor) && (1..=*count).contains(&side.offset)
}
