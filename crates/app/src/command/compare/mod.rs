//! `vernal compare OLD NEW`: the verdict on two files, no repository needed.
//!
//! - `pairs`: the verdicts on a folder of labelled pairs, held against their labels.

mod pairs;

use std::io::Read;
use std::path::{Path, PathBuf};

use clap::Args;
use serde::Serialize;
use vernal_document::diff::{self, render};
use vernal_document::{Flags, Input, Parsed, compare_pages, flags, read_closely};
use vernal_model::{Change, Digest, Url};

use super::Context;
use crate::api::{self, Answers, ChangeJson, Paragraph};
use crate::error::{Error, OrFail, Result};
use crate::output::{Sink, remarks, verdict};

#[derive(Args)]
pub struct Arguments {
    /// The older file; - is standard input
    #[arg(value_name = "OLD", required_unless_present = "pairs")]
    old: Option<String>,
    /// The newer file; - is standard input
    #[arg(value_name = "NEW", required_unless_present = "pairs")]
    new: Option<String>,
    /// Print a page of HTML with marks, safe to open in a browser
    #[arg(long)]
    html: bool,
    /// Exit with code 3 if the files differ in more than noise
    #[arg(long)]
    exit_code: bool,
    /// The URL that the files come from, to resolve relative links
    #[arg(long, value_name = "URL")]
    url: Option<String>,
    /// What the files are, such as text/html (default: by name and bytes)
    #[arg(long, value_name = "TYPE")]
    content_type: Option<String>,
    /// Everything, not only what changed
    #[arg(long)]
    full: bool,
    /// A folder with ID.before.html and ID.after.html, to be judged by labels
    #[arg(long, value_name = "DIR", requires = "labels", conflicts_with_all = ["old", "new", "html", "exit_code", "full"])]
    pairs: Option<PathBuf>,
    /// The labels of the pairs, one JSON object per line
    #[arg(long, value_name = "FILE", requires = "pairs")]
    labels: Option<PathBuf>,
}

/// Larger files are no pages.
const FILE_BYTES_MAX: u64 = 256 << 20;

/// The page that files without a URL are taken for.
const NOWHERE: &str = "https://file.invalid/";

#[derive(Serialize)]
struct ComparisonJson {
    #[serde(flatten)]
    answers: Answers,
    #[serde(flatten)]
    change: ChangeJson,
    paragraphs: Vec<Paragraph>,
    flags: FlagsJson,
}

/// What differs, each asked for itself and noise included.
#[derive(Serialize)]
struct FlagsJson {
    text: bool,
    structure: bool,
    attributes: bool,
    script: bool,
    style: bool,
    head_meta: bool,
    comments: bool,
}

/// A file, and what is said of it.
struct Body {
    name: String,
    bytes: Vec<u8>,
    content_type: Option<String>,
}

pub fn compare(context: &Context, arguments: &Arguments) -> Result<()> {
    if let (Some(folder), Some(labels)) = (&arguments.pairs, &arguments.labels) {
        return pairs::judge(context, folder, labels);
    }
    let (Some(old), Some(new)) = (&arguments.old, &arguments.new) else {
        return Err(Error::usage("give two files, or --pairs with --labels"));
    };
    if context.json && arguments.html {
        return Err(Error::usage("give --json or --html, not both"));
    }
    if old == "-" && new == "-" {
        return Err(Error::usage("only one of the two can be standard input"));
    }
    let url = arguments.url.as_deref().map_or_else(|| Url::parse(NOWHERE).or_usage(), seed_url)?;
    let (old, new) = (Body::read(old, arguments)?, Body::read(new, arguments)?);
    let compared = Compared::of(&url, &old, &new);
    let changed = compared.change.is_change();
    show(context, arguments, &old, &new, compared)?;
    if changed && arguments.exit_code { Err(Error::Differs) } else { Ok(()) }
}

fn seed_url(text: &str) -> Result<Url> {
    crate::seeds::url(text).or_usage()
}

/// Two bodies, read and held against each other.
struct Compared {
    change: Change,
    flags: Flags,
    bytes_differ: bool,
    old: Parsed,
    new: Parsed,
}

impl Compared {
    fn of(url: &Url, old: &Body, new: &Body) -> Compared {
        let bytes_differ = old.bytes != new.bytes;
        // Digests of payloads are only ever asked whether they are the same.
        let (one, other) = (Digest([0; 20]), Digest([u8::from(bytes_differ); 20]));
        let (old, new) = (old.input(url, one), new.input(url, other));
        let (read_old, read_new) = (read_closely(&old), read_closely(&new));
        let change = compare_pages(&read_old, &read_new);
        Compared { change, flags: flags(&old, &new), bytes_differ, old: read_old, new: read_new }
    }
}

impl Body {
    fn read(name: &str, arguments: &Arguments) -> Result<Body> {
        let failed = |error: std::io::Error| Error::Failed(format!("read {name}: {error}"));
        let mut bytes = Vec::new();
        let limit = FILE_BYTES_MAX + 1;
        match name {
            "-" => std::io::stdin().lock().take(limit).read_to_end(&mut bytes),
            path => std::fs::File::open(path).map_err(failed)?.take(limit).read_to_end(&mut bytes),
        }
        .map_err(failed)?;
        if bytes.len() as u64 > FILE_BYTES_MAX {
            return Err(Error::Failed(format!("read {name}: it is larger than {FILE_BYTES_MAX} bytes")));
        }
        let content_type = arguments.content_type.clone().or_else(|| by_name(name).map(str::to_owned));
        let name = if name == "-" { "standard input".into() } else { name.to_owned() };
        Ok(Body { name, bytes, content_type })
    }

    fn input<'a>(&'a self, url: &'a Url, payload: Digest) -> Input<'a> {
        Input {
            url,
            bytes: &self.bytes,
            content_type: self.content_type.as_deref(),
            content_language: None,
            robots_tags: &[],
            payload,
        }
    }
}

/// What a file's name says of it; where it says nothing, its bytes are asked.
fn by_name(name: &str) -> Option<&'static str> {
    let extension = Path::new(name).extension()?.to_str()?.to_ascii_lowercase();
    Some(match extension.as_str() {
        "html" | "htm" | "shtml" => "text/html",
        "xhtml" => "application/xhtml+xml",
        "xml" | "rss" | "atom" => "application/xml",
        "txt" | "md" => "text/plain",
        "json" => "application/json",
        "css" => "text/css",
        "js" | "mjs" => "text/javascript",
        _ => return None,
    })
}

fn show(context: &Context, arguments: &Arguments, old: &Body, new: &Body, compared: Compared) -> Result<()> {
    let mut sink = Sink::stdout();
    if context.json {
        sink.line(&serde_json::to_string(&shown(compared)).or_fail()?)?;
        return sink.flush();
    }
    let Compared { change, bytes_differ, old: read_old, new: read_new, .. } = compared;
    let mut diff = diff::diff(&read_old.document, &read_new.document);
    let view = render::View {
        from: &old.name,
        to: &new.name,
        title: &read_new.document.title,
        full: arguments.full,
        colour: !arguments.html && Sink::takes_colours(),
        ..render::View::default()
    };
    // What was set aside is named below the diff, not told in it.
    diff.paragraphs
        .retain(|one| change.paragraphs.iter().any(|told| (told.operation, told.position) == (one.op, one.position)));
    if arguments.html {
        sink.bytes(render::html(&diff, &read_new.document, &view).as_bytes())?;
        return sink.flush();
    }
    sink.line(&verdict(&change, bytes_differ))?;
    sink.bytes(render::text(&diff, &read_new.document, &view).as_bytes())?;
    for line in remarks(&change, &api::named_noise(&change)) {
        sink.line(&line)?;
    }
    sink.flush()
}

fn shown(compared: Compared) -> ComparisonJson {
    let Compared { mut change, flags, bytes_differ, .. } = compared;
    let paragraphs = std::mem::take(&mut change.paragraphs);
    ComparisonJson {
        answers: Answers::of(&change, bytes_differ),
        change: ChangeJson::of(change),
        paragraphs: paragraphs.into_iter().map(|one| api::paragraph(None, one)).collect(),
        flags: FlagsJson {
            text: flags.text,
            structure: flags.structure,
            attributes: flags.attributes,
            script: flags.script,
            style: flags.style,
            head_meta: flags.head_meta,
            comments: flags.comments,
        },
    }
}
