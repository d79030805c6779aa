//! `vernal.toml`: top-level keys, each of the catalogue, and the tables of `policy`.

use std::path::Path;

use vernal_model::nearest;

use super::policies::PolicyTable;
use super::setting::{Setting, Value};
use super::{alerts, catalogue};
use crate::error::{Error, Result};

pub const FILE_NAME: &str = "vernal.toml";

/// The settings that a file gives, as texts.
pub fn read(path: &Path) -> Result<Vec<(&'static Setting, Vec<String>)>> {
    let text =
        std::fs::read_to_string(path).map_err(|error| Error::Usage(format!("read {}: {error}", path.display())))?;
    parse(&text).map_err(|what| Error::Usage(format!("{}: {what}", path.display())))
}

fn parse(text: &str) -> Result<Vec<(&'static Setting, Vec<String>)>, String> {
    let table: toml::Table = text.parse().map_err(|error: toml::de::Error| {
        let line = error.span().map_or(1, |span| text[..span.start.min(text.len())].lines().count().max(1));
        format!("line {line}: {}", error.message())
    })?;
    let mut given = Vec::new();
    for (key, value) in &table {
        let name = key.replace('_', "-");
        if let (POLICY, toml::Value::Table(table)) = (key.as_str(), value) {
            policy(&mut given, table).map_err(|what| format!("key `{key}`: {what}"))?;
            continue;
        }
        let Some(setting) = catalogue::by_name(&name) else { return Err(unknown(key)) };
        if let Some(texts) = alerts::texts_of(&name, text) {
            given.push((setting, texts?));
            continue;
        }
        given.push((setting, texts(setting, value).map_err(|what| format!("key `{key}`: {what}"))?));
    }
    Ok(given)
}

const POLICY: &str = "policy";

/// The table of policies stands for three settings.
fn policy(given: &mut Vec<(&'static Setting, Vec<String>)>, table: &toml::Table) -> Result<(), String> {
    let PolicyTable { name, parameters, url_thresholds } = PolicyTable::read(table)?;
    let name: Vec<String> = name.into_iter().collect();
    for (setting, texts) in [(POLICY, name), ("parameters", parameters), ("url-thresholds", url_thresholds)] {
        let Some(setting) = catalogue::by_name(setting).filter(|_| !texts.is_empty()) else { continue };
        match given.iter_mut().find(|(known, _)| known.name == setting.name) {
            Some((_, known)) => known.extend(texts),
            None => given.push((setting, texts)),
        }
    }
    Ok(())
}

fn unknown(key: &str) -> String {
    let keys: Vec<String> = catalogue::ALL.iter().map(Setting::key).collect();
    match nearest(&key.replace('-', "_"), keys.iter().map(String::as_str)) {
        Some(near) => format!("unknown key `{key}`; did you mean `{near}`?"),
        None => format!("unknown key `{key}`"),
    }
}

fn texts(setting: &Setting, value: &toml::Value) -> Result<Vec<String>, String> {
    match (&setting.value, value) {
        (Value::Many(_), toml::Value::Array(values)) => {
            values.iter().map(|value| one_of_many(setting, value)).collect()
        }
        (Value::Many(_), single) => Ok(vec![text(single)?]),
        (Value::Switch(_), toml::Value::Boolean(on)) => Ok(vec![on.to_string()]),
        (Value::Switch(_), _) => Err("give true or false".into()),
        (Value::One(_), single) => Ok(vec![text(single)?]),
    }
}

fn one_of_many(setting: &Setting, value: &toml::Value) -> Result<String, String> {
    match (value, setting.table) {
        (toml::Value::Table(table), Some(text_of)) => text_of(table),
        (other, _) => text(other),
    }
}

pub(super) fn text(value: &toml::Value) -> Result<String, String> {
    match value {
        toml::Value::String(text) => Ok(text.clone()),
        toml::Value::Integer(number) => Ok(number.to_string()),
        toml::Value::Float(number) => Ok(number.to_string()),
        toml::Value::Boolean(on) => Ok(on.to_string()),
        other => Err(format!("give a text or a number, not a {}", other.type_str())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_key_is_refused_with_the_nearest_name() {
        let told = parse("budjet = '5/day'").unwrap_err();
        assert_eq!(told, "unknown key `budjet`; did you mean `budget`?");
    }

    #[test]
    fn values_of_every_shape_become_texts() {
        let given = parse("max_pages = 7\nallow_private = true\nexclude = ['a', 'b']\ndelay = '2s'").unwrap();
        let values = |name: &str| given.iter().find(|(setting, _)| setting.name == name).unwrap().1.clone();
        assert_eq!(values("max-pages"), ["7"]);
        assert_eq!(values("allow-private"), ["true"]);
        assert_eq!(values("exclude"), ["a", "b"]);
        assert_eq!(values("delay"), ["2s"]);
    }

    #[test]
    fn a_table_of_policies_is_the_policy_its_parameters_and_the_thresholds_of_urls() {
        let given = parse(
            "parameters = ['adaptive:kappa=4']\n[policy]\nname = 'hybrid'\n[policy.hybrid]\nv = 4\n\
             [[policy.refresh-time.url]]\nprefix = 'http://a/'\nlower = 0.1",
        )
        .unwrap();
        let values = |name: &str| given.iter().find(|(setting, _)| setting.name == name).unwrap().1.clone();
        assert_eq!(values("policy"), ["hybrid"]);
        assert_eq!(values("parameters"), ["adaptive:kappa=4", "hybrid:v=4"]);
        assert_eq!(values("url-thresholds"), ["prefix:http://a/ lower=0.1"]);
        assert!(parse("[policy]\nnaem = 'hybrid'").unwrap_err().starts_with("key `policy`: `naem` must be a table"));
    }

    #[test]
    fn a_broken_file_is_told_by_its_line() {
        assert!(parse("delay = '1s'\nbudget = \n").unwrap_err().starts_with("line 2"));
        assert!(parse("[delay]\na = 1").unwrap_err().contains("delay"));
    }
}
