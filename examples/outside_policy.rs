//! A policy of your own, as a program, for the laboratory:
//!
//! ```text
//! cargo build --example outside-policy
//! vernal lab compare --policies "round-robin,exec:target/debug/examples/outside-policy"
//! ```
//!
//! It hears JSON objects on standard input, one to a line, and answers each `choose` with one line. This one visits the
//! page whose last visit is oldest.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, Write};

use serde_json::{Value, json};

#[derive(Default)]
struct Oldest {
    /// Each page that is known: its site, and its last visit in microseconds.
    pages: BTreeMap<u64, (u64, u64)>,
    /// Those that are not out, by last visit.
    waiting: BTreeSet<(u64, u64)>,
}

impl Oldest {
    /// The page is at home, visited last at this time.
    fn put(&mut self, page: u64, site: Option<u64>, last_visit: Option<f64>) {
        let Some(known) = self.pages.get(&page).copied().or(site.map(|site| (site, 0))) else { return };
        self.waiting.remove(&(known.1, page));
        let last = last_visit.map_or(known.1, |secs| (secs * 1e6) as u64);
        self.pages.insert(page, (site.unwrap_or(known.0), last));
        self.waiting.insert((last, page));
    }

    fn forget(&mut self, page: u64) {
        if let Some((_, last)) = self.pages.remove(&page) {
            self.waiting.remove(&(last, page));
        }
    }

    fn choose(&mut self, said: &Value) -> Vec<u64> {
        let left = said["visits_left"].as_u64().unwrap_or(0) as usize;
        let full: BTreeSet<u64> = said["full"].as_array().into_iter().flatten().filter_map(Value::as_u64).collect();
        let free = self.waiting.iter().filter(|(_, page)| !full.contains(&self.pages[page].0));
        let chosen: Vec<(u64, u64)> = free.take(left).copied().collect();
        for entry in &chosen {
            self.waiting.remove(entry);
        }
        chosen.into_iter().map(|(_, page)| page).collect()
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut policy = Oldest::default();
    let mut answers = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        let heard: Value = serde_json::from_str(&line?)?;
        let (word, said) = heard.as_object().and_then(|object| object.iter().next()).ok_or("a word is expected")?;
        let page = said["page"].as_u64().unwrap_or(u64::MAX);
        match word.as_str() {
            "recall" => policy.put(page, said["site"].as_u64(), said["last_visit"].as_f64()),
            "learn" => policy.put(page, None, said["moment"].as_f64()),
            "put_back" => policy.put(page, None, None),
            "forget" => policy.forget(page),
            "choose" => {
                writeln!(answers, "{}", json!({ "pages": policy.choose(said) }))?;
                answers.flush()?;
            }
            // Words that came later than this program do it no harm.
            _ => {}
        }
    }
    Ok(())
}
