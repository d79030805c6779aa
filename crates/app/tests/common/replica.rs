//! A program that knows nothing but the feed, and keeps a copy of every page by the rule of the documentation.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

use super::{json_lines, output, told, vernal};

/// A paragraph: its id, its words and its role.
type Held = (String, String, String);

#[derive(Default)]
pub struct Replica {
    pages: BTreeMap<String, (Option<u64>, Vec<Held>)>,
    pub cursor: Option<String>,
    pub events: usize,
}

impl Replica {
    /// Reads on from the cursor.
    pub fn follow(&mut self, data: &Path) {
        let mut command = vernal(data);
        command.args(["changes", "--pages", "--json"]);
        if let Some(cursor) = &self.cursor {
            command.args(["--since", cursor]);
        }
        json_lines(&told(&mut command)).iter().for_each(|event| self.take(event));
    }

    pub fn take(&mut self, event: &Value) {
        self.events += 1;
        self.cursor = event["cursor"].as_str().map(str::to_owned);
        let replica = &event["replica"];
        let (version, held) = self.pages.entry(text(event, "url")).or_default();
        if event["event"] == "changed" {
            assert_eq!(event["previous"].as_u64(), *version, "the version that was told last: {event}");
        }
        if event["event"] != "template" {
            *version = event["version"].as_u64().or(*version);
        }
        if replica.is_null() || !replica["missing"].is_null() {
            return;
        }
        if replica["whole"] == true {
            held.clear();
        }
        let operations = replica["operations"].as_array().unwrap();
        let leaves = |one: &&Value| one["op"] == "removed" || one["op"] == "moved";
        let mut left: BTreeMap<String, Held> = BTreeMap::new();
        for one in operations.iter().filter(leaves) {
            let place = held.iter().position(|(id, ..)| *id == text(one, "id"));
            let known = held.remove(place.unwrap_or_else(|| panic!("an unknown id in {one}")));
            left.insert(known.0.clone(), known);
        }
        for one in operations {
            let id = text(one, "id");
            let words = one["text"].as_str().map(str::to_owned);
            match one["op"].as_str().unwrap() {
                "added" | "moved" => {
                    let words = words.or_else(|| left.remove(&id).map(|known| known.1)).expect("what came has words");
                    let place = one["position"].as_u64().unwrap() as usize;
                    assert!(place <= held.len(), "{one} does not fit");
                    held.insert(place, (id, words, text(one, "role")));
                }
                "edited" => {
                    let known = held.iter_mut().find(|(known, ..)| *known == id);
                    let known = known.unwrap_or_else(|| panic!("an edit of an unknown id: {one}"));
                    (known.1, known.2) = (words.expect("an edit has words"), text(one, "role"));
                }
                _ => {}
            }
        }
    }

    /// Every page is held as `blame` shows it; a page that is gone is held empty. Gives the number of held pages.
    pub fn assert_is_that_of(&self, data: &Path) -> usize {
        let mut compared = 0;
        for page in json_lines(&told(vernal(data).args(["pages", "--json"]))) {
            let url = text(&page, "url");
            if page["version"].is_null() {
                continue;
            }
            let held = self.pages.get(&url).map(|(_, held)| held.clone()).unwrap_or_default();
            let blamed = output(vernal(data).args(["blame", &url, "--json"]));
            // Nobody can show a page of which no body was archived.
            let shown: Vec<Held> = match page["state"] == "gone" || !blamed.status.success() {
                true => Vec::new(),
                false => {
                    let blamed: Value = serde_json::from_slice(&blamed.stdout).unwrap();
                    let all = blamed["paragraphs"].as_array().unwrap().iter();
                    all.map(|one| (text(one, "id"), text(one, "text"), text(one, "role"))).collect()
                }
            };
            assert_eq!(held, shown, "{url}");
            compared += 1;
        }
        compared
    }
}

fn text(value: &Value, name: &str) -> String {
    value[name].as_str().unwrap_or_else(|| panic!("no {name} in {value}")).to_owned()
}
