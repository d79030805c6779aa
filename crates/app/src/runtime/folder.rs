//! The data folder as every command but `run` meets it: through the socket of the process that holds it, or opened by
//! ourselves and asked through the very same router. Same questions, same answers.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use tower::ServiceExt;
use vernal_repository::Repository;

use super::clock::{Clock, wall};
use super::live::Until;
use super::{parts, serving};
use crate::api::{self, Hands, Shared};
use crate::command::Context;
use crate::error::{Error, OrFail, Result};

/// How often and how long a command tries to get at a folder that another short command holds.
const TRIES_MAX: usize = 100;
const TRY_EVERY: Duration = Duration::from_millis(100);

/// A folder that can be asked.
pub enum Folder {
    Running { dir: std::path::PathBuf },
    Still { router: Router, shared: Arc<Shared> },
}

/// What an answer is when it came.
pub struct Answer {
    pub status: StatusCode,
    pub body: Body,
}

/// Whether there is a repository in this folder.
pub fn exists(dir: &Path) -> bool {
    dir.join("FORMAT").exists()
}

impl Folder {
    /// `make`: an empty folder becomes a repository instead of an error.
    pub async fn open(context: &Context, make: bool) -> Result<Folder> {
        let dir = &context.settings.data;
        if !make && !exists(dir) {
            return Err(Error::Failed(format!("{} holds no repository; `vernal run` makes one", dir.display())));
        }
        for _ in 0..TRIES_MAX {
            if serving::connect(dir).await.is_ok() {
                return Ok(Folder::Running { dir: dir.clone() });
            }
            match Repository::open(dir, parts::repository_settings(&context.settings), wall()) {
                Ok((repository, _)) => return Folder::still(context, repository),
                Err(vernal_repository::Error::Held { .. }) => tokio::time::sleep(TRY_EVERY).await,
                Err(error) => return Err(Error::failed(error)),
            }
        }
        Err(Error::Failed(format!("{} is in use and nobody answers on its socket", dir.display())))
    }

    fn still(context: &Context, repository: Repository) -> Result<Folder> {
        let reader = repository.reader();
        let clock = Arc::new(Clock::start(reader.last_moment(), 1.0));
        let hands = Hands::still(repository, parts::crawler_settings(&context.settings, Until::default())?);
        let shared = Arc::new(Shared::new(context, reader, clock, hands));
        Ok(Folder::Still { router: api::router(Arc::clone(&shared)), shared })
    }

    pub async fn get(&self, path_and_query: &str) -> Result<Answer> {
        self.ask(Method::GET, path_and_query, String::new()).await
    }

    /// Asks, and makes an error of an answer that says no.
    pub async fn ask(&self, method: Method, path_and_query: &str, body: String) -> Result<Answer> {
        let request = Request::builder()
            .method(method)
            .uri(path_and_query)
            .header("host", "localhost")
            .body(Body::from(body))
            .or_fail()?;
        let response = match self {
            Folder::Running { dir } => through_socket(dir, request).await?,
            Folder::Still { router, .. } => router.clone().oneshot(request).await.or_fail()?,
        };
        let (parts, body) = response.into_parts();
        let answer = Answer { status: parts.status, body };
        if answer.status.is_success() { Ok(answer) } else { Err(refusal(answer).await) }
    }

    /// Ends our own hold on the folder, with everything written.
    pub fn close(self) -> Result<()> {
        match self {
            Folder::Running { .. } => Ok(()),
            Folder::Still { shared, .. } => shared.hands.close(shared.clock.now()).or_fail(),
        }
    }
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

/// The line that an unwilling answer carries.
async fn refusal(answer: Answer) -> Error {
    let status = answer.status;
    let text = answer.text().await.unwrap_or_default();
    let told = serde_json::from_str::<serde_json::Value>(&text).ok();
    let line = told.as_ref().and_then(|told| told["error"].as_str()).unwrap_or(&text).to_owned();
    if status == StatusCode::BAD_REQUEST { Error::Usage(line) } else { Error::Failed(line) }
}

impl Answer {
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
