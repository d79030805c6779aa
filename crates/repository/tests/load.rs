//! What the sieve costs when much is known, in CPU time of its thread. Not a test of laws: run it by hand and read
//! what it prints.
//!
//! `VERNAL_LOAD_URLS=10000000 cargo test --release -p vernal-repository --test load -- --ignored --nocapture`

#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use vernal_model::{
    Admitted, Chance, CountedIn, Deed, DocumentRow, Fingerprint, Found, LinkKind, LinkRow, Moment, Outcome, Page,
    PageKey, PageState, ParagraphMark, Partition, PolicyState, Rel, Signature, Url, Validators, Via, Visit, Visited,
    WaitingPlace,
};
use vernal_repository::{Repository, Settings, Sieving};

const BATCH: u64 = 500_000;
/// Findings in one deed, as a group of pages brings them.
const ROW: usize = 2_000;

#[test]
#[ignore = "takes minutes and only prints figures"]
fn figures_of_the_sieve() {
    let wanted: u64 = std::env::var("VERNAL_LOAD_URLS").ok().and_then(|text| text.parse().ok()).unwrap_or(2_000_000);
    let dir = tempfile::tempdir().unwrap();
    let (mut repository, _) = Repository::open(dir.path(), Settings::default(), Moment::EPOCH).unwrap();
    let mut chance = Chance::new(1);
    let mut next = 0;
    println!("{:>10} {:>9} {:>9} {:>9} {:>9} {:>8}", "known", "found ms", "sieve ms", "commit ms", "fresh", "rss MB");
    while repository.reader().totals().known < wanted {
        let begun = cpu_us();
        let deeds = found(&mut chance, &mut next);
        let now = Moment::EPOCH;
        for group in deeds.chunks(16) {
            repository.commit(group, now).unwrap();
        }
        let found_ms = (cpu_us() - begun) / 1_000;
        let begun = cpu_us();
        let sieving = repository.sieve(2 * BATCH as usize).unwrap();
        let sieve_ms = (cpu_us() - begun) / 1_000;
        let fresh: usize = sieving.partitions.iter().map(|partition| partition.fresh.len()).sum();
        let deeds = decided(&repository, sieving);
        let begun = cpu_us();
        repository.commit(&deeds, now).unwrap();
        let commit_ms = (cpu_us() - begun) / 1_000;
        let known = repository.reader().totals().known;
        println!("{known:>10} {found_ms:>9} {sieve_ms:>9} {commit_ms:>9} {fresh:>9} {:>8}", resident_mb());
    }
    let begun = cpu_us();
    repository.close().unwrap();
    println!("closed in {} ms", (cpu_us() - begun) / 1_000);
    let begun = cpu_us();
    let (repository, _) = Repository::open(dir.path(), Settings::default(), Moment::EPOCH).unwrap();
    println!("opened in {} ms, {} MB", (cpu_us() - begun) / 1_000, resident_mb());
    let begun = cpu_us();
    for _ in 0..10_000 {
        let url = url(chance.below(next));
        assert!(repository.reader().key_of(&url).unwrap().is_some());
    }
    println!("a look-up takes {} us", (cpu_us() - begun) / 10_000);
}

#[test]
#[ignore = "only prints figures"]
fn figures_of_first_visits() {
    const GROUPS: u32 = 100;
    const GROUP: u32 = 128;
    let dir = tempfile::tempdir().unwrap();
    let (mut repository, _) = Repository::open(dir.path(), Settings::default(), Moment::EPOCH).unwrap();
    let groups: Vec<Vec<(Partition, Deed)>> =
        (0..GROUPS).map(|group| (0..GROUP).flat_map(|n| visited(group * GROUP + n)).collect()).collect();
    let (thread, process) = (cpu_us(), process_cpu_ms());
    for (n, group) in groups.iter().enumerate() {
        repository.commit(group, Moment::from_secs(n as i64)).unwrap();
    }
    let thread = cpu_us() - thread;
    repository.close().unwrap();
    let pages = u64::from(GROUPS * GROUP);
    let process = process_cpu_ms() - process;
    println!(
        "{pages} pages: {} us each on the writer's thread, {} us with the store's threads, {} MB",
        thread / pages,
        process * 1_000 / pages,
        resident_mb()
    );
}

/// A first visit to a page with 42 links and 60 paragraphs, and its links as found again.
fn visited(number: u32) -> Vec<(Partition, Deed)> {
    let url = url(u64::from(number));
    let partition = url.partition();
    let link = |n: u64| LinkRow {
        target: Fingerprint(n << 33 | 7),
        kind: LinkKind::Anchor,
        rel: Rel::default(),
        counted: CountedIn::NOWHERE,
    };
    let mark = |n: u64| ParagraphMark { digest: n << 55 | u64::from(number), ..ParagraphMark::default() };
    let signature = Signature { paragraphs: (0..60).map(mark).collect(), ..Signature::default() };
    let document =
        DocumentRow { signature, title: "A page".into(), links: (0..42).map(link).collect(), ..Default::default() };
    let outcome = Outcome::Read { status: 200 };
    let now = Moment::from_secs(1);
    let visit = Visit {
        started: now,
        finished: now,
        outcome: outcome.clone(),
        address: None,
        wire_bytes: 17_000,
        version: None,
        record: None,
        decided_by: None,
        changed: None,
        second_look: false,
        robots: None,
    };
    let page = Page {
        key: PageKey::new(partition, number),
        url,
        state: PageState::Held,
        depth: 1,
        found_on: None,
        admitted: now,
        first_visit: now,
        last_visit: now,
        last_confirmed: Some(now),
        last_outcome: outcome,
        visits: 1,
        compared: 0,
        changes: 0,
        misses: 0,
        missing_since: None,
        failures: 0,
        not_before: now,
        version: None,
        validators: Validators::default(),
        importance: 1.0,
        noisy: false,
        policy: PolicyState::default(),
    };
    let visited = Visited { page, was: None, left: None, visit, document: Some(document), event: None };
    let again = (0..36).map(|n| Fingerprint(n * 77_777_777_777)).collect();
    vec![(partition, Deed::Visited(Box::new(visited))), (partition, Deed::Found { urls: Vec::new(), again })]
}

fn url(n: u64) -> Url {
    Url::parse(&format!("http://www.site-{}.org/articles/section-{}/page-{n}.html", n % 1_000, n % 17)).unwrap()
}

/// One batch: half of it new, half met before.
fn found(chance: &mut Chance, next: &mut u64) -> Vec<(Partition, Deed)> {
    let mut partitions: Vec<Vec<Found>> = vec![Vec::new(); usize::from(Partition::COUNT)];
    for n in 0..BATCH {
        let number = if n % 2 == 0 || *next == 0 {
            *next += 1;
            *next - 1
        } else {
            chance.below(*next)
        };
        let url = url(number);
        let place = usize::from(url.partition().0);
        partitions[place].push(Found { url, via: Via::Link, depth: 3, found_on: None, forward: 40 });
    }
    let deeds = partitions.into_iter().enumerate().flat_map(|(partition, found)| {
        let deed =
            move |urls: &[Found]| (Partition(partition as u8), Deed::Found { urls: urls.to_vec(), again: Vec::new() });
        found.chunks(ROW).map(deed).collect::<Vec<_>>()
    });
    deeds.collect()
}

fn decided(repository: &Repository, sieving: Sieving) -> Vec<(Partition, Deed)> {
    let reader = repository.reader();
    let decide = |offered: vernal_repository::PartitionSieving| {
        let first = reader.next_number(offered.partition);
        let admit = |(number, candidate): (u32, vernal_repository::Candidate)| Admitted {
            number,
            via: candidate.found.via,
            depth: candidate.found.depth,
            found_on: candidate.found.found_on,
            moment: Moment::EPOCH,
            rank: 1,
            place: WaitingPlace { site: candidate.found.url.site(), band: 1, arrival: u64::from(number) },
            url: candidate.found.url,
        };
        let admitted = (first..).zip(offered.fresh).map(admit).collect();
        (offered.partition, Deed::Sieved { through: offered.through, admitted, barred: Vec::new() })
    };
    sieving.partitions.into_iter().map(decide).collect()
}

/// What this thread has used, in microseconds.
fn cpu_us() -> u64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    text.split_whitespace().next().and_then(|ns| ns.parse::<u64>().ok()).unwrap_or(0) / 1_000
}

/// What all threads of this process have used, in steps of ten milliseconds.
fn process_cpu_ms() -> u64 {
    let text = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = text.rsplit(')').next().unwrap_or_default().split_whitespace();
    fields.skip(11).take(2).filter_map(|ticks| ticks.parse::<u64>().ok()).sum::<u64>() * 10
}

fn resident_mb() -> u64 {
    let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = text.lines().find(|line| line.starts_with("VmRSS:")).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|kb| kb.parse::<u64>().ok()).unwrap_or(0) / 1_024
}
