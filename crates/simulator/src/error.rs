//! The failures of this room; what the invented web does wrong is its purpose and no error.

use std::net::SocketAddr;
use std::path::PathBuf;

pub type Result<T> = std::result::Result<T, Error>;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("read scenario {}: {source}", path.display())]
    ScenarioUnreadable { path: PathBuf, source: std::io::Error },
    #[error("parse scenario {name}: {source}")]
    ScenarioMalformed { name: String, source: Box<toml::de::Error> },
    #[error("there is no scenario named `{0}`; there are plain, realistic and bench")]
    ScenarioUnknown(String),
    #[error("the web's settings: {0}")]
    Settings(String),
    #[error("there is no scenario of the laboratory named `{0}`; there are {1}")]
    LabScenarioUnknown(String, String),
    #[error("the laboratory: {0}")]
    Lab(String),
    #[error("crawl a world of the laboratory: {0}")]
    Crawl(#[from] vernal_crawler::Error),
    #[error("open a repository for a trial: {0}")]
    Repository(#[from] vernal_repository::Error),
    #[error("policy {policy} chose {what}")]
    Choice { policy: String, what: String },
    #[error("{0}, and exec:COMMAND")]
    PolicyUnknown(vernal_policy::parameters::SpecError),
    #[error("start the policy `{command}`: {source}")]
    OutsideStart { command: String, source: std::io::Error },
    #[error("the policy `{command}`: {why}")]
    Outside { command: String, why: String },
    #[error("read trace {}: {source}", path.display())]
    TraceUnreadable { path: PathBuf, source: std::io::Error },
    #[error("read trace {name}, line {line}, column {column}: {why}")]
    TraceMalformed { name: String, line: u64, column: String, why: String },
    #[error("listen on {address} for site {site}: {source}")]
    Listen { site: usize, address: SocketAddr, source: std::io::Error },
    #[error("start the server's runtime: {0}")]
    Runtime(std::io::Error),
}
