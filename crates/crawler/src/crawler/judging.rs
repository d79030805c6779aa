//! What differs between two versions, and whether it means something: cheapest test first.
//!
//! Marks are compared first, and what the site's rules explain is set aside. Only if something is left is the older body
//! read, so that the change has words, and judged again with the words at hand. One verdict serves the feed, the history
//! and what the policy learns.

use std::collections::{BTreeSet, VecDeque};

use foldhash::HashMap;
use vernal_document::noise::{self, FoldingKind, NoiseInput, PendingFolds};
use vernal_document::{IncrementalReader, Input, Parts, compare, diff, tell_closely};
use vernal_model::{
    Change, Deed, Document, DocumentRow, Kind, Moment, NoiseBook, NoiseRows, Note, Page, PageKey, PageNoise,
    Partition as PartitionId, Report, Signature, Site, Suppressed,
};

use super::Crawler;
use crate::Result;
use crate::intake::record;
use crate::intake::verdict::Verdict;

/// What an ordinary page unpacks to; the room of a larger one is given back.
const OLDER_BODY_BYTES_MAX: usize = 256 << 10;

/// The noise books of sites that were visited lately.
#[derive(Default)]
pub(super) struct Books {
    /// Looked up for every visit, and never walked through: its order is chance.
    books: HashMap<Site, NoiseBook>,
    /// In the order in which they were taken up.
    used: VecDeque<Site>,
    /// Those that are ahead of their rows, by the deeds of the group that was open after so many commits.
    ahead: BTreeSet<Site>,
    commits: u64,
    /// Of all sites.
    sightings: PendingFolds,
}

/// What a visit found, with what it taught of noise.
pub(super) struct Judged {
    pub verdict: Verdict,
    /// Whether the page has a row about noise now; `None` if that did not change.
    pub noisy: Option<bool>,
    /// What becomes of the event (see `noise::fold`).
    pub folding: FoldingKind,
}

impl Books {
    /// Gives up the oldest book whose rows are in the tables, where they will be read again; false if there is none.
    fn make_room(&mut self, commits: u64) -> bool {
        self.follow(commits);
        let Some(place) = self.used.iter().position(|site| !self.ahead.contains(site)) else { return false };
        if let Some(site) = self.used.remove(place) {
            self.books.remove(&site);
        }
        true
    }

    /// A site's book, which was taken up, beside what single pages have shown.
    fn beside(&mut self, site: &Site) -> (&NoiseBook, &mut PendingFolds) {
        (self.books.entry(site.clone()).or_default(), &mut self.sightings)
    }

    fn take(&mut self, site: &Site, rows: &NoiseRows, commits: u64) {
        self.follow(commits);
        self.books.entry(site.clone()).or_default().take(rows);
        self.ahead.insert(site.clone());
    }

    /// After a commit no book is ahead.
    fn follow(&mut self, commits: u64) {
        if self.commits != commits {
            self.ahead.clear();
            self.commits = commits;
        }
    }
}

impl Crawler {
    /// Compares an answer with the version that we hold. The numbers of its paragraphs are written into the report.
    pub(super) fn judge(
        &mut self,
        before: &Page,
        old: Option<&DocumentRow>,
        report: &mut Report,
        second_look: bool,
    ) -> Result<Judged> {
        let own = |verdict, noisy| Judged { verdict, noisy, folding: FoldingKind::Own };
        let (Some(old), Some(new)) = (old, &report.signature) else { return Ok(own(only_bytes(report), None)) };
        let change = compare(&old.signature, new);
        let site = before.url.site();
        if change.kinds.is_empty() || report.document.is_none() {
            let noisy = self.learn_quiet(before, report.started, second_look)?;
            return Ok(own(Verdict::Differs(change), noisy));
        }
        let noise = if before.noisy { self.reader.page_noise(before.key)? } else { PageNoise::default() };
        let meeting = Meeting { site: &site, page: before.key, old: &old.signature, noise: &noise, second_look };
        let (mut change, rows) = self.judged_closely(&meeting, before, report, change)?;
        self.note_images(before, old, report, &mut change)?;
        name_what_was_set_aside(&mut change);
        leave_something_to_read(&mut change, &old.signature, report.signature.as_ref());
        change.flapping = report.signature.as_ref().is_some_and(|new| {
            old.content_before.is_some_and(|content| content == new.content) && old.signature.content != new.content
        });
        let mut folding = FoldingKind::Own;
        let mut folds = None;
        if change.is_change() {
            self.book(&site)?;
            let found = noise::fold(&site, before.key, report.started, &change, self.books.beside(&site));
            folding = found.kind;
            folds = Some(found.rows);
        }
        let noisy = self.teach_noise(before.key.partition, rows)?;
        if let Some(folds) = folds {
            self.teach_noise(before.key.partition, folds)?;
        }
        Ok(Judged { verdict: Verdict::Differs(change), noisy, folding })
    }

    /// By the marks alone where they tell enough, else with the words of both bodies. Only the last judgement counts.
    fn judged_closely(
        &mut self,
        meeting: &Meeting<'_>,
        before: &Page,
        report: &Report,
        change: Change,
    ) -> Result<(Change, NoiseRows)> {
        let mut judged = None;
        if noise::may_explain(self.book(meeting.site)?, meeting.noise, meeting.second_look) {
            let (explained, rows) = self.judged(meeting, report, &change, None)?;
            if explained.as_ref().unwrap_or(&change).left.is_empty() {
                return Ok((explained.unwrap_or(change), rows));
            }
            judged = Some((explained, rows));
        }
        if !change.left.is_empty()
            && let Some(closer) = self.closer(before, meeting.old, report, &change)?
        {
            let (explained, rows) = self.judged(meeting, report, &closer.change, Some(&closer.old))?;
            return Ok((explained.unwrap_or(closer.change), rows));
        }
        let (explained, rows) = match judged {
            Some(judged) => judged,
            None => self.judged(meeting, report, &change, None)?,
        };
        Ok((explained.unwrap_or(change), rows))
    }

    /// The change without what is explained, if something is, and what the visit taught.
    fn judged(
        &mut self,
        meeting: &Meeting<'_>,
        report: &Report,
        change: &Change,
        old_document: Option<&Document>,
    ) -> Result<(Option<Change>, NoiseRows)> {
        let &Meeting { site, page, old, noise, second_look } = meeting;
        let strict = self.settings.is_strict(site);
        let new_marks = report.signature.as_ref().map_or(&[][..], |signature| &signature.paragraphs);
        let (empty, moment) = (Document::default(), report.started);
        let new = report.document.as_ref().unwrap_or(&empty);
        let template = noise::template_key(new_marks);
        let book = self.book(site)?;
        Ok(noise::explained(&NoiseInput {
            site,
            page,
            template,
            moment,
            second_look,
            strict,
            old_marks: &old.paragraphs,
            new_marks,
            old: old_document,
            new,
            change,
            book,
            noise,
        }))
    }

    /// The change with its words, from both bodies; `None` if the older one is needed and cannot be read any more.
    fn closer(
        &mut self,
        before: &Page,
        marked: &Signature,
        report: &Report,
        change: &Change,
    ) -> Result<Option<Closer>> {
        let Some(new) = &report.document else { return Ok(None) };
        let Some(location) = before.version.and_then(|version| version.location) else { return Ok(None) };
        let is_text_alone = !change.kinds.contains(Kind::Presentation) && !change.kinds.contains(Kind::Behaviour);
        let beside = is_text_alone.then(|| IncrementalReader::new(&marked.paragraphs, new));
        let mut change = change.clone();
        // Where nothing but new words came, all that stood there before stands there still.
        if let Some(old) = beside.as_ref().and_then(IncrementalReader::reused_document) {
            tell_closely((&old, &Parts::default()), (new, &Parts::default()), &mut change);
            return Ok(Some(Closer { change, old }));
        }
        // An older body that is lost is no reason to lose the newer one: then marks have to do.
        let Ok(kept) = self.bodies.read(&location) else { return Ok(None) };
        let room = &mut self.older_body;
        let words = record::words(&kept, &before.url, beside.as_ref(), room);
        let new_parts = if is_text_alone || words.is_none() { None } else { parts_again(report, room) };
        if room.capacity() > OLDER_BODY_BYTES_MAX {
            *room = Vec::new();
        }
        let Some((old, old_parts)) = words else { return Ok(None) };
        tell_closely((&old, &old_parts), (new, &new_parts.unwrap_or_default()), &mut change);
        Ok(Some(Closer { change, old }))
    }

    /// A visit that found the same as before also says something about what differs now and then.
    pub(super) fn learn_quiet(&mut self, page: &Page, moment: Moment, second_look: bool) -> Result<Option<bool>> {
        if !page.noisy {
            return Ok(None);
        }
        let noise = self.reader.page_noise(page.key)?;
        let site = page.url.site();
        let rows = noise::unchanged(&site, page.key, moment, second_look, self.book(&site)?, &noise);
        self.teach_noise(page.key.partition, rows)
    }

    pub(super) fn book(&mut self, site: &Site) -> Result<&NoiseBook> {
        if !self.books.books.contains_key(site) {
            if self.books.used.len() >= self.settings.noise_books_max && !self.books.make_room(self.commits) {
                self.commit(self.reader.last_moment())?;
                self.books.make_room(self.commits);
            }
            self.books.books.insert(site.clone(), self.reader.noise_book(site)?);
            self.books.used.push_back(site.clone());
        }
        Ok(self.books.books.get(site).expect("it was taken up if it was not there"))
    }

    /// Writes down what was learned, here and in the journal; says whether the page has a row about noise now, if that
    /// row was written.
    pub(super) fn teach_noise(&mut self, id: PartitionId, rows: NoiseRows) -> Result<Option<bool>> {
        if rows.is_empty() {
            return Ok(None);
        }
        let noisy = rows.page.as_ref().map(|(_, noise)| !noise.is_empty());
        let site = rows.site.clone();
        self.book(&site)?;
        self.books.take(&site, &rows, self.commits);
        self.group.push(id, Deed::NoiseLearned(Box::new(rows)));
        Ok(noisy)
    }
}

/// Two versions of a page that are held against each other, and what is known of noise there.
struct Meeting<'a> {
    site: &'a Site,
    page: PageKey,
    old: &'a Signature,
    noise: &'a PageNoise,
    second_look: bool,
}

/// A change that was read closely, and the older document.
struct Closer {
    change: Change,
    old: Document,
}

/// Hands the paragraph numbers on to the new version. A first version gets the first numbers.
pub(super) fn number_paragraphs(old: Option<&DocumentRow>, signature: &mut Signature, verdict: &mut Verdict) -> u32 {
    let mut next = old.map_or(1, |old| old.next_paragraph.max(1));
    let marks = old.map_or(&[][..], |old| &old.signature.paragraphs);
    match verdict {
        Verdict::Differs(change) => {
            diff::carry_ids(marks, &mut signature.paragraphs, &mut change.paragraphs, &mut next);
        }
        _ => diff::carry_ids_by_marks(marks, &mut signature.paragraphs, &mut next),
    }
    next
}

/// The parts of the new body, which reading it did not keep. It is unpacked into `room`.
fn parts_again(report: &Report, room: &mut Vec<u8>) -> Option<Parts> {
    let exchange = report.exchange.as_ref()?;
    let payload = report.signature.as_ref()?.payload;
    vernal_document::unpack_into(&exchange.response_head, &exchange.body, &Default::default(), room).ok()?;
    let document = report.document.as_ref()?;
    // What the pass settled on is given as the site's word, so that both readings agree.
    let content_type = format!("{}; charset={}", document.content_type, document.charset);
    Some(vernal_document::parts(&Input {
        url: &report.order.url,
        bytes: room,
        content_type: Some(&content_type),
        content_language: None,
        robots_tags: &[],
        payload,
    }))
}

/// Where nothing but bytes can be compared, other bytes are other content.
fn only_bytes(report: &Report) -> Verdict {
    let Some(document) = &report.document else { return Verdict::Silent };
    let mut change = Change { magnitude: 1.0, ..Change::default() };
    change.kinds.insert(Kind::Content);
    change.left.insert(Kind::Content);
    change.notes.push(Note {
        kind: Kind::Content,
        what: "body".into(),
        before: None,
        after: Some(
            format!("other bytes of {}; the marks of the version before are lost", document.content_type).into(),
        ),
    });
    Verdict::Differs(change)
}

/// What the quiet marks alone set aside is named by its kind.
fn name_what_was_set_aside(change: &mut Change) {
    for kind in change.kinds.iter().filter(|&kind| !change.left.contains(kind)) {
        if !change.noise.iter().any(|aside| aside.kind == kind) {
            let detector = "built-in".into();
            change.noise.push(Suppressed { kind, detector, rule: None, before: None, after: None });
        }
    }
}

/// A change that is told has something that a person can read: where no paragraph and no note says it, the marks do.
fn leave_something_to_read(change: &mut Change, old: &Signature, new: Option<&Signature>) {
    let Some(new) = new.filter(|_| change.is_change() && change.paragraphs.is_empty() && change.notes.is_empty())
    else {
        return;
    };
    for kind in change.left.iter() {
        let (what, before, after) = match kind {
            Kind::Structure => ("tags", format!("{} tags", old.tags), format!("{} tags", new.tags)),
            Kind::Content => ("text", paragraphs(old), paragraphs(new)),
            Kind::Presentation => ("looks", mark(old.presentation), mark(new.presentation)),
            Kind::Behaviour => ("scripts and forms", mark(old.behaviour), mark(new.behaviour)),
        };
        let note = Note { kind, what: what.into(), before: Some(before.into()), after: Some(after.into()) };
        change.notes.push(note);
    }
}

fn paragraphs(signature: &Signature) -> String {
    format!("{} paragraphs, mark {:016x}", signature.paragraphs.len(), signature.content as u64)
}

fn mark(mark: u64) -> String {
    format!("mark {mark:016x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn site(number: usize) -> Site {
        Site::new(&format!("site{number}.example"))
    }

    #[test]
    fn a_book_goes_without_a_commit_unless_all_are_ahead_of_their_rows() {
        let mut books = Books::default();
        let take_up = |books: &mut Books, number: usize| {
            books.books.insert(site(number), NoiseBook::default());
            books.used.push_back(site(number));
        };
        for number in 0..4 {
            take_up(&mut books, number);
        }
        for number in [0, 1, 3] {
            books.take(&site(number), &NoiseRows::new(site(number)), 7);
        }
        assert!(books.make_room(7), "the third has no row in the open group");
        assert_eq!(books.used, [site(0), site(1), site(3)]);
        assert!(!books.make_room(7), "all others have");
        assert_eq!(books.books.len(), 3);
        assert!(books.make_room(8), "after a commit the oldest goes");
        assert_eq!(books.books.keys().cloned().collect::<BTreeSet<_>>(), [site(1), site(3)].into());
    }
}
