//! Topics in the ring: passes at their time, a page's topics when it is read, and what the policies hear of both.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use vernal_document::terms::page_terms;
use vernal_model::{Deed, Document, Moment, Page, PageKey, PageState, Span, TopicId, TopicOf};
use vernal_policy::topic::{LinkedFrom, Reckoning};
use vernal_policy::{RateSums, TopicRates, TopicSample};

use super::Crawler;
use crate::Result;
use crate::topics::{Kept, PAGES_MIN, Pass, TopicBook, TopicWork, followed};

/// A pass that is under way goes on after this.
const TURN_EVERY: Span = Span::from_millis(1);
/// In-links that a page is categorised by when it is read; more change little (Table 2 of seed 001 levels off), and each is two
/// rows to read.
const IN_LINKS_MAX: usize = 32;
/// Pages that link to others, with their topics, kept at a time.
const PARENTS_MAX: usize = 1_024;

/// Where topics stand.
#[derive(Default)]
pub(super) struct Topics {
    book: TopicBook,
    /// When this process took up its work.
    opened: Moment,
    pass: Option<Pass>,
    /// What this process has done for passes.
    work: TopicWork,
    /// Looked up only, never walked through: its order is chance.
    parents: HashMap<PageKey, (Vec<TopicOf>, u32)>,
}

impl Crawler {
    /// Takes up the topics that the tables know, if they are wanted.
    pub(super) fn recall_topics(&mut self, now: Moment) -> Result<()> {
        self.topics.opened = now;
        if self.settings.topics_every.is_none() {
            return Ok(());
        }
        self.topics.book = TopicBook::open(&self.reader)?;
        for row in self.reader.categorised() {
            let (page, topics) = row?;
            if let Some(topical) = self.partition(page.partition).policy.topical() {
                topical.topics(page, &topics);
            }
        }
        Ok(())
    }

    /// Whether a pass is under way, or it is time for one.
    pub(super) fn topics_wait(&self, now: Moment) -> bool {
        let Some(every) = self.settings.topics_every else { return false };
        let is_time = match self.topics.book.mark().ended {
            Some(ended) => now.since(ended) >= every && ended <= now,
            // The first one waits until all that there is was read, or for as long as any other.
            None => {
                let found = self.group.has_found || self.reader.totals().found_pending > 0;
                let is_through = self.waiting() == 0 && self.new_in_flight == 0 && !found;
                let is_old = now.since(self.topics.opened) >= every;
                self.held() >= PAGES_MIN && (is_through || is_old || !self.may_discover())
            }
        };
        self.topics.pass.is_some() || is_time
    }

    pub(super) fn next_topics(&self, now: Moment) -> Option<Moment> {
        let every = self.settings.topics_every?;
        if self.topics_wait(now) {
            return Some(now + TURN_EVERY);
        }
        Some(self.topics.book.mark().ended.unwrap_or(self.topics.opened) + every)
    }

    /// What the pass is at, and how far; nothing while none is under way.
    pub fn topics_progress(&self) -> Option<(&'static str, usize, usize)> {
        self.topics.pass.as_ref().map(Pass::progress)
    }

    /// One turn of a pass for topics, if it is time for one.
    pub fn renew_topics(&mut self, now: Moment) -> Result<()> {
        if !self.started || self.paused || self.disk_full || !self.topics_wait(now) {
            return Ok(());
        }
        // Rows are read and written below: what is on its way to them comes first.
        self.commit(now)?;
        let mut pass = self.topics.pass.take().unwrap_or_else(|| self.take_up_pass(now));
        let kept = Kept { reader: &self.reader, drop_sessions: &|report| self.drop_sessions(report) };
        let turn = pass.turn(&kept, &self.topics.book, now)?;
        self.topics.work += turn.work;
        self.topics.parents.clear();
        for (page, topics) in &turn.told {
            if let Some(topical) = self.partition(page.partition).policy.topical() {
                topical.topics(*page, topics);
            }
        }
        for (partition, deed) in turn.deeds {
            match &deed {
                Deed::TopicsNamed(rows) => self.topics.book.take(rows.clone()),
                Deed::TopicsReckoned(mark) => self.topics.book.set_mark(*mark),
                _ => {}
            }
            self.group.push(partition, deed);
        }
        self.commit(now)?;
        if turn.has_ended {
            return Pass::forget(&self.reader);
        }
        pass.keep(&self.reader, self.settings.pass_piece_pages)?;
        self.topics.pass = Some(pass);
        Ok(())
    }

    /// The pass that the process before did not live to end, or a new one.
    fn take_up_pass(&self, now: Moment) -> Pass {
        let (reckoning, passes) = (Reckoning::default(), self.topics.book.mark().passes);
        let resumed = Pass::resume(&self.reader, reckoning, passes, now);
        resumed.unwrap_or_else(|| Pass::new(reckoning, passes, now))
    }

    /// What this process has done for passes.
    pub fn topic_work(&self) -> TopicWork {
        self.topics.work
    }

    /// A page was read: its words are kept, and its topics are those that its words and the pages that are known to link to it
    /// give it, until a pass knows better. A page that is held no more has none.
    pub(super) fn categorise(&mut self, page: &Page, was_held: bool, document: Option<&Document>) -> Result<()> {
        if self.settings.topics_every.is_none() {
            return Ok(());
        }
        if page.state != PageState::Held {
            if was_held {
                self.forget_topics(page.key);
            }
            return Ok(());
        }
        let Some(document) = document.filter(|document| !document.directives.noarchive) else { return Ok(()) };
        let version = page.version.map_or(0, |version| version.number);
        let terms = page_terms(document, page.url.fingerprint(), version);
        let parents = self.parents(page)?;
        let linked_from: Vec<LinkedFrom<'_>> =
            parents.iter().map(|(topics, out)| LinkedFrom { topics, out: *out }).collect();
        let topics = self.topics.book.known_for(&terms, &linked_from);
        self.group.push(page.key.partition, Deed::TermsRead(vec![(page.key, terms)]));
        if self.topics.book.mark().passes > 0 {
            if let Some(topical) = self.partition(page.key.partition).policy.topical() {
                topical.topics(page.key, &topics);
            }
            self.group.push(page.key.partition, Deed::Categorised(vec![(page.key, topics)]));
        }
        Ok(())
    }

    /// A page that is held no more has no topics.
    pub(super) fn forget_topics(&mut self, page: PageKey) {
        if self.settings.topics_every.is_some() {
            self.group.push(page.partition, Deed::Categorised(vec![(page, Vec::new())]));
        }
    }

    /// The pages into a page that are known without a search, with their topics and their O(q): the one that it was found on,
    /// and those of the last pass over all links.
    fn parents(&mut self, page: &Page) -> Result<Vec<(Vec<TopicOf>, u32)>> {
        if self.topics.book.mark().passes == 0 {
            return Ok(Vec::new());
        }
        let mut keys: BTreeSet<PageKey> = page.found_on.into_iter().collect();
        keys.extend(self.reader.linked_from(page.key, IN_LINKS_MAX)?);
        keys.remove(&page.key);
        keys.into_iter().map(|key| self.parent(key)).collect()
    }

    fn parent(&mut self, key: PageKey) -> Result<(Vec<TopicOf>, u32)> {
        if let Some(known) = self.topics.parents.get(&key) {
            return Ok(known.clone());
        }
        let topics = self.reader.topics_of(key)?;
        let out =
            if topics.is_empty() { 1 } else { self.reader.document(key)?.map_or(1, |row| followed(&row).len() as u32) };
        if self.topics.parents.len() >= PARENTS_MAX {
            self.topics.parents.clear();
        }
        self.topics.parents.insert(key, (topics.clone(), out));
        Ok((topics, out))
    }

    /// Lets every partition hear what all have found in their samples of topics, and of the topics' change rates.
    pub(super) fn pool_topic_samples(&mut self) {
        if self.settings.topics_every.is_none() {
            return;
        }
        let mut sums: BTreeMap<(u64, TopicId), (u32, u32)> = BTreeMap::new();
        let topical = self.partitions.iter_mut().filter_map(|partition| partition.policy.topical());
        for sample in topical.flat_map(|topical| topical.topic_samples()) {
            let (sampled, changed) = sums.entry((sample.cycle, sample.topic)).or_default();
            (*sampled, *changed) = (*sampled + sample.sampled, *changed + sample.changed);
        }
        let mut rates: BTreeMap<TopicId, RateSums> = BTreeMap::new();
        let topical = self.partitions.iter_mut().filter_map(|partition| partition.policy.topical());
        for of in topical.flat_map(|topical| topical.topic_rates()) {
            let sums = rates.entry(of.topic).or_default();
            *sums = sums.plus(of.sums);
        }
        let rates: Vec<TopicRates> = rates.into_iter().map(|(topic, sums)| TopicRates { topic, sums }).collect();
        let sum = |((cycle, topic), (sampled, changed))| TopicSample { cycle, topic, sampled, changed };
        let samples: Vec<TopicSample> = sums.into_iter().map(sum).collect();
        let held = self.partitions.iter_mut().filter(|partition| partition.held > 0);
        for topical in held.filter_map(|partition| partition.policy.topical()) {
            topical.hear_topic_samples(&samples);
            topical.hear_topic_rates(&rates);
        }
    }
}
