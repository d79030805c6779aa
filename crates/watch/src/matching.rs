//! Whether a watch tells an event, and what of it.

use std::collections::BTreeMap;
use std::sync::Arc;

use vernal_model::EventKind;

use crate::condition::{When, Words};
use crate::outbox::{State, TroubleKind, WatchEntry};
use crate::told::{Paragraph, Told};
use crate::watch::Watch;
use crate::{Error, Result};

/// A watch, ready to be asked.
#[derive(Clone, Debug)]
pub struct Matcher {
    watch: Watch,
    words: Option<Words>,
}

/// What an event means to a watch that covers it.
#[derive(Clone, Debug, PartialEq)]
pub struct Matching {
    /// What is told of it, if the conditions hold.
    pub told: Option<Told>,
    /// That the page or what matched on it was lost, or is back.
    pub lost: Option<TroubleKind>,
    pub back: Option<TroubleKind>,
}

/// Whether some paragraph of the page as it is held now fulfils what is asked.
type PageHas<'a> = &'a dyn Fn(&dyn Fn(&str) -> bool) -> Result<bool>;

/// The matchers of all watches.
pub fn matchers(state: &State) -> Result<BTreeMap<String, Arc<Matcher>>> {
    let matcher = |(id, entry): (&String, &WatchEntry)| Ok((id.clone(), Arc::new(Matcher::of(&entry.watch)?)));
    state.watches.iter().map(matcher).collect()
}

impl Matcher {
    pub fn of(watch: &Watch) -> Result<Matcher> {
        let words = Words::compile(&watch.when).map_err(Error::Wrong)?;
        Ok(Matcher { watch: watch.clone(), words })
    }

    pub fn watch(&self) -> &Watch {
        &self.watch
    }

    fn when(&self) -> &When {
        &self.watch.when
    }

    /// Whether the event is of what is watched. `is_hit` says whether a page is a hit of a search.
    pub fn covers(&self, told: &Told, is_hit: &dyn Fn(&str) -> Result<bool>) -> Result<bool> {
        let over = &self.watch.over;
        // An event of a page that is a second name is told under its first name.
        let url = told.group.same_as.as_ref().unwrap_or(&told.url);
        Ok(match (&over.url, &over.prefix, &over.site, &over.tag, &over.search) {
            (Some(page), ..) => page == url,
            (_, Some(prefix), ..) => url.starts_with(prefix.as_str()),
            (_, _, Some(site), ..) => *site == told.site,
            (_, _, _, Some(tag), _) => told.tags.contains(tag),
            (_, _, _, _, Some(_)) => is_hit(url)?,
            _ => false,
        })
    }

    /// Whether its words must be read to decide: they are on disk and cost a read.
    pub fn wants_words(&self, told: &Told) -> bool {
        self.holds_without_words(told) || self.is_over_page() && self.words.is_some()
    }

    /// What the event means. The region of a watch is looked for on the whole page by `page_has`, which is asked rarely.
    pub fn judge(&self, told: &Told, page_has: PageHas) -> Result<Matching> {
        let mut matching = Matching { told: self.told(told), lost: None, back: None };
        if !self.is_over_page() {
            return Ok(matching);
        }
        match told.event {
            EventKind::Gone | EventKind::Blocked | EventKind::Moved | EventKind::Erased => {
                matching.lost = Some(TroubleKind::Page);
            }
            EventKind::Back | EventKind::Unblocked | EventKind::New => matching.back = Some(TroubleKind::Page),
            _ => {}
        }
        if matching.lost.is_none() && self.watch.tells_lost_regions() {
            match self.region(told) {
                Region::Here => matching.back = matching.back.or(Some(TroubleKind::Region)),
                Region::Lost => matching.lost = Some(TroubleKind::Region),
                Region::MaybeLost if !page_has(&|text| self.is_region(text))? => {
                    matching.lost = Some(TroubleKind::Region);
                }
                Region::MaybeLost | Region::Unknown => {}
            }
        }
        Ok(matching)
    }

    fn is_over_page(&self) -> bool {
        self.watch.over.url.is_some()
    }

    fn holds_without_words(&self, told: &Told) -> bool {
        let (when, change) = (self.when(), &told.change);
        let is_change = matches!(told.event, EventKind::Changed | EventKind::Template);
        when.has_event(told.event)
            && (!is_change
                || (when.kinds.is_empty() || when.kinds.iter().any(|kind| change.left.contains(kind)))
                    && when.min.is_none_or(|min| change.degree >= min)
                    && when.magnitude.is_none_or(|least| change.magnitude >= least))
            && !(when.not_flapping && change.flapping)
            && when.language.as_ref().is_none_or(|language| told.language.starts_with(language.as_str()))
    }

    /// The event with the paragraphs that fulfil the conditions, if they all hold.
    fn told(&self, told: &Told) -> Option<Told> {
        let when = self.when();
        if !self.holds_without_words(told) || !told.is_readable() {
            return None;
        }
        if !when.selects_paragraphs() && self.words.is_none() && when.number.is_none() {
            return Some(told.clone());
        }
        let mut told = told.clone();
        let count = told.paragraphs.len();
        told.paragraphs.retain(|paragraph| self.selects(paragraph));
        let words = |text: (&Option<String>, &Option<String>)| {
            self.words.as_ref().is_some_and(|words| words.are_in(text.0.as_deref(), text.1.as_deref()))
        };
        // Notes lie in no part of the page and have no numbers.
        let are_notes_asked = !when.selects_paragraphs() && when.number.is_none() && self.words.is_some();
        told.change.notes.retain(|note| are_notes_asked && words((&note.before, &note.after)));
        told.cut |= told.paragraphs.len() < count;
        let is_left = !told.paragraphs.is_empty() || !told.change.notes.is_empty();
        (is_left && told.is_readable()).then_some(told)
    }

    /// Whether a paragraph fulfils all conditions on paragraphs.
    fn selects(&self, paragraph: &Paragraph) -> bool {
        let (before, after) = (paragraph.before.as_deref(), paragraph.after.as_deref());
        let number = self.when().number.as_ref();
        self.when().has_role(&paragraph.role)
            && paragraph.has_words()
            && self.words.as_ref().is_none_or(|words| words.are_in(before, after))
            && number.is_none_or(|number| {
                number.paragraph.as_ref().is_none_or(|id| paragraph.id.as_ref() == Some(id))
                    && number.holds(before, after)
            })
    }

    fn is_region(&self, text: &str) -> bool {
        self.words.as_ref().is_some_and(|words| words.stand_in(text))
    }

    /// What the event says of the paragraphs that the watch is about.
    fn region(&self, told: &Told) -> Region {
        if let Some(id) = self.when().number.as_ref().and_then(|number| number.paragraph.as_ref()) {
            let mut of_region = told.paragraphs.iter().filter(|paragraph| paragraph.id.as_ref() == Some(id));
            return match of_region.next() {
                Some(paragraph) if paragraph.op == vernal_model::Operation::Removed => Region::Lost,
                Some(_) => Region::Here,
                None => Region::Unknown,
            };
        }
        if self.words.is_none() {
            return Region::Unknown;
        }
        let has = |text: &Option<String>| text.as_deref().is_some_and(|text| self.is_region(text));
        let paragraphs = || told.paragraphs.iter().filter(|paragraph| self.when().has_role(&paragraph.role));
        match (paragraphs().any(|one| has(&one.after)), paragraphs().any(|one| has(&one.before))) {
            (true, _) => Region::Here,
            (false, true) => Region::MaybeLost,
            (false, false) => Region::Unknown,
        }
    }
}

enum Region {
    Here,
    Lost,
    /// It is gone from the paragraphs that changed; the others may have it.
    MaybeLost,
    Unknown,
}
