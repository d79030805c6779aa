//! One order to one report: ask, judge, unpack, read.

use std::cell::RefCell;
use std::sync::Arc;

use tokio::sync::Semaphore;
use tokio::time::{Instant, timeout};
use vernal_document::{Judged, of_status};
use vernal_model::{Digest, Document, Failure, Moment, Order, Outcome, Refusal, Report, Signature, Stage, Validators};

use crate::answer::Answer;
use crate::dial::Dialler;
use crate::dns::Resolve;
use crate::http::head::RequestHead;
use crate::http::{self, Pool, Way};
use crate::parse::{self, Meaning};
use crate::stream::Meter;
use crate::turns::Turns;
use crate::{Clock, Result, Settings, body, ftp, gopher, validator};

/// Large bodies read at once beside one loop; each may hold a whole unpacked body.
const LARGE_AT_ONCE_MAX: usize = 2;
/// Room for unpacked bodies that is kept between pages.
const SCRATCH_KEPT_BYTES: usize = 1 << 20;

/// What one loop needs to carry out orders: connections, buffers, limits. It lives on one thread.
pub struct Visitor {
    settings: Arc<Settings>,
    clock: Arc<dyn Clock>,
    dialler: Dialler,
    turns: Arc<Turns>,
    lines: RequestHead,
    pool: RefCell<Pool>,
    scratch: RefCell<Vec<u8>>,
    large: Semaphore,
}

/// Carries out one order with nothing kept before or after.
pub async fn fetch_once(
    settings: Settings,
    clock: Arc<dyn Clock>,
    resolver: Arc<dyn Resolve>,
    order: Order,
) -> Result<Report> {
    Ok(Visitor::new(Arc::new(settings), clock, resolver)?.visit(order).await)
}

impl Visitor {
    pub fn new(settings: Arc<Settings>, clock: Arc<dyn Clock>, resolver: Arc<dyn Resolve>) -> Result<Self> {
        let turns = Arc::new(Turns::new(settings.address, Arc::clone(&clock)));
        Visitor::with_turns(settings, clock, resolver, turns)
    }

    /// One of several who keep the limits together.
    pub(crate) fn with_turns(
        settings: Arc<Settings>,
        clock: Arc<dyn Clock>,
        resolver: Arc<dyn Resolve>,
        turns: Arc<Turns>,
    ) -> Result<Self> {
        Ok(Visitor {
            turns,
            dialler: Dialler::new(&settings, resolver)?,
            lines: RequestHead::new(&settings),
            pool: RefCell::default(),
            scratch: RefCell::default(),
            large: Semaphore::new(LARGE_AT_ONCE_MAX),
            settings,
            clock,
        })
    }

    pub fn now(&self) -> Moment {
        self.clock.now()
    }

    /// Closes connections that have been idle too long, and forgets turns that are over.
    pub fn sweep(&self) {
        self.turns.sweep();
        self.pool.borrow_mut().sweep(Instant::now());
    }

    /// Connections that wait for their site's next order.
    pub fn idle_connections(&self) -> usize {
        self.pool.borrow().idle()
    }

    /// Carries out one order. Whatever the web does, there is a report.
    pub async fn visit(&self, order: Order) -> Report {
        let meter = Meter::default();
        let way = self.way(&order).await;
        let turn = self.turns.take(&order, way.as_ref().ok().and_then(Way::address)).await;
        let started = turn.started;
        let answered = match way {
            Ok(way) => match timeout(self.settings.timeouts.total, self.ask(&order, way, &meter)).await {
                Ok(answered) => answered,
                Err(_) => Err(Outcome::Failed(Failure::Timeout(Stage::Total))),
            },
            Err(outcome) => Err(outcome),
        };
        drop(turn);
        let finished = self.now();
        let mut report = match answered {
            Ok(answer) => self.judge(order, answer, started, finished).await,
            Err(outcome) => Report::unanswered(order, started, finished, outcome),
        };
        report.wire_bytes = meter.total();
        report
    }

    /// How the order will reach its site; no request has left yet.
    async fn way(&self, order: &Order) -> std::result::Result<Way, Outcome> {
        let url = &order.url;
        match url.scheme() {
            "http" | "https" => {
                if let Some(open) = self.pool.borrow_mut().take(url.origin_text(), Instant::now()) {
                    return Ok(Way::Kept(open));
                }
            }
            "ftp" | "gopher" => {}
            _ => return Err(Outcome::Refused(Refusal::Scheme)),
        }
        self.dialler.look_up(url).await.map(Way::Fresh)
    }

    async fn ask(&self, order: &Order, way: Way, meter: &Meter) -> std::result::Result<Answer, Outcome> {
        let (url, validators, settings) = (&order.url, &order.validators, &*self.settings);
        match (url.scheme(), way) {
            // Rare ways are boxed, here and below: room for them would be made, and moved, with every visit.
            ("ftp", Way::Fresh(found)) => {
                Box::pin(ftp::ask(url, &found, validators, settings, &self.dialler, meter)).await
            }
            ("gopher", Way::Fresh(found)) => Box::pin(gopher::ask(url, &found, settings, &self.dialler, meter)).await,
            (_, way) => http::ask(order, way, settings, &self.lines, &self.dialler, &self.pool, meter).await,
        }
    }

    async fn judge(&self, order: Order, answer: Answer, started: Moment, finished: Moment) -> Report {
        let verdict = of_status(&order, answer.status, &|name| answer.field(name), finished);
        let mut report = Report::unanswered(order, started, finished, Outcome::NotModified);
        let (outcome, answer) = match verdict {
            Judged::Final(outcome) => (outcome, answer),
            Judged::Robots(outcome) => self.read_robots(outcome, answer, &mut report),
            Judged::Reads(outcome) => self.read_page(outcome, answer, &mut report).await,
        };
        report.validators = match outcome {
            Outcome::NotModified => validator::renewed(&report.order.validators, answer.validators),
            Outcome::Read { .. } => answer.validators,
            // Validators of an answer that is not the page would let the next visit confirm a wall or an error.
            _ => Validators::default(),
        };
        report.outcome = outcome;
        report.exchange = Some(answer.exchange);
        report
    }

    fn read_robots(&self, outcome: Outcome, answer: Answer, report: &mut Report) -> (Outcome, Answer) {
        let mut scratch = self.scratch.take();
        let unpacked = body::unpack(&answer, &self.settings, &mut scratch);
        let outcome = match unpacked {
            Ok(()) => {
                report.document = Some(vernal_document::robots_text(&scratch));
                outcome
            }
            Err(failure) => Outcome::Failed(failure),
        };
        self.give_back(scratch);
        (outcome, answer)
    }

    async fn read_page(&self, outcome: Outcome, answer: Answer, report: &mut Report) -> (Outcome, Answer) {
        let (answer, meaning) = self.meaning(answer, &report.order).await;
        let is_page = matches!(outcome, Outcome::Read { .. });
        let outcome = match meaning {
            Ok(Meaning { wall: Some((wall, evidence)), document, signature }) => {
                keep(report, document, signature);
                Outcome::Blocked { wall, status: answer.status, evidence }
            }
            Ok(Meaning { wall: None, document, signature }) => {
                if is_page {
                    keep(report, document, signature);
                }
                outcome
            }
            Err(failure) if is_page => Outcome::Failed(failure),
            // An error page that does not unpack is still the error that its status says.
            Err(_) => outcome,
        };
        (outcome, answer)
    }

    /// Unpacks and reads a body: here, or beside the loop where it is large.
    async fn meaning(&self, answer: Answer, order: &Order) -> (Answer, std::result::Result<Meaning, Failure>) {
        let asked = order.held.filter(|_| answer.status == 200).map(|held| (held, parse::payload(&answer)));
        if let Some((held, payload)) = asked
            && held == payload
        {
            return (answer, Ok(parse::held(payload)));
        }
        let payload = asked.map(|(_, payload)| payload);
        let large = self.settings.large_body_bytes;
        if body::is_likely_large(&answer, large) {
            return Box::pin(self.meaning_beside(answer, payload, None, order)).await;
        }
        let mut scratch = self.scratch.take();
        let meaning = match body::unpack(&answer, &self.settings, &mut scratch) {
            Ok(()) if scratch.len() > large => {
                return Box::pin(self.meaning_beside(answer, payload, Some(scratch), order)).await;
            }
            Ok(()) => parse::read(&order.url, &answer, payload, &scratch),
            Err(failure) => Err(failure),
        };
        self.give_back(scratch);
        (answer, meaning)
    }

    async fn meaning_beside(
        &self,
        answer: Answer,
        payload: Option<Digest>,
        unpacked: Option<Vec<u8>>,
        order: &Order,
    ) -> (Answer, std::result::Result<Meaning, Failure>) {
        // The semaphore is never closed; without a permit the work would only be less orderly.
        let _permit = self.large.acquire().await;
        let (url, settings) = (order.url.clone(), Arc::clone(&self.settings));
        let answer = Arc::new(answer);
        let there = Arc::clone(&answer);
        let work = move || {
            let bytes = match unpacked {
                Some(bytes) => bytes,
                None => {
                    let mut bytes = Vec::new();
                    body::unpack(&there, &settings, &mut bytes)?;
                    bytes
                }
            };
            parse::read(&url, &there, payload, &bytes)
        };
        let meaning = tokio::task::spawn_blocking(work).await;
        let meaning = meaning.unwrap_or_else(|_| Err(Failure::Protocol("reading the body panicked".into())));
        (Arc::unwrap_or_clone(answer), meaning)
    }

    fn give_back(&self, mut scratch: Vec<u8>) {
        if scratch.capacity() <= SCRATCH_KEPT_BYTES {
            scratch.clear();
            self.scratch.replace(scratch);
        }
    }
}

fn keep(report: &mut Report, document: Option<Document>, signature: Signature) {
    report.document = document;
    report.signature = Some(signature);
}
