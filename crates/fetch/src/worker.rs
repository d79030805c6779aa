//! The workers: event loops on threads of their own, each with its sites, its connections and its buffers.
//!
//! An ordinary page is handled where its bytes arrive, without a hop to another thread (a hop costs a quarter of the
//! page); only large bodies are read beside the loop.

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
use crate::dns::Resolve;
use crate::turns::Turns;
use crate::visitor::Visitor;
use crate::{Clock, Error, Result, Settings};

/// Where reports go, those of one turn of a loop together. It is called on the loops' threads and must not wait long: a
/// loop that waits serves nobody.
pub type Sink = Arc<dyn Fn(Vec<Report>) + Send + Sync>;

/// So many reports are given away without waiting for the loop to come to rest.
const TURN_REPORTS_MAX: usize = 32;

/// With more orders under way than this, a loop that has nothing to do lets answers gather for a moment: waking once for
/// many of them costs a part of waking for each.
const GATHER_ABOVE: usize = 4;
const GATHER_FOR: Duration = Duration::from_micros(50);

/// Threads beside each loop: names being looked up, and large bodies (whose number the visitor limits further).
const BESIDE_THREADS_MAX: usize = 32;
const BESIDE_IDLE_FOR: Duration = Duration::from_secs(10);
const SWEEP_EVERY: Duration = Duration::from_secs(10);
/// A loop ends at its next turn; a sink that waits for us must not hold up the end for ever.
const STOP_WAIT_MAX: Duration = Duration::from_secs(5);

/// The running loops. Dropping them stops them too, without waiting.
pub struct Workers {
    buffer: Buffer,
    stop: watch::Sender<bool>,
    /// Disconnects when the last loop has ended.
    ended: std_mpsc::Receiver<()>,
    settings: Arc<Settings>,
}

impl Workers {
    /// Starts the loops. Reports are given to the sink when their loop comes to rest, so that a busy loop wakes its reader
    /// once for many of them.
    pub fn start(settings: Settings, clock: Arc<dyn Clock>, resolver: Arc<dyn Resolve>, sink: Sink) -> Result<Workers> {
        let settings = Arc::new(settings);
        let (buffer, receivers) = Buffer::new(settings.loops);
        let (stop, stopped) = watch::channel(false);
        let (running, ended) = std_mpsc::channel();
        let concurrency = settings.concurrency.div_ceil(receivers.len()).max(1);
        // Checked here, where it can still be told: the loops themselves build the same on their threads.
        Visitor::new(Arc::clone(&settings), Arc::clone(&clock), Arc::clone(&resolver))?;
        let turns = Arc::new(Turns::new(settings.address, Arc::clone(&clock)));
        for (number, orders) in receivers.into_iter().enumerate() {
            let failed = |source| Error::Loop { number, source };
            let tray =
                Arc::new(Tray { reports: Mutex::default(), under_way: AtomicUsize::new(0), sink: Arc::clone(&sink) });
            let runtime = runtime(Arc::clone(&tray)).map_err(failed)?;
            let hands = Hands { orders, stopped: stopped.clone(), concurrency, tray };
            let (settings, clock, resolver) = (Arc::clone(&settings), Arc::clone(&clock), Arc::clone(&resolver));
            let (running, turns) = (running.clone(), Arc::clone(&turns));
            std::thread::Builder::new()
                .name(format!("worker-{number}"))
                .spawn(move || {
                    if let Ok(visitor) = Visitor::with_turns(settings, clock, resolver, turns) {
                        LocalSet::new().block_on(&runtime, hands.serve(Rc::new(visitor)));
                    }
                    // Whoever still looks up a name or reads a large body beside the loop is not waited for.
                    runtime.shutdown_background();
                    drop(running);
                })
                .map_err(failed)?;
        }
        Ok(Workers { buffer, stop, ended, settings })
    }

    /// Puts orders into the URL buffer. One order, one report, unless the workers are stopped before.
    pub fn send(&self, orders: Vec<Order>) {
        if !orders.is_empty() {
            self.buffer.send(orders);
        }
    }

    /// Makes a body as its author wrote it of a response head and a body as received, within the limits of visits.
    pub fn unpack(&self, response_head: &[u8], body: &[u8]) -> std::result::Result<Vec<u8>, Failure> {
        crate::unpack_body(response_head, body, &self.settings)
    }

    /// An order that has begun has its report after this; one that waits for its turn may take longer.
    pub fn patience(&self) -> Duration {
        let timeouts = self.settings.timeouts;
        timeouts.connect + timeouts.total + STOP_WAIT_MAX
    }

    /// Ends the loops; orders in flight are dropped without a report.
    pub fn stop(self) {
        let _ = self.stop.send(true);
        let _ = self.ended.recv_timeout(STOP_WAIT_MAX);
    }
}

/// Reports of this turn of the loop.
struct Tray {
    reports: Mutex<Vec<Report>>,
    /// Orders of this loop that were taken up and have no report yet.
    under_way: AtomicUsize,
    sink: Sink,
}

impl Tray {
    fn put(&self, report: Report) {
        let mut reports = self.reports.lock().unwrap_or_else(PoisonError::into_inner);
        reports.push(report);
        if reports.len() >= TURN_REPORTS_MAX {
            (self.sink)(std::mem::take(&mut reports));
        }
    }

    fn empty(&self) {
        let reports = std::mem::take(&mut *self.reports.lock().unwrap_or_else(PoisonError::into_inner));
        if !reports.is_empty() {
            (self.sink)(reports);
        }
    }

    /// Lets answers gather before the loop rests, where several are about to come.
    fn gather(&self) {
        if self.under_way.load(Ordering::Relaxed) > GATHER_ABOVE {
            std::thread::park_timeout(GATHER_FOR);
        }
    }
}

fn runtime(tray: Arc<Tray>) -> std::io::Result<Runtime> {
    Builder::new_current_thread()
        .enable_all()
        .on_thread_park(move || {
            tray.empty();
            tray.gather();
        })
        .max_blocking_threads(BESIDE_THREADS_MAX)
        .thread_keep_alive(BESIDE_IDLE_FOR)
        .build()
}

/// What one loop works with.
struct Hands {
    orders: UnboundedReceiver<Vec<Order>>,
    stopped: watch::Receiver<bool>,
    concurrency: usize,
    tray: Arc<Tray>,
}

impl Hands {
    async fn serve(mut self, visitor: Rc<Visitor>) {
        let desk = Rc::new(Desk::default());
        let mut pairs = 0;
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
                let somebody_is_free = desk.put(order);
                if !somebody_is_free && pairs < self.concurrency {
                    pairs += 1;
                    spawn_local(work(Rc::clone(&desk), Rc::clone(&visitor), Arc::clone(&self.tray)));
                }
            }
        }
    }
}

/// Orders that wait within a loop. A pair of hands carries out one order after the other: making and ending a task for
/// each would cost more than its bookkeeping.
#[derive(Default)]
struct Desk {
    orders: RefCell<VecDeque<Order>>,
    /// Pairs of hands that wait for an order and have not been called.
    free: Cell<usize>,
    bell: Notify,
}

impl Desk {
    /// Whether somebody was free to take it.
    fn put(&self, order: Order) -> bool {
        self.orders.borrow_mut().push_back(order);
        let free = self.free.get();
        if free > 0 {
            self.free.set(free - 1);
            self.bell.notify_one();
        }
        free > 0
    }

    async fn take(&self) -> Order {
        loop {
            if let Some(order) = self.orders.borrow_mut().pop_front() {
                return order;
            }
            self.free.set(self.free.get() + 1);
            self.bell.notified().await;
        }
    }
}

async fn work(desk: Rc<Desk>, visitor: Rc<Visitor>, tray: Arc<Tray>) {
    loop {
        let order = desk.take().await;
        tray.under_way.fetch_add(1, Ordering::Relaxed);
        let report = carry_out(&visitor, order).await;
        tray.under_way.fetch_sub(1, Ordering::Relaxed);
        tray.put(report);
    }
}

/// A visit behind a fence, so that whatever goes wrong in it still ends in a report.
async fn carry_out(visitor: &Visitor, order: Order) -> Report {
    // What a report of nothing needs; validators are as good as never sent.
    let kept = Order { validators: Validators::default(), url: order.url.clone(), kind: order.kind.clone(), ..order };
    match AssertUnwindSafe(visitor.visit(order)).catch_unwind().await {
        Ok(report) => report,
        Err(_) => {
            let (failure, now) = (Failure::Protocol("the visit panicked".into()), visitor.now());
            Report::unanswered(kept, now, now, Outcome::Failed(failure))
        }
    }
}
