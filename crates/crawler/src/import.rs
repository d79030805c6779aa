//! Records of other people's archives become visits, versions and history, judged like our own, in the order of their dates.
//!
//! The records come in batches. What came to a page after all that is known of it goes on with its row; what came before is put in
//! among its versions. Links of imported pages lead nowhere: discovery is for own visits.

use std::collections::{BTreeMap, HashMap, HashSet};

use vernal_model::{
    Admitted, Deed, Digest, Event, Moment, NumberRun, Outcome, Page, PageKey, Partition as PartitionId, Report,
    Sequence, Site, Url, Via, WaitingPlace,
};
use vernal_repository::{KnownState, Record};

use crate::crawler::Crawler;
use crate::in_flight::Asked;
use crate::intake::imported::{Earlier, PutIn, apply_quietly};
use crate::intake::{Appliers, Arrived, Restored, archived_report};
use crate::partition::window_row;
use crate::{Error, Result};

/// Lines about single records; further ones are only counted.
const REFUSED_TOLD_MAX: usize = 100;

/// What was imported, and what was not.
#[derive(Clone, Debug, Default)]
pub struct Imported {
    pub records: u64,
    /// Pages of which nothing was known.
    pub pages: u64,
    pub versions: u64,
    /// Visits that found what the version before had.
    pub same: u64,
    /// Visits that found the page moved or gone.
    pub moved_or_gone: u64,
    /// Visits that are here already.
    pub known: u64,
    /// Answers that are no copy of a page: errors, walls, what cannot be unpacked.
    pub no_copy: u64,
    /// What was refused, record by record.
    pub refused: Vec<String>,
    pub refused_total: u64,
}

/// Visits of one page by their second, so that nothing is imported twice.
type Seconds = HashMap<i64, Vec<Option<Digest>>>;

struct Importing<'c> {
    crawler: &'c mut Crawler,
    learn: bool,
    now: Moment,
    imported: &'c mut Imported,
    seconds: HashMap<PageKey, Seconds>,
    put_in: HashMap<PageKey, PutIn>,
    /// No link of an imported page is followed.
    nowhere: HashSet<Site>,
}

impl Crawler {
    /// Imports one batch of records, which are in the order of their dates and follow the batches before. With `learn` the policy
    /// learns from them as if they were own visits.
    pub fn import(&mut self, records: Vec<Record>, learn: bool, now: Moment, imported: &mut Imported) -> Result<()> {
        self.disk.check(&self.core.work, now)?;
        if self.disk.is_full() {
            return Err(Error::DiskNearlyFull);
        }
        let mut importing = Importing {
            crawler: self,
            learn,
            now,
            imported,
            seconds: HashMap::new(),
            put_in: HashMap::new(),
            nowhere: HashSet::new(),
        };
        let mut reports = Vec::new();
        for record in records {
            importing.imported.records += 1;
            reports.extend(importing.report(&record, now));
        }
        importing.admit(&mut reports, now)?;
        for report in reports {
            importing.take(report)?;
        }
        importing.crawler.commit(now)
    }
}

impl Importing<'_> {
    /// The report of a record, if it is a copy of a page or tells where the page went.
    fn report(&mut self, record: &Record, now: Moment) -> Option<Report> {
        let named = || record.target().unwrap_or("a record without a URL").to_owned();
        let mut report = match archived_report::report(record) {
            Ok(report) => report,
            Err(why) => {
                self.refuse(format!("{}: {why}", named()));
                return None;
            }
        };
        if report.started > now {
            self.refuse(format!("{}: its date {} is still to come", named(), report.started));
            return None;
        }
        // An imported visit costs nothing, and that is how the visit book knows it.
        report.wire_bytes = 0;
        match report.outcome {
            Outcome::Read { .. } if report.signature.is_some() => Some(report),
            Outcome::Moved { .. } | Outcome::Gone { .. } => Some(report),
            _ => {
                self.imported.no_copy += 1;
                None
            }
        }
    }

    /// Gives every page that is not known its number. URLs that are barred here stay so.
    fn admit(&mut self, reports: &mut Vec<Report>, now: Moment) -> Result<()> {
        let mut here: HashMap<Url, PageKey> = HashMap::new();
        let mut admitted: BTreeMap<PartitionId, Vec<Admitted>> = BTreeMap::new();
        let mut places = Vec::new();
        for report in reports.iter() {
            let url = &report.order.url;
            let key = match here.get(url) {
                Some(key) => Some(*key),
                None => self.number(url, report.started, &mut admitted)?,
            };
            if let Some(key) = key {
                here.insert(url.clone(), key);
            }
            places.push(key);
        }
        let mut places = places.into_iter();
        reports.retain_mut(|report| match places.next().flatten() {
            Some(key) => {
                report.order.page = key;
                true
            }
            None => false,
        });
        for (partition, admitted) in admitted {
            let deed = Deed::Sieved { through: Sequence(0), admitted, barred: Vec::new() };
            self.crawler.core.work.push(partition, deed);
        }
        self.crawler.commit(now)
    }

    fn number(
        &mut self,
        url: &Url,
        moment: Moment,
        admitted: &mut BTreeMap<PartitionId, Vec<Admitted>>,
    ) -> Result<Option<PageKey>> {
        let core = &mut self.crawler.core;
        if let Some(id) = core.scope.forgotten.entry_of(url) {
            self.refuse(format!("{url}: it was forgotten (entry {id} of the ledger)"));
            return Ok(None);
        }
        if let Some(known) = core.work.key_of(url)? {
            let row = known.key.map(|key| core.work.url(key)).transpose()?.flatten();
            if let Some(row) = row.filter(|row| row.url == *url) {
                return Ok(Some(row.page));
            }
            let why = if known.state == KnownState::Barred { "it is barred here" } else { "another URL has its mark" };
            self.refuse(format!("{url}: {why}"));
            return Ok(None);
        }
        let (site, id) = (url.site(), core.partitions.home_of(url));
        core.partitions.settle(&site, id);
        let partition = core.partitions.of_mut(id);
        let number = partition.number_page();
        partition.sites.number(&site);
        admitted.entry(id).or_default().push(Admitted {
            number,
            url: url.clone(),
            via: Via::Told,
            depth: 0,
            found_on: None,
            moment,
            rank: 0,
            place: WaitingPlace { site, band: 0, arrival: u64::from(number) },
        });
        Ok(Some(PageKey::new(id, number)))
    }

    fn take(&mut self, report: Report) -> Result<()> {
        let key = report.order.page;
        let (second, payload) = (report.started.secs(), report.signature.as_ref().map(|signature| signature.payload));
        if self.is_known(key, second, payload)? {
            self.imported.known += 1;
            return Ok(());
        }
        self.seconds.entry(key).or_default().entry(second).or_default().push(payload);
        if self.crawler.core.work.is_open(key) {
            // The body of the version before is read again for its words, so that it must be on disk.
            self.crawler.commit(self.now)?;
        }
        let is_read = matches!(report.outcome, Outcome::Read { .. });
        let is_version = match self.crawler.core.work.page(key)? {
            Some(page) if page.last_visit > report.started => self.put_in(page, report)?,
            Some(page) => self.go_on(Asked::Again(Box::new(page)), report)?,
            None => {
                let row = self.crawler.core.work.url(key)?;
                let Some(row) = row else { return Ok(()) };
                self.imported.pages += 1;
                self.go_on(Asked::First(Box::new(window_row(row))), report)?
            }
        };
        match (is_read, is_version) {
            (true, true) => self.imported.versions += 1,
            (true, false) => self.imported.same += 1,
            (false, _) => self.imported.moved_or_gone += 1,
        }
        Ok(())
    }

    /// Whether a visit of that second is here already: one that brought these bytes, or one that found the page as it was.
    fn is_known(&mut self, key: PageKey, second: i64, payload: Option<Digest>) -> Result<bool> {
        if !self.seconds.contains_key(&key) {
            let mut seconds = Seconds::new();
            let mut held = None;
            for visit in self.crawler.core.work.acknowledged().visits(key)? {
                held = visit.version.map(|version| version.payload).or(held);
                let found = match visit.outcome {
                    Outcome::Read { .. } | Outcome::NotModified => held,
                    _ => None,
                };
                seconds.entry(visit.started.secs()).or_default().push(found);
            }
            self.seconds.insert(key, seconds);
        }
        let found = self.seconds.get(&key).and_then(|seconds| seconds.get(&second));
        Ok(found.is_some_and(|found| found.contains(&payload)))
    }

    /// Takes a visit that came after all that is known of the page.
    fn go_on(&mut self, asked: Asked, report: Report) -> Result<bool> {
        let (before, waiting) = match asked {
            Asked::First(waiting) => (None, Some(waiting)),
            Asked::Again(page) => (Some(*page), None),
            Asked::Robots { .. } | Asked::Subscription { .. } => return Ok(false),
        };
        let restored = Restored { location: None, sites: Some(&self.nowhere) };
        let arrived = Arrived { report, before, waiting, second_look: false, restored: Some(&restored) };
        let Crawler { core, intake, plan, hints, passes, .. } = &mut *self.crawler;
        let Some(mut effects) = intake.imported(core, arrived)? else { return Ok(false) };
        let is_version = effects.finding.is_new_version && effects.page.version.is_some();
        // A page without visits of our own is visited only once the scope has it.
        effects.page.visits = effects.before.as_ref().map_or(0, |page| page.visits);
        match self.learn {
            true => {
                if let Some(event) = &mut effects.event {
                    event.detail = Event::IMPORTED.into();
                }
                Appliers { core, plan, hints, topics: &mut passes.topics }.apply(effects)?;
            }
            false => apply_quietly(core, effects)?,
        }
        Ok(is_version)
    }

    /// Puts a visit in among those that are known of the page.
    fn put_in(&mut self, page: Page, report: Report) -> Result<bool> {
        let key = page.key;
        let mut among = match self.put_in.remove(&key) {
            Some(among) => PutIn { page, ..among },
            None => self.among(page, report.started)?,
        };
        let Crawler { core, intake, .. } = &mut *self.crawler;
        if let Some(earlier) = earlier_between(core, &among, report.started)? {
            among.earlier = Some(earlier);
        }
        let is_version = intake.put_in(core, &mut among, report)?;
        self.put_in.insert(key, among);
        Ok(is_version)
    }

    fn among(&mut self, page: Page, moment: Moment) -> Result<PutIn> {
        let core = &self.crawler.core;
        let versions = core.work.versions(page.key)?;
        let number = versions.iter().map(|version| version.number).max().unwrap_or(0) + 1;
        let newest = core.work.document(page.key)?;
        let among = PutIn { page, earlier: None, number, newest };
        let earlier = earlier_between(core, &among, moment)?;
        Ok(PutIn { earlier, ..among })
    }

    fn refuse(&mut self, line: String) {
        self.imported.refused_total += 1;
        if self.imported.refused.len() < REFUSED_TOLD_MAX {
            self.imported.refused.push(line);
        }
    }
}

/// The version that was held at a moment, if it is a later one than what was put in last.
fn earlier_between(core: &crate::core::Core, among: &PutIn, moment: Moment) -> Result<Option<Earlier>> {
    let known = among.earlier.as_ref().map(|earlier| earlier.version.moment);
    let reader = core.work.acknowledged();
    let (mut version, mut seen) = (None, Moment::EPOCH);
    for visit in reader.visits(among.page.key)? {
        if visit.started > moment {
            break;
        }
        version = visit.version.or(version);
        if matches!(visit.outcome, Outcome::Read { .. } | Outcome::NotModified) {
            seen = visit.started;
        }
    }
    let Some(version) = version.filter(|version| known.is_none_or(|known| version.moment > known)) else {
        return Ok(None);
    };
    let Some(record) = reader.record_of(&among.page.url, version)? else { return Ok(None) };
    let Ok(report) = archived_report::report(&record) else { return Ok(None) };
    let Some(mut document) = crate::intake::imported_document(&report) else { return Ok(None) };
    if let Some(row) = reader.version_row(among.page.key, version.number)? {
        let numbers = NumberRun::numbers(&row.numbers, document.signature.paragraphs.len());
        for (mark, number) in document.signature.paragraphs.iter_mut().zip(numbers) {
            mark.id = number;
        }
    }
    Ok(Some(Earlier { version, document, seen }))
}
