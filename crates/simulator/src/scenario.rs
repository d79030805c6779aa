//! A scenario: a web and how it is served, as a file that a person can read and change.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::serve::ServeOptions;
use crate::web::WebSettings;
use crate::{Error, Result};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    pub name: String,
    /// What it is for, in a sentence.
    pub about: String,
    #[serde(default)]
    pub web: WebSettings,
    #[serde(default)]
    pub serve: ServeOptions,
}

impl Scenario {
    /// The scenarios that come with the program.
    pub const NAMES: [&'static str; 3] = ["plain", "realistic", "bench"];

    pub fn load(path: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(path)
            .map_err(|source| Error::ScenarioUnreadable { path: path.to_owned(), source })?;
        Self::parse(&path.display().to_string(), &text)
    }

    pub fn by_name(name: &str) -> Result<Self> {
        let text = match name {
            "plain" => include_str!("../../../scenarios/plain.toml"),
            "realistic" => include_str!("../../../scenarios/realistic.toml"),
            "bench" => include_str!("../../../scenarios/bench.toml"),
            _ => return Err(Error::ScenarioUnknown(name.to_owned())),
        };
        Self::parse(name, text)
    }

    pub fn parse(name: &str, text: &str) -> Result<Self> {
        let malformed = |source| Error::ScenarioMalformed { name: name.to_owned(), source: Box::new(source) };
        let scenario: Scenario = toml::from_str(text).map_err(malformed)?;
        scenario.web.check()?;
        Ok(scenario)
    }

    /// The scenario as a file, with every setting in force.
    pub fn text(&self) -> String {
        toml::to_string(self).expect("a scenario is plain tables, numbers and strings")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_scenario_of_ours_is_its_preset_and_survives_writing() {
        let presets = [WebSettings::plain(4, 60), WebSettings::realistic(12, 80), WebSettings::bench()];
        for (name, preset) in Scenario::NAMES.into_iter().zip(presets) {
            let scenario = Scenario::by_name(name).unwrap();
            assert_eq!(scenario.name, name);
            assert_eq!(scenario.web, preset, "{name}");
            assert_eq!(Scenario::parse(name, &scenario.text()).unwrap(), scenario);
        }
    }

    #[test]
    fn a_misspelt_setting_is_refused_by_name() {
        let error = Scenario::parse("x", "name = \"x\"\nabout = \"\"\n[web]\nsitez = 3\n").unwrap_err();
        assert!(error.to_string().contains("sitez"), "{error}");
        assert!(Scenario::by_name("nothing").is_err());
        assert!(Scenario::parse("x", "name = \"x\"\nabout = \"\"\n[web]\nsites = 0\n").is_err());
    }
}
