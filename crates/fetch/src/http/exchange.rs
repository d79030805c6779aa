//! One order, from a pooled or fresh connection to an answer.

use std::cell::RefCell;

use std::net::IpAddr;

use tokio::time::Instant;
use vernal_model::{Failure, Form, Order, Outcome, Url, Validators};

use super::connection::Connection;
use super::head::RequestHead;
use super::http2::Session;
use super::pool::{Open, Pool};
use crate::Settings;
use crate::answer::{Answer, Broken};
use crate::dial::{Dialler, Found};
use crate::stream::{Meter, Stream};
use crate::validator;

/// How an order will reach its site.
pub enum Way {
    /// Over a connection that is open already.
    Kept(Open),
    /// Over one that is yet to be opened.
    Fresh(Found),
}

impl Way {
    pub fn address(&self) -> Option<IpAddr> {
        match self {
            Way::Kept(Open::Http1(connection)) => Some(connection.address()),
            Way::Kept(Open::Http2(session)) => Some(session.address()),
            Way::Fresh(found) => found.address(),
        }
    }
}

/// Sends the one request of an order and reads its answer.
///
/// A pooled connection may have been closed by the site in the meantime; when it dies before a byte of the answer came,
/// the request is sent once more on a fresh connection. That is still one request: the first was never answered.
pub async fn ask(
    order: &Order,
    way: Way,
    settings: &Settings,
    lines: &RequestHead,
    dialler: &Dialler,
    pool: &RefCell<Pool>,
    meter: &Meter,
) -> Result<Answer, Outcome> {
    let (url, validators, form) = (&order.url, &order.validators, order.kind.form());
    let asking = Asking { url, validators, form, settings, lines, pool, meter };
    let found = match way {
        Way::Fresh(found) => found,
        Way::Kept(open) => match asking.over(open).await {
            Ok(answer) => return Ok(answer),
            Err(broken) => {
                // A multiplexed connection on which something went wrong is not trusted with another order.
                pool.borrow_mut().forget_session(url.origin_text());
                if let Broken::Over(outcome) = broken {
                    return Err(outcome);
                }
                dialler.look_up(url).await?
            }
        },
    };
    let open = Box::pin(open(url, &found, settings, dialler, pool)).await?;
    match Box::pin(asking.over(open)).await {
        Ok(answer) => Ok(answer),
        Err(Broken::Over(outcome)) => Err(outcome),
        Err(Broken::Stale) => Err(Outcome::Failed(Failure::Protocol("closed without an answer".into()))),
    }
}

struct Asking<'a> {
    url: &'a Url,
    validators: &'a Validators,
    form: Option<&'a Form>,
    settings: &'a Settings,
    lines: &'a RequestHead,
    pool: &'a RefCell<Pool>,
    meter: &'a Meter,
}

impl Asking<'_> {
    async fn over(&self, open: Open) -> Result<Answer, Broken> {
        let origin = self.url.origin_text();
        let mut answer = match open {
            Open::Http1(connection) => {
                let request_head = self.lines.http1(self.url, self.validators, self.form)?;
                let body = self.form.map_or(&[][..], Form::as_bytes);
                let (answer, connection) = connection.ask(request_head, body, self.settings, self.meter).await?;
                if let Some(connection) = connection {
                    self.pool.borrow_mut().put(origin, Open::Http1(connection), Instant::now());
                }
                answer
            }
            Open::Http2(session) => {
                let again = session.again();
                let asked = session.ask(self.url, self.lines, self.validators, self.form, self.settings, self.meter);
                let answer = Box::pin(asked).await?;
                self.pool.borrow_mut().put(origin, Open::Http2(again), Instant::now());
                answer
            }
        };
        answer.validators = validator::of_answer(&answer.exchange.response_head);
        Ok(answer)
    }
}

async fn open(
    url: &Url,
    found: &Found,
    settings: &Settings,
    dialler: &Dialler,
    pool: &RefCell<Pool>,
) -> Result<Open, Outcome> {
    let stream = dialler.connect(found).await?;
    let address = stream.peer_addr().map_err(|error| Outcome::Failed(Failure::Connect(error.to_string())))?.ip();
    if url.scheme() != "https" {
        return Ok(Open::Http1(Connection::new(Stream::Plain(stream), pool.borrow().room(), address)));
    }
    let stream = dialler.secure(stream, url).await?;
    if stream.get_ref().1.alpn_protocol() == Some(b"h2") {
        let session = Session::open(stream, address, settings).await.map_err(Outcome::Failed)?;
        return Ok(Open::Http2(session));
    }
    Ok(Open::Http1(Connection::new(Stream::Tls(Box::new(stream)), pool.borrow().room(), address)))
}
