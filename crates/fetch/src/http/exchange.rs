//! One order, from a pooled or fresh connection to an answer.

use std::cell::RefCell;

use std::net::IpAddr;

use tokio::time::Instant;
use vernal_model::{Failure, Form, Order, Outcome, Url, Validators};

use super::body::BodyLimit;
use super::connection::Connection;
use super::head::RequestHead;
use super::http2::Session;
use super::pool::{OpenConnection, Pool};
use crate::Settings;
use crate::answer::{Answer, AnswerError};
use crate::dial::{Dialler, Targets};
use crate::stream::{Meter, Stream};
use crate::validator;

/// The connection that an order will use.
pub enum Route {
    /// An open connection from the pool.
    Pooled(OpenConnection),
    /// A new connection to one of these addresses.
    New(Targets),
}

impl Route {
    pub fn address(&self) -> Option<IpAddr> {
        match self {
            Route::Pooled(OpenConnection::Http1(connection)) => Some(connection.address()),
            Route::Pooled(OpenConnection::Http2(session)) => Some(session.address()),
            Route::New(targets) => targets.address(),
        }
    }
}

/// Sends the one request of an order and reads its answer.
///
/// A site may have closed a pooled connection in the meantime. When the connection ends before the first byte of an answer,
/// the request is sent once more over a new connection. That counts as one request, because the first was not answered.
pub async fn ask(
    order: &Order,
    route: Route,
    settings: &Settings,
    lines: &RequestHead,
    dialler: &Dialler,
    pool: &RefCell<Pool>,
    meter: &Meter,
) -> Result<Answer, Outcome> {
    let (url, validators, form) = (&order.url, &order.validators, order.kind.form());
    let limit = BodyLimit::of(&order.kind, settings.body_bytes_max);
    let request = HttpRequest { url, validators, form, settings, limit, lines, pool, meter };
    let targets = match route {
        Route::New(targets) => targets,
        Route::Pooled(open) => match request.over(open).await {
            Ok(answer) => return Ok(answer),
            Err(broken) => {
                // A multiplexed connection that failed once is not used again.
                pool.borrow_mut().forget_session(url.origin_text());
                if let AnswerError::Final(outcome) = broken {
                    return Err(outcome);
                }
                dialler.look_up(url, order.public_only).await?
            }
        },
    };
    let open = Box::pin(open(url, &targets, settings, dialler, pool)).await?;
    match Box::pin(request.over(open)).await {
        Ok(answer) => Ok(answer),
        Err(AnswerError::Final(outcome)) => Err(outcome),
        Err(AnswerError::Stale) => Err(Outcome::Failed(Failure::Protocol("closed without an answer".into()))),
    }
}

struct HttpRequest<'a> {
    url: &'a Url,
    validators: &'a Validators,
    form: Option<&'a Form>,
    settings: &'a Settings,
    limit: BodyLimit,
    lines: &'a RequestHead,
    pool: &'a RefCell<Pool>,
    meter: &'a Meter,
}

impl HttpRequest<'_> {
    async fn over(&self, open: OpenConnection) -> Result<Answer, AnswerError> {
        let origin = self.url.origin_text();
        let mut answer = match open {
            OpenConnection::Http1(connection) => {
                let request_head = self.lines.http1(self.url, self.validators, self.form)?;
                let body = self.form.map_or(&[][..], Form::as_bytes);
                let (answer, connection) =
                    connection.ask(request_head, body, (self.settings, self.limit), self.meter).await?;
                if let Some(connection) = connection {
                    self.pool.borrow_mut().put(origin, OpenConnection::Http1(connection), Instant::now());
                }
                answer
            }
            OpenConnection::Http2(session) => {
                let again = session.again();
                let asked = session.ask(
                    self.url,
                    self.lines,
                    self.validators,
                    self.form,
                    (self.settings, self.limit),
                    self.meter,
                );
                let answer = Box::pin(asked).await?;
                self.pool.borrow_mut().put(origin, OpenConnection::Http2(again), Instant::now());
                answer
            }
        };
        answer.validators = validator::of_answer(&answer.exchange.response_head);
        Ok(answer)
    }
}

async fn open(
    url: &Url,
    targets: &Targets,
    settings: &Settings,
    dialler: &Dialler,
    pool: &RefCell<Pool>,
) -> Result<OpenConnection, Outcome> {
    let stream = dialler.connect(targets).await?;
    let address = stream.peer_addr().map_err(|error| Outcome::Failed(Failure::Connect(error.to_string())))?.ip();
    if url.scheme() != "https" {
        return Ok(OpenConnection::Http1(Connection::new(
            Stream::Plain(stream),
            pool.borrow().buffer_source(),
            address,
        )));
    }
    let stream = dialler.secure(stream, url).await?;
    if stream.get_ref().1.alpn_protocol() == Some(b"h2") {
        let session = Session::open(stream, address, settings).await.map_err(Outcome::Failed)?;
        return Ok(OpenConnection::Http2(session));
    }
    Ok(OpenConnection::Http1(Connection::new(Stream::Tls(Box::new(stream)), pool.borrow().buffer_source(), address)))
}
