//! A world drawn from its settings. Every page has a chance stream of its own, so that one more page or another law for
//! one of them leaves all others as they are.

use vernal_model::{Chance, Moment, Span};

use super::process::{PageProcess, normal, poisson};
use super::settings::{Process, WithRate, WorldSettings};
use crate::lab::world::{ChangeKind, HintTrust, World, WorldChange, WorldPage, WorldSite};

/// Pages share a path with so many others of their site.
const PAGES_PER_PATH: usize = 10;

/// One page before its changes are drawn.
struct Draft {
    site: u32,
    path: u32,
    rate: f64,
    weight: f32,
    /// Online from and until, in days after the origin.
    born: f64,
    gone: f64,
}

struct SiteDraft {
    rate_factor: f64,
    busy_from_hour: f64,
    /// Days of its publications, in order.
    publications: Vec<f64>,
    /// By how much its rates are multiplied after the drift.
    drift: f64,
}

pub(super) fn draw(settings: &WorldSettings, mut world: World, chance: &Chance) -> World {
    let sites: Vec<SiteDraft> = (0..settings.sites).map(|site| draw_site(settings, site, chance)).collect();
    let mut drafts = draw_pages(settings, &sites, chance);
    weigh(settings, &mut drafts, chance);
    let mut pages_of = vec![0u32; sites.len()];
    for draft in &drafts {
        pages_of[draft.site as usize] += 1;
    }
    world.sites = (0..sites.len()).map(|site| world_site(settings, site, pages_of[site])).collect();
    let steady = settings.drift.is_none() && settings.publications.is_none();
    let rated = steady && settings.process == Process::Poisson;
    // A page that is born comes fresh and for nothing, and a hint says what no rate does: both beat the model's optimum.
    world.modelled = rated && settings.births.is_none() && settings.hints.is_none();
    world.trust = settings
        .hints
        .as_ref()
        .map(|hints| HintTrust { recall: hints.recall[0], false_per_change: hints.false_per_change[0] });
    for (number, draft) in drafts.iter().enumerate() {
        let site = &sites[draft.site as usize];
        let mut chance = chance.stream("changes").numbered(number as u64);
        let days = change_days(settings, site, draft, &mut chance);
        let hints = hint_days(settings, &days, draft, &mut chance);
        let known_rate = rated.then_some(draft.rate);
        push(&mut world, number, draft, known_rate, &days, &hints, &mut chance);
    }
    world
}

fn draw_site(settings: &WorldSettings, site: usize, chance: &Chance) -> SiteDraft {
    let mut chance = chance.stream("site").numbered(site as u64);
    let rate_factor = (settings.rates.spread_site * normal(&mut chance)).exp();
    let busy_from_hour = chance.share() * 24.0;
    let publications = settings.publications.map_or_else(Vec::new, |publications| {
        let rate = publications.per_day_median * (publications.spread * normal(&mut chance)).exp();
        poisson(rate, 0.0, settings.days, &mut chance)
    });
    let drift =
        settings.drift.map_or(1.0, |drift| if site.is_multiple_of(2) { drift.factor } else { 1.0 / drift.factor });
    SiteDraft { rate_factor, busy_from_hour, publications, drift }
}

/// Pages site by site, those of the start before those that are born later.
fn draw_pages(settings: &WorldSettings, sites: &[SiteDraft], chance: &Chance) -> Vec<Draft> {
    let own = settings.publications.map_or(1.0, |publications| publications.own);
    let mut drafts = Vec::new();
    for (site, facts) in sites.iter().enumerate() {
        let at_start = pages_at_start(settings, site);
        let born = settings.births.map_or_else(Vec::new, |births| {
            let mut chance = chance.stream("births").numbered(site as u64);
            poisson(births.per_week / 7.0 * at_start as f64, 0.0, settings.days, &mut chance)
        });
        for (of_site, born) in std::iter::repeat_n(-1.0, at_start).chain(born).enumerate() {
            let mut chance = chance.stream("page").numbered((site as u64) << 32 | of_site as u64);
            let spread = settings.rates.spread_page * normal(&mut chance);
            let rate = settings.rates.changes_per_day_median * facts.rate_factor * spread.exp() * own;
            let gone = match settings.births {
                Some(births) if births.per_week > 0.0 => born.max(0.0) + chance.wait(births.per_week / 7.0),
                _ => f64::INFINITY,
            };
            let path = (of_site / PAGES_PER_PATH) as u32;
            drafts.push(Draft { site: site as u32, path, rate, weight: 1.0, born, gone });
        }
    }
    drafts
}

/// Sites are of one size, but for the capped one, which is the first.
fn pages_at_start(settings: &WorldSettings, site: usize) -> usize {
    let share = |pages: usize, sites: usize, site: usize| pages * (site + 1) / sites - pages * site / sites;
    match settings.politeness {
        None => share(settings.pages, settings.sites, site),
        Some(capped) => {
            let large = (capped.pages * settings.pages as f64).round() as usize;
            if site == 0 { large } else { share(settings.pages - large, settings.sites - 1, site - 1) }
        }
    }
}

fn world_site(settings: &WorldSettings, site: usize, pages: u32) -> WorldSite {
    let capped = settings.politeness.filter(|_| site == 0);
    let visits_per_day_max = capped.map(|capped| capped.visits_per_page_day * f64::from(pages));
    WorldSite { name: format!("site-{site:04}.example"), visits_per_day_max }
}

/// Zipf weights with mean 1.
fn weigh(settings: &WorldSettings, drafts: &mut [Draft], chance: &Chance) {
    let Some(weights) = settings.weights else { return };
    let mut order: Vec<usize> = (0..drafts.len()).collect();
    chance.stream("weights").shuffle(&mut order);
    match weights.with_rate {
        WithRate::Independent => {}
        WithRate::Correlated => order.sort_by(|&a, &b| drafts[b].rate.total_cmp(&drafts[a].rate)),
        WithRate::Opposed => order.sort_by(|&a, &b| drafts[a].rate.total_cmp(&drafts[b].rate)),
    }
    let raw: Vec<f64> = (1..=drafts.len()).map(|rank| (rank as f64).powf(-weights.exponent)).collect();
    let mean = raw.iter().sum::<f64>() / raw.len().max(1) as f64;
    for (page, weight) in order.into_iter().zip(raw) {
        drafts[page].weight = (weight / mean) as f32;
    }
}

fn change_days(settings: &WorldSettings, site: &SiteDraft, draft: &Draft, chance: &mut Chance) -> Vec<f64> {
    let process = PageProcess::draw(settings.process, site.busy_from_hour, chance);
    let (from, until) = (draft.born.max(0.0), draft.gone.min(settings.days));
    let middle = settings.drift.map_or(until, |drift| drift.at * settings.days).clamp(from, until);
    let mut days = process.days(draft.rate, from, middle, chance);
    days.extend(process.days(draft.rate * site.drift, middle, until, chance));
    if let Some(publications) = settings.publications {
        let here = site.publications.iter().filter(|&&day| day > from && day < until);
        days.extend(here.copied().filter(|_| chance.happens(publications.pages)));
        days.sort_by(f64::total_cmp);
    }
    days
}

fn hint_days(settings: &WorldSettings, changes: &[f64], draft: &Draft, chance: &mut Chance) -> Vec<f64> {
    let Some(hints) = &settings.hints else { return Vec::new() };
    let (recall, wrong) = (hints.recall[0], hints.false_per_change[0]);
    let mut days: Vec<f64> = changes.iter().copied().filter(|_| chance.happens(recall)).collect();
    days.extend(poisson(draft.rate * wrong, draft.born.max(0.0), draft.gone.min(settings.days), chance));
    days.sort_by(f64::total_cmp);
    days
}

/// Where the law has a rate that holds throughout, it is the page's; else the page has the rate that it came to.
fn push(
    world: &mut World,
    number: usize,
    draft: &Draft,
    known_rate: Option<f64>,
    days: &[f64],
    hints: &[f64],
    chance: &mut Chance,
) {
    let origin = world.origin;
    let moment = |day: f64| origin + Span::from_secs_f64(day * 86_400.0);
    let mut changes: Vec<WorldChange> = Vec::with_capacity(days.len());
    for &day in days {
        // Most changes are small: the square of an even share has mean one third.
        let degree = (chance.share() as f32).powi(2).max(0.001);
        changes.push(WorldChange { moment: moment(day), degree, kind: ChangeKind::Content });
    }
    changes.dedup_by_key(|change| change.moment);
    let hints: Vec<Moment> = hints.iter().map(|&day| moment(day)).collect();
    let observed = days.len() as f64 / (draft.gone.min(world.length().days_f64()) - draft.born.max(0.0)).max(1e-9);
    let page = WorldPage {
        name: format!("{}/{number}", draft.path).into(),
        site: draft.site,
        path: draft.path,
        born: if draft.born <= 0.0 { origin } else { moment(draft.born) },
        gone: if draft.gone.is_finite() { moment(draft.gone) } else { Moment::NEVER },
        weight: draft.weight,
        bytes: (8_000.0 * (0.8 * normal(chance)).exp()).clamp(200.0, 4e6) as u32,
        rate: known_rate.unwrap_or(observed),
    };
    world.push(page, &changes, &hints);
}
