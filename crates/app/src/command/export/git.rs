//! An export as a commit: the folder is a repository, and its log is the history of the pages.
//!
//! The names of the files are made here, so that none of them is one that git reads: each has a folder above it that is named like a
//! host, and none begins with a point.

use std::path::Path;
use std::process::{Command, Stdio};

use super::place;
use crate::error::{Error, Result};

/// Who commits where nobody is set up.
const NAME: &str = "user.name=vernal";
const ADDRESS: &str = "user.email=vernal@localhost";

/// The folder of an export as a repository of its own.
pub struct Git<'a> {
    dir: &'a Path,
}

/// What a commit says.
pub struct Message<'a> {
    pub cursor: &'a str,
    pub since: Option<&'a str>,
    pub written: u64,
    pub removed: u64,
    /// Between which visits the pages changed, where that is known.
    pub bracket: Option<(String, String)>,
}

impl<'a> Git<'a> {
    /// Makes the repository, unless there is one. Refuses where there is no git.
    pub fn open(dir: &'a Path) -> Result<Git<'a>> {
        let git = Git { dir };
        let version = Command::new("git").arg("--version").stdin(Stdio::null()).stdout(Stdio::null()).status();
        if version.is_err() {
            return Err(Error::Failed(
                "--git needs the program `git`, which is not there: install it, or leave out --git".into(),
            ));
        }
        place::make_folder(dir)?;
        if !dir.join(".git").exists() {
            git.run(&["init", "--quiet"])?;
        }
        Ok(git)
    }

    /// Commits everything that differs in the folder. Says whether there was something.
    pub fn commit(&self, message: &Message<'_>) -> Result<bool> {
        self.run(&["add", "--all", "--force", "--", "."])?;
        let differs = self.command(&["diff", "--cached", "--quiet"]).status();
        if differs.map_err(|error| self.failed("diff", &error.to_string()))?.success() {
            return Ok(false);
        }
        let has_name = self.run(&["config", "user.email"]).is_ok();
        let text = message.text();
        let commit = ["commit", "--quiet", "--no-edit", "-m", &text];
        let own = ["-c", NAME, "-c", ADDRESS];
        let arguments: Vec<&str> = if has_name { commit.to_vec() } else { own.into_iter().chain(commit).collect() };
        self.run(&arguments)?;
        Ok(true)
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new("git");
        // What git is told of another repository, such as by a hook that runs this, is not meant here; and pages stay byte for byte.
        for name in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"] {
            command.env_remove(name);
        }
        command.env("GIT_TERMINAL_PROMPT", "0").arg("-C").arg(self.dir).args(["-c", "core.autocrlf=false"]);
        command.args(arguments).stdin(Stdio::null());
        command
    }

    fn run(&self, arguments: &[&str]) -> Result<()> {
        let act = arguments.iter().find(|argument| !argument.starts_with('-') && !argument.contains('=')).copied();
        let act = act.unwrap_or_default();
        let ended = self.command(arguments).output().map_err(|error| self.failed(act, &error.to_string()))?;
        if ended.status.success() {
            return Ok(());
        }
        let said = String::from_utf8_lossy(&ended.stderr);
        let first = said.lines().find(|line| !line.trim().is_empty()).unwrap_or("it said nothing");
        Err(self.failed(act, first))
    }

    fn failed(&self, act: &str, why: &str) -> Error {
        Error::Failed(format!("git {act} in {}: {why}", self.dir.display()))
    }
}

impl Message<'_> {
    fn text(&self) -> String {
        let Message { cursor, since, written, removed, bracket } = self;
        let mut text = format!("Export at {cursor}: {written} pages written, {removed} removed\n\n");
        if let Some((after, until)) = bracket {
            text.push_str(&format!("The pages changed between {after} and {until}.\n\n"));
        }
        if let Some(since) = since {
            text.push_str(&format!("Vernal-Since: {since}\n"));
        }
        text.push_str(&format!("Vernal-Cursor: {cursor}\n"));
        text
    }
}
