//! The warm children.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::{Condvar, Mutex, PoisonError};

use super::confine::Confinement;
use super::limits::Limits;
use super::process::Process;
use crate::fault::Fault;
use crate::kind::FileKind;

/// Children that read files, started when they are needed and kept warm. Calls block: they belong on a thread that may wait.
pub struct Pool {
    program: PathBuf,
    arguments: Vec<OsString>,
    limits: Limits,
    size: usize,
    state: Mutex<State>,
    free: Condvar,
}

#[derive(Default)]
struct State {
    idle: Vec<Process>,
    busy: usize,
    counts: Counts,
    confinement: Option<Confinement>,
}

/// What the children did so far.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub files_read: u64,
    pub files_failed: u64,
    pub children_started: u64,
    /// Children that hung, crashed or went beyond their limits.
    pub children_lost: u64,
}

impl Pool {
    /// A pool of so many children of a program, which `serve`s when it is started with these arguments.
    pub fn new(program: PathBuf, arguments: Vec<OsString>, size: usize, limits: Limits) -> Pool {
        Pool { program, arguments, limits, size: size.max(1), state: Mutex::default(), free: Condvar::new() }
    }

    /// Reads a file in a child. A file that its child does not survive has a fault, and the next file has another child.
    pub fn read(&self, kind: FileKind, bytes: &[u8]) -> Result<String, Fault> {
        if bytes.len() > self.limits.file_bytes {
            return Err(Fault::TooLarge { what: "its size", limit: format!("{} MB", self.limits.file_bytes >> 20) });
        }
        let mut taken = self.take();
        let mut process = match taken.take_if(|process| process.is_alive()) {
            Some(process) => process,
            None => match Process::start(&self.program, &self.arguments) {
                Ok(process) => {
                    let mut state = self.state();
                    state.counts.children_started += 1;
                    state.confinement = Some(process.confinement);
                    process
                }
                Err(fault) => {
                    self.give_back(None, false);
                    return Err(fault);
                }
            },
        };
        let read = process.read(kind, bytes, &self.limits);
        let is_spent = read.is_err() || process.is_spent(&self.limits);
        if read.is_err() {
            self.state().counts.children_lost += 1;
        }
        let answer = read.unwrap_or_else(Err);
        self.give_back((!is_spent).then_some(process), answer.is_ok());
        answer
    }

    pub fn counts(&self) -> Counts {
        self.state().counts
    }

    /// What confines the children; `None` before the first was started.
    pub fn confinement(&self) -> Option<Confinement> {
        self.state().confinement
    }

    /// Waits until one more child may be busy, and takes an idle one if there is one.
    fn take(&self) -> Option<Process> {
        let state = self.state();
        let all_busy = |state: &mut State| state.busy >= self.size;
        let mut state = self.free.wait_while(state, all_busy).unwrap_or_else(PoisonError::into_inner);
        state.busy += 1;
        state.idle.pop()
    }

    fn give_back(&self, process: Option<Process>, is_read: bool) {
        let mut state = self.state();
        state.busy -= 1;
        state.idle.extend(process);
        match is_read {
            true => state.counts.files_read += 1,
            false => state.counts.files_failed += 1,
        }
        drop(state);
        self.free.notify_one();
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
