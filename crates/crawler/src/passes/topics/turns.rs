//! Topics in the crawl: when passes run, a page's topics when it is read, and what the policies learn from both.

use std::collections::{BTreeSet, HashMap};

use vernal_document::terms::page_terms;
use vernal_model::{Deed, Document, Moment, Page, PageKey, PageState, TopicOf};
use vernal_policy::topic::{LinkedFrom, TopicTerms};

use super::pass::{Pass as TopicPass, TopicWork};
use super::source::{Kept, followed};
use super::{PAGES_MIN, TopicBook};
use crate::Result;
use crate::core::Core;
use crate::intake::sessions;
use crate::passes::{Pass, TURN_EVERY};
use crate::plan::Planner;

/// In-links by which a page is categorised when it is read. More change little (Table 2 of seed 001 levels off), and
/// each costs reading two rows.
const IN_LINKS_MAX: usize = 32;
/// Pages that link to others, with their topics, kept at a time.
const PARENTS_MAX: usize = 1_024;

/// The state of the topics.
pub(crate) struct Topics {
    book: TopicBook,
    /// When this process started.
    opened: Moment,
    pass: Option<TopicPass>,
    /// The work that this process has done in passes.
    work: TopicWork,
    /// Looked up only, never iterated: its order is random.
    parents: HashMap<PageKey, (Vec<TopicOf>, u32)>,
    /// Whether the last turn ended its pass.
    has_ended: bool,
}

impl Topics {
    pub fn new(now: Moment) -> Self {
        Topics {
            book: TopicBook::default(),
            opened: now,
            pass: None,
            work: TopicWork::default(),
            parents: HashMap::new(),
            has_ended: false,
        }
    }

    /// Drops a pass that is under way, because it may have words of pages that were erased, and restores the rest.
    pub fn begin_anew(&mut self, core: &mut Core, now: Moment) -> Result<()> {
        if core.settings.topics_every.is_none() {
            return Ok(());
        }
        TopicPass::forget(core.work.derived())?;
        *self = Topics { work: self.work, ..Topics::new(now) };
        self.recall(core)
    }

    /// Restores the topics from the tables, if topics are enabled.
    pub fn recall(&mut self, core: &mut Core) -> Result<()> {
        if core.settings.topics_every.is_none() {
            return Ok(());
        }
        self.book = TopicBook::open(core.work.acknowledged())?;
        for row in core.work.acknowledged().clone().categorised() {
            let (page, mut topics) = row?;
            // Those of a pass that gave pages more topics than they may have now: the best of them.
            topics.truncate(TopicTerms::of(&core.settings.policy).most);
            core.partitions.of_mut(page.partition).refresh.topics(page, &topics);
        }
        Ok(())
    }

    /// The work that this process has done in passes.
    pub fn work(&self) -> TopicWork {
        self.work
    }

    /// Resumes the interrupted pass of the previous process, or begins a new one.
    fn take_up_pass(&self, core: &Core, now: Moment) -> TopicPass {
        let (terms, passes) = (TopicTerms::of(&core.settings.policy), self.book.mark().passes);
        let resumed = TopicPass::resume(core.work.acknowledged(), terms, passes, now);
        resumed.unwrap_or_else(|| TopicPass::new(terms, passes, now))
    }

    /// Categorises a page that was read: keeps its words, and assigns topics by its words and the pages known to link
    /// to it, until the next pass. A page that is no longer held has no topics.
    pub fn categorise(
        &mut self,
        core: &mut Core,
        page: &Page,
        was_held: bool,
        document: Option<&Document>,
    ) -> Result<()> {
        if core.settings.topics_every.is_none() {
            return Ok(());
        }
        if page.state != PageState::Held {
            if was_held {
                forget_topics(core, page.key);
            }
            return Ok(());
        }
        let Some(document) = document.filter(|document| !document.directives.noarchive) else { return Ok(()) };
        let version = page.version.map_or(0, |version| version.number);
        let terms = page_terms(document, page.url.fingerprint(), version);
        let parents = self.parents(core, page)?;
        let linked_from: Vec<LinkedFrom<'_>> =
            parents.iter().map(|(topics, out)| LinkedFrom { topics, out: *out }).collect();
        let topics = self.book.known_for(TopicTerms::of(&core.settings.policy), &terms, &linked_from);
        core.work.push(page.key.partition, Deed::TermsRead(vec![(page.key, terms)]));
        if self.book.mark().passes > 0 {
            core.partitions.of_mut(page.key.partition).refresh.topics(page.key, &topics);
            core.work.push(page.key.partition, Deed::Categorised(vec![(page.key, topics)]));
        }
        Ok(())
    }

    /// The pages known without a search to link to a page, with their topics and their O(q): the page it was found on,
    /// and those of the last pass over all links.
    fn parents(&mut self, core: &Core, page: &Page) -> Result<Vec<(Vec<TopicOf>, u32)>> {
        if self.book.mark().passes == 0 {
            return Ok(Vec::new());
        }
        let mut keys: BTreeSet<PageKey> = page.found_on.into_iter().collect();
        keys.extend(core.work.acknowledged().linked_from(page.key, IN_LINKS_MAX)?);
        keys.remove(&page.key);
        keys.into_iter().map(|key| self.parent(core, key)).collect()
    }

    fn parent(&mut self, core: &Core, key: PageKey) -> Result<(Vec<TopicOf>, u32)> {
        if let Some(known) = self.parents.get(&key) {
            return Ok(known.clone());
        }
        let topics = core.work.topics_of(key)?;
        let out =
            if topics.is_empty() { 1 } else { core.work.document(key)?.map_or(1, |row| followed(&row).len() as u32) };
        if self.parents.len() >= PARENTS_MAX {
            self.parents.clear();
        }
        self.parents.insert(key, (topics.clone(), out));
        Ok((topics, out))
    }
}

impl Pass for Topics {
    fn is_due(&self, core: &Core, now: Moment) -> bool {
        let Some(every) = core.settings.topics_every else { return false };
        let is_time = match self.book.mark().ended {
            Some(ended) => now.since(ended) >= every && ended <= now,
            // The first pass waits until all current pages are read, or for as long as any other pass.
            None => {
                let is_through =
                    core.partitions.waiting() == 0 && core.in_flight.first_visits() == 0 && core.work.found() == 0;
                let is_old = now.since(self.opened) >= every;
                core.partitions.held() >= PAGES_MIN && (is_through || is_old || !core.may_discover())
            }
        };
        self.pass.is_some() || is_time
    }

    fn next(&self, core: &Core, now: Moment) -> Option<Moment> {
        let every = core.settings.topics_every?;
        if self.is_due(core, now) {
            return Some(now + TURN_EVERY);
        }
        Some(self.book.mark().ended.unwrap_or(self.opened) + every)
    }

    fn reads_tables(&self) -> bool {
        true
    }

    fn turn(&mut self, core: &mut Core, _: &mut Planner, now: Moment) -> Result<()> {
        let mut pass = self.pass.take().unwrap_or_else(|| self.take_up_pass(core, now));
        let partitions = &core.partitions;
        let drop_sessions = |report: &mut _| sessions::drop_sessions(partitions, report);
        let kept = Kept { reader: core.work.acknowledged(), drop_sessions: &drop_sessions };
        let turn = pass.turn(&kept, &self.book, now)?;
        self.work += turn.work;
        self.parents.clear();
        for (page, topics) in &turn.told {
            core.partitions.of_mut(page.partition).refresh.topics(*page, topics);
        }
        for (partition, deed) in turn.deeds {
            match &deed {
                Deed::TopicsNamed(rows) => self.book.take(rows.clone()),
                Deed::TopicsReckoned(mark) => self.book.set_mark(*mark),
                _ => {}
            }
            core.work.push(partition, deed);
        }
        self.has_ended = turn.has_ended;
        self.pass = (!turn.has_ended).then_some(pass);
        Ok(())
    }

    fn checkpoint(&mut self, core: &Core) -> Result<()> {
        match &mut self.pass {
            Some(pass) => pass.keep(core.work.derived(), core.settings.pass_piece_pages),
            None if self.has_ended => TopicPass::forget(core.work.derived()),
            None => Ok(()),
        }
    }

    fn has_ended(&self) -> bool {
        self.has_ended
    }
}

/// Removes the topics of a page that is no longer held.
pub(crate) fn forget_topics(core: &mut Core, page: PageKey) {
    if core.settings.topics_every.is_some() {
        core.work.push(page.partition, Deed::Categorised(vec![(page, Vec::new())]));
    }
}
