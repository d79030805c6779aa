//! A mail by SMTP: text and HTML, with TLS before anything is said unless the route is plain.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, UNIX_EPOCH};

use lettre::message::header::{Header, HeaderName, HeaderValue};
use lettre::message::{Mailbox, Message, MultiPart};
use lettre::transport::smtp;
use lettre::transport::smtp::authentication::{Credentials, Mechanism};
use lettre::transport::smtp::client::{AsyncSmtpConnection, AsyncTokioStream, Certificate, TlsParameters};
use lettre::transport::smtp::extension::ClientId;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use vernal_model::Moment;

use super::attempt::Outcome;
use super::network::{DialTls, MailStream, Network, SendError};
use crate::outbox::Delivery;
use crate::route::{Mail, Route};
use crate::template::{self, Template};

/// A whole exchange with a mail server.
const EXCHANGE_MAX: Duration = Duration::from_secs(60);

pub(super) async fn send(
    mail: &Mail,
    route: &Route,
    delivery: &Delivery,
    (network, links): (&dyn Network, Option<&str>),
    now: Moment,
) -> Result<Outcome, SendError> {
    let message = message(mail, route, delivery, links, now)?;
    match tokio::time::timeout(EXCHANGE_MAX, exchange(mail, &message, network)).await {
        Ok(Ok(outcome)) => Ok(outcome),
        Ok(Err(Failed::Before(error))) => Err(error),
        Ok(Err(Failed::Said { during, error })) => {
            let answer = format!("{during}: {}", error_text(&error));
            Ok(Outcome { taken: false, status: error.status().map(u16::from), answer, gone: false })
        }
        Err(_) => Err(SendError(format!("the mail server did not take it within {} s", EXCHANGE_MAX.as_secs()))),
    }
}

/// Why no mail was taken.
enum Failed {
    /// Nothing was asked of the server.
    Before(SendError),
    /// What the server said, or that it said nothing more.
    Said { during: &'static str, error: smtp::Error },
}

impl From<SendError> for Failed {
    fn from(error: SendError) -> Failed {
        Failed::Before(error)
    }
}

impl From<crate::Error> for Failed {
    fn from(error: crate::Error) -> Failed {
        Failed::Before(error.into())
    }
}

async fn exchange(mail: &Mail, message: &Message, network: &dyn Network) -> Result<Outcome, Failed> {
    let failed = |during| move |error| Failed::Said { during, error };
    let (server, trusted) = (mail.server()?, mail.trusted()?);
    let tls = if server.tls { DialTls::Yes { trusted: trusted.as_deref() } } else { DialTls::No };
    let (stream, peer) = network.dial(&server.host, server.port, tls).await?;
    let hello = ClientId::Domain(domain(&mail.from));
    let stream: Box<dyn AsyncTokioStream> = Box::new(Dialled { stream, peer });
    let connected = AsyncSmtpConnection::connect_with_transport(stream, &hello).await;
    let mut connection = connected.map_err(failed("greet the mail server"))?;
    if !server.tls && !mail.plain {
        if !connection.can_starttls() {
            return Err(SendError("the mail server offers no STARTTLS, and nothing is sent without TLS".into()).into());
        }
        let tls = tls_parameters(&server.host, trusted.as_deref()).map_err(failed("prepare TLS"))?;
        connection.starttls(tls, &hello).await.map_err(failed("begin TLS with the mail server"))?;
    }
    if let (Some(user), Some(password)) = (&mail.user, &mail.password) {
        let credentials = Credentials::new(user.clone(), password.read()?);
        let said = connection.auth(&[Mechanism::Plain, Mechanism::Login], &credentials).await;
        said.map_err(failed("log in to the mail server"))?;
    }
    let sent = connection.send(message.envelope(), &message.formatted()).await;
    let response = sent.map_err(failed("send the mail"))?;
    // It is taken, whatever comes of the farewell.
    let _ = connection.quit().await;
    let answer = response.message().collect::<Vec<_>>().join(" ");
    Ok(Outcome { taken: true, status: Some(u16::from(response.code())), answer, gone: false })
}

fn tls_parameters(host: &str, trusted: Option<&[u8]>) -> Result<TlsParameters, smtp::Error> {
    let name = host.trim_start_matches('[').trim_end_matches(']').to_owned();
    let mut tls = TlsParameters::builder(name);
    if let Some(pem) = trusted {
        tls = tls.add_root_certificate(Certificate::from_pem(pem)?);
    }
    tls.build_rustls()
}

/// The error with what caused it, in one line.
fn error_text(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        text.push_str(": ");
        text.push_str(&inner.to_string());
        cause = inner.source();
    }
    text.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect()
}

fn message(
    mail: &Mail,
    route: &Route,
    delivery: &Delivery,
    links: Option<&str>,
    now: Moment,
) -> Result<Message, SendError> {
    let wrong = |what: &dyn std::fmt::Display| SendError(format!("write the mail: {what}"));
    let template = route.template.as_deref().map(Template::parse).transpose().map_err(SendError)?;
    let written = template::mail(delivery, template.as_ref(), links);
    let mailbox = |text: &str| text.parse::<Mailbox>().map_err(|error| wrong(&error));
    let domain = domain(&mail.from);
    let secs = u64::try_from(now.secs()).unwrap_or_default();
    let mut message = Message::builder()
        .from(mailbox(&mail.from)?)
        .subject(written.subject)
        .date(UNIX_EPOCH + Duration::from_secs(secs))
        .message_id(Some(format!("<{}@vernal.{domain}>", id_text(&delivery.id))))
        .header(ListId(format!("<{}.vernal.{domain}>", id_text(&delivery.watch))))
        .header(AutoSubmitted);
    // All mails of one page are one thread, although none of them is its first.
    if let [told] = &delivery.alert.events[..] {
        let page = sha2_of(&told.url);
        message = message.references(format!("<page-{page}@vernal.{domain}>"));
    }
    for to in &mail.to {
        message = message.to(mailbox(to)?);
    }
    message.multipart(MultiPart::alternative_plain_html(written.text, written.html)).map_err(|error| wrong(&error))
}

fn domain(from: &str) -> String {
    let address = from.rsplit_once('<').map_or(from, |(_, address)| address);
    let domain = address.rsplit_once('@').map_or("localhost", |(_, domain)| domain);
    id_text(domain.trim_end_matches('>'))
}

/// Only what can stand in an id of a mail.
fn id_text(text: &str) -> String {
    let letter =
        |letter: char| if letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '.') { letter } else { '.' };
    text.chars().map(letter).collect()
}

fn sha2_of(text: &str) -> String {
    use sha2::Digest;
    let digest = sha2::Sha256::digest(text.as_bytes());
    digest.iter().take(12).map(|byte| format!("{byte:02x}")).collect()
}

/// `List-Id`, by which readers sort mails of a watch.
#[derive(Clone)]
struct ListId(String);

impl Header for ListId {
    fn name() -> HeaderName {
        HeaderName::new_from_ascii_str("List-Id")
    }

    fn parse(text: &str) -> Result<Self, Box<dyn std::error::Error + Send + Sync>> {
        Ok(ListId(text.to_owned()))
    }

    fn display(&self) -> HeaderValue {
        HeaderValue::new(Self::name(), self.0.clone())
    }
}

/// No machine answers a machine (RFC 3834).
#[derive(Clone)]
struct AutoSubmitted;

impl Header for AutoSubmitted {
    fn name() -> HeaderName {
        HeaderName::new_from_ascii_str("Auto-Submitted")
    }

    fn parse(_: &str) -> Result<Self, Box<dyn std::error::Error + Send + Sync>> {
        Ok(AutoSubmitted)
    }

    fn display(&self) -> HeaderValue {
        HeaderValue::new(Self::name(), "auto-generated".to_owned())
    }
}

/// A connection that the guard allowed, as the library wants it.
#[derive(Debug)]
struct Dialled {
    stream: Box<dyn MailStream>,
    peer: SocketAddr,
}

impl AsyncTokioStream for Dialled {
    fn peer_addr(&self) -> io::Result<SocketAddr> {
        Ok(self.peer)
    }
}

impl AsyncRead for Dialled {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buf)
    }
}

impl AsyncWrite for Dialled {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
