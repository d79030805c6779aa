//! Table 3: crawlers that share one frontier, and crawlers that know nothing of each other. Overlap, quality and traffic.

use vernal_frontier::{Frontier, FrontierLimits, Politeness, PolitenessSettings, VisitOrder, Waiting, band, rank};
use vernal_model::{Chance, Moment, PageKey, Partition, Span, Url, Via, WaitingPlace};
use vernal_policy::importance::{Scores, TOLERANCE};

use super::at;
use crate::lab::findings::{Axis, Chart, Plot, Series};
use crate::lab::papers::Vector;
use crate::lab::papers::exhibit::{Claim, Exhibit, Verdict};
use crate::lab::papers::trials::{CpuSeconds, Experiment, Trials};

pub const EXPERIMENT: Experiment = Experiment { paper: "003", enact: Some(enact), tell };

const PAGES: usize = 1_500;
const SITES: usize = 50;
/// Visits of all crawlers together.
const VISITS: usize = 500;
const LINKS_MAX: u64 = 24;
const SAME_SITE: f64 = 0.5;
const CRAWLERS: [usize; 4] = [1, 2, 4, 8];
const CRAWLER_LABELS: [&str; 4] = ["1", "2", "4", "8"];
/// The place of four crawlers, on which the claims are judged.
const FOUR: usize = 2;
const ORDERS: [VisitOrder; 4] =
    [VisitOrder::Paper, VisitOrder::BreadthFirst, VisitOrder::DepthFirst, VisitOrder::Importance];
const ORDER_LABELS: [&str; 4] = ["paper", "breadth-first", "depth-first", "importance"];
const POINTS: [usize; 5] = [50, 100, 200, 350, 500];
/// What a page weighs (000, 1.3.1: "an average size of 12 kilobytes"), and what telling one URL to the server or to a crawler
/// does.
const PAGE_KB: f64 = 12.0;
const URL_KB: f64 = 0.1;

/// Where the rows of one chance number lie: for each number of crawlers overlap, quality and traffic apart, then together.
const NUMBERS: usize = 6;
const ORDERS_FROM: usize = CRAWLERS.len() * NUMBERS;

/// Pages with their links, and how important each is.
struct LinkedWeb {
    urls: Vec<Url>,
    links: Vec<Vec<u32>>,
    importance: Vec<f64>,
}

impl LinkedWeb {
    fn draw(chance: &mut Chance) -> Option<Self> {
        let site_of = |page: usize| page % SITES;
        let urls: Vec<Url> = (0..PAGES)
            .filter_map(|page| Url::parse(&format!("http://s{}.example/{page}", site_of(page))).ok())
            .collect();
        let mut links = vec![Vec::new(); PAGES];
        for page in 1..PAGES {
            // Every page can be reached, and pages that came early have more links to them.
            links[chance.below(page as u64) as usize].push(page as u32);
        }
        for (page, links) in links.iter_mut().enumerate() {
            for _ in 0..chance.below(LINKS_MAX) {
                let of_site = PAGES / SITES;
                let target = match chance.happens(SAME_SITE) {
                    true => chance.below(of_site as u64) as usize * SITES + site_of(page),
                    false => (PAGES as f64 * chance.share().powi(3)) as usize,
                };
                links.push(target as u32);
            }
            links.retain(|&target| target as usize != page);
            links.sort_unstable();
            links.dedup();
        }
        let importance = importance(&links);
        (urls.len() == PAGES).then_some(LinkedWeb { urls, links, importance })
    }

    /// The share of the importance that so many visits could have brought.
    fn quality(&self, held: &[bool], visits: usize) -> f64 {
        let mut best = self.importance.clone();
        best.sort_by(|one, other| other.total_cmp(one));
        let most: f64 = best.iter().take(visits).sum();
        self.importance.iter().zip(held).filter(|(_, held)| **held).map(|(importance, _)| importance).sum::<f64>()
            / most
    }
}

/// Link scores of all pages, by the sweeps of the product.
fn importance(links: &[Vec<u32>]) -> Vec<f64> {
    let mut sources = vec![Vec::new(); links.len()];
    for (page, links) in links.iter().enumerate() {
        links.iter().for_each(|&target| sources[target as usize].push(page as u32));
    }
    let mut scores = Scores::new(links.iter().map(|links| links.len() as u32).collect(), |_| None);
    loop {
        (0..links.len()).for_each(|page| scores.sweep(page as u32, &sources[page]));
        if scores.end_sweep(TOLERANCE) {
            return (0..links.len()).map(|page| scores.score(page)).collect();
        }
    }
}

/// Crawlers that share one frontier and all that is known.
struct Crew<'w> {
    web: &'w LinkedWeb,
    order: VisitOrder,
    frontier: Frontier,
    politeness: Politeness,
    is_known: Vec<bool>,
    back: Vec<u32>,
    arrivals: u64,
    /// URLs that were told to the server.
    told: u64,
}

impl<'w> Crew<'w> {
    fn new(web: &'w LinkedWeb, order: VisitOrder, seeds: &[usize]) -> Self {
        let settings = PolitenessSettings { delay: Span::ZERO, ..PolitenessSettings::default() };
        let mut crew = Crew {
            web,
            order,
            frontier: Frontier::new(FrontierLimits::default()),
            politeness: Politeness::new(settings, Moment::EPOCH),
            is_known: vec![false; PAGES],
            back: vec![0; PAGES],
            arrivals: 0,
            told: 0,
        };
        seeds.iter().for_each(|&seed| crew.admit(seed, 0, 0));
        crew
    }

    fn admit(&mut self, page: usize, forward: usize, depth: u16) {
        if std::mem::replace(&mut self.is_known[page], true) {
            return;
        }
        self.arrivals += 1;
        let rank = rank(self.order, forward as u32, self.back[page], depth, self.arrivals);
        let url = self.web.urls[page].clone();
        self.frontier.accept(Waiting {
            page: PageKey::new(Partition(0), page as u32),
            place: WaitingPlace { site: url.site(), band: band(rank), arrival: self.arrivals },
            url,
            rank,
            depth,
            via: Via::Link,
            found_on: None,
            admitted: Moment::EPOCH,
        });
    }

    /// Visits the page that the frontier gives next.
    fn visit(&mut self) -> Option<usize> {
        let waiting = self.frontier.next(&self.politeness, Moment::EPOCH)?;
        let page = waiting.page.number as usize;
        let links = &self.web.links[page];
        self.told += links.len() as u64;
        for &target in links {
            self.back[target as usize] += 1;
            self.admit(target as usize, links.len(), waiting.depth + 1);
        }
        Some(page)
    }
}

/// Overlap, quality and traffic of crews that share the visits evenly. Crews of one crawler each tell nobody anything.
fn crawled(web: &LinkedWeb, crews: &mut [Crew<'_>], tells: bool) -> [f64; 3] {
    let mut held = vec![false; PAGES];
    let (mut visits, mut distinct) = (0.0, 0.0);
    for turn in 0..VISITS {
        let crew = turn % crews.len();
        let Some(page) = crews[crew].visit() else { continue };
        visits += 1.0;
        distinct += f64::from(u8::from(!std::mem::replace(&mut held[page], true)));
    }
    let told = if tells { visits + crews.iter().map(|crew| crew.told).sum::<u64>() as f64 } else { 0.0 };
    [(visits - distinct) / distinct, web.quality(&held, VISITS), (visits * PAGE_KB + told * URL_KB) / distinct]
}

fn enact(chance: &Chance, _: CpuSeconds<'_>) -> Vec<f64> {
    let mut chance = chance.stream("table 3");
    let Some(web) = LinkedWeb::draw(&mut chance) else { return Vec::new() };
    let mut row = Vec::with_capacity(ORDERS_FROM + ORDERS.len() * POINTS.len());
    for crawlers in CRAWLERS {
        let seeds: Vec<usize> = (0..crawlers).collect();
        let mut apart: Vec<Crew<'_>> = seeds.iter().map(|&seed| Crew::new(&web, VisitOrder::Paper, &[seed])).collect();
        row.extend(crawled(&web, &mut apart, false));
        row.extend(crawled(&web, &mut [Crew::new(&web, VisitOrder::Paper, &seeds)], true));
    }
    for order in ORDERS {
        let mut crew = Crew::new(&web, order, &[0, 1, 2, 3]);
        let mut held = vec![false; PAGES];
        for visit in 1..=VISITS {
            crew.visit().into_iter().for_each(|page| held[page] = true);
            if POINTS.contains(&visit) {
                row.push(web.quality(&held, visit));
            }
        }
    }
    row
}

fn tell(trials: &Trials) -> Vec<Exhibit> {
    let of = |number: usize| -> Vec<_> {
        (0..CRAWLERS.len()).map(|crawlers| trials.at(crawlers * NUMBERS + number)).collect()
    };
    let numbers: Vec<Vec<_>> = (0..NUMBERS).map(of).collect();
    let finals: Vec<_> = (0..ORDERS.len()).map(|order| trials.at(at_the_end(order))).collect();
    let page = at("Table 3");
    let mut vectors = vec![
        page.measured(
            "overlap of independent crawlers, by their number",
            &CRAWLER_LABELS,
            &numbers[0],
            "visits beyond the first of a page, over pages",
        ),
        page.measured("overlap of coordinated crawlers", &CRAWLER_LABELS, &numbers[3], "no URL is given out twice"),
        page.measured(
            "quality of independent crawlers",
            &CRAWLER_LABELS,
            &numbers[1],
            "importance held, of the most that as many visits could hold",
        ),
        page.measured("quality of coordinated crawlers", &CRAWLER_LABELS, &numbers[4], ""),
        page.measured(
            "traffic of independent crawlers, kB for each page held",
            &CRAWLER_LABELS,
            &numbers[2],
            "12 kB a page",
        ),
        page.measured(
            "traffic of coordinated crawlers, kB for each page held",
            &CRAWLER_LABELS,
            &numbers[5],
            "12 kB a page, and 0.1 kB for every URL told",
        ),
        page.measured(
            "quality of coordinated crawlers by the order of visits",
            &ORDER_LABELS,
            &finals,
            "Pvalue, then the other orders of the product",
        ),
    ];
    vectors.extend(claims(trials));
    let method = "Fifteen hundred pages on fifty sites, whose early pages have more links to them; five hundred visits, shared evenly by 1, 2, 4 or 8 \
                  crawlers with a seed each. Every crawler has a frontier of the product to itself, or all share one. Importance by the link \
                  scores of the product.";
    vec![
        page.exhibit("Coordinated and independent crawlers: overlap, quality, traffic", method, vectors)
            .with_plots(plots(trials, &numbers)),
    ]
}

/// Where the quality of an order of visits stands after all visits.
fn at_the_end(order: usize) -> usize {
    ORDERS_FROM + (order + 1) * POINTS.len() - 1
}

fn claims(trials: &Trials) -> Vec<Vector> {
    let four = |apart: usize, together: usize| trials.difference(FOUR * NUMBERS + apart, FOUR * NUMBERS + together);
    let (overlap, quality, traffic) = (four(0, 3), four(4, 1), four(2, 5));
    let ranking = trials.difference(at_the_end(0), at_the_end(1));
    let claim = |quote, what, measured, note| {
        at("Table 3").claim(Claim { quote, what, measured, verdict: Verdict::above_zero(&measured), note })
    };
    vec![
        claim(
            "has global image of crawled/uncrawled URLs and thus, significantly reduces the overlapping",
            "overlap of four independent crawlers less that of four coordinated ones",
            overlap,
            "",
        ),
        claim(
            "high priorities pages are downloaded and thus high quality documents are available",
            "quality of four coordinated crawlers less that of four independent ones",
            quality,
            "",
        ),
        claim(
            "Due to reduction in overlapping, network bandwidth is also reduced at the cost of communication",
            "traffic of four independent crawlers less that of four coordinated ones, kB for each page held",
            traffic,
            "what is told to the server is counted",
        ),
        claim(
            "downloaded pages are of high quality, thereby, proving the efficiency of ranking method developed",
            "quality by Pvalue less quality breadth-first",
            ranking,
            "Pvalue puts pages with many back links last; the quality comes from the shared frontier, not from the ranking",
        ),
    ]
}

fn plots(trials: &Trials, numbers: &[Vec<crate::lab::statistics::Interval>]) -> Vec<Plot> {
    let crawlers = CRAWLERS.map(|crawlers| crawlers as f64);
    let axis = |label: &str| Axis { label: label.to_owned(), ..Axis::default() };
    let overlap = Chart {
        title: "003, Table 3: overlap by number of crawlers".into(),
        across: axis("crawlers"),
        up: axis("overlap"),
        series: vec![
            Series::of("independent", 1, &crawlers, &numbers[0]),
            Series::of("coordinated", 0, &crawlers, &numbers[3]),
        ],
    };
    let visits = POINTS.map(|visits| visits as f64);
    let series = ORDER_LABELS.iter().enumerate().map(|(order, name)| {
        let from = ORDERS_FROM + order * POINTS.len();
        Series::of(name, order, &visits, &trials.range(from..from + POINTS.len()))
    });
    let quality = Chart {
        title: "003, Table 3: quality by order of visits".into(),
        across: axis("visits"),
        up: axis("importance held, of the most possible"),
        series: series.collect(),
    };
    vec![
        Plot { file: "003-table-3-overlap.svg".into(), chart: overlap },
        Plot { file: "003-table-3-quality.svg".into(), chart: quality },
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crawlers_with_one_frontier_never_visit_a_page_twice_and_others_do() {
        let rows: Vec<Vec<f64>> = (1..=3).map(|number| enact(&Chance::new(number).stream("papers"), &|| 0.0)).collect();
        for row in &rows {
            assert_eq!(row.len(), ORDERS_FROM + ORDERS.len() * POINTS.len());
            assert_eq!((row[0], row[1]), (row[3], row[4]), "one crawler alone is one frontier");
            for crawlers in 1..CRAWLERS.len() {
                let [apart, together] = [row[crawlers * NUMBERS], row[crawlers * NUMBERS + 3]];
                assert!(apart > 0.05 && together == 0.0, "{} crawlers: {apart} {together}", CRAWLERS[crawlers]);
            }
        }
    }
}
