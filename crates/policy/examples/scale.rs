//! How a policy carries many pages: `scale POLICY PAGES SITES VISITS`. Pages of a site change together now and then; a
//! tenth of the pages is visited per day. Told first: what was found, and a mark of all choices in their order, by which two
//! builds are held against each other. Then in one line: CPU seconds to take up the pages and choose for the first
//! hour, visits after that hour and the CPU seconds that the policy spent on them, and the most memory that was resident, in
//! megabytes. What the world behind it takes to tell what a visit found is not the policy's.

use rustix::time::{ClockId, clock_gettime};
use vernal_model::{Chance, Moment, PageKey, Partition, PolicyState, Span};
use vernal_policy::{Held, Seen, TestView};

#[cfg(feature = "own-allocator")]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

/// Of the FNV hash.
const MARK_PRIME: u64 = 0x0100_0000_01b3;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number =
        |index: usize, default: u32| arguments.get(index).and_then(|text| text.parse().ok()).unwrap_or(default);
    let name = arguments.first().map_or("vernal", String::as_str);
    let (pages, sites, visits) = (number(1, 100_000), number(2, 1_000), number(3, 300_000));
    let start = Moment::from_secs(1_700_000_000);
    let mut policy = vernal_policy::by_name(name).unwrap_or_else(|| panic!("no policy {name}"));
    let mut chance = Chance::new(1);
    for number in 0..pages {
        let age = Span::from_secs(chance.below(10 * 86_400));
        policy.recall(&Held {
            path: number / sites % 8,
            last_visit: start - age,
            ..Held::new(PageKey::new(Partition(0), number), number % sites, start, &PolicyState::default())
        });
    }
    let mut last: Vec<u16> = vec![0; if visits > 0 { pages as usize } else { 0 }];
    let view = TestView::of(pages.into(), (pages as usize / 240).max(1));
    let (mut hour, mut visited, mut changes) = (0u16, 0u32, 0u32);
    let (mut taken_up, mut spent) = ((cpu_seconds(), 0), 0.0);
    let mut mark = 0u64;
    while visited < visits {
        if hour == 1 {
            (taken_up, spent) = ((cpu_seconds(), visited), 0.0);
        }
        let begun = cpu_seconds();
        hour += 1;
        let now = start + Span::from_hours(hour.into());
        let chosen = policy.choose(&view, now, &mut chance);
        // What visits find is told before the policy hears of the first, so that this program waits little for its own memory.
        let chosen_by = cpu_seconds();
        let mut found = Vec::with_capacity(chosen.len());
        for page in &chosen {
            let seen = std::mem::replace(&mut last[page.number as usize], hour);
            // A site publishes every few weeks, at its own hour, and one visit in fifty finds a change of its own.
            let period = 24 * (5 + (page.number % sites % 60) as u16);
            let together = hour / period != seen / period && !(page.number / sites).is_multiple_of(4);
            found.push(together || chance.happens(0.02));
        }
        let found_by = cpu_seconds();
        for (page, changed) in chosen.into_iter().zip(found) {
            visited += 1;
            mark = (mark ^ u64::from(page.number)).wrapping_mul(MARK_PRIME).rotate_left(29);
            changes += u32::from(changed);
            policy.learn(&Seen { changed: Some(changed), ..Seen::new(page, now) });
        }
        spent += (chosen_by - begun) + (cpu_seconds() - found_by);
    }
    println!(
        "{name}: {pages} pages on {sites} sites, {visited} visits in {hour} hours, {changes} found a change, {mark:016x}"
    );
    println!("{:.3} {} {spent:.5} {}", taken_up.0, visited - taken_up.1, resident_megabytes());
}

/// What this process has used of the processors, to the nanosecond: an hour of few pages is shorter than a tick.
fn cpu_seconds() -> f64 {
    let told = clock_gettime(ClockId::ProcessCPUTime);
    told.tv_sec as f64 + told.tv_nsec as f64 / 1e9
}

/// The most that this process ever had in memory.
fn resident_megabytes() -> u64 {
    let told = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = told.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    peak.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok()).unwrap_or_default() / 1024
}
