//! Totals of the crawl at a glance.

use std::sync::Arc;

use axum::extract::State;
use schemars::JsonSchema;
use serde::Serialize;
use vernal_crawler::{Believed, CalibrationBin, Measured, PriorityList, SAMPLES_MIN};
use vernal_model::{Moment, Site};
use vernal_policy::{Remedy, SamplingCycle};

use super::answer::{self, ApiResult, One};
use super::measures::{self, Figures};
use super::nouns::Nouns;
use super::shared::{Shared, time};

#[derive(Serialize, JsonSchema)]
pub struct Status {
    version: &'static str,
    data: String,
    seeds: usize,
    sites: usize,
    known: u64,
    waiting: u64,
    held: u64,
    gone: u64,
    moved: u64,
    blocked: u64,
    refused: u64,
    failed: u64,
    barred: u64,
    found_pending: u64,
    visits: u64,
    versions: u64,
    changes: u64,
    /// Changes of which nothing was left when noise was set aside.
    noise: u64,
    events: u64,
    wire_bytes: u64,
    body_bytes: u64,
    paused: bool,
    budget: String,
    spent: f64,
    policy: String,
    last_moment: Option<String>,
    cursor: String,
    disk_free_bytes: Option<u64>,
    disk_total_bytes: Option<u64>,
    /// Which promises of a visit rate are kept and which are overdue; null where none was made.
    promises: Option<Promises>,
    /// Change ratio, freshness, mean age, change rate and degree of success of the whole copy.
    measures: Figures,
    /// The text index; null before there is one.
    search: Option<super::search::SearchJson>,
    /// The deliveries of alerts; null where there were no watches yet.
    outbox: Option<super::deliveries::OutboxJson>,
    /// What is still to be rewritten on disk of pages that were forgotten; null where nothing ever was.
    forgotten: Option<super::forget::RewritingJson>,
    /// Null when nothing crawls.
    crawl: Option<Crawl>,
}

#[derive(Serialize, JsonSchema)]
pub struct Promises {
    pages: u64,
    overdue: u64,
    most_overdue_s: f64,
    /// Visits a day that the promises need, and that the budget pays for.
    needs_per_day: f64,
    budget_per_day: f64,
    /// What would keep those that cannot be kept, in words.
    cures: Vec<String>,
}

#[derive(Serialize, JsonSchema)]
pub struct Crawl {
    process: u32,
    started: Option<String>,
    now: Option<String>,
    time_scale: f64,
    in_flight: usize,
    window: usize,
    /// The three priority lists of URLs that wait for their first visit, the one with the highest ranks first.
    lists: Vec<PriorityListJson>,
    /// The round of sampling and downloading that goes on; null where the policy does not sample in cycles.
    cycle: Option<SamplingCycleJson>,
    orders_sent: u64,
    reports_taken: u64,
    commits: u64,
    disk_full: bool,
    sites_backing_off: usize,
    budget_in_hand: f64,
    #[serde(flatten)]
    freshness: Freshness,
    /// The number of known URLs where it is more than a pass over all links may take; null where it is not.
    pass_refused_urls: Option<u64>,
    /// Held pages whose links were checked so far against a changed scope; null when all have been.
    scope_pass_pages: Option<u64>,
    /// When the budget will pay for what is due; null while nothing waits for it.
    waits_for_budget_until: Option<String>,
    retries_waiting: usize,
}

/// One of the three lists among which the allocator draws 4 : 2 : 1.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "PriorityList")]
pub struct PriorityListJson {
    /// Its turns in one round of the draw.
    turns: u64,
    /// URLs in memory that wait in it.
    waiting: u64,
    /// URLs that this process has drawn from it.
    drawn: u64,
}

/// One round of a policy that samples a few pages of each group, and downloads where the samples found changes.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "SamplingCycle")]
pub struct SamplingCycleJson {
    begins: Option<String>,
    ends: Option<String>,
    /// The share of all pages that the budget pays for in one round.
    share: f64,
    /// Sites, paths, topics or groups of pages; a page of several topics counts in each.
    groups: u64,
    pages: u64,
    /// Pages to sample, and those that were, answered or under way.
    sample_size: u64,
    sampled: u64,
    /// Pages that were visited beside the sample.
    downloaded: u64,
    /// Sampled pages that could be compared, those that had changed, and the share of these; null before the first.
    compared: u64,
    changed: u64,
    change_ratio: Option<f64>,
}

/// What the policy believes of the freshness of the copy, what samples drawn by chance found, and how right the belief was.
#[derive(Default, Serialize, JsonSchema)]
pub struct Freshness {
    /// The share of the held pages that the policy believes to be up to date; null without a model. The mean of what
    /// `why` says of each page, and where a plan begins.
    freshness_expected: Option<f64>,
    /// The same share with each page weighted by its importance, and without pages of recognised traps.
    freshness_expected_weighted: Option<f64>,
    freshness_expected_outside_traps: Option<f64>,
    /// Held pages of recognised traps.
    trap_pages: u64,
    /// The expected share, moved by what the samples found beyond what was believed of them, and the standard error of
    /// that; null with too few samples.
    freshness_calibrated: Option<f64>,
    freshness_calibrated_error: Option<f64>,
    /// Both again without pages of recognised traps.
    freshness_calibrated_outside_traps: Option<f64>,
    freshness_calibrated_outside_traps_error: Option<f64>,
    /// The share of randomly drawn samples that had not changed; null before the first.
    freshness_measured: Option<f64>,
    /// The measured share again, with each page weighted by its importance, and without pages of recognised traps.
    freshness_measured_weighted: Option<f64>,
    freshness_measured_outside_traps: Option<f64>,
    freshness_samples: u32,
    freshness_samples_outside_traps: u32,
    /// So many samples are needed before the belief is held against them.
    freshness_samples_needed: u32,
    /// What was believed of the samples and what they were, by how likely they were to be up to date.
    calibration: Vec<BinJson>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "CalibrationBin")]
pub struct BinJson {
    believed_from: f64,
    believed_to: f64,
    samples: u32,
    /// The mean of the probabilities that were believed, and the share that was up to date.
    believed: f64,
    found: f64,
}

impl Freshness {
    fn of(believed: &Believed, measured: Option<&Measured>) -> Self {
        let expected = believed.all.share();
        let calibration = measured.and_then(|measured| measured.calibration.as_ref()).filter(|_| expected.is_some());
        let outside = measured.and_then(|measured| measured.calibration_outside_traps.as_ref());
        let outside = outside.zip(believed.outside_traps.share());
        let bin = |bin: &CalibrationBin| BinJson {
            believed_from: bin.from,
            believed_to: bin.to,
            samples: bin.samples,
            believed: bin.believed,
            found: bin.found,
        };
        Freshness {
            freshness_expected: expected,
            freshness_expected_weighted: believed.all.weighted_share(),
            freshness_expected_outside_traps: believed.outside_traps.share(),
            trap_pages: believed.all.pages - believed.outside_traps.pages,
            freshness_calibrated: calibration.zip(expected).map(|(one, expected)| one.calibrated(expected)),
            freshness_calibrated_error: calibration.map(|calibration| calibration.error),
            freshness_calibrated_outside_traps: outside.map(|(one, expected)| one.calibrated(expected)),
            freshness_calibrated_outside_traps_error: outside.map(|(calibration, _)| calibration.error),
            freshness_measured: measured.map(Measured::share),
            freshness_measured_weighted: measured.map(|measured| measured.weighted),
            freshness_measured_outside_traps: measured.and_then(Measured::share_outside_traps),
            freshness_samples: measured.map_or(0, |measured| measured.samples),
            freshness_samples_outside_traps: measured.map_or(0, |measured| measured.samples_outside_traps),
            freshness_samples_needed: SAMPLES_MIN,
            calibration: calibration.map(|one| one.bins.iter().map(bin).collect()).unwrap_or_default(),
        }
    }
}

pub fn routes(nouns: Nouns) -> Nouns {
    nouns.get("/api/v1/status", "How the crawl stands", show)
}

pub async fn show(State(shared): State<Arc<Shared>>) -> ApiResult<One<Status>> {
    let promises = promises(&shared).await?;
    let believed = believed(&shared).await?;
    let figures = measures::taken(&shared).await?.all.clone();
    status(&shared, promises, believed.as_ref(), figures)
}

/// What a running crawl believes of its copy.
pub async fn believed(shared: &Shared) -> Result<Option<Believed>, answer::ApiError> {
    if shared.backend.is_stopped() {
        return Ok(None);
    }
    Ok(Some(shared.backend.believed(shared.clock.now()).await?))
}

/// The crawler of a stopped crawl is opened only if there is a promise to judge.
async fn promises(shared: &Shared) -> Result<Option<Promises>, answer::ApiError> {
    let promising = |seed: &vernal_model::Seed| seed.at_least_every.is_some();
    if shared.settings.crawler.promises.is_empty() && !shared.reader.seeds()?.iter().any(promising) {
        return Ok(None);
    }
    let kept = shared.backend.promises(shared.clock.now()).await?;
    Ok(kept.map(|kept| Promises {
        pages: kept.promised,
        overdue: kept.overdue,
        most_overdue_s: kept.most_overdue.secs_f64(),
        needs_per_day: kept.needs_per_day,
        budget_per_day: kept.per_day,
        cures: kept.remedies.iter().map(remedy).collect(),
    }))
}

pub fn remedy(remedy: &Remedy<Site>) -> String {
    match remedy {
        Remedy::Budget { per_day } => format!("a budget of at least {:.0}/day for held pages", per_day.ceil()),
        Remedy::Delay { site, at_most, now } => format!("a delay of at most {at_most} at {site} (it is {now})"),
    }
}

fn status(
    shared: &Shared,
    promises: Option<Promises>,
    believed: Option<&Believed>,
    measures: Figures,
) -> ApiResult<One<Status>> {
    let (reader, totals) = (&shared.reader, shared.reader.totals());
    let disk = reader.disk_free().ok();
    let status = Status {
        version: env!("CARGO_PKG_VERSION"),
        data: shared.settings.data.display().to_string(),
        seeds: reader.seeds()?.len(),
        sites: reader.sites().len(),
        known: totals.known,
        waiting: totals.waiting,
        held: totals.held,
        gone: totals.gone,
        moved: totals.moved,
        blocked: totals.blocked,
        refused: totals.refused,
        failed: totals.failed,
        barred: totals.barred,
        found_pending: totals.found_pending,
        visits: totals.visits,
        versions: totals.versions,
        changes: totals.changes,
        noise: totals.noise,
        events: totals.events,
        wire_bytes: totals.wire_bytes,
        body_bytes: totals.body_bytes,
        paused: reader.paused_all(),
        budget: shared.settings.crawler.budget.to_string(),
        spent: reader.account().spent,
        policy: shared.settings.crawler.policy.clone(),
        last_moment: time(reader.last_moment()),
        cursor: reader.cursor().to_string(),
        disk_free_bytes: disk.map(|disk| disk.free_bytes),
        disk_total_bytes: disk.map(|disk| disk.total_bytes),
        promises,
        measures,
        search: super::search::status(shared),
        outbox: super::deliveries::outbox(shared),
        forgotten: super::forget::status(shared)?,
        crawl: crawl(shared, believed),
    };
    Ok(answer::value(&status))
}

fn crawl(shared: &Shared, believed: Option<&Believed>) -> Option<Crawl> {
    let pulse = shared.backend.pulse()?;
    Some(Crawl {
        process: std::process::id(),
        started: time(shared.clock.began()),
        now: time(shared.clock.now()),
        time_scale: shared.clock.scale(),
        in_flight: pulse.in_flight,
        window: pulse.window,
        lists: pulse.lists.iter().map(|list| list_json(*list)).collect(),
        cycle: believed.and_then(|believed| believed.cycle).map(cycle_json),
        orders_sent: pulse.orders_sent,
        reports_taken: pulse.reports_taken,
        commits: pulse.commits,
        disk_full: pulse.disk_full,
        sites_backing_off: pulse.sites_backing_off,
        budget_in_hand: pulse.budget_in_hand,
        freshness: believed.map(|believed| Freshness::of(believed, pulse.measured.as_ref())).unwrap_or_default(),
        pass_refused_urls: pulse.pass_refused_urls,
        scope_pass_pages: pulse.scope_pass_pages,
        waits_for_budget_until: waits_for_budget_until(shared).and_then(time),
        retries_waiting: pulse.retries_waiting,
    })
}

fn list_json(list: PriorityList) -> PriorityListJson {
    PriorityListJson { turns: list.turns, waiting: list.waiting, drawn: list.drawn }
}

fn cycle_json(cycle: SamplingCycle) -> SamplingCycleJson {
    SamplingCycleJson {
        begins: time(cycle.begins),
        ends: time(cycle.ends),
        share: cycle.share,
        groups: cycle.groups,
        pages: cycle.pages,
        sample_size: cycle.quota,
        sampled: cycle.sampled,
        downloaded: cycle.downloaded,
        compared: cycle.compared,
        changed: cycle.changed,
        change_ratio: cycle.change_ratio(),
    }
}

/// When the budget will pay for a visit again, for a crawl that nothing else holds back.
pub fn waits_for_budget_until(shared: &Shared) -> Option<Moment> {
    if !shared.backend.waits_for_budget() {
        return None;
    }
    let held = shared.reader.totals().held;
    let until = shared.reader.account().next(&shared.settings.crawler.budget, held);
    (until > shared.clock.now()).then_some(until)
}
