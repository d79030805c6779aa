//! `kill -9` of the real binary at random instants: nothing acknowledged is missing, delays hold, and the end is that of
//! a crawl that was never killed.
//!
//! The long test: `VERNAL_KILL_ROUNDS=200 cargo test --release -p vernal-app --test kill`. `VERNAL_KILL_CHANCE` gives
//! another chance number than 1; every crawl prints its own, so that a failure names the one to come back to.

#![allow(clippy::unwrap_used, reason = "the helpers of tests fail as tests do")]

mod common;

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

use common::replica::Replica;
use common::{Running, assert_sound, invented_in_real_time, json_lines, refused, told, vernal, wait_until, wall};
use serde_json::Value;
use vernal_model::{Chance, Moment, Span};
use vernal_repository::{Cursor, Repository};
use vernal_simulator::drift::DriftSettings;
use vernal_simulator::serve::{ServeOptions, Served, serve};
use vernal_simulator::web::{Shares, Web, WebSettings};

const ROUNDS_DEFAULT: u64 = 20;
/// Kills within one crawl; more rounds are more crawls.
const KILLS_PER_CRAWL: u64 = 10;
/// Longer than a start of the binary takes, so that a process that forgot its forerunner would be found out.
const DELAY: Span = Span::from_millis(200);

fn number(variable: &str, default: u64) -> u64 {
    std::env::var(variable).map_or(default, |text| text.parse().expect("the variable holds a number"))
}

/// What a still web can have: redirects, missing pages, files, robots rules, old charsets, slow answers. What depends on
/// the hour is left out, and what is asked for again after half a minute, because these crawls end in a few seconds.
fn realistic(sites: usize, pages: usize) -> WebSettings {
    let lasting = Shares { busy: 0.0, server_error: 0.0, huge: 0.0, trap_sites: 0.0, ..Shares::realistic() };
    let share = Shares { soft_missing: 0.0, login: 0.0, ..lasting };
    WebSettings { share, noise: false, odd_robots: false, ..WebSettings::realistic(sites, pages) }.still()
}

/// What must be equal at the end of two crawls of one web: the known count, and of each page its state, outcome,
/// payload and links.
#[derive(PartialEq)]
struct End {
    known: u64,
    pages: BTreeMap<String, String>,
}

impl End {
    fn of(data: &Path) -> End {
        let (repository, _) = Repository::open(data, vernal_repository::Settings::default(), wall()).unwrap();
        let reader = repository.reader();
        let end = |page: vernal_model::Page| {
            let links = reader.document(page.key).unwrap().map(|document| document.links);
            let payload = page.version.map(|version| version.payload);
            let (state, outcome) = (page.state, page.last_outcome.name());
            (page.url.to_string(), format!("{state:?} {outcome} {payload:?} {links:?}"))
        };
        let pages = reader.pages(None, usize::MAX).unwrap().into_iter().map(end).collect();
        End { known: reader.totals().known, pages }
    }

    fn assert_is(&self, whole: &End, when: &str) {
        for (url, page) in &whole.pages {
            assert_eq!(self.pages.get(url), Some(page), "{when}: {url}");
        }
        let more = self.pages.keys().find(|url| !whole.pages.contains_key(*url));
        assert_eq!(more, None, "{when}: no page more");
        assert_eq!(self.known, whole.known, "{when}: the known count");
    }
}

/// What readers had been told at some instant, and may rely on from then on.
#[derive(Default)]
struct Acknowledged {
    cursor: Cursor,
    /// Of each held page its version, its visits and the last of them.
    held: BTreeMap<String, String>,
    events: Vec<Value>,
}

impl Acknowledged {
    fn by(data: &Path) -> Acknowledged {
        let status: Value = serde_json::from_str(&told(vernal(data).args(["status", "--json"]))).unwrap();
        let cursor = status["cursor"].as_str().unwrap().parse().unwrap();
        let events = json_lines(&told(vernal(data).args(["changes", "--json"])));
        let row = |page: Value| {
            let told = format!("version {} of {} in {} visits", page["version"], page["last_visit"], page["visits"]);
            (page["url"].as_str().unwrap().to_owned(), told)
        };
        let held = json_lines(&told(vernal(data).args(["pages", "--json", "--state", "held"])));
        Acknowledged { cursor, held: held.into_iter().map(row).collect(), events }
    }

    fn assert_still_in(&self, later: &Acknowledged, when: &str) {
        assert!(later.cursor >= self.cursor, "{when}: cursor {} after {}", later.cursor, self.cursor);
        for (url, page) in &self.held {
            assert_eq!(later.held.get(url), Some(page), "{when}: {url}");
        }
        assert!(later.events.starts_with(&self.events), "{when}: the feed was told otherwise before");
    }
}

/// One web, and the end of a crawl of it that nobody killed.
struct Ground {
    served: Served,
    whole: End,
    /// Requests from here on are those of crawls that are killed.
    from: Moment,
}

impl Ground {
    fn new(settings: WebSettings) -> Ground {
        let served = invented_in_real_time(settings);
        let dir = tempfile::tempdir().unwrap();
        let data = dir.path().join("data");
        told(quick(&data).arg("--until-idle").args(served.seeds()));
        let whole = End::of(&data);
        assert!(whole.pages.len() > served.web().truth().len() / 2, "most of the web is reachable");
        Ground { served, whole, from: wall() }
    }

    fn requests(&self) -> u64 {
        self.served.counts().requests
    }

    /// The server's own log: from one request to a site to the next at least the delay passed, whoever asked.
    fn assert_polite(&self, from: Moment) {
        let mut starts: BTreeMap<usize, Vec<(Moment, Box<str>)>> = BTreeMap::new();
        for asked in self.served.log().into_iter().filter(|asked| asked.started >= from) {
            starts.entry(asked.site).or_default().push((asked.started, asked.path));
        }
        for (site, mut starts) in starts {
            starts.sort();
            for pair in starts.windows(2) {
                let gap = pair[1].0.since(pair[0].0);
                assert!(gap >= DELAY, "site {site}: {} was asked {gap:?} after {}", pair[1].1, pair[0].1);
            }
        }
    }
}

/// As fast as it goes.
fn quick(data: &Path) -> Command {
    let mut command = vernal(data);
    // As fast as its lives are short: a crawl that had nothing left to ask for would prove nothing.
    command.args(["run", "-q", "--allow-private", "--no-serve", "--delay", "4ms", "--per-site", "8"]);
    command.args(["--per-address-rate", "1000000"]);
    command
}

fn polite(data: &Path) -> Command {
    let mut command = vernal(data);
    command.args(["run", "-q", "--allow-private", "--no-serve", "--delay", "200ms"]);
    command
}

/// A crawl that is killed again and again.
struct Victim<'a> {
    ground: &'a Ground,
    data: PathBuf,
    command: fn(&Path) -> Command,
    chance: Chance,
    acknowledged: Acknowledged,
}

impl Victim<'_> {
    fn command(&self) -> Command {
        let mut command = (self.command)(&self.data);
        command.args(self.ground.served.seeds());
        command
    }

    /// One life: it goes on where the last one was killed, asks for at most `requests_max` more, and is killed.
    fn live_and_die(&mut self, requests_max: u64, when: &str) {
        if self.chance.happens(0.2) {
            self.die_at_start();
        }
        let looks_before_start = self.data.join("FORMAT").exists() && self.chance.happens(0.5);
        if looks_before_start {
            self.look(when);
        }
        let running = Running::start(&mut self.command(), &self.data);
        if !looks_before_start {
            self.look(when);
        }
        let before = self.ground.requests();
        let first = before + 1 + self.chance.below(requests_max / 2);
        wait_until("the crawl asks", || self.ground.requests() >= first);
        self.acknowledged = Acknowledged::by(&self.data);
        let last = first + self.chance.below(requests_max / 2);
        wait_until("the crawl goes on", || self.ground.requests() >= last);
        drop(running);
    }

    /// What was told before the kill is still so, and the folder is sound.
    fn look(&mut self, when: &str) {
        let now = Acknowledged::by(&self.data);
        self.acknowledged.assert_still_in(&now, when);
        self.acknowledged = now;
        assert_sound(&self.data);
    }

    /// Killed once it holds the folder, in the middle of opening it.
    fn die_at_start(&self) {
        let child = self.command().stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        let running = Running(child.unwrap());
        let process = running.0.id().to_string();
        let holder = || fs::read_to_string(self.data.join("lock")).unwrap_or_default();
        wait_until("the folder is held", || holder().trim() == process);
        drop(running);
    }

    fn end(mut self, when: &str) {
        self.look(when);
        told(self.command().arg("--until-idle"));
        self.look(when);
        End::of(&self.data).assert_is(&self.ground.whole, when);
    }
}

fn crawl_with_kills(ground: &Ground, command: fn(&Path) -> Command, kills: u64, chance: u64) {
    eprintln!("chance {chance}");
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    let chance_of_kills = Chance::new(chance).stream("kills");
    let acknowledged = Acknowledged::default();
    let mut victim = Victim { ground, data, command, chance: chance_of_kills, acknowledged };
    // All lives together ask for less than the web has, so that none waits for requests that never come.
    let requests_max = ground.whole.pages.len() as u64 / KILLS_PER_CRAWL;
    for kill in 0..kills {
        victim.live_and_die(requests_max, &format!("chance {chance}, kill {kill}"));
    }
    victim.end(&format!("chance {chance}, at the end"));
}

#[test]
fn a_crawl_killed_at_random_instants_loses_nothing_and_ends_like_one_that_was_not() {
    let mut rounds = number("VERNAL_KILL_ROUNDS", ROUNDS_DEFAULT);
    let first = number("VERNAL_KILL_CHANCE", 1);
    let grounds = [Ground::new(WebSettings::plain(60, 20).still()), Ground::new(realistic(60, 20))];
    for (crawl, ground) in grounds.iter().cycle().enumerate() {
        let kills = rounds.min(KILLS_PER_CRAWL);
        if kills == 0 {
            break;
        }
        crawl_with_kills(ground, polite, kills, first + crawl as u64);
        rounds -= kills;
    }
    for ground in &grounds {
        ground.assert_polite(ground.from);
    }
}

#[test]
fn kills_under_a_heavy_load_of_commits_lose_nothing() {
    let ground = Ground::new(WebSettings::plain(3, 2_000).still());
    crawl_with_kills(&ground, quick, 5, number("VERNAL_KILL_CHANCE", 1));
}

#[test]
fn who_follows_the_feed_of_a_crawl_that_is_killed_again_and_again_holds_every_page() {
    // The hour of the web goes faster than that on the wall: each page changes about every two seconds.
    let start = wall();
    let settings =
        WebSettings { drift: DriftSettings::independent(2_000.0), origin: start, ..WebSettings::plain(3, 40) };
    let web = Web::new(settings).unwrap();
    let clock = Arc::new(move || start + wall().since(start).scaled(20.0));
    let served = serve(&web, clock, &ServeOptions { spread_addresses: true, ..ServeOptions::default() }).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    let mut chance = Chance::new(number("VERNAL_KILL_CHANCE", 1)).stream("followed");
    let mut replica = Replica::default();
    let mut crawl = quick(&data);
    crawl.args(["--refresh-min", "0s", "--budget", "1000000/s"]).args(served.seeds());
    for _ in 0..8 {
        let running = Running::start(&mut crawl, &data);
        let requests = served.counts().requests + 40 + chance.below(80);
        wait_until("the crawl asks", || served.counts().requests >= requests);
        // Now and then it is followed while the crawl works, up to any instant.
        if chance.happens(0.5) {
            replica.follow(&data);
        }
        drop(running);
        replica.follow(&data);
        replica.assert_is_that_of(&data);
    }
    let mut late = Replica::default();
    late.follow(&data);
    assert!(late.assert_is_that_of(&data) > 30);
    assert_eq!(
        (late.events, &late.cursor),
        (replica.events, &replica.cursor),
        "the feed is the same for who comes late"
    );
    assert!(late.events > 150, "{} events", late.events);
    assert_sound(&data);
}

/// What a loss of power leaves behind an end: bytes that were never written, half of a write, or a write in disorder.
#[derive(Copy, Clone, Debug)]
enum Tear {
    Zeros,
    Garbage,
    /// The file's own last bytes once more, cut in the middle.
    HalfAgain,
}

impl Tear {
    const ALL: [Tear; 3] = [Tear::Zeros, Tear::Garbage, Tear::HalfAgain];

    fn at_end_of(self, path: &Path, chance: &mut Chance) {
        let bytes = 1 + chance.below(5_000) as usize;
        let whole = fs::read(path).unwrap();
        let torn = match self {
            Tear::Zeros => vec![0; bytes],
            Tear::Garbage => (0..bytes).map(|_| chance.bits() as u8).collect(),
            Tear::HalfAgain => {
                whole[whole.len() - bytes.min(whole.len())..whole.len() - bytes.min(whole.len()) / 2].to_vec()
            }
        };
        OpenOptions::new().append(true).open(path).unwrap().write_all(&torn).unwrap();
    }
}

/// The file of a folder whose name comes last.
fn newest(folder: &Path) -> PathBuf {
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    files.max().expect("the folder holds a file")
}

/// Lets a crawl begin, kills it, and gives what it had acknowledged.
fn killed_early(ground: &Ground, data: &Path) -> Acknowledged {
    let running = Running::start(quick(data).args(ground.served.seeds()), data);
    let mut acknowledged = Acknowledged::default();
    wait_until("something is acknowledged", || {
        acknowledged = Acknowledged::by(data);
        acknowledged.held.len() >= 20
    });
    drop(running);
    acknowledged
}

#[test]
fn torn_writes_after_a_kill_are_cut_and_nothing_acknowledged_goes_with_them() {
    let ground = Ground::new(WebSettings::plain(2, 150).still());
    let mut chance = Chance::new(number("VERNAL_KILL_CHANCE", 1)).stream("tears");
    for tear in Tear::ALL {
        let dir = tempfile::tempdir().unwrap();
        let data = dir.path().join("data");
        let acknowledged = killed_early(&ground, &data);
        for folder in ["journal", "bodies"] {
            tear.at_end_of(&newest(&data.join(folder)), &mut chance);
        }
        told(quick(&data).arg("--until-idle"));
        acknowledged.assert_still_in(&Acknowledged::by(&data), &format!("{tear:?}"));
        assert_sound(&data);
        End::of(&data).assert_is(&ground.whole, &format!("{tear:?}"));
    }
}

#[test]
fn a_journal_cut_short_is_refused_by_name_and_goes_on_without_its_tables() {
    let ground = Ground::new(WebSettings::plain(2, 150).still());
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    killed_early(&ground, &data);
    // Opened once, the tables have seen the whole journal; the kill may have come just before they had.
    Acknowledged::by(&data);
    let journal = newest(&data.join("journal"));
    let bytes = fs::metadata(&journal).unwrap().len();
    OpenOptions::new().write(true).open(&journal).unwrap().set_len(bytes - 7).unwrap();
    let (code, complaint) = refused(quick(&data).arg("--until-idle"));
    assert_eq!((code, complaint.lines().count()), (1, 1), "{complaint}");
    assert!(complaint.contains(&journal.display().to_string()), "{complaint}");
    // As a loss of power would have it: the tables were synced later than the journal, so they have not seen more.
    fs::remove_dir_all(data.join("tables")).unwrap();
    told(quick(&data).arg("--until-idle"));
    assert_sound(&data);
    End::of(&data).assert_is(&ground.whole, "after a cut journal");
}
