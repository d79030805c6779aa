//! Flag before environment before file before default.

use std::fmt;
use std::path::{Path, PathBuf};

use super::catalogue::{self, Setting, Shape};
use super::file;
use super::flags::Flags;
use super::nearest;
use crate::error::Result;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    Flag,
    Environment,
    File(PathBuf),
    Default,
}

/// One setting in force.
#[derive(Clone, Debug)]
pub struct Given {
    pub setting: &'static Setting,
    pub values: Vec<String>,
    pub source: Source,
}

/// All settings in force, in the order of the catalogue.
#[derive(Clone, Debug)]
pub struct InForce {
    pub all: Vec<Given>,
}

/// Names that are no settings and still ours.
const OTHER_VARIABLES: &[&str] = &["VERNAL_TOKEN", "VERNAL_CONFIG"];

/// `environment` is an argument so that tests need not touch that of the process.
pub fn resolve(flags: &Flags, environment: &[(String, String)], config: Option<&Path>) -> Result<InForce> {
    let (path, from_file) = match config {
        Some(path) => (path.to_owned(), file::read(path)?),
        None if Path::new(file::FILE_NAME).is_file() => {
            (PathBuf::from(file::FILE_NAME), file::read(Path::new(file::FILE_NAME))?)
        }
        None => (PathBuf::new(), Vec::new()),
    };
    let all = catalogue::ALL.iter().map(|setting| {
        let given = |values: Vec<String>, source| Given { setting, values, source };
        if let Some((_, values)) = flags.given.iter().find(|(given, _)| given.name == setting.name) {
            return given(values.clone(), Source::Flag);
        }
        if let Some((_, value)) = environment.iter().find(|(name, _)| *name == setting.variable()) {
            return given(split(setting, value), Source::Environment);
        }
        if let Some((_, values)) = from_file.iter().find(|(given, _)| given.name == setting.name) {
            return given(values.clone(), Source::File(path.clone()));
        }
        let default = if setting.default.is_empty() { Vec::new() } else { vec![setting.default.to_owned()] };
        given(default, Source::Default)
    });
    Ok(InForce { all: all.collect() })
}

fn split(setting: &Setting, value: &str) -> Vec<String> {
    match setting.shape {
        Shape::Many => value.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect(),
        Shape::One | Shape::Switch if value.is_empty() => Vec::new(),
        Shape::One | Shape::Switch => vec![value.to_owned()],
    }
}

/// Variables that begin like ours and name nothing, each with the nearest name. They are told and not refused: an
/// environment belongs to many programs.
pub fn environment_strangers(environment: &[(String, String)]) -> Vec<String> {
    let known: Vec<String> = catalogue::ALL.iter().map(Setting::variable).collect();
    let ours = |name: &str| known.iter().any(|known| known == name) || OTHER_VARIABLES.contains(&name);
    let strangers = environment.iter().filter(|(name, _)| name.starts_with("VERNAL_") && !ours(name));
    strangers
        .map(|(name, _)| match nearest(name, known.iter().map(String::as_str)) {
            Some(near) => format!("the environment variable {name} names no setting; did you mean {near}?"),
            None => format!("the environment variable {name} names no setting"),
        })
        .collect()
}

impl InForce {
    pub fn given(&self, name: &str) -> Option<&Given> {
        self.all.iter().find(|given| given.setting.name == name)
    }
}

impl Given {
    /// How a complaint about this value begins.
    pub fn place(&self) -> String {
        match &self.source {
            Source::Flag => format!("--{}", self.setting.name),
            Source::Environment => self.setting.variable(),
            Source::File(path) => format!("{}: key `{}`", path.display(), self.setting.key()),
            Source::Default => format!("the default of {}", self.setting.name),
        }
    }

    pub fn text(&self) -> String {
        self.values.join(" ")
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Source::Flag => f.write_str("flag"),
            Source::Environment => f.write_str("environment"),
            Source::File(path) => write!(f, "{}", path.display()),
            Source::Default => f.write_str("default"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value<'a>(in_force: &'a InForce, name: &str) -> &'a str {
        &in_force.given(name).unwrap().values[0]
    }

    #[test]
    fn flag_wins_over_environment_over_file_over_default() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("vernal.toml");
        std::fs::write(&path, "delay = '3s'\nbudget = '3/day'\ndepth = 3").unwrap();
        let environment =
            vec![("VERNAL_DELAY".to_owned(), "2s".to_owned()), ("VERNAL_BUDGET".to_owned(), "2/day".to_owned())];
        let mut flags = Flags::default();
        flags.push("delay", "1s".into());
        let in_force = resolve(&flags, &environment, Some(&path)).unwrap();
        assert_eq!(value(&in_force, "delay"), "1s");
        assert_eq!(value(&in_force, "budget"), "2/day");
        assert_eq!(value(&in_force, "depth"), "3");
        assert_eq!(value(&in_force, "scope"), "site");
        assert_eq!(in_force.given("depth").unwrap().source, Source::File(path));
    }

    #[test]
    fn a_mistyped_variable_is_told_with_the_nearest_name() {
        let told =
            environment_strangers(&[("VERNAL_BUDJET".into(), "1/day".into()), ("VERNAL_TOKEN".into(), "x".into())]);
        assert_eq!(told, ["the environment variable VERNAL_BUDJET names no setting; did you mean VERNAL_BUDGET?"]);
    }
}
