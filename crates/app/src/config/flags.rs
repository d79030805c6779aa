//! The catalogue as flags of a command.

use clap::{Arg, ArgAction, ArgMatches, Command};

use super::catalogue;
use super::setting::{Setting, Value};

/// The settings given on the command line.
#[derive(Clone, Debug, Default)]
pub struct Flags {
    pub given: Vec<(&'static Setting, Vec<String>)>,
}

impl Flags {
    /// Adds a setting that another part of the command line gave (`--data`, the switches of a verb).
    pub fn push(&mut self, name: &str, value: String) {
        let Some(setting) = catalogue::by_name(name) else { return };
        match self.given.iter_mut().find(|(given, _)| given.name == name) {
            Some((_, values)) => values.push(value),
            None => self.given.push((setting, vec![value])),
        }
    }
}

impl clap::FromArgMatches for Flags {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut flags = Flags::default();
        for setting in catalogue::ALL.iter().filter(|setting| !setting.everywhere) {
            if let Ok(Some(values)) = matches.try_get_many::<String>(setting.name) {
                flags.given.push((setting, values.cloned().collect()));
            }
        }
        Ok(flags)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl clap::Args for Flags {
    fn augment_args(command: Command) -> Command {
        let settings = catalogue::ALL.iter().filter(|setting| !setting.everywhere);
        settings.fold(command, |command, setting| command.arg(flag(setting)))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

fn flag(setting: &'static Setting) -> Arg {
    let help = match setting.default {
        "" => setting.help.to_owned(),
        default => format!("{} [default: {default}]", setting.help),
    };
    let arg = Arg::new(setting.name)
        .long(setting.name)
        .value_name(setting.value_name)
        .help(help)
        .help_heading("Settings (also VERNAL_… and vernal.toml)");
    match setting.value {
        Value::One(_) => arg.action(ArgAction::Set),
        Value::Many(_) => arg.action(ArgAction::Append),
        Value::Switch(_) => arg.num_args(0..=1).require_equals(true).default_missing_value("true"),
    }
}
