//! What every command is given: the settings in force, and how output looks.

use std::future::Future;

use super::{Global, Verb};
use crate::config::{self, InForce, Settings};
use crate::error::{OrFail, Result};
use crate::log::Log;
use crate::output::TimeStyle;

pub struct Context {
    pub log: Log,
    pub json: bool,
    pub time: TimeStyle,
    pub in_force: InForce,
    pub settings: Settings,
    /// The token of the environment; the file of `--token-file` is read when it is needed.
    pub token: Option<String>,
}

impl Context {
    pub fn new(global: &Global, verb: &Verb) -> Result<Context> {
        let environment: Vec<(String, String)> = std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .collect();
        let mut flags = verb.flags();
        for (name, value) in [("data", &global.data), ("log-format", &global.log_format)] {
            if let Some(value) = value {
                flags.push(name, value.clone());
            }
        }
        let in_force = config::resolve(&flags, &environment, global.config.as_deref())?;
        let settings = Settings::read(&in_force)?;
        let log = Log::start(settings.log_format, global.quiet, global.verbose);
        for stranger in config::environment_strangers(&environment)? {
            tracing::warn!("{stranger}");
        }
        let token = environment.into_iter().find(|(name, _)| name == "VERNAL_TOKEN").map(|(_, token)| token);
        Ok(Context { log, json: global.json, time: TimeStyle { utc: global.utc }, in_force, settings, token })
    }

    /// Runs one question to its end on a small runtime.
    pub fn block_on(&self, question: impl Future<Output = Result<()>>) -> Result<()> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().or_fail()?;
        let answered = runtime.block_on(question);
        // A task that still writes to a closed reader is not waited for.
        runtime.shutdown_background();
        answered
    }
}
