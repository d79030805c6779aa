//! What reading a large sitemap costs: `bench-hints [MEGABYTES]`, 50 by default.
//!
//! The text is made here, once. Reading it gives every URL, parsed, with its date, to a function that keeps nothing, so
//! that the memory beside the text itself stays flat. Prints one JSON object.

use std::fmt::Write as _;
use std::hint::black_box;
use std::time::Duration;

use vernal_document::site_lists::sitemap;
use vernal_document::{Input, read};
use vernal_model::{Digest, Url};

/// Rounds over the text; the median is told.
const ROUNDS: usize = 5;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let megabytes: usize = std::env::args().nth(1).map_or(Ok(50), |text| text.parse())?;
    let text = made(megabytes * 1_000_000);
    let memory_before = peak_kb();
    let mut times = Vec::new();
    let mut entries = 0u64;
    for _ in 0..ROUNDS {
        let before = on_processor().ok_or("no processor times on this system")?;
        entries = 0;
        sitemap::each_location(&text, &mut |location, stamp| {
            entries += u64::from(Url::parse(location).is_ok());
            black_box(stamp);
        });
        times.push(on_processor().unwrap_or_default().saturating_sub(before));
    }
    let memory_streamed = peak_kb();
    let whole = read_whole(&text)?;
    times.sort();
    println!(
        "{{\"bytes\":{},\"entries\":{entries},\"stream_cpu_s\":{:.3},\"stream_extra_peak_kb\":{},\"whole_read_8mb_cpu_s\":{:.3}}}",
        text.len(),
        times[ROUNDS / 2].as_secs_f64(),
        memory_streamed.saturating_sub(memory_before),
        whole.as_secs_f64(),
    );
    Ok(())
}

/// The whole pass over a body of the largest size that a worker takes: text, links, signature and list.
fn read_whole(text: &str) -> Result<Duration, Box<dyn std::error::Error>> {
    let url = Url::parse("https://www.example.org/sitemap.xml")?;
    let bytes = &text.as_bytes()[..text.len().min(8 << 20)];
    let before = on_processor().unwrap_or_default();
    black_box(read(&Input {
        url: &url,
        bytes,
        content_type: Some("application/xml"),
        content_language: None,
        robots_tags: &[],
        payload: Digest([1; 20]),
    }));
    Ok(on_processor().unwrap_or_default().saturating_sub(before))
}

fn made(bytes: usize) -> String {
    let mut text = String::with_capacity(bytes + 1_024);
    text.push_str(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n",
    );
    let mut number = 0u64;
    while text.len() < bytes {
        number += 1;
        let (a, b) = (number % 97, number.wrapping_mul(2_654_435_761) % 1_000_003);
        let _ = writeln!(
            text,
            "<url><loc>https://www.example.org/folder-{a}/page-{b}/article-{number}.html?part={a}&amp;of={b}</loc>\
             <lastmod>2026-{:02}-{:02}T{:02}:15:30+00:00</lastmod><changefreq>daily</changefreq></url>",
            1 + number % 12,
            1 + number % 28,
            number % 24
        );
    }
    text.push_str("</urlset>\n");
    text
}

/// Processor time of this thread, from Linux's own books.
fn on_processor() -> Option<Duration> {
    let books = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    books.split(' ').next()?.parse().ok().map(Duration::from_nanos)
}

/// The most memory that this process has had, in KiB.
fn peak_kb() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().trim_end_matches("kB").trim().parse().ok()).unwrap_or_default()
}
