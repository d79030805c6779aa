//! Markdown in a folder: a file for each page. An export into a folder that has one brings it up to date; one that was broken off
//! goes on where it was.

use std::fs;
use std::path::{Component, Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::arguments::Arguments;
use super::file::cursor_of;
use super::git::{Git, Message};
use super::place;
use super::question::of_scope;
use super::run::Exported;
use super::transfer::Transfer;
use crate::command::Context;
use crate::error::{Error, OrFail, Result};
use crate::runtime::folder::Folder;

pub const MANIFEST_FILE: &str = "vernal-export.json";
/// What is known of an export that is not whole yet.
const BEGUN_FILE: &str = ".vernal-export.begun";
/// Files that a broken-off export writes once more at most.
const NOTED_EVERY: u64 = 500;
/// A folder that follows looks so often for what changed.
const FOLLOW_EVERY_SECS: u64 = 2;

/// What makes two exports ones of the same thing.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Kind {
    format: String,
    #[serde(default)]
    site: Option<String>,
    #[serde(default)]
    tag: Option<String>,
    #[serde(default)]
    prefix: Option<String>,
    #[serde(default)]
    at: Option<String>,
    #[serde(default)]
    all: bool,
    #[serde(default)]
    ids: bool,
    #[serde(default)]
    with_noindex: bool,
    #[serde(default)]
    with_visits: bool,
}

/// An export that is under way, or was.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Begun {
    pub kind: Kind,
    /// The state that it is of.
    pub cursor: String,
    pub since: Option<String>,
    /// The last page that is known to be written.
    pub after: Option<String>,
}

impl Kind {
    pub fn of(arguments: &Arguments) -> Kind {
        Kind {
            format: arguments.format.name().to_owned(),
            site: arguments.site.clone(),
            tag: arguments.tag.clone(),
            prefix: arguments.prefix.clone(),
            at: arguments.at.clone(),
            all: arguments.all,
            ids: arguments.ids,
            with_noindex: arguments.with_noindex,
            with_visits: arguments.with_visits,
        }
    }
}

pub async fn export(context: &Context, folder: &Folder, arguments: &Arguments) -> Result<Exported> {
    let dir = Path::new(&arguments.out);
    place::make_folder(dir)?;
    let git = arguments.git.then(|| Git::open(dir)).transpose()?;
    let mut last: Option<Exported> = None;
    loop {
        let round = Round::begin(dir, arguments)?;
        let written = round.write(context, folder, arguments).await;
        let is_first = last.is_none();
        let (exported, bracket) = match (written, last.take()) {
            // The crawl that was followed has ended.
            (Err(_), Some(last)) if Folder::running(context).await.is_none() => return Ok(last),
            (written, _) => written?,
        };
        let count = |name: &str| exported.told[name].as_u64().unwrap_or(0);
        let (written, removed) = (count("pages"), count("removed"));
        if let Some(git) = git.as_ref().filter(|_| is_first || written + removed > 0) {
            let (cursor, since) = (exported.cursor.as_str(), round.since.as_deref());
            git.commit(&Message { cursor, since, written, removed, bracket: bracket.known() })?;
        }
        if !arguments.follow || matches!(folder, Folder::Stopped { .. }) {
            return Ok(exported);
        }
        tracing::debug!("{} is at cursor {}", arguments.out, exported.cursor);
        let every = Duration::from_secs(arguments.every.unwrap_or(FOLLOW_EVERY_SECS).max(1));
        tokio::select! {
            () = tokio::time::sleep(every) => last = Some(exported),
            _ = tokio::signal::ctrl_c() => return Ok(exported),
        }
    }
}

/// Between which visits the pages of an export changed, by the heads of their files.
#[derive(Default)]
struct Bracket {
    after: Option<String>,
    until: Option<String>,
}

impl Bracket {
    fn take(&mut self, text: &str) {
        // The head ends with the second such line; what stands behind it was written by the page.
        let head = text.lines().skip(1).take_while(|line| *line != "---");
        let between =
            head.filter_map(|line| line.strip_prefix("changed_between: [")?.strip_suffix(']')?.split_once(", "));
        for (after, until) in between {
            // Times of one form are in the order of their letters. Of a page that is new it is not known when it was not there.
            let after = if after == "null" { until } else { after };
            if self.after.as_deref().is_none_or(|known| after < known) {
                self.after = Some(after.to_owned());
            }
            if self.until.as_deref().is_none_or(|known| until > known) {
                self.until = Some(until.to_owned());
            }
        }
    }

    fn known(self) -> Option<(String, String)> {
        self.after.zip(self.until)
    }
}

/// One export into the folder.
pub struct Round<'a> {
    pub dir: &'a Path,
    pub kind: Kind,
    pub since: Option<String>,
    /// The export that was broken off and goes on.
    pub begun: Option<Begun>,
}

impl<'a> Round<'a> {
    pub fn begin(dir: &'a Path, arguments: &Arguments) -> Result<Round<'a>> {
        let kind = Kind::of(arguments);
        let read = |name: &str| fs::read(dir.join(name)).ok();
        let begun: Option<Begun> = read(BEGUN_FILE).and_then(|bytes| serde_json::from_slice(&bytes).ok());
        let begun =
            begun.filter(|begun| begun.kind == kind && (arguments.since.is_none() || arguments.since == begun.since));
        if let Some(begun) = begun {
            tracing::info!("{} goes on with the export of cursor {}", dir.display(), begun.cursor);
            return Ok(Round { dir, kind, since: begun.since.clone(), begun: Some(begun) });
        }
        let manifest: Option<Value> = read(MANIFEST_FILE).and_then(|bytes| serde_json::from_slice(&bytes).ok());
        let mut since = arguments.since.clone();
        if let Some(manifest) = manifest {
            let known: Kind = serde_json::from_value(manifest["export"].clone()).or_fail()?;
            if known != kind || kind.at.is_some() {
                let line = "holds another export; give a new folder, or the same format and flags as then";
                return Err(Error::Failed(format!("{} {line}", dir.display())));
            }
            since = since.or_else(|| manifest["cursor"].as_str().map(str::to_owned));
        }
        Ok(Round { dir, kind, since, begun: None })
    }

    /// Notes that it is under way, or how far it is.
    pub fn note(&self, cursor: &str, after: Option<&str>) -> Result<()> {
        let begun = Begun {
            kind: self.kind.clone(),
            cursor: cursor.to_owned(),
            since: self.since.clone(),
            after: after.map(str::to_owned),
        };
        place::write_whole(&self.dir.join(BEGUN_FILE), &serde_json::to_string(&begun).or_fail()?)
    }

    /// The export is whole.
    pub fn end(&self, manifest: &mut Value) -> Result<()> {
        manifest["export"] = serde_json::to_value(&self.kind).or_fail()?;
        if let Some(manifest) = manifest.as_object_mut() {
            manifest.remove("op");
        }
        let text = serde_json::to_string_pretty(manifest).or_fail()?;
        place::write_whole(&self.dir.join(MANIFEST_FILE), &(text + "\n"))?;
        let begun = self.dir.join(BEGUN_FILE);
        fs::remove_file(&begun).map_err(|error| place::failed("remove", &begun, &error))
    }

    async fn write(&self, context: &Context, folder: &Folder, arguments: &Arguments) -> Result<(Exported, Bracket)> {
        let begun = self.begun.as_ref();
        let question = of_scope(arguments)
            .with("unit", Some("file"))
            .with("since", self.since.as_ref())
            .with("until", begun.map(|begun| &begun.cursor))
            .with("after", begun.and_then(|begun| begun.after.as_ref()));
        let answer = folder.get(question.text()).await?;
        let cursor = cursor_of(&answer)?;
        self.note(&cursor, begun.and_then(|begun| begun.after.as_deref()))?;
        let (mut files, mut manifest) = (0, Value::Null);
        let mut removed: Vec<String> = Vec::new();
        let mut bracket = Bracket::default();
        let transfer = Transfer::new(context, "export markdown");
        let taken = transfer.lines(answer, |line| {
            let line: Value = serde_json::from_str(line).or_fail()?;
            let text = |name: &str| line[name].as_str().unwrap_or_default();
            match text("op") {
                "write" => {
                    bracket.take(text("text"));
                    place::write_whole(&self.path(text("path"))?, text("text"))?;
                }
                "delete" => {
                    self.remove(text("path"))?;
                    removed.push(text("path").to_owned());
                }
                _ => {
                    manifest = line.clone();
                    return Ok(());
                }
            }
            files += 1;
            if files % NOTED_EVERY == 0 { self.note(&cursor, line["page"].as_str()) } else { Ok(()) }
        });
        taken.await?;
        if manifest["op"] != "end" {
            return Err(Error::Failed("the export broke off; give the same command to go on with it".into()));
        }
        manifest["removed_files"] = removed.into();
        self.end(&mut manifest)?;
        Ok((Exported { cursor, out: arguments.out.clone(), told: manifest }, bracket))
    }

    /// A path in the folder, whatever the answer says.
    fn path(&self, relative: &str) -> Result<PathBuf> {
        let path = Path::new(relative);
        let is_inside = path.components().all(|part| matches!(part, Component::Normal(_)));
        if !is_inside || relative.is_empty() {
            return Err(Error::Failed(format!("`{relative}` is no path in the folder")));
        }
        Ok(self.dir.join(path))
    }

    /// Removes a file, and the folders that it leaves empty.
    fn remove(&self, relative: &str) -> Result<()> {
        let path = self.path(relative)?;
        match fs::remove_file(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(place::failed("remove", &path, &error));
            }
            _ => {}
        }
        let inside = path.ancestors().skip(1).take_while(|folder| *folder != self.dir);
        // A folder that is not empty stays.
        inside.take_while(|folder| fs::remove_dir(folder).is_ok()).for_each(drop);
        Ok(())
    }
}
