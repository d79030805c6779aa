//! The worked example of the founding paper (Yadav 2012, Tables 1 and 2).

use vernal_frontier::{
    Frontier, FrontierLimits, Politeness, PolitenessSettings, VisitOrder, Waiting, band, rank, thirds,
};
use vernal_model::{Moment, PageKey, Partition, Span, Url, Via, WaitingPlace};

/// Table 1: the eighteen URLs as they were received, with their forward links; no back links yet.
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

/// Table 2 as printed has 52 in the first list and 53 in the second; its own rule (descending Pvalue) gives this.
const LISTS: [[i32; 6]; 3] = [[155, 79, 65, 60, 60, 53], [52, 40, 21, 20, 18, 16], [15, 13, 11, 5, 4, 3]];

fn waiting(arrival: usize) -> Waiting {
    let url = Url::parse(RECEIVED[arrival].0).expect("the table holds URLs");
    let rank = rank(VisitOrder::Paper, RECEIVED[arrival].1, 0, 1, arrival as u64);
    Waiting {
        page: PageKey::new(Partition(0), arrival as u32),
        place: WaitingPlace { site: url.site(), band: band(rank), arrival: arrival as u64 },
        url,
        rank,
        depth: 1,
        via: Via::Link,
        found_on: None,
        admitted: Moment::EPOCH,
    }
}

#[test]
fn eighteen_urls_are_ranked_and_cut_into_thirds() {
    let mut ranks: Vec<i32> = (0..18).map(|arrival| waiting(arrival).rank).collect();
    ranks.sort_unstable_by(|one, other| other.cmp(one));
    assert_eq!(thirds(18).map(|part| ranks[part].to_vec()), LISTS);
}

/// Section 3.1.4: for every four URLs of the first list, two of the second and one of the third. When the first list
/// has run dry, what is left is cut anew.
#[test]
fn the_frontier_draws_four_two_one_from_the_lists() {
    let mut frontier = Frontier::new(FrontierLimits::default());
    for arrival in 0..18 {
        assert!(frontier.accept(waiting(arrival)));
    }
    let settings = PolitenessSettings { delay: Span::ZERO, ..PolitenessSettings::default() };
    let politeness = Politeness::new(settings, Moment::EPOCH);
    let drawn: Vec<i32> = std::iter::from_fn(|| frontier.next(&politeness, Moment::EPOCH)).map(|w| w.rank).collect();
    assert_eq!(drawn[..9], [155, 79, 65, 60, 52, 40, 15, 60, 53]);
    assert_eq!(drawn.len(), 18);
    assert!(frontier.is_empty());
}
