//! One setting: what an entry of the catalogue is made of.

use super::settings::Settings;
use super::value;

#[derive(Debug)]
pub struct Setting {
    /// As the flag is spelled; the key of the file has underscores for hyphens, and the variable is `VERNAL_` with the key
    /// in capital letters.
    pub name: &'static str,
    pub value_name: &'static str,
    /// Empty where a thing is off unless somebody gives it.
    pub default: &'static str,
    pub help: &'static str,
    pub value: Value,
    /// A flag of every command (`--data`, `--log-format`), not only of those that crawl.
    pub everywhere: bool,
    /// What is shown of a value that is not shown itself.
    pub shown: Option<fn(&str) -> String>,
    /// The text that a table of the file stands for, where values may be tables.
    pub table: Option<TextOfTable>,
}

/// How a setting is given, and where its value goes.
#[derive(Debug)]
pub enum Value {
    One(SetOne),
    /// May be given again and again; an array in the file, separated by line ends in the environment.
    Many(SetMany),
    /// `true` or `false`; as a flag the name alone is enough.
    Switch(fn(&mut Settings) -> &mut bool),
}

pub(super) type TextOfTable = fn(&toml::Table) -> Result<String, String>;
type SetOne = fn(&mut Settings, &str) -> Result<(), String>;
type SetMany = fn(&mut Settings, &[String]) -> Result<(), String>;

impl Setting {
    pub fn key(&self) -> String {
        self.name.replace('-', "_")
    }

    pub fn variable(&self) -> String {
        format!("VERNAL_{}", self.key().to_uppercase())
    }

    /// Writes the texts that were given into the settings. The last one counts where there can be only one.
    pub fn apply(&self, settings: &mut Settings, texts: &[String]) -> Result<(), String> {
        match (&self.value, texts.last()) {
            (_, None) => Ok(()),
            (Value::One(set), Some(text)) => set(settings, text),
            (Value::Many(set), Some(_)) => set(settings, texts),
            (Value::Switch(field), Some(text)) => put(field(settings), value::switch(text)),
        }
    }
}

const fn entry(
    name: &'static str,
    value_name: &'static str,
    default: &'static str,
    help: &'static str,
    value: Value,
) -> Setting {
    Setting { name, value_name, default, help, value, everywhere: false, shown: None, table: None }
}

pub(super) const fn one(
    name: &'static str,
    value_name: &'static str,
    default: &'static str,
    help: &'static str,
    set: SetOne,
) -> Setting {
    entry(name, value_name, default, help, Value::One(set))
}

pub(super) const fn many(
    name: &'static str,
    value_name: &'static str,
    default: &'static str,
    help: &'static str,
    set: SetMany,
) -> Setting {
    entry(name, value_name, default, help, Value::Many(set))
}

pub(super) const fn switch(name: &'static str, help: &'static str, field: fn(&mut Settings) -> &mut bool) -> Setting {
    entry(name, "BOOL", "false", help, Value::Switch(field))
}

/// What is shown of a value that is used and never shown.
pub(super) fn secret(_: &str) -> String {
    "(secret)".to_owned()
}

/// Writes a value where it belongs, if it is one.
pub(super) fn put<T>(field: &mut T, value: Result<T, String>) -> Result<(), String> {
    *field = value?;
    Ok(())
}

pub(super) fn put_some<T>(field: &mut Option<T>, value: Result<T, String>) -> Result<(), String> {
    put(field, value.map(Some))
}

pub(super) fn all<T>(texts: &[String], read: impl Fn(&str) -> Result<T, String>) -> Result<Vec<T>, String> {
    texts.iter().map(|text| read(text)).collect()
}
