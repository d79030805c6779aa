//! Choices where there are visits for all: `passes POLICY PAGES SITES PASSES`. Pages are visited one at a time, 2,000 a
//! second, one pass after another without a pause, the first right after one before it; nothing changes. It tells how many
//! visits it made; what they cost is for whoever runs it to measure, for a pass is shorter than a kernel counts well.

use vernal_model::{Chance, Moment, PageKey, Partition, PolicyState, Span};
use vernal_policy::{Held, Seen, TestView};

const PER_SECOND: u32 = 2_000;
const AT_ONCE: usize = 1;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number =
        |index: usize, default: u32| arguments.get(index).and_then(|text| text.parse().ok()).unwrap_or(default);
    let name = arguments.first().map_or("vernal", String::as_str);
    let (pages, sites, passes) = (number(1, 10_000), number(2, 1), number(3, 3));
    let mut now = Moment::from_secs(1_700_000_000);
    let mut policy = vernal_policy::by_name(name).unwrap_or_else(|| panic!("no policy {name}"));
    let mut chance = Chance::new(1);
    for number in 0..pages {
        policy.recall(&Held {
            last_visit: now - Span::from_secs(u64::from((pages - number) / PER_SECOND) + 2),
            ..Held::new(PageKey::new(Partition(0), number), number % sites, now, &PolicyState::default())
        });
    }
    let view = TestView::of(pages.into(), AT_ONCE);
    let (wanted, mut visited) = (u64::from(pages) * u64::from(passes), 0);
    while visited < wanted {
        now += Span::from_micros(1_000_000 * AT_ONCE as u64 / u64::from(PER_SECOND));
        for page in policy.choose(&view, now, &mut chance) {
            visited += 1;
            policy.learn(&Seen { changed: Some(false), ..Seen::new(page, now) });
        }
    }
    println!("{name}: {pages} pages on {sites} sites, {visited} visits");
}
