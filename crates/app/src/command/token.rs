//! `vernal token add|list|revoke`

use axum::http::Method;
use clap::{Args, Subcommand};

use super::Context;
use super::printed_list::{Question, cell, copy, list, names_and_values, time};
use crate::error::{Error, Result};
use crate::output::{Column, Sink};
use crate::runtime::folder::Folder;

#[derive(Args)]
pub struct Arguments {
    #[command(subcommand)]
    act: Act,
}

#[derive(Subcommand)]
enum Act {
    /// Make a token; it is shown once, and only its digest is kept
    Add {
        /// Letters, digits, dots, hyphens and underscores
        name: String,
        /// What it may do: read, operate (also pause, seeds, noise …) or admin (everything)
        #[arg(long)]
        role: vernal_repository::Role,
        /// When it ends: a span such as 90d, a date or RFC 3339 [default: never]
        #[arg(long, value_name = "WHEN")]
        expires: Option<String>,
    },
    /// All tokens, without their texts
    List,
    /// Revoke a token, at once
    Revoke { name: String },
}

const COLUMNS: [Column; 5] = [
    Column::left("name"),
    Column::left("role"),
    Column::left("created").optional(),
    Column::left("last used"),
    Column::left("expires"),
];

pub async fn token(context: &Context, arguments: Arguments) -> Result<()> {
    let tokens = Question::at("/api/v1/tokens");
    match arguments.act {
        Act::Add { name, role, expires } => {
            let question = tokens.with("name", Some(name)).with("role", Some(role)).with("expires", expires);
            add(context, question).await
        }
        Act::List => {
            list(context, tokens, &COLUMNS, |row| {
                let expires = time(context, row, "expires");
                let expires = if row["expired"] == true { format!("{expires} (expired)") } else { expires };
                let (created, used) = (time(context, row, "created"), time(context, row, "last_used"));
                vec![cell(row, "name"), cell(row, "role"), created, used, expires]
            })
            .await
        }
        Act::Revoke { name } => revoke(context, &name).await,
    }
}

async fn add(context: &Context, question: Question) -> Result<()> {
    // Whoever is to listen beyond loopback needs a token before the first crawl.
    let folder = Folder::open(context, true).await?;
    let answer = folder.ask(Method::POST, question.text(), String::new()).await?;
    let mut sink = Sink::stdout();
    if context.json {
        copy(answer, &mut sink).await?;
        return folder.close();
    }
    let made = answer.json().await?;
    folder.close()?;
    names_and_values(&mut sink, &[("token".into(), cell(&made, "token"))])?;
    tracing::info!("it is shown only now; send it as `Authorization: Bearer TOKEN`");
    Ok(())
}

async fn revoke(context: &Context, name: &str) -> Result<()> {
    // The name is a part of a path, where other texts would be other routes.
    if !vernal_repository::is_token_name(name) {
        return Err(Error::Failed(format!("there is no token {name}")));
    }
    let folder = Folder::open(context, false).await?;
    let answer = folder.ask(Method::DELETE, &format!("/api/v1/tokens/{name}"), String::new()).await?;
    if context.json {
        copy(answer, &mut Sink::stdout()).await?;
    } else {
        tracing::info!("the token {name} opens nothing from now on");
    }
    folder.close()
}
