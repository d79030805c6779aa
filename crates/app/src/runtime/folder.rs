//! The data folder for every command but `run`: asked through the socket of the process that holds it, or opened here and
//! asked through the same router, so that both give the same answers.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::{HeaderMap, Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use tempfile::TempDir;
use tower::ServiceExt;
use vernal_api::{AccessTokens, Shared};
use vernal_repository::runs;
use vernal_repository::{ReadOnlyCopy, Recovery, Repository, TablesRecovery};

use super::alerts::AlertService;
use super::backend::StoppedCrawl;
use super::clock::{Clock, wall};
use super::live::Until;
use super::search::SearchService;
use super::{parts, serving};
use crate::command::Context;
use crate::config::{Settings, promises, url_terms, value};
use crate::error::{Error, OrFail, Result};

/// How often and how long a command waits for a folder that another short command holds.
const TRIES_MAX: usize = 100;
const TRY_EVERY: Duration = Duration::from_millis(100);

/// A folder that can be asked.
pub enum Folder {
    Running {
        dir: std::path::PathBuf,
    },
    /// `copy` where the folder cannot be written: nothing can be changed, and the copy goes with the command.
    Stopped {
        dir: std::path::PathBuf,
        router: Router,
        backend: Arc<StoppedCrawl>,
        clock: Arc<Clock>,
        copy: Option<TempDir>,
    },
}

/// The answer of the router, from either side.
pub struct Answer {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: Body,
}

/// Whether there is a repository in this folder.
pub use vernal_repository::exists;

/// What may lie in a folder whose making was interrupted.
const BEGINNINGS: [&str; 2] = ["FORMAT", "lock"];

/// A repository is made in a folder that is new or empty, never among other people's files.
pub fn check_place(dir: &Path) -> Result<()> {
    let failed = |what: &str| Err(Error::Failed(format!("{} {what}", dir.display())));
    if exists(dir) || std::fs::symlink_metadata(dir).is_err() {
        return Ok(());
    }
    if !dir.is_dir() {
        return failed("is no folder; give a folder with --data");
    }
    let entries = std::fs::read_dir(dir).map_err(|error| Error::Failed(format!("read {}: {error}", dir.display())))?;
    let is_foreign = |name: std::ffi::OsString| !BEGINNINGS.iter().any(|own| name.to_string_lossy().starts_with(own));
    if entries.filter_map(|entry| entry.ok()).any(|entry| is_foreign(entry.file_name())) {
        return failed("is not empty and holds no repository; give a new or an empty folder with --data");
    }
    Ok(())
}

/// What an opening found damaged, and what it did about it.
pub fn healed(recovery: &Recovery) -> Vec<String> {
    let mut lines = Vec::new();
    if let TablesRecovery::Rebuilt(why) = &recovery.tables {
        lines.push(format!("the tables were made anew from the journal: {why}"));
    }
    if recovery.format_mended {
        lines.push("FORMAT was damaged or lost, and was written anew from its other copy".into());
    }
    if let Some(lost) = &recovery.segment_lost {
        lines.push(format!("{lost}: its bodies are lost, and everything else can be read; `vernal verify --repair` lists them and has their pages asked for again"));
    }
    lines
}

impl Folder {
    /// The folder as the crawl that runs in it shows it; `None` where none does.
    pub async fn running(context: &Context) -> Option<Folder> {
        let dir = &context.settings.data;
        serving::connect(dir).await.is_ok().then(|| Folder::Running { dir: dir.clone() })
    }

    /// `make`: an empty folder becomes a repository instead of an error.
    pub async fn open(context: &Context, make: bool) -> Result<Folder> {
        let dir = &context.settings.data;
        if !make && !exists(dir) {
            return Err(Error::Failed(format!("{} holds no repository; `vernal run` makes one", dir.display())));
        }
        check_place(dir)?;
        for _ in 0..TRIES_MAX {
            if let Some(running) = Folder::running(context).await {
                return Ok(running);
            }
            match Repository::open(dir, parts::repository_settings(&context.settings), wall()) {
                Ok((repository, recovery)) => {
                    for line in healed(&recovery) {
                        tracing::warn!("{line}");
                    }
                    return Folder::stopped(context, repository, None);
                }
                Err(vernal_repository::Error::Held { .. }) => tokio::time::sleep(TRY_EVERY).await,
                Err(error) if error.is_unwritable() => return Folder::copied(context, &error),
                Err(error) => return Err(Error::failed(error)),
            }
        }
        Err(Error::Failed(format!("{} is in use and nobody answers on its socket", dir.display())))
    }

    /// A folder that cannot be written can still be read.
    fn copied(context: &Context, why: &vernal_repository::Error) -> Result<Folder> {
        let dir = &context.settings.data;
        let opened = Repository::open_copy(dir, parts::repository_settings(&context.settings), wall());
        let ReadOnlyCopy { repository, folder, .. } =
            opened.map_err(|error| Error::Failed(format!("{why}; {error}")))?;
        tracing::warn!("{why}: {} is read from a copy, and nothing can be changed", dir.display());
        Folder::stopped(context, repository, Some(folder))
    }

    fn stopped(context: &Context, mut repository: Repository, copy: Option<TempDir>) -> Result<Folder> {
        let reader = repository.reader();
        let stored = reader.time_origin();
        let scale = stored.map_or(1.0, |origin| origin.scale);
        let clock = Arc::new(Clock::resume(stored, reader.last_moment(), scale));
        let settings = settings_of_last_run(context);
        repository.keep_journal(settings.repository.journal);
        let crawler_settings = parts::crawler_settings(&settings, Until::default())?;
        let backend = Arc::new(StoppedCrawl::new(repository, crawler_settings));
        let search = Arc::new(SearchService::new(settings.data.clone(), reader.clone()));
        let alerts = Arc::new(AlertService::new(&settings, reader.clone(), None, None));
        let settings = parts::api_settings(context, &settings)?;
        let shared = Shared::new(
            settings,
            reader,
            Arc::<Clock>::clone(&clock),
            Arc::<StoppedCrawl>::clone(&backend),
            search,
            Arc::new(AccessTokens::of_folder(context.settings.data.clone(), wall)),
        )
        .with_alerts(alerts);
        let dir = context.settings.data.clone();
        Ok(Folder::Stopped { dir, router: vernal_api::router(Arc::new(shared)), backend, clock, copy })
    }

    pub async fn get(&self, path_and_query: &str) -> Result<Answer> {
        self.ask(Method::GET, path_and_query, String::new()).await
    }

    /// Sends a request; an answer that is no success becomes an error.
    pub async fn ask(&self, method: Method, path_and_query: &str, body: String) -> Result<Answer> {
        if let Folder::Stopped { copy: Some(_), dir, .. } = self
            && method != Method::GET
        {
            let dir = dir.display();
            return Err(Error::Failed(format!("{dir} cannot be written, so nothing can be changed")));
        }
        let request = Request::builder()
            .method(method)
            .uri(path_and_query)
            .header("host", "localhost")
            .body(Body::from(body))
            .or_fail()?;
        let response = match self {
            Folder::Running { dir } => through_socket(dir, request).await?,
            Folder::Stopped { router, .. } => router.clone().oneshot(request).await.or_fail()?,
        };
        let (parts, body) = response.into_parts();
        let answer = Answer { status: parts.status, headers: parts.headers, body };
        if answer.status.is_success() { Ok(answer) } else { Err(refusal(answer).await) }
    }

    /// Closes the folder if this process opened it, with everything written.
    pub fn close(self) -> Result<()> {
        match self {
            Folder::Running { .. } => Ok(()),
            Folder::Stopped { backend, clock, .. } => backend.close(clock.now()).or_fail(),
        }
    }
}

/// A stopped crawl is judged by the settings of its last run, except for those that were given now.
fn settings_of_last_run(context: &Context) -> Settings {
    let mut settings = context.settings.clone();
    let Some(last) = runs::settings_of_last_run(&settings.data) else { return settings };
    let is_free = |name: &str| context.in_force.is_default(name);
    if is_free("budget") {
        settings.crawler.budget = last.budget.parse().unwrap_or(settings.crawler.budget);
    }
    if is_free("policy") && vernal_policy::by_name(&last.policy).is_some() {
        settings.crawler.policy = last.policy;
    }
    if is_free("allow-private") {
        settings.fetch.allow_private = last.allow_private;
    }
    if is_free("journal") {
        settings.repository.journal = value::journal(&last.journal).unwrap_or(settings.repository.journal);
    }
    if is_free("strict") {
        settings.crawler.strict = last.strict;
    }
    if is_free("strict-sites") {
        settings.crawler.strict_sites = last.strict_sites;
    }
    if is_free("promises") {
        settings.crawler.promises = last.promises.iter().filter_map(|text| promises::parse(text).ok()).collect();
    }
    if is_free("url-thresholds") {
        settings.crawler.url_terms = last.url_thresholds.iter().filter_map(|text| url_terms(text).ok()).collect();
    }
    settings
}

async fn through_socket(dir: &Path, request: Request<Body>) -> Result<Response<Body>> {
    let stream = serving::connect(dir)
        .await
        .map_err(|error| Error::Failed(format!("speak to {}: {error}", dir.join(serving::SOCKET_NAME).display())))?;
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.or_fail()?;
    // The connection ends with its answer; an error shows in the answer's body.
    tokio::spawn(connection);
    Ok(sender.send_request(request).await.or_fail()?.map(Body::new))
}

/// The error line of an answer that is no success.
async fn refusal(answer: Answer) -> Error {
    let status = answer.status;
    let text = answer.text().await.unwrap_or_default();
    let told = serde_json::from_str::<serde_json::Value>(&text).ok();
    let line = told.as_ref().and_then(|told| told["error"].as_str()).unwrap_or(&text).to_owned();
    if status == StatusCode::BAD_REQUEST { Error::Usage(line) } else { Error::Failed(line) }
}

impl Answer {
    pub async fn bytes(self) -> Result<Vec<u8>> {
        Ok(axum::body::to_bytes(self.body, usize::MAX).await.or_fail()?.into())
    }

    pub async fn text(self) -> Result<String> {
        let bytes = axum::body::to_bytes(self.body, usize::MAX).await.or_fail()?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    pub async fn json(self) -> Result<serde_json::Value> {
        serde_json::from_str(&self.text().await?).or_fail()
    }

    /// Gives each line of the body as it arrives.
    pub async fn each_line(self, mut take: impl FnMut(&str) -> Result<()>) -> Result<()> {
        let mut rest = Vec::new();
        self.each_part(|part| {
            rest.extend_from_slice(part);
            while let Some(end) = rest.iter().position(|&byte| byte == b'\n') {
                let line: Vec<u8> = rest.drain(..=end).collect();
                take(String::from_utf8_lossy(&line[..end]).as_ref())?;
            }
            Ok(())
        })
        .await?;
        if rest.is_empty() { Ok(()) } else { take(&String::from_utf8_lossy(&rest)) }
    }

    /// Gives the bytes of the body as they arrive.
    pub async fn each_part(self, mut take: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
        use http_body_util::BodyExt;
        let mut body = self.body;
        while let Some(frame) = body.frame().await {
            if let Some(part) = frame.or_fail()?.data_ref() {
                take(part)?;
            }
        }
        Ok(())
    }
}
