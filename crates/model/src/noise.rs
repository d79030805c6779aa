//! Noise, which is a difference without meaning: learned rules, rules of people, and the evidence for them.
//!
//! Data only; the functions that learn and judge are in `vernal-document`. It is stored in the partition of the site and changes
//! by deeds alone, in rows: one per rule, one per page.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Kind, Moment, PageKey, Role, Site};

/// The rules of one site.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct NoiseBook {
    /// The highest rule number ever used, so that none is used twice.
    pub last_id: u32,
    /// By number.
    pub rules: Vec<NoiseRule>,
}

impl NoiseBook {
    /// The rule limit of a site. Beyond it, candidates and revoked rules are evicted first, the longest unused of them.
    pub const RULES_MAX: usize = 200;

    pub fn rule(&self, id: u32) -> Option<&NoiseRule> {
        self.rules.binary_search_by_key(&id, |rule| rule.id).ok().map(|place| &self.rules[place])
    }

    /// Applies changed rows.
    pub fn take(&mut self, rows: &NoiseRows) {
        self.last_id = rows.last_id.unwrap_or(self.last_id);
        for rule in &rows.rules {
            match self.rules.binary_search_by_key(&rule.id, |known| known.id) {
                Ok(place) => self.rules[place] = rule.clone(),
                Err(place) => self.rules.insert(place, rule.clone()),
            }
        }
        if !rows.forgotten.is_empty() {
            self.rules.retain(|rule| !rows.forgotten.contains(&rule.id));
        }
    }
}

/// The changed rows of one site.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NoiseRows {
    pub site: Site,
    /// The evidence of a page. An empty one removes the row.
    pub page: Option<(PageKey, PageNoise)>,
    pub last_id: Option<u32>,
    pub rules: Vec<NoiseRule>,
    pub forgotten: Vec<u32>,
}

impl NoiseRows {
    pub fn new(site: Site) -> Self {
        NoiseRows { site, page: None, last_id: None, rules: Vec::new(), forgotten: Vec::new() }
    }

    /// Whether there is nothing to write.
    pub fn is_empty(&self) -> bool {
        *self == NoiseRows::new(self.site.clone())
    }
}

/// One rule: a pattern of noise, where it applies, since when, and its evidence.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NoiseRule {
    /// Its number within the site, from 1.
    pub id: u32,
    pub what: NoisePattern,
    pub on: RuleReach,
    /// The text that it was proven for. A learned rule explains nothing in text that needs more proof.
    pub class: TextClass,
    pub standing: RuleState,
    /// When the first difference of its evidence was seen.
    pub since: Moment,
    /// When it last explained a difference.
    pub last: Moment,
    pub force: RuleForce,
    /// Comparisons in which it differed, and those in which it could have. Looks that found it the same are only in `looks`.
    pub differed: u32,
    pub compared: u32,
    pub looks: Looks,
    /// Comparisons in a row without a difference.
    pub quiet: u16,
    /// Pages on which it was seen to differ.
    pub pages: u32,
    /// The template of those pages (see `template_key` in room `document`); 0 is none.
    pub template: u32,
    /// An example of a difference that it explains, shortened.
    pub before: Box<str>,
    pub after: Box<str>,
    /// The reason of its state, in words.
    pub reason: Box<str>,
    /// For a candidate: marks of the pages that had it and of their differences, so that neither a single page nor the same change
    /// on many pages counts as proof. For texts that rotate: marks of the pages, and the digests of the texts.
    pub seen: Vec<u64>,
}

/// The second looks at something that can differ: visits that were asked for minutes after another one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Looks {
    /// Looks at which it could have differed, and those at which it did.
    pub made: u32,
    pub differed: u32,
    /// The latest of them, oldest first.
    pub latest: Vec<Look>,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Look {
    pub at: Moment,
    pub differed: bool,
}

impl Looks {
    pub const LATEST_MAX: usize = 8;

    pub fn note(&mut self, look: Look) {
        self.made = self.made.saturating_add(1);
        self.differed = self.differed.saturating_add(u32::from(look.differed));
        self.latest.push(look);
        self.keep_latest();
    }

    /// Adds the looks at the same text on another page.
    pub fn join(&mut self, other: &Looks) {
        self.made = self.made.saturating_add(other.made);
        self.differed = self.differed.saturating_add(other.differed);
        self.latest.extend_from_slice(&other.latest);
        self.latest.sort_unstable();
        self.keep_latest();
    }

    /// Looks that found it the same.
    pub fn same(&self) -> u32 {
        self.made.saturating_sub(self.differed)
    }

    fn keep_latest(&mut self) {
        let over = self.latest.len().saturating_sub(Self::LATEST_MAX);
        self.latest.drain(..over);
    }
}

/// What kind of text varies, in the order of the proof that it needs before it is silenced.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum TextClass {
    /// Navigation, footers, and differences that are no text.
    #[default]
    Frame,
    Main,
    /// A number beside a unit, a currency or a date word in main text. In the frame, money, percentages and degrees count as main
    /// text.
    Figure,
}

/// When a rule began to explain differences, and when it ceased to.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RuleForce {
    pub from: Option<Moment>,
    pub until: Option<Moment>,
}

impl RuleForce {
    pub fn since(moment: Moment) -> Self {
        RuleForce { from: Some(moment), until: None }
    }

    /// Whether the rule was in force at this Moment.
    pub fn holds_at(self, moment: Moment) -> bool {
        self.from.is_some_and(|from| from <= moment) && self.until.is_none_or(|until| moment < until)
    }
}

/// The pattern of a rule.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum NoisePattern {
    /// A paragraph with some varying words: `Views: # today`. `Shape` in `vernal-document` explains the notation.
    Words {
        shape: Box<str>,
        /// The mark of the place (see `ParagraphMark`), where the shape alone is not specific enough; 0 means any place.
        place: u16,
    },
    /// So many paragraphs after an anchor, whatever their words: rotating quotes, related links, advertisements.
    Slot {
        place: u16,
        /// The anchor: the digest of the last paragraph before them that stays; 0 means the beginning of the page.
        after: u64,
        count: u16,
        /// The words of that paragraph, shortened, for display.
        words: Box<str>,
    },
    /// A whole kind, never content.
    Kind {
        kind: Kind,
        /// The names of the notes that differed ("script source" and so on). Notes with other names are not suppressed.
        notes: Vec<Box<str>>,
    },
    /// The texts that rotate on several pages of a template, at one place of it. Their digests are in `NoiseRule::seen`.
    Texts { place: u16 },
}

/// Where a rule applies.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum RuleReach {
    Page(PageKey),
    Template(u32),
    Site,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RuleState {
    /// A candidate: seen on pages of the template, but not often enough yet. It explains nothing.
    Suspected,
    Learned,
    /// It was given by a person.
    Added,
    /// A person said that the difference matters: it is never suppressed and never learned.
    Allowed,
    /// Revoked by later evidence. It explains nothing any more.
    Turned,
    /// Looks have shown that it is content: it stays the same for minutes and differs between visits farther apart. It explains
    /// nothing, and ordinary visits do not teach it again.
    Content,
}

impl RuleState {
    pub fn name(self) -> &'static str {
        match self {
            RuleState::Suspected => "suspected",
            RuleState::Learned => "learned",
            RuleState::Added => "added",
            RuleState::Allowed => "allowed",
            RuleState::Turned => "turned",
            RuleState::Content => "content",
        }
    }
}

/// The evidence of the visits to one page.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PageNoise {
    pub template: u32,
    pub suspects: Vec<Suspect>,
    /// The parts of the newest version that rules explain. They are compared with old marks without reading words.
    pub known: Vec<Masked>,
}

impl PageNoise {
    pub const SUSPECTS_MAX: usize = 32;
    pub const KNOWN_MAX: usize = 64;

    pub fn is_empty(&self) -> bool {
        self.suspects.is_empty() && self.known.is_empty()
    }
}

/// A difference on one page that may occur again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Suspect {
    pub what: NoisePattern,
    pub role: Role,
    /// The highest class of its differences.
    pub class: TextClass,
    /// When looks showed that it is content. Then it is never learned.
    pub content_since: Option<Moment>,
    /// The last digest of the paragraph; 0 where there is none.
    pub digest: u64,
    pub since: Moment,
    pub differed: u16,
    pub compared: u16,
    pub quiet: u16,
    /// How often words changed that were taken for fixed.
    pub grown: u8,
    pub looks: Looks,
}

/// A paragraph of the newest version that a rule covers.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Masked {
    /// The digest of the paragraph, or of the anchor of a slot.
    pub digest: u64,
    pub rule: u32,
}
