//! One's own crawl as a trace: what its visits found, in the format that [`super::load`] reads.
//!
//! A crawl knows a change only by the visit that found it: it happened since the visit before, and of several changes
//! between two visits one is seen. Such a recording is interval-censored. It says so in the head file beside it
//! (`web.head.json` beside `web.csv.gz`), and a replay of it flatters policies that visit like the one that recorded it.
//!
//! ```text
//! site,page,change_time_unix,bytes,kind     the head line, then one line for each change, CSV after RFC 4180
//! ```

use std::collections::{HashMap, HashSet};
use std::io::Write;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use vernal_model::{Change, EventKind, Kind, Moment, Page, PageKey, PageState, Visit};
use vernal_repository::{Cursor, Reader};

use super::rows::{COLUMNS, TIME_SECS_MAX};
use crate::lab::world::ChangeKind;
use crate::{Error, Result};

/// Events read at a time.
const EVENTS_AT_ONCE: usize = 10_000;

/// One line of a trace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OwnRow {
    pub site: String,
    pub page: String,
    pub change_time_unix: i64,
    pub bytes: u64,
    pub kind: String,
    /// When its page was visited last; not part of the file's line, but of what its head says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_visit_unix: Option<i64>,
}

/// What the head file says.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Head {
    /// Changes are known to lie between two visits only.
    pub censored: bool,
    #[serde(default)]
    pub note: String,
    #[serde(default)]
    pub rows: u64,
    #[serde(default)]
    pub sites: u64,
    #[serde(default)]
    pub pages: u64,
    #[serde(default)]
    pub cursor: String,
    /// The last visit to any page: until then it is known that nothing else changed. Without it a recording reaches to its
    /// last row, and a quiet end is lost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_until_unix: Option<i64>,
}

/// What is said of every recording of a crawl.
pub const CENSORED_NOTE: &str = "recorded by a crawl: each change is dated by the visit that found it, and several \
                                 changes between two visits are one";

impl Head {
    /// The head file of a trace: `web.head.json` for `web.csv.gz` and `web.csv`.
    pub fn path(trace: &Path) -> PathBuf {
        let name = trace.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        let stem = name.strip_suffix(".gz").unwrap_or(&name);
        trace.with_file_name(format!("{}.head.json", stem.strip_suffix(".csv").unwrap_or(stem)))
    }

    /// The head of a trace: the file beside it, or what its rows tell of themselves where they are JSON lines.
    pub fn of(trace: &Path) -> Option<Head> {
        let beside = || serde_json::from_str(&std::fs::read_to_string(Self::path(trace)).ok()?).ok();
        beside().or_else(|| super::rows_of(trace).ok()?.head().ok()?)
    }

    /// To when the recording reaches, if that is a time that a row could have too.
    pub fn observed_until(&self) -> Option<Moment> {
        self.observed_until_unix.filter(|secs| (0..=TIME_SECS_MAX).contains(secs)).map(Moment::from_secs)
    }
}

/// Writes a trace.
pub struct Writer<W: Write> {
    out: W,
    head: Head,
    last: (String, String),
}

impl<W: Write> Writer<W> {
    pub fn new(mut out: W) -> std::io::Result<Self> {
        writeln!(out, "{}", COLUMNS.join(","))?;
        let head = Head { censored: true, note: CENSORED_NOTE.to_owned(), ..Head::default() };
        Ok(Writer { out, head, last: Default::default() })
    }

    /// Rows come in the order of sites, pages and time.
    pub fn row(&mut self, row: &OwnRow) -> std::io::Result<()> {
        let new_site = self.head.rows == 0 || self.last.0 != row.site;
        let new_page = new_site || self.last.1 != row.page;
        self.head.rows += 1;
        self.head.sites += u64::from(new_site);
        self.head.pages += u64::from(new_page);
        self.head.observed_until_unix = self.head.observed_until_unix.max(row.last_visit_unix);
        if new_page {
            self.last = (row.site.clone(), row.page.clone());
        }
        let (site, page) = (quoted(&row.site), quoted(&row.page));
        writeln!(self.out, "{site},{page},{},{},{}", row.change_time_unix, row.bytes, row.kind)
    }

    pub fn end(mut self) -> std::io::Result<(W, Head)> {
        self.out.flush()?;
        Ok((self.out, self.head))
    }
}

fn quoted(field: &str) -> String {
    if field.contains(['"', ',', '\n', '\r']) {
        format!("\"{}\"", field.replace('"', "\"\""))
    } else {
        field.to_owned()
    }
}

/// Gives every row of a repository's history, in the order of a trace.
pub fn rows(reader: &Reader, mut take: impl FnMut(OwnRow) -> Result<()>) -> Result<()> {
    let kinds = kinds_of_versions(reader)?;
    for (site, name, page) in names(reader)? {
        let visits = reader.visits(page.key).map_err(repository)?;
        let last_visit = visits.iter().map(|visit| visit.started).fold(page.last_visit, Moment::max);
        let last_visit_unix = Some(last_visit.micros() / 1_000_000);
        for (moment, bytes, kind) in page_rows(&page, &visits, &kinds) {
            let (site, name) = (site.clone(), name.clone());
            let change_time_unix = moment.micros() / 1_000_000;
            let kind = kind.name().to_owned();
            take(OwnRow { site, page: name, change_time_unix, bytes, kind, last_visit_unix })?;
        }
    }
    Ok(())
}

/// Pages that were read at least once, by site and by name within it.
fn names(reader: &Reader) -> Result<Vec<(String, String, Page)>> {
    let (mut named, mut seen) = (Vec::new(), HashSet::new());
    for page in reader.pages_after(None) {
        let page = page.map_err(repository)?;
        if page.version.is_none() {
            continue;
        }
        let site = page.url.site_text().to_owned();
        let mut name = page.url.path_and_query().to_owned();
        if !seen.insert((site.clone(), name.clone())) {
            // One site answers on two schemes.
            name = page.url.as_str().to_owned();
            seen.insert((site.clone(), name.clone()));
        }
        named.push((site, name, page));
    }
    named.sort_by(|one, other| (&one.0, &one.1).cmp(&(&other.0, &other.1)));
    Ok(named)
}

/// The kind of the change that made each version, where the feed tells of it.
fn kinds_of_versions(reader: &Reader) -> Result<HashMap<(PageKey, u32), ChangeKind>> {
    let (mut kinds, mut after) = (HashMap::new(), Cursor::default());
    loop {
        let events = reader.events(after, EVENTS_AT_ONCE).map_err(repository)?;
        let Some((last, _, _)) = events.last() else { return Ok(kinds) };
        after = *last;
        for (_, _, event) in events {
            if let (EventKind::Changed, Some(version)) = (event.kind, event.version) {
                kinds.insert((event.page, version), kind_of(&event.change));
            }
        }
    }
}

fn kind_of(change: &Change) -> ChangeKind {
    let order = [
        (Kind::Content, ChangeKind::Content),
        (Kind::Structure, ChangeKind::Structure),
        (Kind::Behaviour, ChangeKind::Behaviour),
        (Kind::Presentation, ChangeKind::Presentation),
    ];
    order.into_iter().find(|(kind, _)| change.left.contains(*kind)).map_or(ChangeKind::Nothing, |(_, kind)| kind)
}

fn page_rows(
    page: &Page,
    visits: &[Visit],
    kinds: &HashMap<(PageKey, u32), ChangeKind>,
) -> Vec<(Moment, u64, ChangeKind)> {
    let mut rows: Vec<(Moment, u64, ChangeKind)> = Vec::new();
    for visit in visits {
        let Some(version) = visit.version else { continue };
        let told = kinds.get(&(page.key, version.number)).copied();
        let kind = match (rows.is_empty(), visit.changed) {
            (true, _) => ChangeKind::Created,
            (false, Some(true)) => told.unwrap_or(ChangeKind::Content),
            (false, _) => told.unwrap_or(ChangeKind::Nothing),
        };
        rows.push((visit.started, u64::from(version.body_bytes), kind));
    }
    rows.sort_by_key(|(moment, ..)| *moment);
    if page.state == PageState::Gone
        && let Some(last) = rows.last().map(|(moment, ..)| *moment)
    {
        rows.push((page.missing_since.unwrap_or(page.last_visit).max(last), 0, ChangeKind::Deleted));
    }
    rows
}

fn repository(error: vernal_repository::Error) -> Error {
    Error::Lab(error.to_string())
}

#[cfg(test)]
mod tests {
    use vernal_model::Span;

    use super::*;
    use crate::lab::trace::{Selection, load, load_good_rows, read};

    #[test]
    fn what_is_written_is_read_back() {
        let row = |page: &str, secs, kind: &str| OwnRow {
            site: "a.example".into(),
            page: page.into(),
            change_time_unix: secs,
            bytes: 7,
            kind: kind.into(),
            last_visit_unix: Some(864_000),
        };
        let mut writer = Writer::new(Vec::new()).unwrap();
        for row in [row("/,\"x\"", 86_400, "create"), row("/y", 86_400, "create"), row("/y", 172_800, "content")] {
            writer.row(&row).unwrap();
        }
        let (bytes, head) = writer.end().unwrap();
        assert_eq!((head.censored, head.rows, head.sites, head.pages), (true, 3, 1, 2));
        let (world, summary) = read(&bytes, "own", &Selection::default()).unwrap();
        assert_eq!((summary.rows, summary.pages), (3, 2));
        assert_eq!(&*world.pages[0].name, "/,\"x\"");
        assert_eq!((world.length(), summary.changes), (Span::from_days(1), 0), "nothing is known after the last row");
        // The quiet days up to the last visit were seen too, and the change before them counts.
        let selection = Selection { observed_until: head.observed_until(), ..Selection::default() };
        let (world, summary) = read(&bytes, "own", &selection).unwrap();
        assert_eq!((world.length(), summary.changes), (Span::from_days(9), 1));
    }

    #[test]
    fn a_file_reaches_to_the_last_visit_that_its_head_tells_of_and_no_further_than_asked() {
        let dir = tempfile::tempdir().unwrap();
        let trace = dir.path().join("web.csv");
        let rows = "site,page,change_time_unix,bytes,kind\na,/,86400,1,create\na,/,172800,1,content\n";
        std::fs::write(&trace, rows).unwrap();
        let days = |days: Option<f64>| {
            let selection = Selection { days, ..Selection::default() };
            let (world, summary, _) = load_good_rows(&trace, &selection).unwrap();
            assert_eq!(load(&trace, &selection).unwrap().0, world);
            (world.length().days_f64(), summary.changes)
        };
        assert_eq!(days(None), (1.0, 0), "without a head");
        let head = |text: &str| std::fs::write(Head::path(&trace), text).unwrap();
        head("{\"censored\": true, \"observed_until_unix\": 864000}");
        assert_eq!((days(None), days(Some(4.0)), days(Some(40.0))), ((9.0, 1), (4.0, 1), (9.0, 1)));
        head("{\"censored\": true}");
        assert_eq!(days(None), (1.0, 0), "a head of old says nothing of the end");
        head("{\"censored\": true, \"observed_until_unix\": 9000000000000}");
        assert_eq!(days(None), (1.0, 0), "no row could be of that time");
    }

    #[test]
    fn the_lines_of_the_api_are_the_same_trace_as_the_file_of_an_export() {
        let row = |page: &str, day: i64, kind: &str| OwnRow {
            site: "a.example".into(),
            page: page.into(),
            change_time_unix: day * 86_400,
            bytes: 7,
            kind: kind.into(),
            last_visit_unix: Some(10 * 86_400),
        };
        let rows = [row("/,\"x\"", 1, "create"), row("/y", 1, "create"), row("/y", 2, "content")];
        let dir = tempfile::tempdir().unwrap();
        let lines: String = rows.iter().map(|row| serde_json::to_string(row).unwrap() + "\n").collect();
        let mut writer = Writer::new(Vec::new()).unwrap();
        rows.iter().for_each(|row| writer.row(row).unwrap());
        let (bytes, head) = writer.end().unwrap();
        let [from_api, exported] = ["web.jsonl", "web.csv"].map(|name| dir.path().join(name));
        std::fs::write(&from_api, &lines).unwrap();
        std::fs::write(&exported, bytes).unwrap();
        std::fs::write(Head::path(&exported), serde_json::to_string(&head).unwrap()).unwrap();
        let loaded = |path: &Path| {
            let (mut world, summary, wrong) = load_good_rows(path, &Selection::default()).unwrap();
            world.name = "own".into();
            (world, summary, wrong.len())
        };
        assert_eq!(loaded(&from_api), loaded(&exported));
        let told = Head::of(&from_api).unwrap();
        assert_eq!((told.censored, told.rows, told.observed_until()), (true, 3, head.observed_until()));
        std::fs::write(&from_api, lines + "{\"site\":\"a\"}\n{\"site\"\n").unwrap();
        assert_eq!(loaded(&from_api).2, 2, "bad lines are passed over and named");
    }

    #[test]
    fn the_head_lies_beside_its_trace() {
        assert_eq!(Head::path(Path::new("/a/web.csv.gz")), Path::new("/a/web.head.json"));
        assert_eq!(Head::path(Path::new("web.csv")), Path::new("web.head.json"));
    }
}
