//! `vernal forget`

use std::io::{BufRead, IsTerminal, Write};
use std::time::Duration;

use axum::http::Method;
use clap::Args;
use serde_json::{Value, json};

use super::Context;
use super::printed_list::{Question, bytes, cell, copy, list, names_and_values, time};
use crate::error::{Error, OrFail, Result};
use crate::output::{Column, Sink};
use crate::runtime::folder::Folder;

/// How often a running crawl is asked whether its files are rewritten.
const LOOK_EVERY: Duration = Duration::from_millis(200);

#[derive(Args)]
#[command(
    after_help = "The pages are erased from everything that this data folder keeps, and kept out until the entry of the \
                        ledger is taken back. What was exported or backed up before is not reached."
)]
pub struct Arguments {
    /// Pages, with any scheme and with or without `www.`
    #[arg(value_name = "URL", required_unless_present_any = ["prefix", "site", "list", "undo"], conflicts_with_all = ["prefix", "site", "list", "undo"])]
    urls: Vec<String>,
    /// All pages whose addresses begin like this URL
    #[arg(long, value_name = "URL", conflicts_with_all = ["site", "list", "undo"])]
    prefix: Option<String>,
    /// All pages of a host, with its port where that is not the scheme's own
    #[arg(long, value_name = "SITE", conflicts_with_all = ["list", "undo"])]
    site: Option<String>,
    /// Why, for those who read the ledger later; no words of the page
    #[arg(long, value_name = "TEXT", required_unless_present_any = ["list", "undo", "dry_run"])]
    reason: Option<String>,
    /// Only tell how much would be erased
    #[arg(long)]
    dry_run: bool,
    /// Do not ask before anything is erased
    #[arg(long)]
    yes: bool,
    /// Wait until the files of a running crawl are rewritten; those of a folder that nobody crawls always are
    #[arg(long)]
    wait: bool,
    /// The ledger: what was forgotten, when, why and how much it was
    #[arg(long, conflicts_with = "undo")]
    list: bool,
    /// Show at most N entries of the ledger
    #[arg(long, value_name = "N", requires = "list")]
    limit: Option<usize>,
    /// Take an entry of the ledger back: its pages may come again, and what was erased stays erased
    #[arg(long, value_name = "RULE")]
    undo: Option<u32>,
}

const COLUMNS: [Column; 8] = [
    Column::left("rule"),
    Column::left("covers"),
    Column::address("of"),
    Column::left("since"),
    Column::left("lifted").optional(),
    Column::left("pages"),
    Column::left("versions"),
    Column::left("reason"),
];

pub async fn forget(context: &Context, arguments: &Arguments) -> Result<()> {
    if arguments.list {
        let question = Question::at("/api/v1/forgotten").with("limit", arguments.limit);
        return list(context, question, &COLUMNS, |entry| row(context, entry)).await;
    }
    if let Some(id) = arguments.undo {
        return undo(context, id).await;
    }
    let asked = |dry_run: bool| {
        let Arguments { urls, prefix, site, reason, .. } = arguments;
        json!({ "urls": urls, "prefix": prefix, "site": site, "reason": reason.clone().unwrap_or_default(), "dry_run": dry_run })
    };
    let folder = Folder::open(context, false).await?;
    let ask = async |dry_run: bool| -> Result<Value> {
        folder.ask(Method::POST, "/api/v1/forget", asked(dry_run).to_string()).await?.json().await
    };
    if !arguments.dry_run && !arguments.yes && std::io::stdin().is_terminal() && !is_meant(&ask(true).await?)? {
        return folder.close();
    }
    let mut answer = ask(arguments.dry_run).await?;
    if arguments.wait && !arguments.dry_run {
        answer["rewriting"] = rewritten(&folder).await?;
    }
    let is_stopped = matches!(folder, Folder::Stopped { .. });
    folder.close()?;
    if is_stopped && !arguments.dry_run {
        // The log of the tables is emptied by the next opening.
        Folder::open(context, false).await?.close()?;
    }
    let mut sink = Sink::stdout();
    if context.json {
        sink.line(&answer.to_string())?;
        return sink.flush();
    }
    names_and_values(&mut sink, &told(&answer))
}

fn told(answer: &Value) -> Vec<(String, String)> {
    let rules = answer["entries"].as_array().into_iter().flatten().map(|entry| match entry["id"].is_null() {
        true => format!("{} {}", cell(entry, "rule"), cell(entry, "of")),
        false => format!("{} {} (entry {})", cell(entry, "rule"), cell(entry, "of"), cell(entry, "id")),
    });
    let verb = if answer["dry_run"] == true { "would forget" } else { "forgotten" };
    let mut rows: Vec<(String, String)> = rules.map(|rule| (verb.to_owned(), rule)).collect();
    for (name, value) in [("pages", "pages"), ("waiting URLs", "waiting"), ("versions", "versions")] {
        rows.push((name.to_owned(), cell(answer, value)));
    }
    rows.push(("bodies".to_owned(), bytes(answer, "body_bytes")));
    if answer["dry_run"] != true {
        rows.push(("files".to_owned(), left(&answer["rewriting"])));
    }
    rows
}

/// What is still to be rewritten, in words.
pub fn left(rewriting: &Value) -> String {
    if rewriting["done"] == true {
        return "rewritten".to_owned();
    }
    let mut parts = Vec::new();
    if let Some(records) = rewriting["records"].as_u64().filter(|records| *records > 0) {
        parts.push(format!("{records} records of the archive"));
    }
    for (name, says) in [("tables", "the tables"), ("journal", "the journal"), ("aside", "archived deeds")] {
        if rewriting[name] == true {
            parts.push(says.to_owned());
        }
    }
    format!("still being rewritten: {}", parts.join(", "))
}

/// Shows what would go, and asks the person at the terminal.
fn is_meant(would: &Value) -> Result<bool> {
    let mut asked = String::new();
    for (name, value) in told(would) {
        asked.push_str(&format!("{name}: {value}\n"));
    }
    let mut terminal = std::io::stderr().lock();
    write!(terminal, "{asked}This cannot be undone. Type `yes` to erase it: ")
        .and_then(|()| terminal.flush())
        .or_fail()?;
    let mut line = String::new();
    std::io::stdin().lock().read_line(&mut line).or_fail()?;
    let is_meant = line.trim() == "yes";
    if !is_meant {
        tracing::info!("nothing was erased");
    }
    Ok(is_meant)
}

/// Waits until a running crawl has rewritten its files.
async fn rewritten(folder: &Folder) -> Result<Value> {
    loop {
        let status = folder.get("/api/v1/status").await?.json().await?;
        if status["forgotten"]["done"] == true || status["forgotten"].is_null() {
            return Ok(status["forgotten"].clone());
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
}

async fn undo(context: &Context, id: u32) -> Result<()> {
    if id == 0 {
        return Err(Error::usage("entries of the ledger are numbered from 1; `vernal forget --list` shows them"));
    }
    let folder = Folder::open(context, false).await?;
    let answer = folder.ask(Method::DELETE, &format!("/api/v1/forgotten/{id}"), String::new()).await?;
    if context.json {
        copy(answer, &mut Sink::stdout()).await?;
    } else {
        let entry = answer.json().await?;
        tracing::info!("{} {} may come again; what was erased stays erased", cell(&entry, "rule"), cell(&entry, "of"));
    }
    folder.close()
}

fn row(context: &Context, entry: &Value) -> Vec<String> {
    vec![
        cell(entry, "id"),
        cell(entry, "rule"),
        cell(entry, "of"),
        time(context, entry, "since"),
        time(context, entry, "lifted"),
        cell(entry, "pages"),
        cell(entry, "versions"),
        cell(entry, "reason"),
    ]
}
