//! A crawl that serves its API and its archive, and what a test asks them.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::Stdio;

use super::{Running, ask_port, vernal};

/// A crawl that serves, with the addresses of its main origin and of its archive.
pub struct Serving {
    pub _running: Running,
    pub main: String,
    pub archive: String,
}

pub fn serving(data: &Path, url: &str, more: &[&str]) -> Serving {
    let mut command = vernal(data);
    command.args(["run", "--allow-private", "--delay", "2ms", "--listen", "127.0.0.1:0", "--archive-listen"]);
    let mut running = Running(command.args(["127.0.0.1:0", url]).args(more).stderr(Stdio::piped()).spawn().unwrap());
    let mut lines = BufReader::new(running.0.stderr.take().unwrap()).lines().map_while(Result::ok);
    let mut next = |words: &str| {
        let said = lines.find_map(|line| Some(line.split_once(words)?.1.trim_end_matches('/').to_owned()));
        said.expect("it says where it serves")
    };
    let (main, archive) = (next("serving on http://"), next("archived pages on http://"));
    // Whatever else it says is read, so that it never waits for us.
    std::thread::spawn(move || lines.for_each(drop));
    Serving { _running: running, main, archive }
}

/// Status and head of an answer in small letters, and its body.
pub fn ask(address: &str, target: &str, fields: &str) -> (u16, String, String) {
    let answer = ask_port(address, &format!("GET {target} HTTP/1.1\r\n{fields}"));
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
    (status, head.to_ascii_lowercase(), body.to_owned())
}

pub fn field<'a>(head: &'a str, name: &str) -> &'a str {
    head.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": ")).unwrap_or_default()
}
