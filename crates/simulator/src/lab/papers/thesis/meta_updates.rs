//! Figure 1.3: a crawler that obeys the tags by which pages say how often they change, and one that does not.

use vernal_document::cadence::meta_updates;
use vernal_model::{Chance, Moment, Span};

use crate::lab::findings::{Axis, Chart, Plot, Series};
use crate::lab::measure::Gauge;
use crate::lab::papers::exhibit::{Claim, Exhibit, Page, Verdict};
use crate::lab::papers::trials::{CpuSeconds, Experiment, Trials};
use crate::lab::world::{ChangeKind, World, WorldChange, WorldPage, WorldSite};

pub const EXPERIMENT: Experiment = Experiment { paper: "000", enact: Some(enact), tell };

const PAGES: usize = 200;
/// The experiment of the thesis lasted three weeks.
const DAYS: u64 = 21;
const ORIGIN: Moment = Moment::from_secs(1_767_225_600);
/// The share of pages whose tag is false: it is that of another page.
const FALSE_TAGS: [f64; 5] = [0.0, 0.1, 0.2, 0.3, 0.5];
const LABELS: [&str; 5] = ["0 %", "10 %", "20 %", "30 %", "50 %"];
const HALF: usize = 4;
/// Numbers for each share of false tags.
const NUMBERS: usize = 6;
const NEEDLESS_ORDINARY: usize = 0;
const NEEDLESS_TAGGED: usize = 1;
const FRESH_ORDINARY: usize = 2;
const FRESH_TAGGED: usize = 3;
const FRESH_DATED: usize = 4;
const SAVED: usize = 5;

/// How a page changes, as its author knows it.
enum Author {
    /// Little probability to be changed.
    Static,
    /// In uniform rate: every so many days.
    Periodic(u64),
    /// In a non-uniform rate, so many times a day in the mean.
    Variable(f64),
}

impl Author {
    fn draw(chance: &mut Chance) -> Self {
        match chance.below(5) {
            0 | 1 => Author::Static,
            2 | 3 => Author::Periodic([1, 2, 3, 7][chance.below(4) as usize]),
            _ => Author::Variable(0.2 + 1.3 * chance.share()),
        }
    }

    /// The content of the tag.
    fn tag(&self) -> String {
        match self {
            Author::Static => "STATIC".into(),
            Author::Periodic(days) => format!("PERIODIC={days}"),
            Author::Variable(_) => "VARIABLE".into(),
        }
    }

    /// The wait from one change to the next.
    fn wait(&self, chance: &mut Chance) -> Span {
        match *self {
            Author::Static => days(chance.wait(1.0 / 90.0)),
            Author::Periodic(every) => Span::from_days(every),
            Author::Variable(rate) => days(chance.wait(rate)),
        }
    }

    fn changes(&self, chance: &mut Chance) -> Vec<WorldChange> {
        let mut wait = match *self {
            // At a time of its own.
            Author::Periodic(every) => Span::from_days(every).scaled(chance.share()),
            Author::Static | Author::Variable(_) => self.wait(chance),
        };
        let mut changes = Vec::new();
        let mut moment = ORIGIN;
        while moment + wait < ORIGIN + Span::from_days(DAYS) {
            moment += wait;
            changes.push(WorldChange { moment, degree: 0.5, kind: ChangeKind::Content });
            wait = self.wait(chance);
        }
        changes
    }
}

fn days(days: f64) -> Span {
    Span::from_secs_f64(days.min(1_000.0) * 86_400.0)
}

fn enact(chance: &Chance, _: CpuSeconds<'_>) -> Vec<f64> {
    let mut chance = chance.stream("figure 1.3");
    let authors: Vec<Author> = (0..PAGES).map(|_| Author::draw(&mut chance)).collect();
    let mut world = World::new("meta-updates", ORIGIN, Span::from_days(DAYS), Span::ZERO);
    world.sites.push(WorldSite { name: "tagged.example".into(), visits_per_day_max: None });
    for author in &authors {
        let page = WorldPage { born: ORIGIN, gone: Moment::NEVER, weight: 1.0, bytes: 1, ..WorldPage::default() };
        world.push(page, &author.changes(&mut chance), &[]);
    }
    let phases: Vec<f64> = (0..PAGES).map(|_| chance.share()).collect();
    let mut row = Vec::new();
    for share in FALSE_TAGS {
        let tag = |page: usize, chance: &mut Chance| {
            let other = if chance.happens(share) { chance.below(PAGES as u64) as usize } else { page };
            meta_updates(&authors[other].tag()).map(|cadence| cadence.period)
        };
        let tags: Vec<Option<Span>> = (0..PAGES).map(|page| tag(page, &mut chance)).collect();
        let daily = crawled(&world, &phases, |_, _| Span::from_days(1));
        let tagged = crawled(&world, &phases, |page, _| tags[page].unwrap_or(Span::from_days(1)));
        let dated = crawled(&world, &phases, |page, now| {
            tags[page].map_or(Span::from_days(1), |period| due(&world, page, now, period))
        });
        // The ordinary crawler with the visits that the tags have left.
        let every = Span::from_days(DAYS * PAGES as u64).scaled(1.0 / tagged.visits.max(1) as f64);
        let ordinary = crawled(&world, &phases, |_, _| every);
        let needless = |crawl: &Crawl| crawl.needless as f64 / (PAGES as u64 * DAYS) as f64;
        row.extend([needless(&daily), needless(&tagged), ordinary.freshness, tagged.freshness, dated.freshness]);
        row.push(1.0 - tagged.visits as f64 / daily.visits.max(1) as f64);
    }
    row
}

/// The wait until the period after the page's last date has passed, for a crawler that reads dates as well as tags.
fn due(world: &World, page: usize, now: Moment, period: Span) -> Span {
    let changes = world.changes(page);
    let seen = changes.partition_point(|change| change.moment <= now);
    let last = seen.checked_sub(1).map_or(now, |last| changes[last].moment);
    let due = last + period + Span::from_secs(1);
    if due > now { due.since(now) } else { period }
}

struct Crawl {
    visits: u64,
    needless: u64,
    freshness: f64,
}

/// A crawl that comes back to each page when it is told to.
fn crawled(world: &World, phases: &[f64], wait: impl Fn(usize, Moment) -> Span) -> Crawl {
    let mut gauge = Gauge::new(world, Span::ZERO);
    let (mut visits, mut needless) = (0, 0);
    for (page, &phase) in phases.iter().enumerate() {
        // All pages were read at the start; the first wait of each ends at an hour of its own.
        let mut now = world.origin + wait(page, world.origin).min(Span::from_days(DAYS)).scaled(phase.max(1e-6));
        while now < world.end {
            let found = gauge.visit(page, now);
            visits += 1;
            needless += u64::from(!found.changed);
            now = now + wait(page, now).max(Span::from_secs(60));
        }
    }
    Crawl { visits, needless, freshness: gauge.finish(Vec::new()).after.freshness }
}

fn tell(trials: &Trials) -> Vec<Exhibit> {
    let page = Page { paper: "000", place: "Figure 1.3" };
    let of =
        |number: usize| -> Vec<_> { (0..FALSE_TAGS.len()).map(|share| trials.at(share * NUMBERS + number)).collect() };
    let series = [NEEDLESS_ORDINARY, NEEDLESS_TAGGED, FRESH_ORDINARY, FRESH_TAGGED, FRESH_DATED, SAVED].map(of);
    let avoided = trials.difference(NEEDLESS_ORDINARY, NEEDLESS_TAGGED);
    let fresher = trials.difference(FRESH_TAGGED, FRESH_ORDINARY);
    let weaker = trials.by(|row| {
        let lead = |share: usize| row[share * NUMBERS + FRESH_TAGGED] - row[share * NUMBERS + FRESH_ORDINARY];
        lead(0) - lead(HALF)
    });
    let vectors = vec![
        page.measured("needless visits of a daily crawl, as a share of its visits", &LABELS, &series[0], "by share of false tags"),
        page.measured("needless visits where tags are obeyed, of as many", &LABELS, &series[1], ""),
        page.measured("visits saved by the tags", &LABELS, &series[5], ""),
        page.measured("freshness of an ordinary crawl with as many visits", &LABELS, &series[2], "all pages equally often"),
        page.measured("freshness where tags are obeyed", &LABELS, &series[3], "the period counts from the last visit"),
        page.measured("freshness where tags and dates are obeyed", &LABELS, &series[4], "it counts from the page's last date"),
        page.claim(Claim {
            quote: "The measure of improvement was the number of needless crawling processes, and the proposed solution showed good results",
            what: "needless visits that true tags avoid, as a share of the daily crawl's visits",
            measured: avoided,
            verdict: Verdict::above_zero(&avoided),
            note: "",
        }),
        page.claim(Claim {
            quote: "Typical (Ordinary) vs. Meta-updates crawlers (freshness average)",
            what: "freshness where tags are obeyed less that of an ordinary crawl with as many visits",
            measured: fresher,
            verdict: Verdict::above_zero(&fresher),
            note: "the text says that the figure shows the improvement; who counts the period from the last visit is late by half of it",
        }),
        page.claim(Claim {
            quote: "The major weak point in this proposed solution and sitemaps is the commitment of web page author",
            what: "how much of that difference is lost where half of the tags are false",
            measured: weaker,
            verdict: Verdict::above_zero(&weaker),
            note: "",
        }),
    ];
    let method = "Two hundred pages for three weeks, whose authors say STATIC, PERIODIC=k or VARIABLE; the tags are read by the product's \
                  own reader (`document/parse/cadence.rs`). The ordinary crawl visits every page daily, or all equally often with as many \
                  visits as the tags have left. A false tag is that of another page.";
    let shares = FALSE_TAGS.map(|share| 100.0 * share);
    let lines = vec![
        Series::of("tags and dates", 2, &shares, &series[4]),
        Series::of("tags", 0, &shares, &series[3]),
        Series::of("ordinary, same visits", 1, &shares, &series[2]),
    ];
    let across = Axis { label: "false tags, per cent".into(), ..Axis::default() };
    let up = Axis { label: "freshness".into(), ..Axis::default() };
    let chart = Chart { title: "000, Figure 1.3: tags obeyed and not".into(), across, up, series: lines };
    let plots = vec![Plot { file: "000-figure-1.3.svg".into(), chart }];
    vec![page.exhibit("Meta-updates: pages that say how often they change", method, vectors).with_plots(plots)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn true_tags_avoid_needless_visits_and_false_ones_cost_freshness() {
        let rows = (1..=4).map(|number| enact(&Chance::new(number).stream("papers"), &|| 0.0)).collect();
        let exhibits = tell(&Trials::of_rows(rows));
        let verdicts: Vec<_> = exhibits[0].vectors.iter().filter_map(|vector| vector.verdict).collect();
        assert_eq!((verdicts[0], verdicts[2]), (Verdict::Reproduced, Verdict::Reproduced), "{verdicts:?}");
    }
}
