//! Carries out one order and makes one report: request, judge, unpack, read.

use std::cell::RefCell;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Semaphore;
use tokio::time::{Instant, timeout};
use vernal_document::{StatusMeaning, of_status};
use vernal_model::{Digest, Document, Failure, Moment, Order, Outcome, Refusal, Report, Signature, Stage, Validators};

use crate::answer::Answer;
use crate::dial::Dialler;
use crate::dns::Resolve;
use crate::guard::check_led_to;
use crate::http::head::RequestHead;
use crate::http::{self, Pool, Route};
use crate::read::{self, ReadBody};
use crate::start_limiter::StartLimiter;
use crate::stream::Meter;
use crate::{Clock, Result, Settings, body, ftp, gopher, validator};

/// Large bodies that one loop has read at once on blocking threads. Each may hold a whole unpacked body.
pub(crate) const LARGE_AT_ONCE_MAX: usize = 2;
/// A larger buffer for unpacked bodies is dropped after its page.
const SCRATCH_KEPT_BYTES: usize = 1 << 20;

/// Carries out the orders of one loop, with its connections, buffers and limits. It stays on one thread.
pub struct Visitor {
    settings: Arc<Settings>,
    clock: Arc<dyn Clock>,
    dialler: Dialler,
    start_limiter: Arc<StartLimiter>,
    lines: RequestHead,
    pool: RefCell<Pool>,
    scratch: RefCell<Vec<u8>>,
    large: Semaphore,
}

impl Visitor {
    pub fn new(settings: Arc<Settings>, clock: Arc<dyn Clock>, resolver: Arc<dyn Resolve>) -> Result<Self> {
        let start_limiter = Arc::new(StartLimiter::new(settings.address, Arc::clone(&clock)));
        Visitor::with_start_limiter(settings, clock, resolver, start_limiter)
    }

    /// A visitor that shares its start limiter with others.
    pub(crate) fn with_start_limiter(
        settings: Arc<Settings>,
        clock: Arc<dyn Clock>,
        resolver: Arc<dyn Resolve>,
        start_limiter: Arc<StartLimiter>,
    ) -> Result<Self> {
        Ok(Visitor {
            start_limiter,
            dialler: Dialler::new(&settings, resolver)?,
            lines: RequestHead::new(&settings),
            pool: RefCell::new(Pool::new(settings.idle_connections_max)),
            scratch: RefCell::default(),
            large: Semaphore::new(LARGE_AT_ONCE_MAX),
            settings,
            clock,
        })
    }

    pub fn now(&self) -> Moment {
        self.clock.now()
    }

    /// Closes connections that have been idle too long, and forgets old starts.
    pub fn sweep(&self) {
        self.start_limiter.sweep();
        self.pool.borrow_mut().sweep(Instant::now());
    }

    /// Carries out one order. There is a report whatever the web does.
    pub async fn visit(&self, order: Order) -> Report {
        let meter = Meter::default();
        tracing::debug!(order = order.id.0, url = %order.url, "visit began");
        let total = self.settings.timeouts.total;
        let patience = order.patience.map_or(total, |patience| total.min(Duration::from_micros(patience.micros())));
        let route = match timeout(patience, self.route(&order)).await {
            Ok(route) => route,
            Err(_) => Err(Outcome::Failed(Failure::Dns("no answer in time".into()))),
        };
        let permit = self.start_limiter.take(&order, route.as_ref().ok().and_then(Route::address)).await;
        let started = permit.started;
        let answered = match route {
            Ok(route) => match timeout(patience, self.ask(&order, route, &meter)).await {
                Ok(answered) => answered,
                Err(_) => Err(Outcome::Failed(Failure::Timeout(Stage::Total))),
            },
            Err(outcome) => Err(outcome),
        };
        drop(permit);
        let finished = self.now();
        let mut report = match answered {
            Ok(answer) => self.judge(order, answer, started, finished).await,
            Err(outcome) => Report::unanswered(order, started, finished, outcome),
        };
        report.wire_bytes = meter.total();
        tracing::debug!(
            order = report.order.id.0,
            url = %report.order.url,
            outcome = report.outcome.name(),
            detail = report.outcome.detail(),
            status = report.outcome.status(),
            bytes = report.wire_bytes,
            "visit ended"
        );
        report
    }

    /// Chooses the connection for the order. No request has left yet.
    async fn route(&self, order: &Order) -> std::result::Result<Route, Outcome> {
        let url = &order.url;
        match url.scheme() {
            "http" | "https" => {
                let pooled = self.pool.borrow_mut().take(url.origin_text(), Instant::now()).map(Route::Pooled);
                if let Some(route) = pooled {
                    // A seed may have opened this connection to where a public page must not lead.
                    let judged = route.address().map_or(Ok(()), |address| check_led_to(address, order.public_only));
                    return judged.map(|()| route).map_err(|why| Outcome::Refused(Refusal::Guard(why)));
                }
            }
            "ftp" | "gopher" => {}
            _ => return Err(Outcome::Refused(Refusal::Scheme)),
        }
        self.dialler.look_up(url, order.public_only).await.map(Route::New)
    }

    async fn ask(&self, order: &Order, route: Route, meter: &Meter) -> std::result::Result<Answer, Outcome> {
        let (url, validators, settings) = (&order.url, &order.validators, &*self.settings);
        match (url.scheme(), route) {
            // Futures of rare cases are boxed, here and below. Otherwise every visit would allocate and move room for them.
            ("ftp", Route::New(found)) => {
                Box::pin(ftp::ask(url, &found, validators, settings, &self.dialler, meter)).await
            }
            ("gopher", Route::New(found)) => Box::pin(gopher::ask(url, &found, settings, &self.dialler, meter)).await,
            (_, route) => http::ask(order, route, settings, &self.lines, &self.dialler, &self.pool, meter).await,
        }
    }

    async fn judge(&self, order: Order, answer: Answer, started: Moment, finished: Moment) -> Report {
        let verdict = of_status(&order, answer.status, &|name| answer.field(name), finished);
        let mut report = Report::unanswered(order, started, finished, Outcome::NotModified);
        let (outcome, answer) = match verdict {
            StatusMeaning::Final(outcome) => (outcome, answer),
            StatusMeaning::Robots(outcome) => self.read_robots(outcome, answer, &mut report),
            StatusMeaning::Reads(outcome) => self.read_page(outcome, answer, &mut report).await,
        };
        report.validators = match outcome {
            Outcome::NotModified => validator::renewed(&report.order.validators, answer.validators),
            Outcome::Read { .. } => answer.validators,
            // With validators of an answer that is not the page, the next visit could confirm a wall or an error.
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
            // Of a file that is too large the start holds.
            Err(failure) if !scratch.is_empty() && self.is_beyond_limits(&failure, &answer) => {
                report.document = Some(vernal_document::robots_text(&scratch));
                outcome
            }
            Err(failure) => Outcome::Failed(failure),
        };
        self.return_scratch(scratch);
        (outcome, answer)
    }

    /// Whether a body could not be unpacked because it was cut off, or because it grew too large.
    fn is_beyond_limits(&self, failure: &Failure, answer: &Answer) -> bool {
        *failure == Failure::Bomb || answer.exchange.body.len() >= self.settings.body_bytes_max
    }

    async fn read_page(&self, outcome: Outcome, answer: Answer, report: &mut Report) -> (Outcome, Answer) {
        let (answer, read_body) = self.read_body(answer, &report.order).await;
        let is_page = matches!(outcome, Outcome::Read { .. });
        let outcome = match read_body {
            Ok(ReadBody { wall: Some((wall, evidence)), document, signature }) => {
                keep(report, document, signature);
                Outcome::Blocked { wall, status: answer.status, evidence }
            }
            Ok(ReadBody { wall: None, document, signature }) => {
                if is_page {
                    keep(report, document, signature);
                }
                outcome
            }
            Err(failure) if is_page => Outcome::Failed(failure),
            // An error page that does not unpack is still the error that its status names.
            Err(_) => outcome,
        };
        (outcome, answer)
    }

    /// Unpacks and reads a body: here, or on a blocking thread where it is large.
    async fn read_body(&self, answer: Answer, order: &Order) -> (Answer, std::result::Result<ReadBody, Failure>) {
        let asked = order.held.filter(|_| answer.status == 200).map(|held| (held, read::payload(&answer)));
        if let Some((held, payload)) = asked
            && held == payload
        {
            return (answer, Ok(read::held(payload)));
        }
        let payload = asked.map(|(_, payload)| payload);
        let large = self.settings.large_body_bytes;
        if body::is_likely_large(&answer, large) {
            return Box::pin(self.read_on_blocking_thread(answer, payload, order)).await;
        }
        let mut scratch = self.scratch.take();
        let read_body = match body::unpack_up_to(&answer, &self.settings, large, &mut scratch) {
            // It looked smaller than it is. Unpacked here, it would keep the loop from other sites.
            Ok(false) => {
                self.return_scratch(scratch);
                return Box::pin(self.read_on_blocking_thread(answer, payload, order)).await;
            }
            Ok(true) => read::read(&order.url, &answer, payload, &scratch),
            Err(failure) => Err(failure),
        };
        self.return_scratch(scratch);
        (answer, read_body)
    }

    async fn read_on_blocking_thread(
        &self,
        answer: Answer,
        payload: Option<Digest>,
        order: &Order,
    ) -> (Answer, std::result::Result<ReadBody, Failure>) {
        // The semaphore is never closed. Without a permit more bodies would be read at once, and nothing else would differ.
        let _permit = self.large.acquire().await;
        let (url, settings) = (order.url.clone(), Arc::clone(&self.settings));
        let answer = Arc::new(answer);
        let there = Arc::clone(&answer);
        let work = move || {
            let mut bytes = Vec::new();
            body::unpack(&there, &settings, &mut bytes)?;
            read::read(&url, &there, payload, &bytes)
        };
        let read_body = tokio::task::spawn_blocking(work).await;
        let read_body = read_body.unwrap_or_else(|_| Err(Failure::Protocol("reading the body panicked".into())));
        (Arc::unwrap_or_clone(answer), read_body)
    }

    fn return_scratch(&self, mut scratch: Vec<u8>) {
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
