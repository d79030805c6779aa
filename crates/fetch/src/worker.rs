//! The workers: event loops on threads of their own. Each loop has its sites, connections and buffers.
//!
//! An ordinary page is read on the loop where its bytes arrive, because handing it to another thread would cost a quarter of
//! the work. Only large bodies are read on blocking threads.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::panic::AssertUnwindSafe;
use std::rc::Rc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc as std_mpsc;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::FutureExt;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::sync::{Notify, watch};
use tokio::task::{LocalSet, spawn_local};
use tokio::time::{Instant, interval_at};
use vernal_model::{Failure, Order, Outcome, Report, Validators};

use crate::buffer::Buffer;
use crate::dns::{LOOKUPS_MAX, Resolve};
use crate::start_limiter::StartLimiter;
use crate::visitor::{LARGE_AT_ONCE_MAX, Visitor};
use crate::{Clock, Error, Result, Settings};

/// Receives reports, in batches. It is called on the threads of the loops and must return quickly, because a loop that waits
/// serves no site.
pub type Sink = Arc<dyn Fn(Vec<Report>) + Send + Sync>;

/// A batch of this size is handed over at once, while the loop is still busy.
const BATCH_REPORTS_MAX: usize = 32;

/// A loop with more orders in flight than this sleeps a moment longer when it is idle, so that it wakes once for several
/// answers. Waking for each would cost more.
const WAIT_FOR_MORE_ABOVE: usize = 4;
const WAIT_FOR_MORE_SPAN: Duration = Duration::from_micros(50);

/// Blocking threads of each loop: they look up names and read large bodies. Both are limited, so that neither waits for the
/// other.
const BLOCKING_THREADS_MAX: usize = LOOKUPS_MAX + LARGE_AT_ONCE_MAX;
const BLOCKING_IDLE_FOR: Duration = Duration::from_secs(10);
const SWEEP_EVERY: Duration = Duration::from_secs(10);
/// A loop ends at its next iteration. A sink that waits for us must not delay the end for ever.
const STOP_WAIT_MAX: Duration = Duration::from_secs(5);

/// The running loops. Dropping this stops them without waiting.
pub struct Workers {
    buffer: Buffer,
    stop: watch::Sender<bool>,
    /// Disconnects when the last loop has ended.
    ended: std_mpsc::Receiver<()>,
    settings: Arc<Settings>,
}

impl Workers {
    /// Starts the loops. Each hands its reports to the sink when it becomes idle, so that a busy loop wakes the reader of the
    /// reports once for many of them.
    pub fn start(settings: Settings, clock: Arc<dyn Clock>, resolver: Arc<dyn Resolve>, sink: Sink) -> Result<Workers> {
        let settings = Arc::new(settings);
        let (buffer, receivers) = Buffer::new(settings.loops);
        let (stop, stopped) = watch::channel(false);
        let (running, ended) = std_mpsc::channel();
        // Each loop can hold all orders in flight, whose number the crawler limits: slow sites that all belong to one loop
        // must not keep its other sites waiting.
        let concurrency = settings.concurrency.max(1);
        // Building a visitor here reports bad settings to the caller. The loops build theirs on their own threads.
        Visitor::new(Arc::clone(&settings), Arc::clone(&clock), Arc::clone(&resolver))?;
        let start_limiter = Arc::new(StartLimiter::new(settings.address, Arc::clone(&clock)));
        for (number, orders) in receivers.into_iter().enumerate() {
            let failed = |source| Error::Loop { number, source };
            let batch = Arc::new(ReportBatch {
                reports: Mutex::default(),
                in_flight: AtomicUsize::new(0),
                sink: Arc::clone(&sink),
            });
            let runtime = runtime(Arc::clone(&batch)).map_err(failed)?;
            let worker_loop = WorkerLoop { orders, stopped: stopped.clone(), concurrency, batch };
            let (settings, clock, resolver) = (Arc::clone(&settings), Arc::clone(&clock), Arc::clone(&resolver));
            let (running, start_limiter) = (running.clone(), Arc::clone(&start_limiter));
            std::thread::Builder::new()
                .name(format!("worker-{number}"))
                .spawn(move || {
                    if let Ok(visitor) = Visitor::with_start_limiter(settings, clock, resolver, start_limiter) {
                        LocalSet::new().block_on(&runtime, worker_loop.run(Rc::new(visitor)));
                    }
                    // Threads that still look up a name or read a large body are not waited for.
                    runtime.shutdown_background();
                    drop(running);
                })
                .map_err(failed)?;
        }
        tracing::debug!(loops = settings.loops, concurrency = settings.concurrency, "workers started");
        Ok(Workers { buffer, stop, ended, settings })
    }

    /// Puts orders into the URL buffer. Each gets one report, unless the workers are stopped before.
    pub fn send(&self, orders: Vec<Order>) {
        if !orders.is_empty() {
            self.buffer.send(orders);
        }
    }

    /// Removes the content codings from a body as received, within the limits of visits.
    pub fn unpack(&self, response_head: &[u8], body: &[u8]) -> std::result::Result<Vec<u8>, Failure> {
        crate::unpack_body(response_head, body, &self.settings)
    }

    /// An order that has begun has its report after this. One that waits for the start limiter may take longer.
    pub fn patience(&self) -> Duration {
        let timeouts = self.settings.timeouts;
        timeouts.connect + timeouts.total + STOP_WAIT_MAX
    }

    /// Ends the loops. Orders in flight are dropped without a report.
    pub fn stop(self) {
        let _ = self.stop.send(true);
        let _ = self.ended.recv_timeout(STOP_WAIT_MAX);
    }
}

/// Reports of a loop on their way to the sink.
struct ReportBatch {
    reports: Mutex<Vec<Report>>,
    /// Orders of this loop that have begun and have no report yet.
    in_flight: AtomicUsize,
    sink: Sink,
}

impl ReportBatch {
    fn put(&self, report: Report) {
        let mut reports = self.reports.lock().unwrap_or_else(PoisonError::into_inner);
        reports.push(report);
        if reports.len() >= BATCH_REPORTS_MAX {
            (self.sink)(std::mem::take(&mut reports));
        }
    }

    fn flush(&self) {
        let reports = std::mem::take(&mut *self.reports.lock().unwrap_or_else(PoisonError::into_inner));
        if !reports.is_empty() {
            (self.sink)(reports);
        }
    }

    /// Sleeps a moment where several answers are expected, so that the loop wakes once for them.
    fn wait_for_more(&self) {
        if self.in_flight.load(Ordering::Relaxed) > WAIT_FOR_MORE_ABOVE {
            std::thread::park_timeout(WAIT_FOR_MORE_SPAN);
        }
    }
}

fn runtime(batch: Arc<ReportBatch>) -> std::io::Result<Runtime> {
    Builder::new_current_thread()
        .enable_all()
        .on_thread_park(move || {
            batch.flush();
            batch.wait_for_more();
        })
        .max_blocking_threads(BLOCKING_THREADS_MAX)
        .thread_keep_alive(BLOCKING_IDLE_FOR)
        .build()
}

/// One loop.
struct WorkerLoop {
    orders: UnboundedReceiver<Vec<Order>>,
    stopped: watch::Receiver<bool>,
    concurrency: usize,
    batch: Arc<ReportBatch>,
}

impl WorkerLoop {
    async fn run(mut self, visitor: Rc<Visitor>) {
        let queue = Rc::new(OrderQueue::default());
        let mut tasks = 0;
        let mut sweep = interval_at(Instant::now() + SWEEP_EVERY, SWEEP_EVERY);
        loop {
            let first = tokio::select! {
                biased;
                _ = self.stopped.changed() => return,
                _ = sweep.tick() => {
                    visitor.sweep();
                    continue;
                }
                next = self.orders.recv() => next,
            };
            let Some(first) = first else { return };
            let more = std::iter::from_fn(|| self.orders.try_recv().ok());
            for order in std::iter::once(first).chain(more).flatten() {
                let is_taken = queue.put(order);
                if !is_taken && tasks < self.concurrency {
                    tasks += 1;
                    spawn_local(work(Rc::clone(&queue), Rc::clone(&visitor), Arc::clone(&self.batch)));
                }
            }
        }
    }
}

/// The waiting orders of a loop. Each task carries out one order after the other, because a new task for each order would
/// cost more than this queue.
#[derive(Default)]
struct OrderQueue {
    orders: RefCell<VecDeque<Order>>,
    /// Tasks that wait for an order and were not woken yet.
    idle: Cell<usize>,
    wake: Notify,
}

impl OrderQueue {
    /// Whether an idle task takes it.
    fn put(&self, order: Order) -> bool {
        self.orders.borrow_mut().push_back(order);
        let idle = self.idle.get();
        if idle > 0 {
            self.idle.set(idle - 1);
            self.wake.notify_one();
        }
        idle > 0
    }

    async fn take(&self) -> Order {
        loop {
            if let Some(order) = self.orders.borrow_mut().pop_front() {
                return order;
            }
            self.idle.set(self.idle.get() + 1);
            self.wake.notified().await;
        }
    }
}

async fn work(queue: Rc<OrderQueue>, visitor: Rc<Visitor>, batch: Arc<ReportBatch>) {
    loop {
        let order = queue.take().await;
        batch.in_flight.fetch_add(1, Ordering::Relaxed);
        let report = carry_out(&visitor, order).await;
        batch.in_flight.fetch_sub(1, Ordering::Relaxed);
        batch.put(report);
    }
}

/// Carries out a visit. Even a panic in it ends in a report.
async fn carry_out(visitor: &Visitor, order: Order) -> Report {
    // What the report of a panic needs. Validators do not matter for it.
    let kept = Order { validators: Validators::default(), url: order.url.clone(), kind: order.kind.clone(), ..order };
    match AssertUnwindSafe(visitor.visit(order)).catch_unwind().await {
        Ok(report) => report,
        Err(_) => {
            tracing::debug!(order = kept.id.0, url = %kept.url, "visit panicked");
            let (failure, now) = (Failure::Protocol("the visit panicked".into()), visitor.now());
            Report::unanswered(kept, now, now, Outcome::Failed(failure))
        }
    }
}
