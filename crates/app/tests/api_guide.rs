//! The guide to the API and the client in Python do what they say, against a real crawl.

#![allow(clippy::unwrap_used, reason = "the helpers of tests fail as tests do")]

mod common;

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use common::{Running, crawl_until_idle, json_lines, output, small_web, told, vernal, wait_until};
use serde_json::Value;

const REPOSITORY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// Whether these programs are here. Where `CI` is set their absence is a failure.
fn are_here(programs: &[&str]) -> bool {
    let is_missing =
        |program: &&&str| !Command::new(program).arg("--version").output().is_ok_and(|output| output.status.success());
    let Some(missing) = programs.iter().find(is_missing) else { return true };
    assert!(std::env::var_os("CI").is_none(), "{missing} must be here");
    eprintln!("skipped: there is no {missing}");
    false
}

/// A block of the guide: its language and its lines.
struct Block {
    language: String,
    text: String,
}

fn blocks(guide: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut open: Option<Block> = None;
    for line in guide.lines() {
        match (line.strip_prefix("```"), &mut open) {
            (Some(_), Some(_)) => blocks.extend(open.take()),
            (Some(language), None) => open = Some(Block { language: language.to_owned(), text: String::new() }),
            (None, Some(block)) => block.text.push_str(&format!("{line}\n")),
            (None, None) => {}
        }
    }
    assert!(open.is_none(), "the last block is closed");
    blocks
}

/// The line between the outputs of two blocks.
const BETWEEN: &str = "---- the next block ----";

#[test]
fn the_guide_does_what_it_says() {
    if !are_here(&["bash", "curl", "python3"]) {
        return;
    }
    let (dir, served) = (tempfile::tempdir().unwrap(), small_web());
    let data = dir.path().join("data");
    crawl_until_idle(&data, &served);
    let mut command = vernal(&data);
    command.args(["run", "--allow-private", "--budget", "1/week", "--listen", "127.0.0.1:0"]);
    let mut running = Running::start(&mut command, &data);
    let api = format!("http://{}", running.listening());
    let told = vernal(&data);
    let words: Vec<String> = told.get_args().map(|word| format!("'{}'", word.to_string_lossy())).collect();
    let ours = dir.path().join("vernal");
    fs::write(&ours, format!("#!/bin/sh\nexec '{}' {} \"$@\"\n", env!("CARGO_BIN_EXE_vernal"), words.join(" ")))
        .unwrap();
    fs::set_permissions(&ours, fs::Permissions::from_mode(0o755)).unwrap();

    let guide = blocks(&fs::read_to_string(format!("{REPOSITORY}/docs/api.md")).unwrap());
    let examples: Vec<&Block> = guide.iter().filter(|block| block.language == "sh").collect();
    assert!(examples.len() > 8, "the guide has examples");
    let mut script = String::from("set -euo pipefail\n");
    for example in &examples {
        script.push_str(&format!("{}echo; echo '{BETWEEN}'\n", example.text));
    }
    let path = format!("{}:{}", dir.path().display(), std::env::var("PATH").unwrap());
    let mut bash = Command::new("bash");
    bash.arg("-c").arg(&script).current_dir(dir.path()).env("PATH", path);
    // What the tests are told by the environment is no setting of Vernal.
    std::env::vars_os().map(|(name, _)| name).filter(|name| name.to_string_lossy().starts_with("VERNAL_")).for_each(
        |name| {
            bash.env_remove(name);
        },
    );
    let done = output(bash.env("API", &api).env("EXAMPLES", format!("{REPOSITORY}/examples")));
    let (said, complaint) = (String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
    assert!(done.status.success(), "{said}\n{complaint}");
    let said: Vec<&str> = said.split(BETWEEN).collect();
    let mut at = 0;
    for pair in guide.windows(2) {
        at += usize::from(pair[0].language == "sh");
        if pair[0].language == "sh" && pair[1].language == "text" {
            assert_eq!(said[at - 1].trim(), pair[1].text.trim(), "{}", pair[0].text);
        }
    }
    let all = said.join("\n");
    for word in ["\"cursor\":\"c", "event: ", "data: {", "400", "404", "\"held\"", "operate"] {
        assert!(all.contains(word), "{word}: {all}");
    }
    assert!(!all.contains("vernal_"), "no example shows a token");
    assert_eq!(running.stop(), Some(0));
}

/// The client comes back to a crawl within half a minute; a test that waited longer has failed.
const PATIENCE: Duration = Duration::from_secs(120);

/// A client that follows the feed and prints each event; it never outlives the test.
struct Follower {
    process: Child,
    lines: Receiver<Value>,
}

impl Follower {
    fn start(api: &str, place: &Path) -> Follower {
        let mut command = Command::new("python3");
        command.arg(client()).arg("follow").arg(place).env("API", api).env_remove("TOKEN");
        let mut process = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
        let (said, lines) = channel();
        let output = BufReader::new(process.stdout.take().unwrap());
        std::thread::spawn(move || {
            // A line that was cut off by the end of the process is none.
            let events = output.lines().map_while(Result::ok).filter_map(|line| serde_json::from_str(&line).ok());
            events.map(|event: Value| said.send(event)).take_while(Result::is_ok).count()
        });
        Follower { process, lines }
    }

    /// The ids of the next so many events.
    fn next(&self, count: usize) -> Vec<String> {
        (0..count).map(|_| id(&self.lines.recv_timeout(PATIENCE).expect("the client still follows"))).collect()
    }

    /// Kills it and gives what it had said.
    fn kill(mut self) -> Vec<String> {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
        self.lines.iter().map(|event| id(&event)).collect()
    }
}

impl Drop for Follower {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn client() -> PathBuf {
    Path::new(REPOSITORY).join("examples/vernal_client.py")
}

fn id(event: &Value) -> String {
    event["id"].as_str().unwrap().to_owned()
}

fn feed(data: &Path) -> Vec<String> {
    json_lines(&told(vernal(data).args(["changes", "--json"]))).iter().map(id).collect()
}

#[test]
fn the_client_follows_the_feed_through_a_kill_of_the_crawl_and_of_itself() {
    if !are_here(&["python3"]) {
        return;
    }
    let (dir, served) = (tempfile::tempdir().unwrap(), small_web());
    let (data, place) = (dir.path().join("data"), dir.path().join("place.json"));
    let seeds = served.seeds();
    let (first, second) = seeds.split_at(1);
    told(common::run(&data).arg("--until-idle").args(first));
    let serving = |listen: &str, seeds: &[String]| {
        let mut command = vernal(&data);
        command.args(["run", "--allow-private", "--delay", "2ms", "--listen", listen]).args(seeds);
        command
    };
    let mut running = Running::start(&mut serving("127.0.0.1:0", &[]), &data);
    let address = running.listening();
    let api = format!("http://{address}");
    let before = feed(&data);
    assert!(before.len() > 5);
    let follower = Follower::start(&api, &place);
    let mut heard = follower.next(before.len());
    assert_eq!(heard, before);
    // The crawl dies and comes back at the same address with more to tell.
    running.0.kill().unwrap();
    running.0.wait().unwrap();
    let running = Running::start(&mut serving(&address, second), &data);
    heard.extend(follower.next(3));
    heard.extend(follower.kill());
    wait_until("the second site was crawled", || feed(&data).len() >= 2 * before.len());
    let all = feed(&data);
    let follower = Follower::start(&api, &place);
    let mut distinct: BTreeSet<String> = heard.iter().cloned().collect();
    while distinct.len() < all.len() {
        let next = follower.next(1);
        distinct.extend(next.iter().cloned());
        heard.extend(next);
    }
    // What was printed when the client was killed may come once more; nothing else does.
    assert!(heard.len() <= all.len() + 4, "{} events for {}", heard.len(), all.len());
    assert_eq!(distinct, all.into_iter().collect());
    assert_eq!(running.stop(), Some(0));
}

#[test]
fn the_client_says_what_was_refused() {
    if !are_here(&["python3"]) {
        return;
    }
    let (dir, served) = (tempfile::tempdir().unwrap(), small_web());
    let data = dir.path().join("data");
    crawl_until_idle(&data, &served);
    let mut command = vernal(&data);
    command.args(["run", "--allow-private", "--budget", "1/week", "--listen", "127.0.0.1:0"]);
    let mut running = Running::start(&mut command, &data);
    let api = format!("http://{}", running.listening());
    let token = told(vernal(&data).args(["token", "add", "client", "--role", "operate", "-q"]));
    let token = token.split_whitespace().last().unwrap().to_owned();
    let ask = |token: &str, words: &[&str]| {
        let mut python = Command::new("python3");
        output(python.arg(client()).args(words).env("API", &api).env("TOKEN", token))
    };
    let added = ask(&token, &["add-seed", served.seeds()[0].as_str()]);
    assert_eq!(json_lines(&String::from_utf8(added.stdout).unwrap())[0]["known"], 1);
    let held = ask(&token, &["pages", "state=held"]);
    assert!(json_lines(&String::from_utf8(held.stdout).unwrap()).len() > 20);
    for (token, words, why) in [
        ("", &["add-seed", "http://a.example/"][..], "refused this with 401"),
        ("vernal_wrong", &["status"], "refused this with 401"),
        (&token, &["changes", "since=cnonsense"], "is no cursor"),
        (&token, &["page", "url=http://nowhere.example/"], "refused this with 404"),
        (&token, &["dance"], "there is no `dance`"),
    ] {
        let refused = ask(token, words);
        let complaint = String::from_utf8(refused.stderr).unwrap();
        assert!(refused.status.code() == Some(1) && complaint.contains(why), "{words:?}: {complaint}");
    }
    assert_eq!(running.stop(), Some(0));
}
