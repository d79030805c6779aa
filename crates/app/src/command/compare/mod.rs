//! `vernal compare OLD NEW`: the verdict on two files, no repository needed.
//!
//! - `bodies`: the two files.
//! - `methods`: chosen methods of change detection alone, with what they cost.
//! - `pairs`: the verdicts on a folder of labelled pairs, held against their labels.
//! - `side_by_side`: the same for each method of change detection.

mod bodies;
mod methods;
mod pairs;
mod side_by_side;

use std::path::PathBuf;

use clap::Args;
use serde::Serialize;
use vernal_api::{Answers, ChangeJson, Paragraph};
use vernal_document::diff::{self, render};
use vernal_document::methods::{PaperVerdicts, paper_verdicts};
use vernal_document::{Flags, Parsed, compare_pages, flags};
use vernal_model::{Change, Url};

use self::bodies::{Body, inputs};
use super::Context;
use crate::error::{Error, OrFail, Result};
use crate::output::{Sink, method_lines, remarks, verdict};
use crate::runtime::files::Files;

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
    /// Also what the methods of paper 003 say: levels of the tree, fingerprints, root mean squares, checksums
    #[arg(long, conflicts_with = "html")]
    papers: bool,
    /// Run one method of change detection alone: tree, fingerprint, rms, checksum, vernal, or all side by side; may be repeated
    #[arg(long, value_name = "METHOD", value_parser = methods::NAMES, conflicts_with_all = ["html", "full", "papers"])]
    method: Vec<String>,
    /// A folder with ID.before.html and ID.after.html, to be judged by labels
    #[arg(long, value_name = "DIR", conflicts_with_all = ["old", "new", "html", "exit_code", "full", "papers"])]
    pairs: Option<PathBuf>,
    /// The labels of the pairs, one JSON object per line [default: labels.jsonl in the folder]
    #[arg(long, value_name = "FILE", requires = "pairs")]
    labels: Option<PathBuf>,
}

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
    /// What the methods of paper 003 say.
    papers: PaperVerdicts,
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

pub fn compare(context: &Context, arguments: &Arguments) -> Result<()> {
    let chosen = methods::chosen(&arguments.method);
    if let Some(folder) = &arguments.pairs {
        let labels = pairs::labels_of(folder, arguments.labels.as_deref())?;
        return match chosen.is_empty() {
            true => pairs::judge(context, folder, &labels),
            false => side_by_side::judge(context, folder, &labels, &chosen),
        };
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
    let content_type = arguments.content_type.as_deref();
    let files = Files::new();
    let (old, new) = (Body::read(old, content_type, &files)?, Body::read(new, content_type, &files)?);
    let changed = if chosen.is_empty() {
        let compared = Compared::of(&url, &old, &new);
        let changed = compared.change.is_change();
        show(context, arguments, (&url, &old, &new), compared)?;
        changed
    } else {
        methods::run(context, &chosen, (&url, &old, &new))?
    };
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
        let bytes_differ = old.differs(new);
        let (old_input, new_input) = inputs(url, old, new);
        let (read_old, read_new) = (old.read_closely(&old_input), new.read_closely(&new_input));
        let change = compare_pages(&read_old, &read_new);
        Compared { change, flags: flags(&old_input, &new_input), bytes_differ, old: read_old, new: read_new }
    }
}

fn show(
    context: &Context,
    arguments: &Arguments,
    (url, old, new): (&Url, &Body, &Body),
    compared: Compared,
) -> Result<()> {
    let mut sink = Sink::stdout();
    let papers = || {
        let (old, new) = inputs(url, old, new);
        paper_verdicts(&old, &new)
    };
    if context.json {
        sink.line(&serde_json::to_string(&shown(compared, papers())).or_fail()?)?;
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
    for line in remarks(&change, &vernal_api::named_noise(&change)) {
        sink.line(&line)?;
    }
    if arguments.papers {
        papers().all().into_iter().flat_map(method_lines).try_for_each(|line| sink.line(&line))?;
    }
    sink.flush()
}

fn shown(compared: Compared, papers: PaperVerdicts) -> ComparisonJson {
    let Compared { mut change, flags, bytes_differ, .. } = compared;
    let paragraphs = std::mem::take(&mut change.paragraphs);
    ComparisonJson {
        answers: Answers::of(&change, bytes_differ),
        change: ChangeJson::of(change),
        paragraphs: paragraphs.into_iter().map(|one| vernal_api::paragraph(None, one)).collect(),
        flags: FlagsJson {
            text: flags.text,
            structure: flags.structure,
            attributes: flags.attributes,
            script: flags.script,
            style: flags.style,
            head_meta: flags.head_meta,
            comments: flags.comments,
        },
        papers,
    }
}
