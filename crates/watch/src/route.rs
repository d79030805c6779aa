//! A route: where deliveries go.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::outbox::Quiet;
use crate::secret::Secret;
use crate::template::Template;
use crate::watch::Watch;
use crate::{Error, Result};

const NAME_LETTERS_MAX: usize = 64;
/// Recipients of one mail route.
const RECIPIENTS_MAX: usize = 50;
/// Secrets that are in force at a time, so that one can be changed while both sides go on.
const SECRETS_MAX: usize = 2;
const URL_BYTES_MAX: usize = 4 << 10;
/// A file of certificates: all of a system are shorter.
const CERTIFICATES_BYTES_MAX: u64 = 1 << 20;
/// With which a certificate begins.
const CERTIFICATE: &[u8] = b"-----BEGIN CERTIFICATE-----";

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "AlertRoute")]
pub struct Route {
    pub name: String,
    pub to: RouteKind,
    /// The zone of digests and of quiet hours, such as `Europe/Berlin`; that of this machine where none is given.
    #[serde(default)]
    pub time_zone: Option<String>,
    /// When nothing is sent; what was held back meanwhile is sent after. Such as `22:00-07:00`.
    #[serde(default)]
    pub quiet: Option<Quiet>,
    #[serde(default)]
    pub template: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub enum RouteKind {
    Webhook(Webhook),
    Mail(Mail),
    /// A program of the operator. It is made of settings alone and never kept in the log.
    Command(Program),
    /// The Atom feed of each watch that names this route. It is always there and never kept in the log.
    Atom,
}

/// The route that every folder has: the feed that readers ask for.
pub const ATOM: &str = "atom";

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Webhook {
    /// An address, which may be a secret itself: `env:NAME` and `file:PATH` name where it lies.
    pub url: String,
    #[serde(default)]
    pub secrets: Vec<Secret>,
    #[serde(default)]
    pub body: Body,
}

/// What a webhook is sent.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "WebhookBody")]
pub enum Body {
    /// The delivery with its events.
    #[default]
    Json,
    /// `{"text": …}`, as Slack and Mattermost take it.
    Chat,
    /// `{"content": …}`, as Discord takes it.
    Discord,
    /// The text of the template.
    Text,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Mail {
    /// `smtps://host:port` begins with TLS, `smtp://host:port` changes to it by STARTTLS before anything is said.
    pub server: String,
    pub from: String,
    pub to: Vec<String>,
    #[serde(default)]
    pub user: Option<String>,
    #[serde(default)]
    pub password: Option<Secret>,
    /// Sends without TLS, for a relay on this machine. Never with a password.
    #[serde(default)]
    pub plain: bool,
    /// A file (PEM) of certificates that are trusted beside the usual ones, for a server of one's own.
    #[serde(default)]
    pub tls_ca: Option<PathBuf>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Program {
    pub path: String,
    #[serde(default)]
    pub arguments: Vec<String>,
}

/// A route as it is shown: nothing of it is secret.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "AlertRouteShown")]
pub struct RouteShown {
    pub name: String,
    pub kind: &'static str,
    /// Of a webhook its scheme and host alone, because the rest may be a secret.
    pub target: String,
    pub signed: bool,
    pub secrets: Vec<String>,
    pub time_zone: Option<String>,
    pub quiet: Option<Quiet>,
    pub template: Option<String>,
    /// The settings that made it, and that alone change it.
    pub from: Option<String>,
    /// Why nothing is sent there.
    pub disabled: Option<String>,
    pub waiting: usize,
    /// Deliveries that failed since one was taken.
    pub failures: u32,
}

/// The host and port of a mail server, and whether it begins with TLS.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MailServer {
    pub host: String,
    pub port: u16,
    pub tls: bool,
}

impl Route {
    pub fn check(&self) -> Result<()> {
        let is_name = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_');
        if self.name.is_empty() || self.name.len() > NAME_LETTERS_MAX || !self.name.chars().all(is_name) {
            return Err(Error::wrong(format!(
                "a route's name has 1 to {NAME_LETTERS_MAX} letters, digits, hyphens and underscores"
            )));
        }
        if let Some(zone) = &self.time_zone {
            jiff::tz::TimeZone::get(zone)
                .map_err(|_| Error::Wrong(format!("`{zone}` is no time zone; give one such as Europe/Berlin")))?;
        }
        if let Some(template) = &self.template {
            Template::parse(template).map_err(Error::Wrong)?;
        }
        match &self.to {
            RouteKind::Webhook(webhook) => webhook.check(self.template.is_some()),
            RouteKind::Mail(mail) => mail.check(),
            RouteKind::Command(program) if program.path.is_empty() => Err(Error::wrong("a command needs a program")),
            RouteKind::Command(_) | RouteKind::Atom => Ok(()),
        }
    }

    /// The zone by whose clock digests are sent.
    pub fn zone(&self) -> jiff::tz::TimeZone {
        let named = self.time_zone.as_deref().and_then(|zone| jiff::tz::TimeZone::get(zone).ok());
        named.unwrap_or_else(jiff::tz::TimeZone::system)
    }

    /// The route with the template of a watch, where that has one.
    #[must_use]
    pub fn written_for(self, watch: &Watch) -> Route {
        Route { template: watch.template.clone().or(self.template), ..self }
    }

    pub fn is_atom(&self) -> bool {
        matches!(self.to, RouteKind::Atom)
    }

    /// The route to the feeds of watches.
    pub fn atom() -> Route {
        Route { name: ATOM.into(), to: RouteKind::Atom, time_zone: None, quiet: None, template: None }
    }

    pub fn is_command(&self) -> bool {
        matches!(self.to, RouteKind::Command(_))
    }

    pub fn shown(&self) -> RouteShown {
        let (kind, target, secrets) = match &self.to {
            RouteKind::Webhook(webhook) => {
                ("webhook", webhook.shown(), webhook.secrets.iter().map(Secret::to_string).collect())
            }
            RouteKind::Mail(mail) => (
                "mail",
                format!("{} through {}", mail.to.join(", "), mail.server),
                mail.password.iter().map(Secret::to_string).collect(),
            ),
            RouteKind::Command(program) => ("command", program.path.clone(), Vec::new()),
            RouteKind::Atom => ("atom", "/feed.atom?watch=ID".into(), Vec::new()),
        };
        RouteShown {
            name: self.name.clone(),
            kind,
            target,
            signed: matches!(&self.to, RouteKind::Webhook(webhook) if !webhook.secrets.is_empty()),
            secrets,
            time_zone: self.time_zone.clone(),
            quiet: self.quiet,
            template: self.template.clone(),
            from: None,
            disabled: None,
            waiting: 0,
            failures: 0,
        }
    }
}

impl Webhook {
    fn check(&self, has_template: bool) -> Result<()> {
        if self.secrets.len() > SECRETS_MAX {
            return Err(Error::wrong("a webhook has at most two secrets in force"));
        }
        if self.body == Body::Text && !has_template {
            return Err(Error::wrong("a webhook whose body is text needs a template"));
        }
        match self.named_url() {
            Some(_) => Ok(()),
            None => check_url(&self.url),
        }
    }

    /// Where the address lies, if it is not written here.
    fn named_url(&self) -> Option<Secret> {
        Secret::try_from(self.url.clone()).ok().filter(Secret::is_named)
    }

    /// The address that is asked.
    pub fn target(&self) -> Result<String> {
        match self.named_url() {
            Some(secret) => secret.read().and_then(|url| check_url(&url).map(|()| url)),
            None => Ok(self.url.clone()),
        }
    }

    fn shown(&self) -> String {
        if self.named_url().is_some() {
            return self.url.clone();
        }
        let (scheme, rest) = self.url.split_once("://").unwrap_or(("", &self.url));
        let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
        let host = authority.rsplit('@').next().unwrap_or_default();
        let more = if rest.len() > authority.len() + 1 { "/…" } else { "" };
        format!("{scheme}://{host}{more}")
    }
}

/// The text is not repeated: it may be a secret.
fn check_url(url: &str) -> Result<()> {
    let wrong = |what: &str| Err(Error::wrong(format!("the address of a webhook {what}")));
    if url.len() > URL_BYTES_MAX {
        return wrong("is too long");
    }
    let Ok(parsed) = vernal_model::Url::parse(url) else { return wrong("is no URL") };
    if !matches!(parsed.scheme(), "http" | "https") {
        return wrong("must begin with https:// or http://");
    }
    if url.split("://").nth(1).and_then(|rest| rest.split('/').next()).is_some_and(|host| host.contains('@')) {
        return wrong(
            "has a user or a password in it; name the whole address by env:NAME or file:PATH and sign instead",
        );
    }
    Ok(())
}

impl Mail {
    fn check(&self) -> Result<()> {
        let server = self.server()?;
        if self.to.is_empty() || self.to.len() > RECIPIENTS_MAX {
            return Err(Error::wrong(format!("a mail route has 1 to {RECIPIENTS_MAX} recipients")));
        }
        for address in self.to.iter().chain([&self.from]) {
            address
                .parse::<lettre::message::Mailbox>()
                .map_err(|_| Error::Wrong(format!("`{}` is no mail address", address.escape_debug())))?;
        }
        match &self.password {
            Some(password) if !password.is_named() => {
                Err(Error::wrong("a mail password is given as env:NAME or file:PATH, never itself"))
            }
            Some(_) if self.user.is_none() => Err(Error::wrong("a mail password needs a user")),
            Some(_) if self.plain && !server.tls => Err(Error::wrong("a mail password is never sent without TLS")),
            _ if self.plain && self.tls_ca.is_some() => {
                Err(Error::wrong("trusted certificates are of no use without TLS"))
            }
            _ => Ok(()),
        }
    }

    /// The certificates that are trusted beside the usual ones. The file is read when it is needed.
    pub fn trusted(&self) -> Result<Option<Vec<u8>>> {
        let Some(path) = &self.tls_ca else { return Ok(None) };
        let io = |source| Error::Io { act: "read the trusted certificates", path: path.clone(), source };
        let wrong = |what: &str| Error::Wrong(format!("{} {what}", path.display()));
        if std::fs::metadata(path).map_err(io)?.len() > CERTIFICATES_BYTES_MAX {
            return Err(wrong("is too long for certificates"));
        }
        let pem = std::fs::read(path).map_err(io)?;
        match pem.windows(CERTIFICATE.len()).any(|window| window == CERTIFICATE) {
            true => Ok(Some(pem)),
            false => Err(wrong("has no certificate as PEM")),
        }
    }

    pub fn server(&self) -> Result<MailServer> {
        let wrong = || {
            Error::Wrong(format!(
                "`{}` is no mail server: give smtp://HOST or smtps://HOST",
                self.server.escape_debug()
            ))
        };
        let (scheme, rest) = self.server.split_once("://").ok_or_else(wrong)?;
        let tls = match scheme {
            "smtp" => false,
            "smtps" => true,
            _ => return Err(wrong()),
        };
        let (host, port) = match rest.trim_end_matches('/').rsplit_once(':') {
            Some((host, port)) if !port.ends_with(']') => (host, port.parse().map_err(|_| wrong())?),
            _ => (rest.trim_end_matches('/'), if tls { 465 } else { 587 }),
        };
        let is_name =
            |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '.' | '[' | ']' | ':');
        match host.is_empty() || !host.chars().all(is_name) {
            true => Err(wrong()),
            false => Ok(MailServer { host: host.to_owned(), port, tls }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn route(text: &str) -> std::result::Result<Route, String> {
        let route: Route = serde_json::from_str(text).map_err(|error| error.to_string())?;
        route.check().map_err(|error| error.to_string())?;
        Ok(route)
    }

    #[test]
    fn a_route_is_shown_without_anything_secret() {
        let secret = Secret::of_bytes(&[9; 32]);
        let text = format!(
            r#"{{"name":"press","to":{{"webhook":{{"url":"https://hooks.example/T0/XYZZY?k=1","secrets":["{}"]}}}}}}"#,
            secret.reveal().unwrap()
        );
        let route = route(&text).unwrap();
        let shown = serde_json::to_string(&route.shown()).unwrap();
        assert!(!shown.contains("XYZZY") && !shown.contains(&secret.reveal().unwrap()[8..]), "{shown}");
        assert!(shown.contains("https://hooks.example/…") && route.shown().signed);
    }

    #[test]
    fn what_is_no_route_is_refused() {
        let mail = |rest: &str| format!(r#"{{"name":"a","to":{{"mail":{{{rest}}}}}}}"#);
        let base = r#""from":"v@a.example","to":["x@b.example"]"#;
        assert!(route(&mail(&format!(r#""server":"smtp://mail.example",{base}"#))).is_ok());
        for wrong in [
            r#"{"name":"","to":{"webhook":{"url":"https://a.example/"}}}"#.to_owned(),
            r#"{"name":"a/b","to":{"webhook":{"url":"https://a.example/"}}}"#.to_owned(),
            r#"{"name":"a","to":{"webhook":{"url":"ftp://a.example/"}}}"#.to_owned(),
            r#"{"name":"a","to":{"webhook":{"url":"https://u:p@a.example/"}}}"#.to_owned(),
            r#"{"name":"a","to":{"webhook":{"url":"https://a.example/","secrets":["short"]}}}"#.to_owned(),
            r#"{"name":"a","to":{"webhook":{"url":"https://a.example/","body":"text"}}}"#.to_owned(),
            r#"{"name":"a","time_zone":"Mars/Olympus","to":{"webhook":{"url":"https://a.example/"}}}"#.to_owned(),
            mail(&format!(r#""server":"http://mail.example",{base}"#)),
            mail(r#""server":"smtp://m.example","from":"v@a.example","to":[]"#),
            mail(r#""server":"smtp://m.example","from":"v@a.example\r\nBcc: x@y.example","to":["x@b.example"]"#),
            mail(&format!(r#""server":"smtp://m.example",{base},"user":"u","password":"hunter2""#)),
            mail(&format!(r#""server":"smtp://m.example",{base},"password":"env:X""#)),
            mail(&format!(r#""server":"smtp://m.example",{base},"user":"u","password":"env:X","plain":true"#)),
            mail(&format!(r#""server":"smtp://m.example",{base},"tls_ca":"ca.pem","plain":true"#)),
        ] {
            let told = route(&wrong).unwrap_err();
            assert!(!told.contains("hunter2") && !told.contains("u:p@"), "{told}");
        }
    }

    #[test]
    fn ports_of_mail_servers_are_those_of_submission_unless_one_is_given() {
        let server = |text: &str| {
            let mail = serde_json::json!({ "server": text, "from": "", "to": [] });
            let mail: Mail = serde_json::from_value(mail).unwrap();
            mail.server().map(|server| (server.host, server.port, server.tls))
        };
        assert_eq!(server("smtp://m.example").unwrap(), ("m.example".into(), 587, false));
        assert_eq!(server("smtps://m.example/").unwrap(), ("m.example".into(), 465, true));
        assert_eq!(server("smtp://127.0.0.1:2525").unwrap(), ("127.0.0.1".into(), 2525, false));
        assert!(server("m.example").is_err() && server("smtp://").is_err() && server("smtp://a b").is_err());
    }
}
