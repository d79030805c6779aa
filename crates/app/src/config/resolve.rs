//! Flag before environment before file before default.

use std::fmt;
use std::path::{Path, PathBuf};

use vernal_api::SettingRow;

use super::catalogue;
use super::file;
use super::flags::Flags;
use super::policies;
use super::setting::{Setting, Value};
use crate::error::{Error, Result};

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    Flag,
    Environment,
    File(PathBuf),
    /// The default of a demonstration.
    Demonstration,
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

/// A variable at most this many letters apart from a known name is taken for a misspelling of it.
const SLIP_MAX: usize = 2;

/// Our variables that are no settings.
const OTHER_VARIABLES: &[&str] = &["VERNAL_TOKEN", "VERNAL_CONFIG"];

/// `environment` is an argument so that tests need not change that of the process.
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
    match setting.value {
        Value::Many(_) => value.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect(),
        Value::One(_) | Value::Switch(_) if value.is_empty() => Vec::new(),
        Value::One(_) | Value::Switch(_) => vec![value.to_owned()],
    }
}

/// Variables that begin like ours and name no setting. A misspelling of a known name is refused; others cause a warning,
/// because an environment belongs to many programs.
pub fn environment_strangers(environment: &[(String, String)]) -> Result<Vec<String>> {
    let settings = catalogue::ALL.iter().map(Setting::variable);
    let known: Vec<String> = settings.chain(OTHER_VARIABLES.iter().map(|&name| name.to_owned())).collect();
    let strangers = environment.iter().map(|(name, _)| name);
    let strangers = strangers.filter(|name| name.starts_with("VERNAL_") && !known.contains(*name));
    strangers
        .map(|name| {
            let told = format!("the environment variable {name} names no setting");
            let slip = known.iter().min_by_key(|known| strsim::osa_distance(name, known));
            match slip.filter(|known| strsim::osa_distance(name, known) <= SLIP_MAX) {
                Some(meant) => Err(Error::Usage(format!("{told}; did you mean {meant}?"))),
                None => Ok(told),
            }
        })
        .collect()
}

impl InForce {
    pub fn rows(&self) -> Vec<SettingRow> {
        self.all.iter().map(Given::row).chain(self.policy_rows()).collect()
    }

    /// The parameters of the policy that is used.
    pub fn policy_rows(&self) -> Vec<SettingRow> {
        policies::rows(self)
    }

    /// Whether nobody gave this setting.
    pub fn is_default(&self, name: &str) -> bool {
        self.given(name).is_none_or(|given| given.source == Source::Default)
    }

    pub fn given(&self, name: &str) -> Option<&Given> {
        self.all.iter().find(|given| given.setting.name == name)
    }
}

impl Given {
    /// How an error about this value begins.
    pub fn place(&self) -> String {
        match &self.source {
            Source::Flag => format!("--{}", self.setting.name),
            Source::Environment => self.setting.variable(),
            Source::File(path) => format!("{}: key `{}`", path.display(), self.setting.key()),
            Source::Demonstration | Source::Default => format!("the default of {}", self.setting.name),
        }
    }

    pub fn row(&self) -> SettingRow {
        let mut shown = self.shown();
        let value = match shown.len() {
            0 => serde_json::Value::Null,
            1 => shown.remove(0).into(),
            _ => shown.into(),
        };
        SettingRow { name: self.setting.key(), value, source: self.source.to_string() }
    }

    pub fn text(&self) -> String {
        if self.values.is_empty() { "none".to_owned() } else { self.shown().join(" ") }
    }

    /// Secrets are not shown: more people read logs and answers than may know them.
    fn shown(&self) -> Vec<String> {
        match self.setting.shown {
            Some(shown) => self.values.iter().map(|text| shown(text)).collect(),
            None => self.values.clone(),
        }
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Source::Flag => f.write_str("flag"),
            Source::Environment => f.write_str("environment"),
            Source::File(path) => write!(f, "{}", path.display()),
            Source::Demonstration => f.write_str("demo"),
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
    fn secrets_are_used_and_never_shown() {
        let mut flags = Flags::default();
        flags.push("websub-secret", "s3cret".into());
        flags.push("indexnow-keys", "k3y".into());
        let in_force = resolve(&flags, &[], Some(Path::new("/dev/null"))).unwrap();
        for (name, hidden) in [("websub-secret", "s3cret"), ("indexnow-keys", "k3y")] {
            let given = in_force.given(name).unwrap();
            assert_eq!(value(&in_force, name), hidden);
            assert_eq!((given.text().as_str(), &given.row().value), ("(secret)", &"(secret)".into()));
        }
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
    fn a_mistyped_variable_is_refused_with_the_name_that_was_meant_and_a_strange_one_is_told() {
        let strangers = |name: &str| environment_strangers(&[(name.into(), "x".into())]);
        assert_eq!(
            strangers("VERNAL_BUDJET").unwrap_err().line(),
            Some("the environment variable VERNAL_BUDJET names no setting; did you mean VERNAL_BUDGET?")
        );
        assert_eq!(strangers("VERNAL_WEATHER").unwrap().len(), 1);
        assert!(strangers("VERNAL_TOKEN").unwrap().is_empty());
    }
}
