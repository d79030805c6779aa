//! Shortens the journal: a checkpoint of the tables takes the place of the deeds that led to them.
//!
//! A crawl that is running does this in turns, one with each commit, while its commits go to the file behind the checkpoint. The
//! checkpoint counts once it was synced and read back, and the tables were synced. Until then the old files stay.

use crate::forget::mark_of;
use crate::journal::{self, Checkpoint};
use crate::repository::Repository;
use crate::tables::Restatement;
use crate::{Error, Result};

/// A checkpoint is begun when the log behind the last one has reached this size, and twice the size of that checkpoint.
pub const JOURNAL_BYTES_MIN: u64 = 64 << 20;
const LOG_PER_CHECKPOINT: u64 = 2;
/// So much of a checkpoint is written or read back with one commit.
const TURN_BYTES: u64 = 4 << 20;

/// What becomes of the deeds before a checkpoint.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub enum JournalKept {
    /// They are removed.
    #[default]
    Drop,
    /// They go to `DIR/journal.archive`.
    Archive,
    /// There are no checkpoints, and the journal has every deed from the first one on.
    Keep,
}

impl JournalKept {
    pub const ALL: [JournalKept; 3] = [JournalKept::Drop, JournalKept::Archive, JournalKept::Keep];

    pub fn name(self) -> &'static str {
        match self {
            JournalKept::Drop => "drop",
            JournalKept::Archive => "archive",
            JournalKept::Keep => "keep",
        }
    }
}

/// When the journal is shortened, and what is left in progress of it.
pub(crate) struct Shortening {
    kept: JournalKept,
    log_bytes_min: u64,
    /// After an error there is no further attempt before the log has reached this size.
    not_before_bytes: u64,
    progress: Option<Progress>,
}

struct Progress {
    checkpoint: Checkpoint,
    /// `None` when everything is written.
    restatement: Option<Restatement>,
}

impl Shortening {
    pub fn new(kept: JournalKept, log_bytes_min: u64) -> Shortening {
        Shortening { kept, log_bytes_min, not_before_bytes: 0, progress: None }
    }
}

impl Drop for Shortening {
    fn drop(&mut self) {
        self.progress.take().into_iter().for_each(|progress| progress.checkpoint.abandon());
    }
}

impl Repository {
    /// What becomes of the deeds before a checkpoint from now on.
    pub fn keep_journal(&mut self, kept: JournalKept) {
        self.shortening.kept = kept;
    }

    /// Puts a checkpoint in the place of the whole journal, unless the journal is kept. False where there is nothing to
    /// replace.
    pub fn shorten_journal(&mut self) -> Result<bool> {
        if self.broken {
            return Err(Error::Broken);
        }
        let is_kept = self.shortening.kept == JournalKept::Keep && !self.rewriting.checkpoint_wanted;
        if is_kept || self.journal.sizes().1 == 0 {
            return Ok(false);
        }
        self.shortening.progress.take().into_iter().for_each(|begun| begun.checkpoint.abandon());
        let mut progress = self.begin_shortening()?;
        while !self.shorten_on(&mut progress, u64::MAX)? {}
        self.put_checkpoint(progress)?;
        Ok(true)
    }

    /// One turn after a commit. An error is told and leaves the journal as long as it is: the crawl goes on.
    pub(crate) fn shorten_in_turns(&mut self) {
        let done = match self.shortening.progress.take() {
            Some(progress) => self.turn(progress),
            None if self.is_long() => self.begin_shortening().map(|begun| self.shortening.progress = Some(begun)),
            None => Ok(()),
        };
        if let Err(error) = done {
            self.shared.distrust(&error);
            self.shortening.not_before_bytes = self.journal.sizes().1 + JOURNAL_BYTES_MIN;
            tracing::warn!("the journal stays as long as it is: {error}");
        }
    }

    fn turn(&mut self, mut progress: Progress) -> Result<()> {
        match self.shorten_on(&mut progress, TURN_BYTES) {
            Ok(true) => self.put_checkpoint(progress),
            Ok(false) => {
                self.shortening.progress = Some(progress);
                Ok(())
            }
            Err(error) => {
                progress.checkpoint.abandon();
                Err(error)
            }
        }
    }

    /// Tables in memory end with their process, and cannot be read as they were at one moment.
    fn is_long(&self) -> bool {
        let Shortening { kept, log_bytes_min, not_before_bytes, .. } = self.shortening;
        let (checkpoint, log) = self.journal.sizes();
        let least = log_bytes_min.max(checkpoint.saturating_mul(LOG_PER_CHECKPOINT)).max(not_before_bytes);
        let is_long = kept != JournalKept::Keep && log > least;
        let is_wanted = self.rewriting.checkpoint_wanted && (not_before_bytes == 0 || log > not_before_bytes);
        (is_long || is_wanted) && !self.shared.ends_with_process()
    }

    fn begin_shortening(&mut self) -> Result<Progress> {
        // What passed the sieve is removed now rather than restated.
        self.sync_tables()?;
        let (position, moment) = {
            let state = &self.shared.live().state;
            (state.position, state.moment)
        };
        let mut checkpoint = self.journal.begin_checkpoint(position, moment)?;
        let begun = Restatement::begin(&self.shared, &mut |part| checkpoint.append(part));
        match begun {
            Ok(restatement) => Ok(Progress { checkpoint, restatement: Some(restatement) }),
            Err(error) => {
                checkpoint.abandon();
                Err(error)
            }
        }
    }

    /// Writes or reads back at least so many bytes. True when everything was read back.
    fn shorten_on(&mut self, Progress { checkpoint, restatement }: &mut Progress, bytes: u64) -> Result<bool> {
        let Some(left) = restatement else { return checkpoint.read_back(bytes) };
        let until = checkpoint.length().saturating_add(bytes);
        while checkpoint.length() < until {
            match left.next()? {
                Some(part) => checkpoint.append(part)?,
                None => {
                    *restatement = None;
                    break;
                }
            }
        }
        checkpoint.sync().map(|()| false)
    }

    fn put_checkpoint(&mut self, progress: Progress) -> Result<()> {
        // Tables that lost something to a power cut need deeds that are about to go.
        self.shared.tables.persist()?;
        let archive = self.shared.dir.join(journal::ARCHIVE);
        // Deeds with words of pages that were forgotten are not archived.
        let erased = mark_of(&self.shared)?.erased;
        let has_words = self.journal.begins_after()? < erased;
        let archive = (self.shortening.kept == JournalKept::Archive && !has_words).then_some(&*archive);
        self.journal.put_checkpoint(progress.checkpoint, archive)?;
        let (checkpoint, log) = self.journal.sizes();
        tracing::info!(checkpoint_bytes = checkpoint, log_bytes = log, "journal shortened");
        Ok(())
    }
}
