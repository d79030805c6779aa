//! A watch: a saved question to the change feed, and where its answers go.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use vernal_model::Span;

use crate::condition::{When, Words};
use crate::outbox::{Quiet, Schedule};
use crate::template::Template;
use crate::{Error, Result};

/// Routes of one watch.
const ROUTES_MAX: usize = 16;
/// A name or an owner.
const NAME_LETTERS_MAX: usize = 200;
/// `over` as it is written.
const OVER_BYTES_MAX: usize = 4 << 10;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Watch {
    /// Given when it is made; empty before.
    #[serde(default)]
    pub id: String,
    #[serde(default)]
    pub name: String,
    #[serde(default)]
    pub owner: String,
    #[serde(default = "enabled")]
    pub enabled: bool,
    pub over: Over,
    #[serde(default)]
    pub when: When,
    #[serde(default)]
    pub to: Vec<To>,
    #[serde(default)]
    pub also: Also,
    /// When it tells nothing, by the clock of each route; what was held back meanwhile is told after. Such as `22:00-07:00`.
    #[serde(default)]
    pub quiet: Option<Quiet>,
    #[serde(default)]
    pub template: Option<String>,
}

fn enabled() -> bool {
    true
}

/// What is watched: exactly one of these.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "WatchOver")]
pub struct Over {
    pub url: Option<String>,
    pub prefix: Option<String>,
    pub site: Option<String>,
    pub tag: Option<String>,
    /// A query of the text index; the pages that are its hits are watched.
    pub search: Option<String>,
}

/// A route, and when what matches is sent there.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "WatchTo")]
pub struct To {
    pub route: String,
    #[serde(default)]
    pub how: How,
    /// Of what is sent at once; what is beyond it waits for the digest. Such as `20/day`.
    #[serde(default)]
    pub at_most: Option<AtMost>,
    /// When the digest of the surplus is sent; daily at seven where nothing is said.
    #[serde(default)]
    pub then: Option<Schedule>,
}

#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum How {
    #[default]
    AtOnce,
    Digest(Schedule),
}

/// So many deliveries in any 24 hours.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct AtMost(pub u32);

/// What is told beside events.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "WatchAlso")]
pub struct Also {
    /// Tells when nothing was seen, or the page could not be read, for so long. Such as `7d`.
    pub silent_for: Option<String>,
    /// Tells when what matched before is no longer on the page; on unless it is said to be off.
    pub region_lost: Option<bool>,
}

impl Watch {
    /// Refuses what no watch can have. Routes are looked up by whoever knows them.
    pub fn check(&self) -> Result<()> {
        for (what, text) in [("name", &self.name), ("owner", &self.owner)] {
            if text.chars().count() > NAME_LETTERS_MAX || text.chars().any(char::is_control) {
                return Err(Error::wrong(format!("a {what} is one line of at most {NAME_LETTERS_MAX} letters")));
            }
        }
        self.over.check()?;
        Words::compile(&self.when).map_err(Error::Wrong)?;
        if let Some(number) = &self.when.number {
            number.check().map_err(Error::Wrong)?;
        }
        if self.when.magnitude.is_some_and(|magnitude| !(0.0..=1.0).contains(&magnitude)) {
            return Err(Error::wrong("a magnitude is a number from 0 to 1"));
        }
        if let Some(template) = &self.template {
            Template::parse(template).map_err(Error::Wrong)?;
        }
        self.silent_for()?;
        if self.to.len() > ROUTES_MAX {
            return Err(Error::wrong(format!("a watch has at most {ROUTES_MAX} routes")));
        }
        let named = |to: &To| self.to.iter().filter(|other| other.route == to.route).count();
        match self.to.iter().find(|to| named(to) > 1) {
            Some(twice) => Err(Error::wrong(format!("the route `{}` is named twice", twice.route))),
            None => Ok(()),
        }
    }

    pub fn silent_for(&self) -> Result<Option<Span>> {
        let span = self.also.silent_for.as_deref().map(Span::parse).transpose();
        let span = span.map_err(|error| Error::Wrong(format!("silent_for: {error}")))?;
        match span {
            Some(Span::ZERO) => Err(Error::wrong("silent_for must be longer than nothing")),
            span => Ok(span),
        }
    }

    /// Whether it is told that what matched before is gone.
    pub fn tells_lost_regions(&self) -> bool {
        self.also.region_lost.unwrap_or(true)
    }

    /// A name for people.
    pub fn shown_name(&self) -> String {
        if self.name.is_empty() { self.over.shown() } else { self.name.clone() }
    }
}

impl Over {
    fn check(&self) -> Result<()> {
        let given = [&self.url, &self.prefix, &self.site, &self.tag, &self.search].into_iter().flatten();
        let given: Vec<&String> = given.collect();
        match &given[..] {
            [one] if !one.trim().is_empty() && one.len() <= OVER_BYTES_MAX => Ok(()),
            [_] => Err(Error::wrong(format!("what is watched has 1 to {OVER_BYTES_MAX} bytes"))),
            _ => Err(Error::wrong("a watch is over exactly one of url, prefix, site, tag and search")),
        }
    }

    /// In words of people.
    pub fn shown(&self) -> String {
        let named = [("tag", &self.tag), ("search", &self.search)];
        let plain = [&self.url, &self.prefix, &self.site].into_iter().flatten().next();
        match (plain, named.into_iter().find_map(|(name, value)| Some((name, value.as_ref()?)))) {
            (Some(text), _) if self.prefix.is_some() => format!("{text}*"),
            (Some(text), _) => text.clone(),
            (None, Some((name, value))) => format!("{name} {value}"),
            (None, None) => String::new(),
        }
    }
}

impl To {
    pub fn at_once(route: impl Into<String>) -> To {
        To { route: route.into(), how: How::AtOnce, at_most: None, then: None }
    }

    /// When what is held back for this route is sent.
    pub fn schedule(&self) -> Schedule {
        match self.how {
            How::Digest(schedule) => schedule,
            How::AtOnce => self.then.unwrap_or_default(),
        }
    }
}

impl TryFrom<String> for How {
    type Error = String;

    fn try_from(text: String) -> std::result::Result<Self, String> {
        match text.as_str() {
            "at-once" => Ok(How::AtOnce),
            _ => Ok(How::Digest(text.parse()?)),
        }
    }
}

impl From<How> for String {
    fn from(how: How) -> String {
        match how {
            How::AtOnce => "at-once".into(),
            How::Digest(schedule) => schedule.to_string(),
        }
    }
}

impl TryFrom<String> for AtMost {
    type Error = String;

    fn try_from(text: String) -> std::result::Result<Self, String> {
        let number = text.strip_suffix("/day").and_then(|number| number.parse().ok());
        number.map(AtMost).ok_or_else(|| format!("`{text}` is no limit: give N/day, such as 20/day"))
    }
}

impl From<AtMost> for String {
    fn from(at_most: AtMost) -> String {
        format!("{}/day", at_most.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> std::result::Result<Watch, String> {
        let watch: Watch = serde_json::from_str(text).map_err(|error| error.to_string())?;
        watch.check().map_err(|error| error.to_string())?;
        Ok(watch)
    }

    #[test]
    fn the_worked_example_of_a_watch_is_read_and_written() {
        let text = r#"{"id":"w7","name":"Government and budgets","owner":"press desk","enabled":true,
            "over":{"url":null,"prefix":null,"site":null,"tag":"policy","search":null},
            "when":{"events":["changed","gone","back"],"kinds":["content"],"min":"moderate",
            "words":["Regierung","budget"],"in":"either","roles":["heading","table-row"],"not_roles":["footer"],
            "regex":null,"number":{"paragraph":"p0c-2-a","moves_by":"5%"},"not_flapping":true,"language":null},
            "to":[{"route":"press-desk","how":"at-once","at_most":"20/day","then":"weekly mon 07:00"}],
            "also":{"silent_for":"7d","region_lost":true},"template":null}"#;
        let watch = parsed(text).unwrap();
        assert_eq!((watch.to[0].at_most, watch.shown_name().as_str()), (Some(AtMost(20)), "Government and budgets"));
        let again = serde_json::to_string(&watch).unwrap();
        assert_eq!(parsed(&again).unwrap(), watch);
    }

    #[test]
    fn what_is_no_watch_is_refused_in_one_line() {
        for wrong in [
            r#"{"over":{}}"#,
            r#"{"over":{"site":"a","tag":"b"}}"#,
            r#"{"over":{"site":" "}}"#,
            r#"{"over":{"site":"a"},"when":{"regex":"("}}"#,
            r#"{"over":{"site":"a"},"when":{"number":{}}}"#,
            r#"{"over":{"site":"a"},"when":{"magnitude":2}}"#,
            r#"{"over":{"site":"a"},"when":{"min":"huge"}}"#,
            r#"{"over":{"site":"a"},"also":{"silent_for":"7"}}"#,
            r#"{"over":{"site":"a"},"to":[{"route":"x"},{"route":"x"}]}"#,
            r#"{"over":{"site":"a"},"to":[{"route":"x","at_most":"20"}]}"#,
            r#"{"over":{"site":"a"},"to":[{"route":"x","how":"now"}]}"#,
            r#"{"over":{"site":"a"},"template":"{{#a}}"}"#,
            r#"{"over":{"site":"a"},"name":"a\nb"}"#,
            r#"{"over":{"site":"a"},"whne":{}}"#,
        ] {
            let told = parsed(wrong).unwrap_err();
            assert!(!told.is_empty() && !told.contains('\n'), "{wrong}: {told}");
        }
    }
}
