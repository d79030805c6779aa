//! Files that are no pages of HTML, read in child processes of this binary.

use std::ffi::OsString;
use std::num::NonZero;
use std::process::ExitCode;

use vernal_extract::{Confinement, Limits, Pool, kind_of};

/// The verb of a child. It is no command of the command line: a child reads nothing but its input.
pub const CHILD_VERB: &str = "read-files-for-parent";

/// Children at once, at most: each is a core's work.
const CHILDREN_MAX: usize = 4;

/// The children of this process. They are started when the first file is met and die with it.
pub struct Files {
    children: Pool,
}

/// Serves a parent until it closes our input.
pub fn serve() -> ExitCode {
    match vernal_extract::serve(&Limits::default()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

impl Files {
    pub fn new() -> Files {
        let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
        // The link leads to the running program even where its file was replaced.
        let program = "/proc/self/exe".into();
        let arguments = vec![OsString::from(CHILD_VERB)];
        Files { children: Pool::new(program, arguments, cores.min(CHILDREN_MAX), Limits::default()) }
    }

    /// The HTML of a file, if it is of a kind that is read so; `Err` says in words why its text could not be taken.
    pub fn html_of(&self, bytes: &[u8], content_type: Option<&str>, name: &str) -> Option<Result<String, String>> {
        let kind = kind_of(bytes, content_type, name)?;
        Some(self.children.read(kind, bytes).map_err(|fault| format!("text could not be taken: {fault}")))
    }

    /// What the kernel does not confine, in words; `None` before a file was read, and where nothing is missing.
    pub fn missing_confinement(&self) -> Option<&'static str> {
        self.children.confinement().and_then(Confinement::missing)
    }
}
