//! The command line: one file per verb. Each asks the same router, so that a running and a stopped crawl answer alike.

mod blame;
mod block;
mod cat;
mod changes;
mod check;
mod compact;
mod compare;
mod completions;
mod config;
mod context;
mod demo;
mod diff;
mod event_words;
mod export;
mod follow_changes;
mod forget;
mod hints;
mod history;
mod import;
mod lab;
mod links;
mod names;
mod noise;
mod page;
mod pages;
mod pause;
mod plan;
mod printed_list;
mod repair;
mod resume;
mod run;
mod search;
mod seeds;
mod series;
mod serve;
mod sites;
mod status;
mod token;
mod topics;
mod trace;
mod verify;
mod watch;
mod why;

use clap::{ArgAction, Args, Parser, Subcommand};

pub use context::Context;

use crate::config::Flags;
use crate::error::Result;

#[derive(Parser)]
#[command(
    name = "vernal",
    version,
    about = "Vernal keeps a copy of the web fresh",
    long_about = "Vernal keeps a copy of the web fresh. Give it seeds and a budget; it crawls politely and in parallel, keeps every \
                  version, says what changed, and spends every visit where it wins the most freshness.",
    infer_long_args = false,
    disable_help_subcommand = true
)]
pub struct CommandLine {
    #[command(flatten)]
    pub global: Global,
    #[command(subcommand)]
    pub verb: Verb,
}

#[derive(Args)]
pub struct Global {
    /// The data folder [default: ./vernal-data]
    #[arg(long, value_name = "DIR", global = true)]
    pub data: Option<String>,
    /// One JSON value or JSON lines with stable field names, instead of tables
    #[arg(long, global = true)]
    pub json: bool,
    /// How log lines on standard error look: text or json
    #[arg(long, value_name = "FORMAT", global = true)]
    pub log_format: Option<String>,
    /// Log errors only
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub quiet: bool,
    /// More log lines: the story of each page; given twice, every step of it
    #[arg(short, long, action = ArgAction::Count, global = true)]
    pub verbose: u8,
    /// Times in UTC instead of local time
    #[arg(long, global = true)]
    pub utc: bool,
    /// The file of settings [default: vernal.toml, if there is one]
    #[arg(long, value_name = "FILE", env = "VERNAL_CONFIG", global = true)]
    pub config: Option<std::path::PathBuf>,
}

#[derive(Subcommand)]
pub enum Verb {
    /// Crawl from the seeds, keep the copy fresh, and serve the API until stopped
    Run(run::Arguments),
    /// Serve the API and the dashboard of a stopped folder, for looking only
    Serve(serve::Arguments),
    /// Serve an invented, changing web on loopback and crawl it in fast motion
    Demo(demo::Arguments),
    /// List, add or remove seeds
    Seeds(seeds::Arguments),
    /// Pause the crawl, or one site
    Pause(pause::Arguments),
    /// Resume the crawl, or one site
    Resume(resume::Arguments),
    /// Never ask a site again
    Block(block::Arguments),
    /// Totals of the crawl at a glance
    Status,
    /// What is known of each site
    Sites(sites::Arguments),
    /// The visited pages
    Pages(pages::Arguments),
    /// Everything known of one page
    Page(page::Arguments),
    /// What sites say of their own changes, and how far they are believed
    Hints(hints::Arguments),
    /// Every visit to a page, and the versions that they made
    History(history::Arguments),
    /// What differs between two versions of a page
    Diff(diff::Arguments),
    /// Which version each paragraph of a page came from
    Blame(blame::Arguments),
    /// Compare two files; no repository is needed
    Compare(compare::Arguments),
    /// Rules about noise: learned ones, and those that people add, allow or forget
    Noise(noise::Arguments),
    /// Pages that are one page with several names: how they are told, and the word of people over it
    Names(names::Arguments),
    /// The body of a version
    Cat(cat::Arguments),
    /// Links out of a page, or into it
    Links(links::Arguments),
    /// The topics of the pages, across sites, or the pages of one topic; computed by `run` with `--topics`
    Topics(topics::Arguments),
    /// Whether and when a URL may be visited: scope, robots, guard, trap and next slot, without a request
    Check(check::Arguments),
    /// Why a page is due when it is
    Why(why::Arguments),
    /// Which pages would be visited when, and the freshness that this would give, without a request
    Plan(plan::Arguments),
    /// Compare policies on invented and recorded webs, compute their bounds, and re-enact the founding papers
    Lab(lab::Arguments),
    /// The history of the crawl by hour and day: freshness, visits, changes, errors, bytes
    Series(series::Arguments),
    /// Full text over current, past and removed text
    Search(search::Arguments),
    /// The change feed
    Changes(changes::Arguments),
    /// Alerts on pages, prefixes, sites, tags and saved searches: webhooks, mail, programs and digests
    Watch(watch::Arguments),
    /// Export copies for other tools
    Export(export::Arguments),
    /// Take in other people's archives as history
    Import(import::Arguments),
    /// Check everything on disk, and the politeness of every visit
    Verify(verify::Arguments),
    /// Erase pages from everything that is kept, and keep them out
    Forget(forget::Arguments),
    /// Free disk space: bodies that no rule keeps, overwritten rows, old runs
    Compact(compact::Arguments),
    /// Tokens with roles: who may ask beyond loopback, and what
    Token(token::Arguments),
    /// All settings in force, with their source
    Config(config::Arguments),
    /// Completions for a shell
    Completions(completions::Arguments),
}

impl Verb {
    /// The settings that this verb was given as flags.
    pub fn flags(&self) -> Flags {
        match self {
            Verb::Run(arguments) => arguments.flags.clone(),
            Verb::Serve(arguments) => arguments.flags.clone(),
            Verb::Demo(arguments) => arguments.flags.clone(),
            Verb::Config(arguments) => arguments.flags.clone(),
            Verb::Check(arguments) => arguments.flags.clone(),
            Verb::Why(arguments) => arguments.flags.clone(),
            Verb::Plan(arguments) => arguments.flags(),
            Verb::Compact(arguments) => arguments.flags(),
            Verb::Seeds(arguments) => arguments.flags(),
            _ => Flags::default(),
        }
    }

    pub fn carry_out(self, context: &Context) -> Result<()> {
        match self {
            Verb::Run(arguments) => run::run(context, arguments),
            Verb::Serve(_) => serve::serve(context),
            Verb::Demo(arguments) => demo::demo(context, arguments),
            Verb::Completions(arguments) => completions::completions(&arguments),
            Verb::Compare(arguments) => compare::compare(context, &arguments),
            Verb::Lab(arguments) => lab::lab(context, &arguments),
            asking => context.block_on(asking.ask(context)),
        }
    }

    /// The verbs that put one question to the folder.
    async fn ask(self, context: &Context) -> Result<()> {
        match self {
            Verb::Seeds(arguments) => seeds::seeds(context, arguments).await,
            Verb::Pause(arguments) => pause::pause(context, &arguments).await,
            Verb::Resume(arguments) => resume::resume(context, &arguments).await,
            Verb::Block(arguments) => block::block(context, &arguments).await,
            Verb::Status => status::status(context).await,
            Verb::Sites(arguments) => sites::sites(context, &arguments).await,
            Verb::Pages(arguments) => pages::pages(context, &arguments).await,
            Verb::Page(arguments) => page::page(context, &arguments).await,
            Verb::Hints(arguments) => hints::hints(context, &arguments).await,
            Verb::History(arguments) => history::history(context, &arguments).await,
            Verb::Diff(arguments) => diff::diff(context, &arguments).await,
            Verb::Blame(arguments) => blame::blame(context, &arguments).await,
            Verb::Noise(arguments) => noise::noise(context, arguments).await,
            Verb::Names(arguments) => names::names(context, arguments).await,
            Verb::Cat(arguments) => cat::cat(context, &arguments).await,
            Verb::Links(arguments) => links::links(context, &arguments).await,
            Verb::Topics(arguments) => topics::topics(context, &arguments).await,
            Verb::Check(arguments) => check::check(context, &arguments).await,
            Verb::Why(arguments) => why::why(context, &arguments).await,
            Verb::Plan(arguments) => plan::plan(context, &arguments).await,
            Verb::Series(arguments) => series::series(context, &arguments).await,
            Verb::Search(arguments) => search::search(context, &arguments).await,
            Verb::Changes(arguments) => changes::changes(context, &arguments).await,
            Verb::Watch(arguments) => watch::watch(context, arguments).await,
            Verb::Export(arguments) => export::export(context, &arguments).await,
            Verb::Import(arguments) => import::import(context, &arguments).await,
            Verb::Verify(arguments) => verify::verify(context, &arguments).await,
            Verb::Forget(arguments) => forget::forget(context, &arguments).await,
            Verb::Compact(_) => compact::compact(context).await,
            Verb::Token(arguments) => token::token(context, arguments).await,
            Verb::Config(arguments) => config::config(context, &arguments).await,
            Verb::Run(_) | Verb::Serve(_) | Verb::Demo(_) | Verb::Completions(_) | Verb::Compare(_) | Verb::Lab(_) => {
                Ok(())
            }
        }
    }
}
