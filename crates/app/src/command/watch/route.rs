//! `vernal watch route`

use axum::http::Method;
use clap::{ArgGroup, Args, Subcommand};
use serde_json::{Value, json};

use super::acts::{encoded, say, told};
use crate::command::Context;
use crate::command::printed_list::{Question, cell, list};
use crate::error::{Error, OrFail, Result};
use crate::output::{Column, Sink};

#[derive(Args)]
pub struct Arguments {
    #[command(subcommand)]
    act: Act,
}

#[derive(Subcommand)]
enum Act {
    /// Make a route to a webhook or to mail; a program is named in vernal.toml or with `vernal run --command-route`
    Add(Box<AddArguments>),
    /// The routes
    List,
    /// Send a test on it now
    Test(OfRoute),
    /// Send on it again after its receiver switched it off
    Enable(OfRoute),
    /// Make a new secret; the one before it stays in force beside it until the next
    Rotate(OfRoute),
    /// Remove a route that no watch uses
    Remove(OfRoute),
}

#[derive(Args)]
struct OfRoute {
    /// The name of a route
    name: String,
}

#[derive(Args)]
#[command(group = ArgGroup::new("kind").required(true).multiple(false))]
struct AddArguments {
    /// Its name: letters, digits, hyphens and underscores
    name: String,
    /// Post to this address; env:NAME or file:PATH where the address itself is a secret
    #[arg(long, value_name = "URL", group = "kind")]
    webhook: Option<String>,
    /// Mail to this address; may be repeated
    #[arg(long, value_name = "ADDRESS", group = "kind", requires_all = ["mail_from", "smtp"])]
    mail_to: Vec<String>,
    /// What a webhook is sent: json, chat (Slack, Mattermost), discord, or text by a template
    #[arg(long, value_name = "BODY", default_value = "json", conflicts_with = "mail_to")]
    body: String,
    /// With what deliveries are signed: env:NAME, file:PATH or whsec_…; one is made and shown once where none is given
    #[arg(long, value_name = "SECRET", conflicts_with = "mail_to")]
    secret: Option<String>,
    /// The sender of mails
    #[arg(long, value_name = "ADDRESS")]
    mail_from: Option<String>,
    /// The mail server: smtp://HOST with STARTTLS, or smtps://HOST; ports 587 and 465, or HOST:PORT
    #[arg(long, value_name = "SERVER")]
    smtp: Option<String>,
    /// The user of the mail server
    #[arg(long)]
    user: Option<String>,
    /// The password of the mail server: env:NAME or file:PATH
    #[arg(long, value_name = "SECRET", requires = "user")]
    password: Option<String>,
    /// A file (PEM) of certificates that are trusted beside the usual ones, for a mail server of one's own
    #[arg(long, value_name = "FILE", requires = "smtp", conflicts_with = "plain")]
    tls_ca: Option<std::path::PathBuf>,
    /// Without TLS, for a relay on this machine
    #[arg(long, conflicts_with = "password")]
    plain: bool,
    /// The zone by whose clock digests are sent and quiet hours go, such as Europe/Berlin
    #[arg(long, value_name = "ZONE")]
    time_zone: Option<String>,
    /// When nothing is sent, such as 22:00-07:00; what was held back is sent after
    #[arg(long, value_name = "FROM-TO")]
    quiet_hours: Option<String>,
    /// A file with a template
    #[arg(long, value_name = "FILE")]
    template: Option<std::path::PathBuf>,
}

const COLUMNS: [Column; 7] = [
    Column::left("name"),
    Column::left("kind"),
    Column::left("target"),
    Column::right("waiting"),
    Column::right("failures"),
    Column::left("switched off").optional(),
    Column::left("from").optional(),
];

pub async fn route(context: &Context, arguments: Arguments) -> Result<()> {
    match arguments.act {
        Act::Add(arguments) => add(context, &arguments).await,
        Act::List => {
            list(context, Question::at("/api/v1/routes"), &COLUMNS, |row| {
                ["name", "kind", "target", "waiting", "failures", "disabled", "from"]
                    .map(|name| cell(row, name))
                    .to_vec()
            })
            .await
        }
        Act::Test(of) => test(context, &of.name).await,
        Act::Enable(of) => {
            let said = say(context, Method::POST, &path(&of.name, "/enable"), None).await?;
            told(said.is_some(), &format!("the route {} is on", of.name));
            Ok(())
        }
        Act::Rotate(of) => shown_once(say(context, Method::POST, &path(&of.name, "/rotate"), None).await?),
        Act::Remove(of) => {
            let said = say(context, Method::DELETE, &path(&of.name, ""), None).await?;
            told(said.is_some(), &format!("the route {} is removed", of.name));
            Ok(())
        }
    }
}

fn path(name: &str, act: &str) -> String {
    format!("/api/v1/routes/{}{act}", encoded(name))
}

async fn add(context: &Context, arguments: &AddArguments) -> Result<()> {
    let to = match &arguments.webhook {
        Some(url) => {
            let secrets: Vec<&String> = arguments.secret.iter().collect();
            json!({ "webhook": { "url": url, "secrets": secrets, "body": arguments.body } })
        }
        None => json!({ "mail": {
            "server": arguments.smtp,
            "from": arguments.mail_from,
            "to": arguments.mail_to,
            "user": arguments.user,
            "password": arguments.password,
            "plain": arguments.plain,
            // Whoever sends may have another working folder.
            "tls_ca": arguments.tls_ca.as_ref().map(std::path::absolute).transpose().or_fail()?,
        } }),
    };
    let template = arguments.template.as_ref().map(std::fs::read_to_string).transpose().or_fail()?;
    let (zone, quiet) = (&arguments.time_zone, &arguments.quiet_hours);
    let route = json!({ "name": arguments.name, "to": to, "time_zone": zone, "quiet": quiet, "template": template });
    shown_once(say(context, Method::POST, "/api/v1/routes", Some(&route)).await?)
}

/// The route, and a new secret where there is one.
fn shown_once(made: Option<Value>) -> Result<()> {
    let Some(made) = made else { return Ok(()) };
    tracing::info!("the route {} leads to {}", cell(&made["route"], "name"), cell(&made["route"], "target"));
    let Some(secret) = made["secret"].as_str() else { return Ok(()) };
    tracing::info!("deliveries are signed with this secret, which is not shown again:");
    let mut sink = Sink::stdout();
    sink.line(secret)?;
    sink.flush()
}

async fn test(context: &Context, name: &str) -> Result<()> {
    let Some(tried) = say(context, Method::POST, &path(name, "/test"), None).await? else { return Ok(()) };
    let status = tried["status"].as_u64().map_or_else(String::new, |status| format!("{status} "));
    let said = format!("{status}{}", tried["answer"].as_str().unwrap_or_default());
    match tried["taken"].as_bool() {
        Some(true) => {
            tracing::info!("the test was taken: {}", said.trim());
            Ok(())
        }
        _ => Err(Error::Failed(format!("the test was not taken: {}", said.trim()))),
    }
}
