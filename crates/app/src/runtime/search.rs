//! The text index of the folder: followed by a thread of low priority while a crawl runs, brought up to date by whoever asks
//! where none does. It reads acknowledged state only, and nothing waits for it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use tempfile::TempDir;
use vernal_api::TextIndex;
use vernal_model::{Moment, Span};
use vernal_repository::Reader;
use vernal_search::{Answer, Asked, Error, Follower, Opened, Progress, SearchIndex, SearchStatus};

use super::clock::wall;

/// How often the journal is looked at for new events.
const FOLLOW_EVERY: Duration = Duration::from_secs(2);
/// While there always are new events, what was read of them is written so often: each time costs a file and a few syncs.
const COMMIT_EVERY: Span = Span::from_secs(6);
/// While there always are new events, what links say is looked at again so often.
const ANCHORS_EVERY: Span = Span::from_secs(30);
/// Turns of some hundred pages each that are looked at then.
const ANCHOR_TURNS: usize = 20;
/// After a failure nothing is tried for so long.
const RETRY_AFTER: Duration = Duration::from_secs(30);
/// Failures in a row after which the index waits for the next process.
const FAILURES_MAX: u32 = 5;
/// Threads of the index get the processor when nobody else wants it.
pub(super) const NICE: i32 = 10;

/// The text index of one folder.
pub struct SearchService {
    data: PathBuf,
    reader: Reader,
    index: Mutex<Option<SearchIndex>>,
    /// To the thread that follows; `None` where none does.
    orders: Mutex<Option<Sender<Order>>>,
    stops: AtomicBool,
    /// Where the index lies if the data folder cannot be written.
    temporary: Mutex<Option<TempDir>>,
    /// Events a second of the last batches.
    rate: AtomicU64,
    /// Whether a question met damage and the thread that follows was told to begin anew.
    is_damaged: AtomicBool,
}

enum Order {
    Stop,
    Rebuild(Sender<Progress>),
}

/// The thread that follows.
pub struct Following {
    service: Arc<SearchService>,
    thread: JoinHandle<()>,
}

impl SearchService {
    pub fn new(data: PathBuf, reader: Reader) -> SearchService {
        SearchService {
            data,
            reader,
            index: Mutex::default(),
            orders: Mutex::default(),
            stops: AtomicBool::new(false),
            temporary: Mutex::default(),
            rate: AtomicU64::new(0),
            is_damaged: AtomicBool::new(false),
        }
    }

    /// Starts the thread that follows.
    pub fn follow(self: Arc<Self>) -> std::io::Result<Following> {
        let (sender, orders) = channel();
        *self.orders.lock().unwrap_or_else(PoisonError::into_inner) = Some(sender);
        let service = Arc::clone(&self);
        let thread = std::thread::Builder::new().name("search".into()).spawn(move || service.followed(&orders))?;
        Ok(Following { service: self, thread })
    }

    fn index(&self) -> MutexGuard<'_, Option<SearchIndex>> {
        self.index.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_followed(&self) -> bool {
        self.orders.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    fn up_to_date(&self, told: &mut dyn FnMut(Progress)) -> Result<SearchIndex, Error> {
        let mut index = self.index();
        if self.is_followed() {
            return index.clone().ok_or(Error::Closed);
        }
        let known = index.take();
        let open = known.map_or_else(|| self.opened(), Ok);
        let open = open.and_then(|open| self.caught_up(&open, told).map(|()| open));
        let open = match open {
            Err(error) if error.is_of_files() => {
                tracing::warn!("{error}: the text is indexed for this question alone");
                let open = self.temporary()?;
                self.caught_up(&open, told)?;
                open
            }
            other => other?,
        };
        Ok(index.insert(open).clone())
    }

    fn caught_up(&self, index: &SearchIndex, told: &mut dyn FnMut(Progress)) -> Result<(), Error> {
        let place = index.place();
        if place.cursor >= self.reader.cursor() && place.has_anchors && !index.is_to_purge() {
            return Ok(());
        }
        let mut follower = Follower::of(index, self.reader.clone())?;
        follower.catch_up(|progress| {
            told(progress);
            true
        })?;
        follower.close()
    }

    /// What an index that is damaged cannot answer, one that is made anew can: at once where no thread follows, else in a moment.
    fn answered_anew(&self, asked: &Asked, why: &str) -> Result<Answer, Error> {
        let sender = self.orders.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let Some(sender) = sender else {
            tracing::warn!("the search index is made anew: {why}");
            *self.index() = Some(SearchIndex::rebuild(&self.data)?);
            return self.up_to_date(&mut |_| {})?.search(&self.reader, asked);
        };
        if !self.is_damaged.swap(true, Ordering::Relaxed) {
            tracing::warn!("the search index is made anew: {why}");
            sender.send(Order::Rebuild(channel().0)).map_err(|_| Error::Closed)?;
        }
        Err(Error::Anew)
    }

    /// An index that goes with this process, for a folder that cannot be written.
    fn temporary(&self) -> Result<SearchIndex, Error> {
        let made = tempfile::tempdir();
        let folder = made.map_err(|source| Error::Io { act: "make", path: std::env::temp_dir(), source })?;
        let index = SearchIndex::rebuild(folder.path())?;
        *self.temporary.lock().unwrap_or_else(PoisonError::into_inner) = Some(folder);
        Ok(index)
    }

    fn opened(&self) -> Result<SearchIndex, Error> {
        let Opened { index, anew } = SearchIndex::open(&self.data, &self.reader)?;
        if let Some(why) = anew {
            tracing::warn!("the search index is made anew: {why}");
        }
        Ok(index)
    }

    /// The life of the thread that follows.
    fn followed(&self, orders: &Receiver<Order>) {
        // On Linux this is the priority of this thread and of those that it starts.
        let _ = rustix::process::setpriority_process(None, NICE);
        let (mut failures, mut anew) = (0, false);
        let mut told: Option<Sender<Progress>> = None;
        while failures < FAILURES_MAX {
            let run = catch_unwind(AssertUnwindSafe(|| self.follow_until(orders, anew, told.take())));
            match run {
                Ok(Ok(None)) => return,
                Ok(Ok(Some(progress))) => {
                    (anew, told, failures) = (true, Some(progress), 0);
                    continue;
                }
                Ok(Err(error)) => {
                    tracing::warn!("the search index does not follow: {error}");
                    anew = error.is_of_index();
                }
                Err(_) => {
                    tracing::warn!("the search index could not be read, and is made anew");
                    anew = true;
                }
            }
            failures += 1;
            match orders.recv_timeout(RETRY_AFTER) {
                Ok(Order::Rebuild(progress)) => (anew, told) = (true, Some(progress)),
                Ok(Order::Stop) | Err(RecvTimeoutError::Disconnected) => return,
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }

    /// Follows until it is told to stop (`None`) or to begin anew.
    fn follow_until(
        &self,
        orders: &Receiver<Order>,
        anew: bool,
        told: Option<Sender<Progress>>,
    ) -> Result<Option<Sender<Progress>>, Error> {
        let index = if anew { SearchIndex::rebuild(&self.data)? } else { self.opened()? };
        *self.index() = Some(index.clone());
        self.is_damaged.store(false, Ordering::Relaxed);
        let mut follower = Follower::of(&index, self.reader.clone())?;
        let (mut told, mut pace) = (told, Pace::default());
        loop {
            let (began, events) = (wall(), follower.progress().events);
            let heard = |progress: Progress| {
                if let Some(told) = &told {
                    // Whoever asked may have gone.
                    let _ = told.send(progress);
                }
                !self.stops.load(Ordering::Relaxed)
            };
            pace.round(&mut follower, told.is_some(), &heard)?;
            let taken = follower.progress().events - events;
            if taken > 0 {
                let micros = wall().since(began).micros().max(1);
                self.rate.store(taken.saturating_mul(1_000_000) / micros, Ordering::Relaxed);
            }
            // Whoever waited for this index to be complete is told so.
            told = None;
            match orders.recv_timeout(FOLLOW_EVERY) {
                Err(RecvTimeoutError::Timeout) => {}
                Ok(Order::Rebuild(progress)) => {
                    // Nothing of the old index may be written into the folder of the new one.
                    let _ = follower.close();
                    return Ok(Some(progress));
                }
                // Everything is committed; merges that are under way begin anew another time.
                Ok(Order::Stop) | Err(RecvTimeoutError::Disconnected) => return Ok(None),
            }
        }
    }
}

/// When was written last. A lone change is found at once, and many in a row are written together.
#[derive(Default)]
struct Pace {
    committed: Option<Moment>,
    anchors: Option<Moment>,
}

impl Pace {
    /// Reads what is new, and writes what is due; everything if somebody waits for it.
    fn round(
        &mut self,
        follower: &mut Follower,
        is_awaited: bool,
        heard: &dyn Fn(Progress) -> bool,
    ) -> Result<(), Error> {
        let events = follower.progress().events;
        let goes_on = follower.take_all(&mut |progress| heard(progress))?;
        let is_quiet = follower.progress().events == events;
        let now = wall();
        let is_due = |last: Option<Moment>, every: Span| last.is_none_or(|last| now.since(last) >= every);
        if is_awaited || is_quiet || !goes_on || is_due(self.committed, COMMIT_EVERY) || !follower.has_uncommitted() {
            if follower.has_uncommitted() {
                self.committed = Some(now);
            }
            follower.commit()?;
        }
        if is_awaited && goes_on {
            return follower.catch_up(heard);
        }
        // Files with words of erased pages are written anew as soon as what their links said is gone from others.
        if goes_on && (is_quiet || follower.is_to_purge() || is_due(self.anchors, ANCHORS_EVERY)) {
            self.anchors = Some(now);
            // New events do not wait until everything was looked at.
            for _ in 0..ANCHOR_TURNS {
                if !follower.refresh_anchors()? || !heard(follower.progress()) {
                    break;
                }
            }
            follower.commit()?;
        }
        Ok(())
    }
}

impl TextIndex for SearchService {
    /// Answers a question. Where no thread follows, the index is brought up to date first.
    fn search(&self, asked: &Asked) -> Result<Answer, Error> {
        let index = self.up_to_date(&mut |_| {})?;
        // The library may also panic on bytes that it did not write.
        match catch_unwind(AssertUnwindSafe(|| index.search(&self.reader, asked))) {
            Ok(Err(error)) if error.is_of_index() => self.answered_anew(asked, &error.to_string()),
            Ok(answered) => answered,
            Err(_) => self.answered_anew(asked, "its files are damaged"),
        }
    }

    fn rebuild(&self, told: &mut dyn FnMut(Progress)) -> Result<SearchStatus, Error> {
        let sender = self.orders.lock().unwrap_or_else(PoisonError::into_inner).clone();
        match sender {
            Some(sender) => {
                let (progress, heard) = channel();
                sender.send(Order::Rebuild(progress)).map_err(|_| Error::Closed)?;
                heard.into_iter().for_each(told);
            }
            None => {
                *self.index() = Some(SearchIndex::rebuild(&self.data)?);
                self.up_to_date(told)?;
            }
        }
        let index = self.index().clone().ok_or(Error::Closed)?;
        index.status(&self.reader)
    }

    fn purge(&self) -> Result<(), Error> {
        let exists = SearchIndex::look(&self.data, &self.reader)?.is_some();
        if exists && !self.is_followed() {
            self.up_to_date(&mut |_| {})?;
        }
        Ok(())
    }

    fn status(&self) -> Option<SearchStatus> {
        let open = self.index.try_lock().ok()?.clone();
        let found = match open {
            Some(index) => index.status(&self.reader).map(Some),
            None => SearchIndex::look(&self.data, &self.reader),
        };
        found.ok().flatten()
    }

    fn rate(&self) -> u64 {
        self.rate.load(Ordering::Relaxed)
    }
}

impl Following {
    /// Ends the thread; what it has taken is on disk.
    pub fn stop(self) {
        self.service.stops.store(true, Ordering::Relaxed);
        let sender = self.service.orders.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(sender) = sender {
            let _ = sender.send(Order::Stop);
        }
        let _ = self.thread.join();
    }
}
