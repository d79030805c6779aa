//! A scenario of the laboratory: the settings of a world, as a file that a person can read and change.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::settings::{Hints, WorldSettings};
use crate::lab::world::World;
use crate::{Error, Result};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LabScenario {
    pub name: String,
    /// What it is for, in a sentence.
    pub about: String,
    /// An invented world; absent where a recording is replayed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub world: Option<WorldSettings>,
    /// The recording's selection, by name: see [`crate::lab::trace::Selection::by_name`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replay: Option<String>,
}

macro_rules! scenarios {
    ($($name:literal),* $(,)?) => {
        /// The scenarios that come with the program.
        pub const NAMES: &[&str] = &[$($name),*];

        fn text_of(name: &str) -> Option<&'static str> {
            match name {
                $($name => Some(include_str!(concat!("../../../../../scenarios/lab/", $name, ".toml"))),)*
                _ => None,
            }
        }
    };
}

scenarios!(
    "w1",
    "w1-small",
    "w2",
    "w3",
    "w4",
    "w5",
    "w6-independent",
    "w6-correlated",
    "w6-opposed",
    "w7",
    "w8",
    "w9-pub",
    "w9-ota",
    "w9-stalker",
    "w9-pubold",
    "w9-otaold",
    "publications",
);

impl LabScenario {
    pub fn load(path: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(path)
            .map_err(|source| Error::ScenarioUnreadable { path: path.to_owned(), source })?;
        Self::parse(&path.display().to_string(), &text)
    }

    pub fn by_name(name: &str) -> Result<Self> {
        let text = text_of(name).ok_or_else(|| Error::LabScenarioUnknown(name.to_owned(), NAMES.join(", ")))?;
        Self::parse(name, text)
    }

    pub fn parse(name: &str, text: &str) -> Result<Self> {
        let malformed = |source| Error::ScenarioMalformed { name: name.to_owned(), source: Box::new(source) };
        let scenario: LabScenario = toml::from_str(text).map_err(malformed)?;
        scenario.check()?;
        Ok(scenario)
    }

    /// The scenario as a file, with every setting in force.
    pub fn text(&self) -> String {
        toml::to_string(self).expect("a scenario is plain tables, numbers and strings")
    }

    /// A scenario with a grid as one scenario for each of its points; any other as it is.
    pub fn variants(&self) -> Vec<LabScenario> {
        let Some((settings, hints)) = self.world.as_ref().and_then(|world| Some((world, world.hints.as_ref()?))) else {
            return vec![self.clone()];
        };
        let mut variants = Vec::new();
        for &recall in &hints.recall {
            for &false_per_change in &hints.false_per_change {
                let one = Hints { recall: vec![recall], false_per_change: vec![false_per_change] };
                variants.push(LabScenario {
                    name: format!("{}-{recall}-{false_per_change}", self.name),
                    world: Some(WorldSettings { hints: Some(one), ..settings.clone() }),
                    ..self.clone()
                });
            }
        }
        variants
    }

    /// The invented world of a chance number.
    pub fn world(&self, chance: u64) -> Result<World> {
        let settings = self.world.as_ref().ok_or_else(|| Error::Lab(format!("{} replays a recording", self.name)))?;
        Ok(settings.draw(&self.name, chance))
    }

    fn check(&self) -> Result<()> {
        match (&self.world, &self.replay) {
            (Some(settings), None) => settings.check(),
            (None, Some(name)) => crate::lab::trace::Selection::by_name(name).map(|_| ()),
            _ => Err(Error::Lab(format!("{} must have a world or a replay, not both", self.name))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_scenario_of_ours_is_named_after_its_file_and_survives_writing() {
        for name in NAMES {
            let scenario = LabScenario::by_name(name).unwrap();
            assert_eq!(scenario.name, *name);
            assert!(!scenario.about.is_empty());
            assert_eq!(LabScenario::parse(name, &scenario.text()).unwrap(), scenario);
        }
        assert_eq!(LabScenario::by_name("w1").unwrap().world, Some(WorldSettings::default()));
    }

    #[test]
    fn a_grid_of_hints_is_one_world_for_each_of_its_points() {
        let names: Vec<String> =
            LabScenario::by_name("w7").unwrap().variants().into_iter().map(|variant| variant.name).collect();
        assert_eq!(names.len(), 6);
        assert_eq!(names[0], "w7-0.3-0.1");
    }

    #[test]
    fn what_cannot_be_meant_is_refused_by_name() {
        let parse = |text: &str| LabScenario::parse("x", &format!("name = \"x\"\nabout = \"x\"\n{text}"));
        assert!(parse("[world]\npagez = 3\n").unwrap_err().to_string().contains("pagez"));
        assert!(parse("[world]\npages = 0\n").is_err());
        assert!(parse("[world]\npages = 10000000\n").is_err(), "too many changes");
        assert!(parse("replay = \"nothing\"\n").is_err());
        assert!(parse("").is_err());
        let births = parse("[world.births]\nper_week = -1.0\n").unwrap_err().to_string();
        assert!(births.contains("births"), "{births}");
    }
}
