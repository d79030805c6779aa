//! What change detection costs: `bench-change FOLDER`, where the folder holds `ID.before.html` and `ID.after.html`.
//!
//! One thread, whole set in memory; the pass is told as the median of several rounds. Prints one JSON object;
//! `benches/change.py` puts peers beside it.

use std::hint::black_box;
use std::path::Path;
use std::time::{Duration, Instant};

use vernal_document::{Input, Parsed, compare, diff, read};
use vernal_model::{Digest, Signature, Url};

/// Rounds over the whole set; the median is told.
const ROUNDS: usize = 7;

/// Comparisons of two signatures per measurement: one alone is too short for the clock.
const REPEATS: u32 = 10;

/// Measurements of each comparison and each difference. The shortest is told: other work on the machine only adds.
const TRIES: usize = 5;

struct Pair {
    before: Vec<u8>,
    after: Vec<u8>,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::args().nth(1).ok_or("usage: bench-change FOLDER")?;
    let pairs = pairs(Path::new(&folder))?;
    let url = Url::parse("https://www.example.org/folder/page.html")?;
    let bytes: usize = pairs.iter().map(|pair| pair.before.len() + pair.after.len()).sum();
    let read_seconds = median((0..ROUNDS).map(|_| all_read(&pairs, &url).as_secs_f64()).collect());
    let parsed: Vec<(Parsed, Parsed)> = pairs.iter().map(|pair| both(pair, &url)).collect();
    let (unchanged, changed) = compared(&parsed);
    let (diff_p50, diff_p99) = diffed(&parsed);
    let kept: usize = parsed.iter().map(|pair| pair.0.signature.pack().len()).sum();
    let paragraphs: usize = parsed.iter().map(|pair| pair.0.signature.paragraphs.len()).sum();
    println!(
        "{{\"pairs\":{},\"bytes\":{bytes},\"signature_mb_per_s\":{:.1},\"compare_unchanged_us\":{:.3},\
         \"compare_changed_p50_us\":{:.3},\"compare_changed_p99_us\":{:.3},\"diff_p50_ms\":{:.4},\"diff_p99_ms\":{:.4},\
         \"signature_bytes_mean\":{:.0},\"paragraphs_mean\":{:.1}}}",
        pairs.len(),
        bytes as f64 / 1e6 / read_seconds,
        unchanged,
        changed.0,
        changed.1,
        diff_p50,
        diff_p99,
        kept as f64 / pairs.len() as f64,
        paragraphs as f64 / pairs.len() as f64,
    );
    Ok(())
}

fn pairs(folder: &Path) -> Result<Vec<Pair>, Box<dyn std::error::Error>> {
    let mut names: Vec<String> = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        names.extend(name.strip_suffix(".before.html").map(str::to_owned));
    }
    names.sort();
    let body = |name: &str, side: &str| std::fs::read(folder.join(format!("{name}.{side}.html")));
    names.iter().map(|name| Ok(Pair { before: body(name, "before")?, after: body(name, "after")? })).collect()
}

fn input<'a>(url: &'a Url, bytes: &'a [u8], payload: u8) -> Input<'a> {
    Input {
        url,
        bytes,
        content_type: Some("text/html"),
        content_language: None,
        robots_tags: &[],
        payload: Digest([payload; 20]),
    }
}

fn both(pair: &Pair, url: &Url) -> (Parsed, Parsed) {
    (read(&input(url, &pair.before, 1)), read(&input(url, &pair.after, 2)))
}

/// The whole pass: text, links, hints and signature.
fn all_read(pairs: &[Pair], url: &Url) -> Duration {
    let (started, spent) = (now(), on_processor());
    for pair in pairs {
        black_box(read(&input(url, &pair.before, 1)));
        black_box(read(&input(url, &pair.after, 2)));
    }
    // On a shared machine the wall clock tells of others; where the system says what we used ourselves, that counts.
    match (spent, on_processor()) {
        (Some(before), Some(after)) => after.saturating_sub(before),
        _ => started.elapsed(),
    }
}

/// Processor time of this thread, from Linux's own books.
fn on_processor() -> Option<Duration> {
    let books = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    books.split(' ').next()?.parse().ok().map(Duration::from_nanos)
}

/// Microseconds of comparing two stored signatures: the mean of unchanged pages, p50 and p99 of changed ones.
fn compared(parsed: &[(Parsed, Parsed)]) -> (f64, (f64, f64)) {
    let each = |old: &Signature, new: &Signature| {
        let repeated = shortest(|| {
            for _ in 0..REPEATS {
                black_box(compare(black_box(old), black_box(new)));
            }
        });
        repeated * 1e6 / f64::from(REPEATS)
    };
    // Other bytes, same marks: the digest alone does not decide it.
    let twins: Vec<Signature> = parsed.iter().map(|pair| twin(&pair.0.signature)).collect();
    let unchanged: f64 = parsed.iter().zip(&twins).map(|(pair, twin)| each(&pair.0.signature, twin)).sum();
    let changed: Vec<f64> = parsed.iter().map(|pair| each(&pair.0.signature, &pair.1.signature)).collect();
    (unchanged / parsed.len() as f64, (percentile(&changed, 0.5), percentile(&changed, 0.99)))
}

fn twin(signature: &Signature) -> Signature {
    Signature { payload: Digest([9; 20]), ..signature.clone() }
}

/// Milliseconds of the full difference of two documents: the operations that an event tells, and the words of each
/// paragraph. p50 and p99.
fn diffed(parsed: &[(Parsed, Parsed)]) -> (f64, f64) {
    let each = |(old, new): &(Parsed, Parsed)| {
        let told = shortest(|| {
            let mut change = compare(&old.signature, &new.signature);
            diff::explain(&old.document, &new.document, &mut change);
            black_box(change);
            black_box(diff::diff(black_box(&old.document), black_box(&new.document)));
        });
        told * 1e3
    };
    let times: Vec<f64> = parsed.iter().map(each).collect();
    (percentile(&times, 0.5), percentile(&times, 0.99))
}

/// Seconds of the shortest of several tries.
fn shortest(work: impl Fn()) -> f64 {
    let tries = (0..TRIES).map(|_| {
        let started = now();
        work();
        started.elapsed().as_secs_f64()
    });
    tries.fold(f64::INFINITY, f64::min)
}

fn median(times: Vec<f64>) -> f64 {
    percentile(&times, 0.5)
}

fn percentile(times: &[f64], share: f64) -> f64 {
    let mut sorted = times.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(((sorted.len() as f64 - 1.0) * share).round() as usize).copied().unwrap_or_default()
}

#[expect(clippy::disallowed_methods, reason = "a benchmark is about the real clock")]
fn now() -> Instant {
    Instant::now()
}
