//! Requests that people asked for: a POST to a webhook, and a connection to a mail server. They go through the same guard
//! as visits, over connections of their own. Redirects are not followed.

use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::timeout;
use vernal_model::{Failure, Outcome, Url};

use crate::answer::AnswerError;
use crate::dial::Dialler;
use crate::dns::Resolve;
use crate::guard;
use crate::http::body::{BodyLimit, SharedBuffer};
use crate::http::connection::Connection;
use crate::stream::{Meter, Stream};
use crate::{Result, Settings};

/// A POST, its name and its answer included.
const POST_MAX: Duration = Duration::from_secs(10);
/// What is read of an answer; the rest stays unread.
const ANSWER_BYTES_MAX: usize = 4 << 10;

/// Sends what people asked for. Its futures stay on one thread.
pub struct Poster {
    dialler: Dialler,
    settings: Settings,
    time_max: Duration,
}

/// The beginning of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Posted {
    pub status: u16,
    pub body: Vec<u8>,
}

/// A connection to a mail server.
pub trait MailStream: AsyncRead + AsyncWrite + Send + Sync + Unpin + fmt::Debug {}

impl<T: AsyncRead + AsyncWrite + Send + Sync + Unpin + fmt::Debug> MailStream for T {}

/// A connection to a mail server, and its address.
pub type MailConnection = (Box<dyn MailStream>, SocketAddr);

impl Poster {
    /// `settings.allow_private` says whether private addresses may be asked.
    pub fn new(settings: Settings, resolver: Arc<dyn Resolve>) -> Result<Poster> {
        // One request at a time needs no multiplexed connection.
        let settings = Settings { http2: false, ..settings };
        Ok(Poster { dialler: Dialler::new(&settings, resolver)?, settings, time_max: POST_MAX })
    }

    /// The same with another limit of time.
    #[must_use]
    pub fn within(self, time_max: Duration) -> Poster {
        Poster { time_max, ..self }
    }

    /// Posts a body. The error says in words why there is no answer; it never has the path, which may be a secret.
    pub async fn post(
        &self,
        url: &Url,
        headers: &[(&str, String)],
        body: &[u8],
    ) -> std::result::Result<Posted, String> {
        match timeout(self.time_max, self.answered(url, headers, body)).await {
            Ok(Ok(posted)) => Ok(posted),
            Ok(Err(outcome)) => Err(words(&outcome)),
            Err(_) => Err(format!("no answer within {} s", self.time_max.as_secs_f64())),
        }
    }

    async fn answered(
        &self,
        url: &Url,
        headers: &[(&str, String)],
        body: &[u8],
    ) -> std::result::Result<Posted, Outcome> {
        let targets = self.dialler.look_up(url, false).await?;
        let stream = self.dialler.connect(&targets).await?;
        let address = stream.peer_addr().map_err(|error| Outcome::Failed(Failure::Connect(error.to_string())))?.ip();
        let stream = match url.scheme() {
            "https" => Stream::Tls(Box::new(self.dialler.secure(stream, url).await?)),
            _ => Stream::Plain(stream),
        };
        let head = self.head(url, headers, body.len()).map_err(Outcome::Failed)?;
        let connection = Connection::new(stream, SharedBuffer::default(), address);
        let limit = BodyLimit { bytes_max: ANSWER_BYTES_MAX, cuts: true };
        match connection.ask(head, body, (&self.settings, limit), &Meter::default()).await {
            Ok((answer, _)) => Ok(Posted { status: answer.status, body: answer.exchange.body }),
            Err(AnswerError::Final(outcome)) => Err(outcome),
            Err(AnswerError::Stale) => Err(Outcome::Failed(Failure::Protocol("closed without an answer".into()))),
        }
    }

    fn head(&self, url: &Url, headers: &[(&str, String)], length: usize) -> std::result::Result<Vec<u8>, Failure> {
        let is_visible = |text: &str| text.bytes().all(|byte| byte == b' ' || byte.is_ascii_graphic());
        let path = url.path_and_query();
        if path.contains(' ')
            || !is_visible(path)
            || !headers.iter().all(|(name, value)| is_visible(name) && is_visible(value))
        {
            return Err(Failure::Protocol("a path or a header that cannot stand in a request".into()));
        }
        let mut head = format!(
            "POST {path} HTTP/1.1\r\nHost: {}\r\nUser-Agent: {}\r\nContent-Length: {length}\r\nConnection: close\r\n",
            url.site_text(),
            self.settings.user_agent_line()
        );
        headers.iter().for_each(|(name, value)| head.push_str(&format!("{name}: {value}\r\n")));
        head.push_str("\r\n");
        Ok(head.into_bytes())
    }

    /// Connects to a mail server. TLS begins at once where these certificates (DER), which may be none, are to be trusted beside
    /// the usual ones.
    pub async fn dial(
        &self,
        host: &str,
        port: u16,
        tls: Option<&[Vec<u8>]>,
    ) -> std::result::Result<MailConnection, String> {
        guard::check_mail_port(port)?;
        let trusting = tls.map(|trusted| self.dialler.trusting(&self.settings, trusted)).transpose();
        let trusting = trusting.map_err(|error| error.to_string())?;
        let dialled = async {
            let targets = self.dialler.look_up_host(host, port, false).await?;
            let stream = self.dialler.connect(&targets).await?;
            let peer = stream.peer_addr().map_err(|error| Outcome::Failed(Failure::Connect(error.to_string())))?;
            let stream: Box<dyn MailStream> = match trusting {
                Some(dialler) => Box::new(dialler.secure_host(stream, host).await?),
                None => Box::new(stream),
            };
            Ok((stream, peer))
        };
        dialled.await.map_err(|outcome: Outcome| words(&outcome))
    }
}

/// Why there is no answer.
fn words(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Refused(_) => format!("{}; --allow-private-routes allows private addresses", outcome.detail()),
        Outcome::Failed(Failure::Dns(why)) => format!("the name has no address: {why}"),
        Outcome::Failed(Failure::Connect(why)) => format!("no connection: {why}"),
        other => other.detail().to_owned(),
    }
}
