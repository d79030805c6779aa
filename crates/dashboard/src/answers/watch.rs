//! `GET /api/v1/watches`, `/watches/preview`, `/deliveries` and `/routes`

use serde::Deserialize;

use super::event::Tally;

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Watch {
    pub id: String,
    pub name: String,
    pub owner: String,
    pub enabled: bool,
    pub over: Over,
    pub when: When,
    pub to: Vec<To>,
    pub also: Also,
    #[serde(flatten)]
    pub stands: Stands,
}

/// How a watch stands, beside what it asks.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Stands {
    pub made: Option<String>,
    pub seen: String,
    pub lost: Option<Lost>,
    pub held: u64,
    pub waiting: u64,
    /// The settings that made it, and that alone change it.
    pub from: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Lost {
    pub says: String,
    pub since: Option<String>,
    pub acknowledged: bool,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Over {
    pub url: Option<String>,
    pub prefix: Option<String>,
    pub site: Option<String>,
    pub tag: Option<String>,
    pub search: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct When {
    pub events: Vec<String>,
    pub kinds: Vec<String>,
    pub min: Option<String>,
    pub magnitude: Option<f64>,
    pub words: Vec<String>,
    pub regex: Option<String>,
    pub r#in: String,
    pub roles: Vec<String>,
    pub not_roles: Vec<String>,
    pub number: Option<Number>,
    pub not_flapping: bool,
    pub language: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Number {
    pub paragraph: Option<String>,
    pub above: Option<f64>,
    pub below: Option<f64>,
    pub moves_by: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct To {
    pub route: String,
    pub how: String,
    pub at_most: Option<String>,
    pub then: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Also {
    pub silent_for: Option<String>,
    pub region_lost: Option<bool>,
}

/// What a watch would have told.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Preview {
    pub matches: u64,
    pub per_day: f64,
    pub covered: u64,
    pub since: Option<String>,
    pub cut: bool,
    pub advice: Option<String>,
    pub latest: Vec<Told>,
}

/// One event as alerts tell it.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Told {
    pub id: String,
    pub event: String,
    pub url: String,
    pub title: String,
    pub language: String,
    pub line: String,
    pub version: Option<u32>,
    pub previous: Option<u32>,
    pub seen_same: Option<String>,
    pub seen_different: Option<String>,
    pub kinds: Vec<String>,
    pub left: Vec<String>,
    pub magnitude: f64,
    pub excerpt: Option<Excerpt>,
    pub tally: Option<Tally>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Excerpt {
    pub before: Option<String>,
    pub after: Option<String>,
}

/// A line of what the last changes would have sent: the first counts, the others are deliveries.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct TestLine {
    pub delivery: Option<String>,
    pub route: Option<String>,
    pub event: String,
    pub url: String,
    pub line: String,
    pub seen: Option<String>,
    pub body: String,
    pub matches: u64,
    pub per_day: f64,
    pub covered: u64,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Delivery {
    pub id: String,
    pub watch: String,
    pub watch_name: String,
    pub route: String,
    pub state: String,
    pub line: String,
    pub events: Vec<String>,
    pub urls: Vec<String>,
    pub made: Option<String>,
    pub tries: u64,
    pub latest: Vec<Try>,
    pub next: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Try {
    pub at: Option<String>,
    pub took_ms: u64,
    pub status: Option<u16>,
    pub taken: bool,
    pub answer: String,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct AlertRoute {
    pub name: String,
    pub kind: String,
    pub target: String,
    pub signed: bool,
    pub time_zone: Option<String>,
    pub disabled: Option<String>,
    pub waiting: u64,
    pub failures: u64,
    pub quiet: Option<String>,
    pub from: Option<String>,
}

impl Over {
    /// The sort of what is watched, and its name.
    pub fn named(&self) -> (&'static str, &str) {
        let all = [
            ("url", &self.url),
            ("prefix", &self.prefix),
            ("site", &self.site),
            ("tag", &self.tag),
            ("search", &self.search),
        ];
        all.into_iter().find_map(|(sort, name)| Some((sort, name.as_deref()?))).unwrap_or(("site", ""))
    }

    /// In words: `page http://…`, `sites tagged news`.
    pub fn words(&self) -> String {
        match self.named() {
            ("url", url) => format!("the page {url}"),
            ("prefix", prefix) => format!("pages under {prefix}"),
            ("tag", tag) => format!("what is tagged {tag}"),
            ("search", query) => format!("pages that “{query}” finds"),
            (_, site) => site.to_owned(),
        }
    }
}

impl Watch {
    pub fn shown_name(&self) -> String {
        if self.name.is_empty() { self.over.words() } else { self.name.clone() }
    }
}

impl To {
    /// `press-desk, at once, at most 20/day`
    pub fn words(&self) -> String {
        let how = if self.how == "at-once" || self.how.is_empty() { "at once" } else { &self.how };
        let most =
            self.at_most.as_ref().map_or_else(String::new, |most| format!(", at most {most}, the rest as a digest"));
        format!("{}, {how}{most}", self.route)
    }
}

impl When {
    /// When it tells, in words.
    pub fn words(&self) -> String {
        let mut all = Vec::new();
        if !self.events.is_empty() {
            all.push(format!("a page is {}", either(&self.events)));
        }
        if !self.kinds.is_empty() {
            all.push(format!("{} changes", either(&self.kinds)));
        }
        if let Some(min) = &self.min {
            all.push(format!("the change is at least {min}"));
        }
        if let Some(magnitude) = self.magnitude {
            all.push(format!("its magnitude is at least {magnitude}"));
        }
        let mut looked_for: Vec<String> = self.words.iter().map(|word| format!("“{word}”")).collect();
        looked_for.extend(self.regex.iter().map(|pattern| format!("/{pattern}/")));
        let place = if self.roles.is_empty() { String::new() } else { format!(" in {}", roles(&self.roles)) };
        match (looked_for.is_empty(), place.is_empty()) {
            (false, _) => {
                let side = match &*self.r#in {
                    "added" => "is added",
                    "removed" => "is removed",
                    "paragraph" => "stands in a paragraph that changes",
                    _ => "is added or removed",
                };
                all.push(format!("{} {side}{place}", either(&looked_for)));
            }
            (true, false) => all.push(format!("something changes{place}")),
            (true, true) => {}
        }
        if !self.not_roles.is_empty() {
            all.push(format!("it is not in {}", roles(&self.not_roles)));
        }
        if let Some(number) = &self.number {
            all.push(number.words());
        }
        if let Some(language) = &self.language {
            all.push(format!("the language is {language}"));
        }
        if self.not_flapping {
            all.push("the page does not merely change back and forth".into());
        }
        if all.is_empty() { "anything changes that a reader would see".into() } else { all.join(", and ") }
    }
}

impl Number {
    fn words(&self) -> String {
        let of = self.paragraph.as_ref().map_or_else(|| "a paragraph".into(), |id| format!("paragraph {id}"));
        let bounds = [
            self.above.map(|above| format!("rises above {above}")),
            self.below.map(|below| format!("falls below {below}")),
        ];
        let moves = self.moves_by.as_ref().map(|by| format!("moves by {by}"));
        let all: Vec<String> = bounds.into_iter().flatten().chain(moves).collect();
        format!("the first number of {of} {}", either(&all))
    }
}

fn roles(names: &[String]) -> String {
    let words = names.iter().map(|name| match &**name {
        "heading" => "a heading".into(),
        "list-item" => "a list item".into(),
        "table-row" => "a table row".into(),
        "title" => "the title".into(),
        "main" => "the main text".into(),
        "footer" => "the footer".into(),
        other => other.to_owned(),
    });
    either(&words.collect::<Vec<String>>())
}

/// `a`, `a or b`, `a, b or c`
fn either(words: &[String]) -> String {
    match words {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_watch_is_told_in_one_sentence() {
        let watch = r#"{"over":{"tag":"policy"},"when":{"kinds":["content"],"min":"moderate",
            "words":["Regierung","budget"],"in":"either","roles":["heading","table-row"],"not_flapping":true},
            "to":[{"route":"press-desk","how":"at-once","at_most":"20/day"}]}"#;
        let watch: Watch = serde_json::from_str(watch).unwrap();
        assert_eq!(
            watch.when.words(),
            "content changes, and the change is at least moderate, and “Regierung” or “budget” is added or removed in a \
             heading or a table row, and the page does not merely change back and forth"
        );
        assert_eq!(
            (&*watch.shown_name(), &*watch.to[0].words()),
            ("what is tagged policy", "press-desk, at once, at most 20/day, the rest as a digest")
        );
        assert_eq!(When::default().words(), "anything changes that a reader would see");
    }
}
