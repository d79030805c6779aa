//! What differs without meaning: the rules that a site has taught us or a person gave, and the evidence for them.
//!
//! Data only; the functions that learn and judge live in room `document`. All of it lies in the site's partition and
//! changes by deeds alone, as rows: one per rule, one per fold, one per page.

use serde::{Deserialize, Serialize};

use crate::{Kind, Kinds, Moment, PageKey, Role, Site};

/// All rules of one site, and the changes that are being folded there.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct NoiseBook {
    /// The highest number that a rule ever had, so that none is given twice.
    pub last_id: u32,
    /// By number.
    pub rules: Vec<NoiseRule>,
    /// By id.
    pub folds: Vec<Fold>,
}

impl NoiseBook {
    /// Rules of a site; beyond this, candidates and turned rules go first, the longest unused of them.
    pub const RULES_MAX: usize = 200;
    /// Folds of a site; beyond this the oldest goes.
    pub const FOLDS_MAX: usize = 256;

    pub fn rule(&self, id: u32) -> Option<&NoiseRule> {
        self.rules.binary_search_by_key(&id, |rule| rule.id).ok().map(|place| &self.rules[place])
    }

    pub fn fold(&self, id: u64) -> Option<&Fold> {
        self.folds.binary_search_by_key(&id, |fold| fold.id).ok().map(|place| &self.folds[place])
    }

    /// Takes over rows as they became.
    pub fn take(&mut self, rows: &NoiseRows) {
        self.last_id = rows.last_id.unwrap_or(self.last_id);
        for rule in &rows.rules {
            match self.rules.binary_search_by_key(&rule.id, |known| known.id) {
                Ok(place) => self.rules[place] = rule.clone(),
                Err(place) => self.rules.insert(place, rule.clone()),
            }
        }
        for fold in &rows.folds {
            match self.folds.binary_search_by_key(&fold.id, |known| known.id) {
                Ok(place) => self.folds[place] = fold.clone(),
                Err(place) => self.folds.insert(place, fold.clone()),
            }
        }
        if !rows.forgotten.is_empty() {
            self.rules.retain(|rule| !rows.forgotten.contains(&rule.id));
        }
        if !rows.unfolded.is_empty() {
            self.folds.retain(|fold| !rows.unfolded.contains(&fold.id));
        }
    }
}

/// The rows of one site that changed, as they became.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NoiseRows {
    pub site: Site,
    /// What one page's visit showed; an empty one takes the row away.
    pub page: Option<(PageKey, PageNoise)>,
    pub last_id: Option<u32>,
    pub rules: Vec<NoiseRule>,
    pub forgotten: Vec<u32>,
    pub folds: Vec<Fold>,
    pub unfolded: Vec<u64>,
}

impl NoiseRows {
    pub fn new(site: Site) -> Self {
        NoiseRows {
            site,
            page: None,
            last_id: None,
            rules: Vec::new(),
            forgotten: Vec::new(),
            folds: Vec::new(),
            unfolded: Vec::new(),
        }
    }

    /// Whether there is nothing to write.
    pub fn is_empty(&self) -> bool {
        *self == NoiseRows::new(self.site.clone())
    }
}

/// One thing that differs without meaning: what, where, since when, and on what evidence.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NoiseRule {
    /// Its number within the site, from 1.
    pub id: u32,
    pub what: Volatile,
    pub on: Reach,
    pub standing: RuleStanding,
    pub since: Moment,
    /// When it last explained a difference.
    pub last: Moment,
    /// Comparisons in which it differed, of those in which it could have.
    pub differed: u32,
    pub compared: u32,
    /// Comparisons in a row without a difference.
    pub quiet: u16,
    /// Pages on which it was seen to differ.
    pub pages: u32,
    /// The template of those pages (see `template_key` in room `document`); 0 is none.
    pub template: u32,
    /// One difference that it explains, cut short.
    pub before: Box<str>,
    pub after: Box<str>,
    /// Why it stands as it does, in words.
    pub reason: Box<str>,
    /// While suspected: marks of the pages that showed it and of their differences, so that neither one page nor one same
    /// change on many is taken for proof.
    pub seen: Vec<u64>,
}

/// What a rule speaks of.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Volatile {
    /// A paragraph whose words are fixed but for some: `Views: # today`. See `Shape` in room `document` for the letters.
    Words {
        shape: Box<str>,
        /// The mark of the place (see `ParagraphMark`), where the shape alone says too little; 0 is any place.
        place: u16,
    },
    /// So many paragraphs behind an anchor, whatever they say: rotating quotes, related links, advertisements.
    Slot {
        place: u16,
        /// The digest of the last paragraph before them that stays; 0 is the beginning of the page.
        after: u64,
        count: u16,
        /// The words of that paragraph, cut short, for eyes.
        words: Box<str>,
    },
    /// A whole kind, never content.
    Kind {
        kind: Kind,
        /// What was seen to differ, as notes name it ("script source" and so on); where notes name something else, it stays.
        notes: Vec<Box<str>>,
    },
}

/// Where a rule applies.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Reach {
    Page(PageKey),
    Template(u32),
    Site,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RuleStanding {
    /// Seen to differ on pages of the template, not often enough yet: it explains nothing.
    Suspected,
    Learned,
    /// A person gave it.
    Added,
    /// A person said that this means something: never set aside, never learned.
    Allowed,
    /// The evidence turned: it explains nothing any more.
    Turned,
}

impl RuleStanding {
    pub fn name(self) -> &'static str {
        match self {
            RuleStanding::Suspected => "suspected",
            RuleStanding::Learned => "learned",
            RuleStanding::Added => "added",
            RuleStanding::Allowed => "allowed",
            RuleStanding::Turned => "turned",
        }
    }
}

/// What the visits of one page have shown so far.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PageNoise {
    pub template: u32,
    pub suspects: Vec<Suspect>,
    /// What rules explain in the newest version: held against old marks without reading their words.
    pub known: Vec<Masked>,
}

impl PageNoise {
    pub const SUSPECTS_MAX: usize = 32;
    pub const KNOWN_MAX: usize = 64;

    pub fn is_empty(&self) -> bool {
        self.suspects.is_empty() && self.known.is_empty()
    }
}

/// Something on one page that differed, and may do so again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Suspect {
    pub what: Volatile,
    pub role: Role,
    /// The digest of the paragraph as last seen; 0 where there is none.
    pub digest: u64,
    pub since: Moment,
    pub differed: u16,
    pub compared: u16,
    pub quiet: u16,
    /// How often words that were thought fixed changed after all.
    pub grown: u8,
    /// It differed between two visits minutes apart.
    pub second_look: bool,
    /// Paragraphs that came back after they had gone.
    pub returned: u16,
    /// Digests of paragraphs seen here lately, for that.
    pub lately: Vec<u64>,
}

impl Suspect {
    pub const LATELY_MAX: usize = 24;
}

/// A paragraph of the newest version that a rule covers.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Masked {
    /// Of the paragraph; for a slot, of its anchor.
    pub digest: u64,
    pub rule: u32,
}

/// One same change of a paragraph, met on page after page of a site: a template was changed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Fold {
    /// A mark of both digests.
    pub id: u64,
    /// The paragraph's digest before and after; 0 where it was not there.
    pub before: u64,
    pub after: u64,
    /// The kinds left and a mark of the notes that came with it: a page where these differ has more to tell.
    pub left: Kinds,
    pub notes: u64,
    pub first: Moment,
    pub last: Moment,
    /// Pages on which it was seen.
    pub pages: u32,
    /// The first of them.
    pub sample: Vec<PageKey>,
    /// The site's one event was raised.
    pub told: bool,
}

impl Fold {
    pub const SAMPLE_MAX: usize = 5;
}
