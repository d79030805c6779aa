//! The robots.txt of each origin, kept across restarts by the tables and matched by a pure function before any page
//! order leaves (RFC 9309).

use std::sync::Arc;

use foldhash::{HashMap, HashMapExt};
use vernal_document::robots::Robots;
use vernal_model::{Failure, Moment, Origin, Outcome, Refusal, Report, RobotsAnswer, RobotsRow, Span, Url};

use crate::Result;
use crate::work::Work;

/// RFC 9309, 2.4: a copy is not used for more than a day, unless the file cannot be reached.
const ROBOTS_KEPT: Span = Span::from_days(1);
/// The wait before an unreachable file is asked for again, then four times this, then an hour.
const UNREACHABLE_AGAIN: Span = Span::from_secs(30);
const UNREACHABLE_AGAIN_MAX: Span = Span::from_hours(1);
/// A refusal of our own guard is checked again after this: it costs no request.
const REFUSED_KEPT: Span = Span::from_secs(60);
/// After this many failures the pages count as refused; until then they wait.
const UNREACHABLE_PATIENCE: u16 = 2;
/// RFC 9309, 2.3.1.2: at least five hops are followed.
const ROBOTS_HOPS_MAX: u8 = 5;
/// Parsed files in memory; others are read again from the tables.
const PARSED_MAX: usize = 4_096;

pub(crate) struct RobotsBook {
    agent: Arc<str>,
    /// Looked up for every order; iterated only in the order of origins, because the map's own order is random.
    entries: HashMap<Origin, Entry>,
}

struct Entry {
    row: Option<RobotsRow>,
    parsed: Option<Arc<Robots>>,
    asking: bool,
    failures: u16,
    /// Until when the guard is known to refuse whatever a public page leads to here, and why.
    shut_to_public: Option<(Moment, String)>,
}

/// What keeps a URL from being ordered.
#[derive(Debug, PartialEq)]
pub(crate) enum Gate {
    Open,
    Forbidden,
    /// Forbidden for now, because the file could not be read; check again then.
    Unreachable {
        until: Moment,
        patient: bool,
    },
    /// This robots.txt must be asked for first.
    Ask(Url),
    /// The robots.txt has been asked for.
    Asking,
}

impl RobotsBook {
    pub(crate) fn new(agent: &str) -> Self {
        RobotsBook { agent: agent.into(), entries: HashMap::new() }
    }

    pub(crate) fn gate(&mut self, url: &Url, work: &Work, now: Moment) -> Result<Gate> {
        // Gopher has no robots.txt, and robots.txt itself is always allowed.
        if url.scheme() == "gopher" || Robots::is_at(url) {
            return Ok(Gate::Open);
        }
        let agent = Arc::clone(&self.agent);
        let entry = self.entry(url, work)?;
        if entry.asking {
            return Ok(Gate::Asking);
        }
        let own = || url.join("/robots.txt").ok();
        let Some(row) = entry.row.as_ref() else {
            return Ok(own().map_or(Gate::Open, Gate::Ask));
        };
        if now >= row.expires {
            let moved = match &row.answer {
                RobotsAnswer::MovedTo { to, .. } => Some(to.clone()),
                _ => own(),
            };
            return Ok(moved.map_or(Gate::Open, Gate::Ask));
        }
        Ok(match &row.answer {
            RobotsAnswer::AllowAll => Gate::Open,
            RobotsAnswer::MovedTo { to, .. } => Gate::Ask(to.clone()),
            RobotsAnswer::DisallowAll => {
                Gate::Unreachable { until: row.expires, patient: entry.failures <= UNREACHABLE_PATIENCE }
            }
            RobotsAnswer::Text(text) => {
                let parsed = entry.parsed.get_or_insert_with(|| Arc::new(Robots::parse(text.as_bytes())));
                if parsed.allows(&agent, url) { Gate::Open } else { Gate::Forbidden }
            }
        })
    }

    /// What is known without a request, for people: allowed, forbidden, unreachable or unknown.
    pub(crate) fn told(&mut self, url: &Url, work: &Work, now: Moment) -> Result<&'static str> {
        Ok(match self.gate(url, work, now)? {
            Gate::Open => "allowed",
            Gate::Forbidden => "forbidden",
            Gate::Unreachable { .. } => "unreachable",
            Gate::Ask(_) | Gate::Asking => "unknown",
        })
    }

    /// When the copy in force was read, and whether later requests for the file failed.
    pub(crate) fn copy_in_force(&mut self, url: &Url, work: &Work) -> Result<Option<(Moment, bool)>> {
        let row = self.entry(url, work)?.row.as_ref();
        let in_force = row.filter(|row| matches!(row.answer, RobotsAnswer::Text(_) | RobotsAnswer::AllowAll));
        Ok(in_force.and_then(|row| Some((row.last_read?, row.fetched > row.last_read?))))
    }

    /// Lets go of an origin whose site was forgotten.
    pub(crate) fn forget(&mut self, origin: &Origin) {
        self.entries.remove(origin);
    }

    pub(crate) fn asked(&mut self, origin: &Origin) {
        if let Some(entry) = self.entries.get_mut(origin) {
            entry.asking = true;
        }
    }

    /// Why pages here that public pages lead to are refused, if the guard said so lately.
    pub(crate) fn shut_to_public(&self, url: &Url, now: Moment) -> Option<&str> {
        let (until, why) = self.entries.get(url.origin_text())?.shut_to_public.as_ref()?;
        (now < *until).then_some(why)
    }

    /// The row for this answer, and the delay that the file asks for.
    pub(crate) fn answered(&mut self, origin: &Origin, report: &Report, now: Moment) -> (RobotsRow, Option<Span>) {
        let entry = self.entries.entry(origin.clone()).or_insert(Entry::empty());
        let before = entry.row.take();
        entry.shut_to_public = None;
        let hops = match before.as_ref().map(|row| &row.answer) {
            Some(RobotsAnswer::MovedTo { hops, .. }) => *hops,
            _ => 0,
        };
        let last_read = before.as_ref().and_then(|row| row.last_read);
        let good = before.and_then(good_copy);
        let mut row = RobotsRow {
            origin: origin.clone(),
            fetched: now,
            expires: now + ROBOTS_KEPT,
            answer: RobotsAnswer::AllowAll,
            last_read,
            copy: None,
        };
        match verdict(report, hops) {
            _ if let Some(why) = shut_to_public(origin, report) => {
                entry.shut_to_public = Some((now + REFUSED_KEPT, why.to_owned()));
                // Nothing was learned: whoever may ask private addresses asks at once.
                (row.answer, row.expires) = (good.unwrap_or(RobotsAnswer::AllowAll), now);
            }
            Some(answer) => {
                entry.failures = 0;
                match answer {
                    RobotsAnswer::MovedTo { .. } => (row.expires, row.copy) = (now, good),
                    _ if !report.outcome.asked() => (row.expires, row.copy) = (now + REFUSED_KEPT, good),
                    _ => row.last_read = Some(now),
                }
                row.answer = answer;
            }
            None => {
                entry.failures = entry.failures.saturating_add(1);
                let wait = UNREACHABLE_AGAIN.scaled(4f64.powi(i32::from(entry.failures.min(8)) - 1));
                row.expires = now + wait.min(UNREACHABLE_AGAIN_MAX);
                // An existing copy stays in force while the file cannot be reached (RFC 9309, 2.4).
                row.answer = good.unwrap_or(RobotsAnswer::DisallowAll);
            }
        }
        entry.asking = false;
        entry.parsed = match &row.answer {
            RobotsAnswer::Text(text) => Some(Arc::new(Robots::parse(text.as_bytes()))),
            _ => None,
        };
        let delay = match (&entry.parsed, &row.copy) {
            (Some(robots), _) => robots.crawl_delay(&self.agent),
            // While redirects to the file's new URL are followed, the last copy that was read stays in force.
            (None, Some(RobotsAnswer::Text(text))) => Robots::parse(text.as_bytes()).crawl_delay(&self.agent),
            _ => None,
        };
        entry.row = Some(row.clone());
        (row, delay)
    }

    fn entry(&mut self, url: &Url, work: &Work) -> Result<&mut Entry> {
        // Looked up twice to avoid a copy of the key: the entry nearly always exists.
        if !self.entries.contains_key(url.origin_text()) {
            let origin = url.origin();
            self.make_room();
            let mut row = work.robots(&origin)?;
            let never_read = |row: &&mut RobotsRow| row.answer == RobotsAnswer::DisallowAll || row.last_read.is_none();
            if let Some(row) = row.as_mut().filter(never_read) {
                // A new process asks again at once whether the file can be read.
                row.expires = row.fetched;
            }
            self.entries.insert(origin, Entry { row, ..Entry::empty() });
        }
        Ok(self.entries.get_mut(url.origin_text()).expect("it was put there if it was not"))
    }

    fn make_room(&mut self) {
        if self.entries.len() < PARSED_MAX {
            return;
        }
        // Any quarter will do: a dropped row can be read again.
        let mut origins: Vec<Origin> = self.entries.keys().cloned().collect();
        origins.sort_unstable();
        for origin in origins.iter().skip(3).step_by(4) {
            if self.entries.get(origin).is_some_and(|entry| !entry.asking) {
                self.entries.remove(origin);
            }
        }
    }
}

impl Entry {
    fn empty() -> Self {
        Entry { row: None, parsed: None, asking: false, failures: 0, shut_to_public: None }
    }
}

/// The last copy that was really read: it is in force, unless another answer replaced it for a while.
fn good_copy(row: RobotsRow) -> Option<RobotsAnswer> {
    row.copy.or(match row.answer {
        kept @ (RobotsAnswer::Text(_) | RobotsAnswer::AllowAll) if row.last_read.is_some() => Some(kept),
        _ => None,
    })
}

/// Why the guard refused to ask an origin itself for a page that a public page led to.
fn shut_to_public<'a>(origin: &Origin, report: &'a Report) -> Option<&'a str> {
    match &report.outcome {
        Outcome::Refused(Refusal::Guard(why)) if report.order.public_only && report.order.url.origin() == *origin => {
            Some(why)
        }
        _ => None,
    }
}

/// The meaning of an answer; `None` is "unreachable".
fn verdict(report: &Report, hops: u8) -> Option<RobotsAnswer> {
    match &report.outcome {
        // A public site that sends us to a private address for its rules has none that can be read.
        Outcome::Refused(Refusal::Guard(_)) if report.order.public_only => None,
        // The guard also checks the pages of this origin: they are refused one by one, with the guard's reason.
        Outcome::Refused(_) => Some(RobotsAnswer::AllowAll),
        Outcome::Read { .. } => {
            let text = report.document.as_ref().map_or("", |document| document.text.as_str());
            Some(RobotsAnswer::Text(text.into()))
        }
        Outcome::Moved { to: Some(to), .. } if hops < ROBOTS_HOPS_MAX => {
            Some(RobotsAnswer::MovedTo { to: to.clone(), hops: hops + 1 })
        }
        // Too many hops, or a redirect without a target: treated as if there were no file.
        Outcome::Moved { .. } | Outcome::Gone { .. } => Some(RobotsAnswer::AllowAll),
        Outcome::Blocked { status, .. } if (400..500).contains(status) => Some(RobotsAnswer::AllowAll),
        // 429 says "not now"; a request to come later is no permission to come at once.
        Outcome::Failed(Failure::Status { status, .. }) if (400..500).contains(status) && *status != 429 => {
            Some(RobotsAnswer::AllowAll)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use vernal_model::{Document, Order, OrderId, OrderKind, PageKey, Validators};

    use super::*;

    const DAY: Span = Span::from_days(1);

    fn report(outcome: Outcome, text: &str) -> Report {
        let order = Order {
            id: OrderId(1),
            page: PageKey::default(),
            url: Url::parse("http://a.org/robots.txt").unwrap(),
            kind: OrderKind::Robots,
            validators: Validators::default(),
            held: None,
            gap: Span::ZERO,
            patience: None,
            public_only: false,
        };
        let document = Document { text: text.into(), ..Document::default() };
        Report { document: Some(document), ..Report::unanswered(order, Moment::EPOCH, Moment::EPOCH, outcome) }
    }

    fn moved() -> Outcome {
        Outcome::Moved { status: 301, permanent: true, to: Url::parse("http://b.org/robots.txt").ok() }
    }

    fn unreachable() -> Vec<Outcome> {
        let status = |status| Outcome::Failed(Failure::Status { status, retry_after: None });
        vec![status(500), status(503), status(429), Outcome::Failed(Failure::Dns("no".into()))]
    }

    #[test]
    fn a_good_copy_stays_in_force_while_the_file_cannot_be_reached_also_behind_a_redirect() {
        for failure in unreachable() {
            for behind_a_redirect in [false, true] {
                let (mut book, origin) = (RobotsBook::new("vernal"), Origin::new("http://a.org"));
                let rules = "User-agent: *\nDisallow: /no\nCrawl-delay: 7\n";
                let read = Moment::from_secs(1_000);
                book.answered(&origin, &report(Outcome::Read { status: 200 }, rules), read);
                let mut now = read + DAY;
                for _ in 0..5 {
                    if behind_a_redirect {
                        let (row, delay) = book.answered(&origin, &report(moved(), ""), now);
                        assert!(matches!(row.answer, RobotsAnswer::MovedTo { .. }) && row.expires <= now);
                        assert_eq!(delay, Some(Span::from_secs(7)), "the delay holds on the way");
                    }
                    let (row, delay) = book.answered(&origin, &report(failure.clone(), ""), now);
                    assert_eq!(row.answer, RobotsAnswer::Text(rules.into()), "{failure:?}");
                    assert_eq!((row.last_read, row.fetched, delay), (Some(read), now, Some(Span::from_secs(7))));
                    assert!(row.expires > now && row.expires.since(now) <= UNREACHABLE_AGAIN_MAX, "asked again soon");
                    now = row.expires;
                }
                let (row, _) = book.answered(&origin, &report(Outcome::Gone { status: 404 }, ""), now);
                assert_eq!((row.answer, row.copy), (RobotsAnswer::AllowAll, None), "a new answer takes its place");
            }
        }
    }

    #[test]
    fn what_was_never_read_is_no_copy() {
        for failure in unreachable() {
            let (mut book, origin) = (RobotsBook::new("vernal"), Origin::new("http://a.org"));
            for outcome in [Outcome::Refused(Refusal::Guard("no".into())), moved(), failure] {
                let (row, _) = book.answered(&origin, &report(outcome.clone(), ""), Moment::EPOCH);
                let expected = outcome == Outcome::Refused(Refusal::Guard("no".into()));
                assert_eq!(row.answer == RobotsAnswer::AllowAll, expected, "{outcome:?}");
                assert_eq!(row.copy, None);
            }
        }
    }

    fn bench() -> crate::testing::Bench {
        crate::testing::Bench::new(crate::testing::unhindered())
    }

    fn page(text: &str) -> Url {
        crate::testing::url(text)
    }

    #[test]
    fn an_origin_that_a_public_page_may_not_lead_to_is_asked_anew_by_others() {
        let refused = || {
            let mut report = report(Outcome::Refused(Refusal::Guard("10.0.0.1 is private".into())), "");
            report.order.public_only = true;
            report
        };
        let (bench, mut book) = (bench(), RobotsBook::new("vernal"));
        let (at, now) = (page("http://a.org/x"), Moment::from_secs(1_000));
        let work = &bench.crawler.core.work;
        let (row, _) = book.answered(&at.origin(), &refused(), now);
        assert!(row.expires <= now && row.last_read.is_none());
        assert_eq!(book.shut_to_public(&at, now), Some("10.0.0.1 is private"));
        assert_eq!(book.shut_to_public(&at, now + REFUSED_KEPT), None, "the name may mean another address by then");
        assert!(matches!(book.gate(&at, work, now).unwrap(), Gate::Ask(_)), "nothing was learned of its rules");
        let rules = "User-agent: *\nDisallow: /x\n";
        book.answered(&at.origin(), &report(Outcome::Read { status: 200 }, rules), now);
        assert_eq!(book.shut_to_public(&at, now), None);
        let (row, _) = book.answered(&at.origin(), &refused(), now + DAY);
        assert_eq!(row.answer, RobotsAnswer::Text(rules.into()), "what was read stays in force");
        let elsewhere = Origin::new("http://public.org");
        let (row, _) = book.answered(&elsewhere, &refused(), now);
        assert_eq!(row.answer, RobotsAnswer::DisallowAll, "rules at a private address are rules that nobody reads");
    }

    #[test]
    fn the_gate_asks_once_and_opens_or_shuts_by_the_answer() {
        let (bench, mut book) = (bench(), RobotsBook::new("vernal"));
        let (work, now) = (&bench.crawler.core.work, Moment::from_secs(1_000));
        let (yes, no) = (page("http://a.org/yes"), page("http://a.org/no"));
        assert_eq!(book.gate(&yes, work, now).unwrap(), Gate::Ask(page("http://a.org/robots.txt")));
        assert_eq!(book.told(&yes, work, now).unwrap(), "unknown");
        book.asked(&yes.origin());
        assert_eq!(book.gate(&yes, work, now).unwrap(), Gate::Asking);
        book.answered(&yes.origin(), &report(Outcome::Read { status: 200 }, "User-agent: *\nDisallow: /no\n"), now);
        assert_eq!(book.gate(&yes, work, now).unwrap(), Gate::Open);
        assert_eq!(book.gate(&no, work, now).unwrap(), Gate::Forbidden);
        assert!(matches!(book.gate(&no, work, now + DAY).unwrap(), Gate::Ask(_)), "a copy holds for a day");
        let other = page("https://a.org/no");
        assert!(matches!(book.gate(&other, work, now).unwrap(), Gate::Ask(_)), "another scheme is another origin");
    }

    #[test]
    fn robots_txt_itself_and_gopher_are_always_open() {
        let (bench, mut book) = (bench(), RobotsBook::new("vernal"));
        let work = &bench.crawler.core.work;
        for text in ["http://a.org/robots.txt", "gopher://a.org/1/x"] {
            assert_eq!(book.gate(&page(text), work, Moment::EPOCH).unwrap(), Gate::Open, "{text}");
        }
    }

    #[test]
    fn redirects_are_followed_so_far_and_then_there_is_no_file() {
        let (bench, mut book) = (bench(), RobotsBook::new("vernal"));
        let (work, now, url) = (&bench.crawler.core.work, Moment::from_secs(1_000), page("http://a.org/"));
        for _ in 0..ROBOTS_HOPS_MAX {
            book.answered(&url.origin(), &report(moved(), ""), now);
            assert_eq!(book.gate(&url, work, now).unwrap(), Gate::Ask(page("http://b.org/robots.txt")));
        }
        book.answered(&url.origin(), &report(moved(), ""), now);
        assert_eq!(book.gate(&url, work, now).unwrap(), Gate::Open);
    }

    #[test]
    fn a_file_that_cannot_be_had_is_asked_for_more_and_more_seldom_and_patience_ends() {
        for failure in unreachable() {
            let (bench, mut book) = (bench(), RobotsBook::new("vernal"));
            let (work, url, mut now) = (&bench.crawler.core.work, page("http://a.org/"), Moment::from_secs(1_000));
            let mut waits = Vec::new();
            for failures in 1..7u16 {
                book.answered(&url.origin(), &report(failure.clone(), ""), now);
                let Gate::Unreachable { until, patient } = book.gate(&url, work, now).unwrap() else { panic!("open") };
                assert_eq!(patient, failures <= UNREACHABLE_PATIENCE, "{failures}");
                waits.push(until.since(now));
                now = until;
            }
            assert_eq!(waits[0], UNREACHABLE_AGAIN);
            assert!(waits.is_sorted() && waits[5] == UNREACHABLE_AGAIN_MAX, "{waits:?}");
        }
    }

    #[test]
    fn the_books_stay_bounded_and_read_again_what_made_room() {
        let (mut bench, mut book) = (bench(), RobotsBook::new("vernal"));
        let now = crate::testing::START;
        let mut known = crate::testing::held("http://s0.org/", 0);
        known.url = page("http://s0.org/x");
        bench.hold(&known);
        let rules = report(Outcome::Read { status: 200 }, "User-agent: *\nDisallow: /no\n");
        let (row, _) = book.answered(&page("http://s0.org/").origin(), &rules, now);
        let visit = crate::testing::visit(None, &known, None).visit;
        let (site, work) = (page("http://s0.org/").site(), &mut bench.crawler.core.work);
        work.push(known.key.partition, vernal_model::Deed::RobotsRead { site, row, visit });
        for number in 1..2 * PARSED_MAX {
            book.gate(&page(&format!("http://s{number}.org/")), work, now).unwrap();
            assert!(book.entries.len() <= PARSED_MAX);
        }
        assert_eq!(book.gate(&page("http://s0.org/no"), work, now).unwrap(), Gate::Forbidden);
    }
}
