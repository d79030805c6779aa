//! The settings of the workers, and the errors that may keep them from starting.

use std::net::SocketAddr;
use std::time::Duration;

use vernal_document::UnpackLimits;
use vernal_model::{AddressLimits, Moment, Span};

use crate::hosts::Hosts;

/// The clock of the crawl, which its owner provides.
pub trait Clock: Send + Sync {
    fn now(&self) -> Moment;

    /// How long a span of this clock is in real time.
    fn real(&self, span: Span) -> Duration {
        Duration::from_micros(span.micros())
    }
}

#[derive(Clone, Debug)]
pub struct Settings {
    /// The product name in the User-Agent line. The contact is added to it.
    pub user_agent: String,
    /// The mail address or URL of the operator. A mail address is also the password of anonymous FTP.
    pub contact: String,
    /// Event loops, each a thread of its own.
    pub loops: usize,
    /// Orders in flight at once at one loop. Over all loops, the crawler limits them to the same number.
    pub concurrency: usize,
    /// Connections of one loop that wait for the next request to their site.
    pub idle_connections_max: usize,
    pub timeouts: Timeouts,
    pub address: AddressLimits,
    /// The body as it comes over the wire; beyond this the outcome is Failed(TooLarge).
    pub body_bytes_max: usize,
    /// The body unpacked; beyond this the outcome is Failed(Bomb).
    pub decoded_bytes_max: usize,
    /// Unpacked bytes per wire byte, once more than `ratio_free_bytes` are unpacked; beyond this Failed(Bomb).
    pub ratio_max: usize,
    /// The ratio does not apply to small bodies: a page of one repeated line is no bomb.
    pub ratio_free_bytes: usize,
    /// Status line and header lines; beyond this Failed(HeadTooLarge).
    pub head_bytes_max: usize,
    /// Header lines; beyond this Failed(HeadTooLarge).
    pub headers_max: usize,
    /// Loopback and private addresses may be dialled. Link-local, metadata and other special addresses stay denied.
    pub allow_private: bool,
    /// Where to connect for some hosts, in place of what the resolver says.
    pub hosts: Hosts,
    /// Where we listen ourselves. These addresses are never dialled, whatever else is allowed.
    pub own_listeners: Vec<SocketAddr>,
    /// Whether HTTP/2 is offered to sites (by ALPN, over TLS only).
    pub http2: bool,
    /// Larger unpacked bodies are read on a blocking thread, so that they do not delay other sites.
    pub large_body_bytes: usize,
    /// Certificates (DER) to trust in addition to the public roots, for tests and intranets.
    pub extra_roots: Vec<Vec<u8>>,
}

/// Real-time limits of one visit.
#[derive(Copy, Clone, Debug)]
pub struct Timeouts {
    /// Resolving the name and connecting, together.
    pub connect: Duration,
    pub tls: Duration,
    /// From the last byte of the request to the first of the answer.
    pub first_byte: Duration,
    /// The whole visit.
    pub total: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Timeouts {
            connect: Duration::from_secs(10),
            tls: Duration::from_secs(10),
            first_byte: Duration::from_secs(30),
            total: Duration::from_secs(60),
        }
    }
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            user_agent: concat!("vernal/", env!("CARGO_PKG_VERSION")).to_owned(),
            contact: String::new(),
            loops: 1,
            concurrency: 64,
            idle_connections_max: 512,
            timeouts: Timeouts::default(),
            address: AddressLimits::default(),
            body_bytes_max: 8 << 20,
            decoded_bytes_max: 32 << 20,
            ratio_max: 100,
            ratio_free_bytes: 1 << 20,
            head_bytes_max: 64 << 10,
            headers_max: 100,
            allow_private: false,
            hosts: Hosts::default(),
            own_listeners: Vec::new(),
            http2: true,
            large_body_bytes: 512 << 10,
            extra_roots: Vec::new(),
        }
    }
}

impl Settings {
    /// How far a body may be unpacked.
    pub fn unpacking(&self) -> UnpackLimits {
        UnpackLimits {
            decoded_bytes_max: self.decoded_bytes_max,
            ratio_max: self.ratio_max,
            ratio_free_bytes: self.ratio_free_bytes,
        }
    }

    /// The whole User-Agent line: `vernal/0.2.0 (+mailto-or-url)`.
    pub fn user_agent_line(&self) -> String {
        let line = if self.contact.is_empty() || self.user_agent.contains(&self.contact) {
            self.user_agent.clone()
        } else {
            format!("{} (+{})", self.user_agent, self.contact)
        };
        one_line(&line)
    }

    /// The contact where it is a mail address, for the From line.
    pub fn mail_address(&self) -> Option<String> {
        let contact = self.contact.strip_prefix("mailto:").unwrap_or(&self.contact);
        let is_mail = contact.contains('@') && !contact.contains(['/', ' ', ':']);
        is_mail.then(|| one_line(contact))
    }
}

/// Keeps visible ASCII and spaces. Any other character of a setting could end the header line early.
fn one_line(text: &str) -> String {
    text.chars().filter(|&letter| letter == ' ' || letter.is_ascii_graphic()).collect()
}

/// Our own failures. What a site does wrong is an outcome.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("start worker loop {number}: {source}")]
    Loop { number: usize, source: std::io::Error },
    #[error("set up TLS: {0}")]
    Tls(String),
}

pub type Result<T> = std::result::Result<T, Error>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_user_agent_names_the_contact_once_and_stays_one_line() {
        let mut settings =
            Settings { user_agent: "vernal/1".into(), contact: "ops@example.org".into(), ..Settings::default() };
        assert_eq!(settings.user_agent_line(), "vernal/1 (+ops@example.org)");
        assert_eq!(settings.mail_address().as_deref(), Some("ops@example.org"));
        settings.user_agent = "bot (+ops@example.org)".into();
        assert_eq!(settings.user_agent_line(), "bot (+ops@example.org)");
        settings.contact = "https://example.org/@bot\r\nX: y".into();
        assert_eq!(settings.mail_address(), None);
        assert!(!settings.user_agent_line().contains('\n'));
    }
}
