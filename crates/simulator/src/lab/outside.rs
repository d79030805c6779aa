//! Policies that are programs of their own, so that a researcher needs no fork.
//!
//! The program is started by the shell and hears JSON objects on its standard input, one to a line. It answers `choose`
//! with one line and nothing else; what it writes to its standard error goes to ours. Times are seconds since 1970 as
//! numbers, pages and sites are whole numbers.
//!
//! ```text
//! {"recall":{"page":7,"site":0,"path":2,"importance":1.0,"last_visit":1767225600.0,"wire_bytes":8120,"known_rate":null}}
//!     the page is held from now on; comes after the learn of its first visit
//! {"learn":{"page":7,"moment":1767229200.0,"previous":1767225600.0,"changed":true,"degree":0.31,
//!           "last_modified":null,"wire_bytes":8120}}
//!     what a visit found; changed is null if there was nothing to compare with
//! {"hint":{"page":7,"worth":86400.0}}       a hint that the page changed, worth so many seconds of waiting
//! {"put_back":{"page":7}}                   a chosen page was not visited: its site had no room, or it was visited at this
//! instant {"forget":{"page":7}}                     the page is gone
//! {"choose":{"now":1767229200.0,"visits_left":3,"held":5000,"per_day":250.0,"refresh_min":0.0,"full":[4,9]}}
//!     asks for at most visits_left pages, none of a site in full, the most urgent first
//! ```
//!
//! The answer: `{"pages":[7,12]}`. At the end its standard input is closed, and it should end too.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel, sync_channel};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use vernal_model::{Chance, Moment, PageKey, Partition, PolicyState, Span};
use vernal_policy::{Held, Hinted, Refresh, Seen, View};

use crate::{Error, Result};

/// An answer is at most so long: a million pages.
const ANSWER_BYTES_MAX: usize = 16 << 20;
/// A program that has not answered after this is given up.
const ANSWER_WITHIN: Duration = Duration::from_secs(60);
/// Lines are sent to the program in parts of this size, or when it is asked something.
const SAID_BYTES: usize = 256 << 10;

/// A policy at the other end of a pipe.
pub struct Outside {
    command: String,
    child: Child,
    /// Lines that were written and not yet sent.
    said: Vec<u8>,
    /// To the thread that writes to the program, so that a program that does not read cannot block the trial.
    ears: Option<Sender<Vec<u8>>>,
    /// From the thread that reads its answers.
    answers: Receiver<std::io::Result<Vec<u8>>>,
    answer_within: Duration,
    /// One page of each site, to ask the View by.
    sites: BTreeMap<u32, PageKey>,
    /// The first thing that went wrong; after it the program is no longer asked.
    trouble: Option<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum Word {
    Recall {
        page: u32,
        site: u32,
        path: u32,
        importance: f32,
        last_visit: f64,
        wire_bytes: u64,
        known_rate: Option<f64>,
    },
    Learn {
        page: u32,
        moment: f64,
        previous: Option<f64>,
        changed: Option<bool>,
        degree: f32,
        last_modified: Option<f64>,
        wire_bytes: u64,
    },
    Hint {
        page: u32,
        worth: f64,
    },
    PutBack {
        page: u32,
    },
    Forget {
        page: u32,
    },
    Choose {
        now: f64,
        visits_left: usize,
        held: u64,
        per_day: f64,
        refresh_min: f64,
        full: Vec<u32>,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Answer {
    pages: Vec<u32>,
}

impl Outside {
    pub fn start(command: &str) -> Result<Self> {
        Self::start_with(command, ANSWER_WITHIN)
    }

    pub fn start_with(command: &str, answer_within: Duration) -> Result<Self> {
        let failed = |source| Error::OutsideStart { command: command.to_owned(), source };
        let mut child = Command::new("sh")
            .args(["-c", &format!("exec {command}")])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(failed)?;
        let mut input = child.stdin.take().expect("the standard input was asked for");
        let output = child.stdout.take().expect("the standard output was asked for");
        let (ears, heard) = channel::<Vec<u8>>();
        // Both threads end when the pipe or the policy does.
        std::thread::spawn(move || {
            for part in heard {
                if input.write_all(&part).and_then(|()| input.flush()).is_err() {
                    break;
                }
            }
        });
        let (told, answers) = sync_channel(1);
        std::thread::spawn(move || {
            let mut output = BufReader::new(output);
            loop {
                let line = read_line(&mut output);
                let last = !matches!(&line, Ok(line) if !line.is_empty());
                if told.send(line).is_err() || last {
                    break;
                }
            }
        });
        Ok(Outside {
            command: command.to_owned(),
            child,
            said: Vec::new(),
            ears: Some(ears),
            answers,
            answer_within,
            sites: BTreeMap::new(),
            trouble: None,
        })
    }

    /// Closes its standard input, ends it, and says what went wrong on the way.
    pub fn end(mut self) -> Result<()> {
        match self.trouble.take() {
            None => Ok(()),
            Some(why) => Err(Error::Outside { command: self.command.clone(), why }),
        }
    }

    fn say(&mut self, word: &Word) {
        if self.trouble.is_some() {
            return;
        }
        serde_json::to_writer(&mut self.said, word).expect("words are plain numbers and lists");
        self.said.push(b'\n');
        if self.said.len() >= SAID_BYTES {
            self.hand_over();
        }
    }

    fn hand_over(&mut self) {
        let said = std::mem::take(&mut self.said);
        let heard = self.ears.as_ref().is_some_and(|ears| ears.send(said).is_ok());
        if !heard {
            self.trouble.get_or_insert_with(|| "it no longer listens".to_owned());
        }
    }

    fn answer(&mut self) -> std::result::Result<Vec<u32>, String> {
        let line = match self.answers.recv_timeout(self.answer_within) {
            Ok(Ok(line)) if line.is_empty() => return Err(self.last_words()),
            Ok(Ok(line)) => line,
            Ok(Err(error)) => return Err(format!("its answer cannot be read: {error}")),
            Err(RecvTimeoutError::Timeout) => {
                return Err(format!("it did not answer within {} s", self.answer_within.as_secs_f64()));
            }
            Err(RecvTimeoutError::Disconnected) => return Err(self.last_words()),
        };
        let answer: Answer = serde_json::from_slice(&line).map_err(|error| {
            let begin = String::from_utf8_lossy(&line[..line.len().min(80)]).trim_end().to_owned();
            format!("`{begin}` is no answer: {error}")
        })?;
        Ok(answer.pages)
    }

    fn last_words(&mut self) -> String {
        match self.child.try_wait() {
            Ok(Some(status)) => format!("it ended with {status} before its answer"),
            _ => "it closed its output before its answer".to_owned(),
        }
    }
}

impl Drop for Outside {
    fn drop(&mut self) {
        self.ears = None;
        // It had its time to answer, and nothing that it does after the trial is used.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Refresh for Outside {
    fn name(&self) -> &'static str {
        "exec"
    }

    fn recall(&mut self, held: &Held<'_>) {
        self.sites.entry(held.site).or_insert(held.page);
        self.say(&Word::Recall {
            page: held.page.number,
            site: held.site,
            path: held.path,
            importance: held.importance,
            last_visit: seconds(held.last_visit),
            wire_bytes: held.wire_bytes,
            known_rate: held.known_rate,
        });
    }

    fn choose(&mut self, view: &dyn View, now: Moment, _: &mut Chance) -> Vec<PageKey> {
        let full = self.sites.iter().filter(|&(_, &page)| !view.has_room(page)).map(|(&site, _)| site).collect();
        self.say(&Word::Choose {
            now: seconds(now),
            visits_left: view.visits_left(),
            held: view.held(),
            per_day: view.per_day(),
            refresh_min: view.refresh_min().secs_f64(),
            full,
        });
        self.hand_over();
        if self.trouble.is_some() {
            return Vec::new();
        }
        match self.answer() {
            Ok(pages) => pages.into_iter().map(|page| PageKey::new(Partition(0), page)).collect(),
            Err(why) => {
                self.trouble = Some(format!("asked to choose at {now}: {why}"));
                Vec::new()
            }
        }
    }

    fn learn(&mut self, seen: &Seen) -> PolicyState {
        self.say(&Word::Learn {
            page: seen.page.number,
            moment: seconds(seen.moment),
            previous: seen.previous.map(seconds),
            changed: seen.changed,
            degree: seen.degree,
            last_modified: seen.last_modified.map(seconds),
            wire_bytes: seen.wire_bytes,
        });
        PolicyState::default()
    }

    fn put_back(&mut self, page: PageKey) {
        self.say(&Word::PutBack { page: page.number });
    }

    fn forget(&mut self, page: PageKey) {
        self.say(&Word::Forget { page: page.number });
    }

    fn next_due(&self, _: &dyn View, now: Moment) -> Option<Moment> {
        self.trouble.is_none().then_some(now)
    }

    fn why(&self, _: PageKey, _: Moment) -> Vec<(String, String)> {
        vec![("policy".into(), format!("exec: {} decides, and does not say why", self.command))]
    }

    fn hinted(&mut self) -> Option<&mut dyn Hinted> {
        Some(self)
    }
}

impl Hinted for Outside {
    fn hint(&mut self, page: PageKey, worth: Span) {
        self.say(&Word::Hint { page: page.number, worth: worth.secs_f64() });
    }
}

fn read_line(output: &mut impl BufRead) -> std::io::Result<Vec<u8>> {
    let mut line = Vec::new();
    output.by_ref().take(ANSWER_BYTES_MAX as u64 + 1).read_until(b'\n', &mut line)?;
    if line.len() > ANSWER_BYTES_MAX {
        return Err(std::io::Error::other(format!("a line is longer than {ANSWER_BYTES_MAX} bytes")));
    }
    Ok(line)
}

fn seconds(moment: Moment) -> f64 {
    moment.micros() as f64 / 1e6
}
