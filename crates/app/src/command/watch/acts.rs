//! What can be done with watches, and how the folder is asked.

use axum::http::Method;
use clap::{Args, Subcommand};
use serde_json::Value;

use super::{add, route, show};
use crate::command::Context;
use crate::command::printed_list::copy;
use crate::error::Result;
use crate::output::Sink;
use crate::runtime::folder::Folder;

#[derive(Args)]
pub struct Arguments {
    #[command(subcommand)]
    act: Act,
}

#[derive(Subcommand)]
enum Act {
    /// Make a watch, and show what it would have told lately
    Add(Box<add::Arguments>),
    /// The watches
    List,
    /// One watch
    Show(OfWatch),
    /// What the last changes would have sent; nothing is sent
    Test(show::TestArguments),
    /// Tell nothing until it is resumed
    Pause(OfWatch),
    /// Tell again from now on
    Resume(ResumeArguments),
    /// Stop telling again and again that its page or region is lost
    Acknowledge(OfWatch),
    /// Remove a watch, and what waits to be sent because of it
    Remove(OfWatch),
    /// What was sent, what waits and what was given up, newest first
    Deliveries(show::DeliveriesArguments),
    /// Send a delivery anew, with the same id
    Again(AgainArguments),
    /// Where alerts go: webhooks, mail and programs
    Route(route::Arguments),
}

#[derive(Args)]
struct OfWatch {
    /// The id of a watch, such as w7
    id: String,
}

#[derive(Args)]
struct ResumeArguments {
    /// The id of a watch, such as w7
    id: String,
    /// Also tell what happened meanwhile
    #[arg(long)]
    missed: bool,
}

#[derive(Args)]
struct AgainArguments {
    /// The id of a delivery, such as w7/e63-4703/press
    delivery: String,
}

pub async fn watch(context: &Context, arguments: Arguments) -> Result<()> {
    match arguments.act {
        Act::Add(arguments) => add::add(context, &arguments).await,
        Act::List => show::list(context).await,
        Act::Show(of) => show::show(context, &of.id).await,
        Act::Test(arguments) => show::test(context, &arguments).await,
        Act::Pause(of) => act(context, &of.id, "pause", "is paused").await,
        Act::Resume(ResumeArguments { id, missed }) => {
            let act_name = if missed { "resume?missed=true" } else { "resume" };
            act(context, &id, act_name, "tells again").await
        }
        Act::Acknowledge(of) => act(context, &of.id, "acknowledge", "says no more of what it lost").await,
        Act::Remove(of) => {
            let path = format!("/api/v1/watches/{}", encoded(&of.id));
            let said = say(context, Method::DELETE, &path, None).await?;
            told(said.is_some(), &format!("the watch {} is removed", of.id));
            Ok(())
        }
        Act::Deliveries(arguments) => show::deliveries(context, &arguments).await,
        Act::Again(AgainArguments { delivery }) => {
            let path = format!("/api/v1/deliveries/{}/again", encoded(&delivery));
            let said = say(context, Method::POST, &path, None).await?;
            told(said.is_some(), &format!("{delivery} is sent anew while `vernal run` runs"));
            Ok(())
        }
        Act::Route(arguments) => route::route(context, arguments).await,
    }
}

async fn act(context: &Context, id: &str, act: &str, done: &str) -> Result<()> {
    let path = format!("/api/v1/watches/{}/{act}", encoded(id));
    let said = say(context, Method::POST, &path, None).await?;
    told(said.is_some(), &format!("the watch {id} {done}"));
    Ok(())
}

pub(super) fn told(is_for_people: bool, line: &str) {
    if is_for_people {
        tracing::info!("{line}");
    }
}

/// Asks the folder. With `--json` the answer is printed unchanged, and nothing is left to print.
pub(super) async fn say(context: &Context, method: Method, path: &str, body: Option<&Value>) -> Result<Option<Value>> {
    let folder = Folder::open(context, false).await?;
    let answer = folder.ask(method, path, body.map_or_else(String::new, Value::to_string)).await?;
    let said = if context.json {
        copy(answer, &mut Sink::stdout()).await?;
        None
    } else {
        Some(answer.json().await?)
    };
    folder.close()?;
    Ok(said)
}

/// Percent-encoded for one part of a path.
pub(super) fn encoded(text: &str) -> String {
    let mut out = String::new();
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => out.push(char::from(byte)),
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}
