//! Sends a delivery on its route. Connections come from [`Network`], which `app` fills with the guard of the crawler.
//!
//! - `sign`: signatures of the Standard Webhooks form.
//! - `webhook`: a POST.
//! - `mail`: SMTP.
//! - `command`: a program of the operator.

mod command;
mod mail;
mod sign;
mod webhook;

use std::fmt;
use std::future::Future;
use std::net::SocketAddr;
use std::pin::Pin;

use tokio::io::{AsyncRead, AsyncWrite};
use vernal_model::Moment;

pub use sign::signature;

use crate::outbox::{ANSWER_BYTES_MAX, Delivery};
use crate::route::{Route, RouteKind};

/// What came of one try.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    pub taken: bool,
    pub status: Option<u16>,
    pub answer: String,
    /// The receiver wants nothing more.
    pub gone: bool,
}

/// A request that is posted.
#[derive(Clone, Debug)]
pub struct Post {
    pub url: String,
    pub headers: Vec<(&'static str, String)>,
    pub body: Vec<u8>,
}

/// The beginning of its answer.
#[derive(Clone, Debug)]
pub struct PostAnswer {
    pub status: u16,
    pub body: Vec<u8>,
}

/// Why there is no answer, in words.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{0}")]
pub struct SendError(pub String);

/// What is not made to be sent between threads: a delivery lives on one thread.
pub type LocalFuture<'a, T> = Pin<Box<dyn Future<Output = T> + 'a>>;

/// Bytes both ways.
pub trait MailStream: AsyncRead + AsyncWrite + Send + Sync + Unpin + fmt::Debug {}

impl<T: AsyncRead + AsyncWrite + Send + Sync + Unpin + fmt::Debug> MailStream for T {}

/// Outgoing connections, each to an address that was judged, within limits of time and size. Redirects are not followed.
pub trait Network: Send + Sync {
    fn post(&self, post: Post) -> LocalFuture<'_, Result<PostAnswer, SendError>>;

    /// A connection to a mail server, with TLS from its beginning where that is asked for.
    fn dial<'a>(
        &'a self,
        host: &'a str,
        port: u16,
        tls: bool,
    ) -> LocalFuture<'a, Result<(Box<dyn MailStream>, SocketAddr), SendError>>;
}

/// Tries once. What goes wrong is part of the outcome.
pub async fn send(
    route: &Route,
    delivery: &Delivery,
    network: &dyn Network,
    links: Option<&str>,
    now: Moment,
) -> Outcome {
    let tried = match &route.to {
        RouteKind::Webhook(hook) => webhook::post(hook, route, delivery, (network, links), now).await,
        RouteKind::Mail(mail) => mail::send(mail, route, delivery, (network, links), now).await,
        RouteKind::Command(program) => command::run(program, delivery, links).await,
    };
    let mut outcome =
        tried.unwrap_or_else(|error| Outcome { taken: false, status: None, answer: error.0, gone: false });
    outcome.answer.truncate(outcome.answer.floor_char_boundary(ANSWER_BYTES_MAX.min(outcome.answer.len())));
    outcome
}

/// What would be sent, as text.
pub fn written(route: &Route, delivery: &Delivery, links: Option<&str>) -> Result<String, SendError> {
    Ok(match &route.to {
        RouteKind::Webhook(hook) => webhook::body(hook, route, delivery, links)?.1,
        RouteKind::Mail(_) => {
            let template =
                route.template.as_deref().map(crate::template::Template::parse).transpose().map_err(SendError)?;
            let mail = crate::template::mail(delivery, template.as_ref(), links);
            format!("Subject: {}\n\n{}", mail.subject, mail.text)
        }
        RouteKind::Command(_) => crate::template::json(delivery, links),
    })
}

impl From<crate::Error> for SendError {
    fn from(error: crate::Error) -> SendError {
        SendError(error.to_string())
    }
}

/// What is kept of the bytes of an answer.
fn answer_text(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(ANSWER_BYTES_MAX)]);
    text.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect::<String>().trim().to_owned()
}
