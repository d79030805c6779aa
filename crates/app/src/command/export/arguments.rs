//! What `vernal export` is given.

use clap::{Args, ValueEnum};

#[derive(Args)]
pub struct Arguments {
    pub format: Format,
    /// A file to write to; - is standard output, and a path that ends with a slash is a folder
    #[arg(long, value_name = "PATH")]
    pub out: String,
    /// Only pages of this site
    #[arg(long)]
    pub site: Option<String>,
    /// Only pages that a seed with this tag covers
    #[arg(long)]
    pub tag: Option<String>,
    /// Only pages whose URL begins so
    #[arg(long, value_name = "URL")]
    pub prefix: Option<String>,
    /// Only what changed since this state: a cursor, or a time (RFC 3339, a date, an age such as 7d, 14 digits)
    #[arg(long, value_name = "CURSOR|TIME")]
    pub since: Option<String>,
    /// The state that was held at this time
    #[arg(long, value_name = "TIME")]
    pub at: Option<String>,
    /// Go on writing what changes, as it changes (jsonl, markdown)
    #[arg(long, conflicts_with = "at")]
    pub follow: bool,
    /// Seconds in which changes are gathered before they are written (with --follow) [default: 2]
    #[arg(long, value_name = "SECONDS", requires = "follow")]
    pub every: Option<u64>,
    /// What a line is about (jsonl) [default: paragraph]
    #[arg(long)]
    pub unit: Option<Unit>,
    /// One table as one file, instead of a folder with all (parquet)
    #[arg(long)]
    pub table: Option<Table>,
    /// Also the table of all visits (parquet)
    #[arg(long)]
    pub with_visits: bool,
    /// Everything on a page, and not its main content alone (markdown)
    #[arg(long)]
    pub all: bool,
    /// The ids of paragraphs behind them (markdown)
    #[arg(long)]
    pub ids: bool,
    /// Make each export a commit of the folder, which becomes a git repository (markdown)
    #[arg(long)]
    pub git: bool,
    /// Also the words of the pages (wacz)
    #[arg(long)]
    pub text: bool,
    /// Also the text of pages that ask not to be indexed (jsonl, markdown, parquet, wacz)
    #[arg(long)]
    pub with_noindex: bool,
    /// The index (cdxj) of the one file that `export warc --out FILE` writes, instead of a file per segment
    #[arg(long, value_name = "FILE")]
    pub warc: Option<String>,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// WARC 1.1 records, byte for byte
    Warc,
    /// Records, index and pages in one file, for ReplayWeb.page and pywb
    Wacz,
    /// The index that replay tools read, of the files that `export warc` writes into a folder
    Cdxj,
    /// Tables for databases and data frames, in a folder
    Parquet,
    /// A line for each paragraph or page, and after it only what changed
    Jsonl,
    /// A file for each page, in a folder that the next export brings up to date; a tar if the path is a file
    Markdown,
    /// When pages changed, for `lab replay`: gzipped CSV if the path ends so, with a head file beside it
    Trace,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq, ValueEnum)]
pub enum Unit {
    Paragraph,
    Page,
    /// The change feed, as `vernal changes --json` gives it
    Event,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq, ValueEnum)]
pub enum Table {
    Pages,
    Versions,
    Paragraphs,
    Events,
    Visits,
}

impl Format {
    pub fn name(self) -> &'static str {
        match self {
            Format::Warc => "warc",
            Format::Wacz => "wacz",
            Format::Cdxj => "cdxj",
            Format::Parquet => "parquet",
            Format::Jsonl => "jsonl",
            Format::Markdown => "markdown",
            Format::Trace => "trace",
        }
    }
}

impl Unit {
    pub fn name(self) -> &'static str {
        match self {
            Unit::Paragraph => "paragraph",
            Unit::Page => "page",
            Unit::Event => "event",
        }
    }
}

impl Table {
    pub fn name(self) -> &'static str {
        match self {
            Table::Pages => "pages",
            Table::Versions => "versions",
            Table::Paragraphs => "paragraphs",
            Table::Events => "events",
            Table::Visits => "visits",
        }
    }
}
