//! Tables 1 and 2: eighteen URLs through the frontier of the product: ranked, cut into thirds, drawn 4 : 2 : 1.

use vernal_frontier::{
    Frontier, FrontierLimits, Politeness, PolitenessSettings, VisitOrder, Waiting, band, rank, thirds,
};
use vernal_model::{Moment, PageKey, Partition, Span, Url, Via, WaitingPlace};

use super::at;
use crate::lab::papers::exhibit::{Claim, Exhibit, Verdict, exactly};
use crate::lab::papers::trials::Trials;

/// Table 1: the URLs as they were received, with their forward links; no back links yet.
const RECEIVED: [(&str, u32); 18] = [
    ("http://www.jiit.ac.in/", 20),
    ("http://www.jiit.ac.in/jiit/files/RTI.htm", 18),
    ("http://www.jiit.ac.in/jiit/files/department.htm", 11),
    ("http://www.jiit.ac.in/jiit/files/PROJ_SPONS.htm", 4),
    ("http://www.jiit.ac.in/jiit/files/curri_obj.htm", 3),
    ("http://www.google.co.in/", 40),
    ("http://www.rediffmail.com/", 79),
    ("http://www.gmail.com/", 65),
    ("http://www.yahoo.com/", 155),
    ("http://www.ugc.ac.in/", 60),
    ("http://www.ugc.ac.in/orgn/regional_offices.html", 21),
    ("http://www.ugc.ac.in/policy/fac_dev.html", 13),
    ("http://www.ugc.ac.in/policy/payorder.html", 52),
    ("http://www.ugc.ac.in/policy/modelcurr.html", 60),
    ("http://www.ugc.ac.in/inside/uni.html", 15),
    ("http://www.ugc.ac.in/contact/index.html", 5),
    ("http://www.ugc.ac.in/inside/fakealerts.html", 16),
    ("http://www.ugc.ac.in/orgn/directory.html", 53),
];
const PVALUES: [f64; 18] = [20., 18., 11., 4., 3., 40., 79., 65., 155., 60., 21., 13., 52., 60., 15., 5., 16., 53.];
const PRINTED: [(&str, [f64; 6]); 3] = [
    ("first list", [155., 79., 65., 60., 60., 52.]),
    ("second list", [53., 40., 21., 20., 18., 16.]),
    ("third list", [15., 13., 11., 5., 4., 3.]),
];

fn waiting(arrival: usize) -> Option<Waiting> {
    let (url, forward) = RECEIVED[arrival];
    let url = Url::parse(url).ok()?;
    let rank = rank(VisitOrder::Paper, forward, 0, 1, arrival as u64);
    Some(Waiting {
        page: PageKey::new(Partition(0), arrival as u32),
        place: WaitingPlace { site: url.site(), band: band(rank), arrival: arrival as u64 },
        url,
        rank,
        depth: 1,
        via: Via::Link,
        found_on: None,
        admitted: Moment::EPOCH,
    })
}

/// The ranks of all eighteen in the order in which the frontier gives them out.
fn drawn() -> Vec<f64> {
    let mut frontier = Frontier::new(FrontierLimits::default());
    for waiting in (0..RECEIVED.len()).filter_map(waiting) {
        frontier.accept(waiting);
    }
    let politeness =
        Politeness::new(PolitenessSettings { delay: Span::ZERO, ..PolitenessSettings::default() }, Moment::EPOCH);
    let next = || frontier.next(&politeness, Moment::EPOCH).map(|waiting| f64::from(waiting.rank));
    std::iter::from_fn(next).collect()
}

pub fn tell(_: &Trials) -> Vec<Exhibit> {
    let ranks: Vec<f64> = (0..RECEIVED.len()).filter_map(waiting).map(|waiting| f64::from(waiting.rank)).collect();
    let mut sorted = ranks.clone();
    sorted.sort_by(|one, other| other.total_cmp(one));
    let slip = "the printed lists are not sorted by their own rule: 53 belongs before 52";
    let lists = thirds(sorted.len()).into_iter().zip(PRINTED);
    let mut table_2: Vec<_> = lists
        .map(|(third, (name, printed))| {
            at("Table 2").numbers(name, &sorted[third], &printed, 0, if name == "third list" { "" } else { slip })
        })
        .collect();
    let order = drawn();
    let third_of = |rank: f64| sorted.iter().position(|&other| other == rank).map_or(2, |place| place / 6);
    let mut of_lists = [0.0f64; 3];
    order.iter().take(7).for_each(|&rank| of_lists[third_of(rank)] += 1.0);
    let share = exactly(of_lists[0] / (2.0 * of_lists[1]));
    table_2.push(at("Table 2").shown("the order in which the frontier draws all eighteen", &order, ""));
    table_2.push(at("3.1.4").numbers("the first seven draws, from each list", &of_lists, &[4., 2., 1.], 0, ""));
    table_2.push(at("3.1.4").claim(Claim {
        quote: "for every 4 URLs selected from p-list1, 2 URLs from p-list2 and 1 URL from p-list3 are assigned",
        what: "draws of the first list over twice those of the second, in the first round",
        measured: share,
        verdict: Verdict::near(&share, 1.0, 0.0),
        note: "",
    }));
    let table_1 = vec![at("Table 1").numbers("priority values in the order of arrival", &ranks, &PVALUES, 0, "")];
    let method = "`rank`, `thirds` and the frontier itself (`frontier/window.rs`), with no delay between visits.";
    vec![
        at("Table 1").exhibit("Eighteen URLs and their priority values", method, table_1),
        at("Table 2").exhibit("The same URLs in three priority lists", method, table_2),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lists_and_the_draws_come_from_the_frontier() {
        assert_eq!(drawn()[..9], [155., 79., 65., 60., 52., 40., 15., 60., 53.]);
        let exhibits = tell(&Trials::default());
        let of =
            |what: &str| exhibits[1].vectors.iter().find(|vector| vector.what == what).and_then(|vector| vector.agrees);
        assert_eq!([of("first list"), of("second list"), of("third list")], [Some(false), Some(false), Some(true)]);
        assert_eq!(of("the first seven draws, from each list"), Some(true));
    }
}
