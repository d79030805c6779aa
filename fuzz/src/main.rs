//! `./x fuzz [TARGET…]`: mutates the corpus for a while and keeps what breaks a law.

use std::panic::catch_unwind;
use std::time::Duration;

use vernal_fuzz::{TARGETS, Target, corpus, corpus_folder, mutated};
use vernal_model::Chance;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    let seconds: u64 = std::env::var("FUZZ_SECONDS").ok().and_then(|text| text.parse().ok()).unwrap_or(60);
    let number: u64 = std::env::var("FUZZ_CHANCE").ok().and_then(|text| text.parse().ok()).unwrap_or(1);
    let mut broken = 0;
    for target in TARGETS.iter().filter(|target| wanted.is_empty() || wanted.iter().any(|name| name == target.name)) {
        broken += run_long(target, Duration::from_secs(seconds), &mut Chance::new(number).stream(target.name))?;
    }
    if broken > 0 {
        return Err(format!("{broken} inputs broke a law; they were added to the corpus").into());
    }
    Ok(())
}

/// How many inputs broke the target; each is written into its corpus.
#[expect(clippy::disallowed_methods, reason = "a long run ends by the real clock")]
fn run_long(target: &Target, limit: Duration, chance: &mut Chance) -> std::io::Result<usize> {
    let inputs = corpus(target.name)?;
    let empty = Vec::new();
    let started = std::time::Instant::now();
    let (mut tried, mut broken) = (0u64, 0);
    while started.elapsed() < limit {
        let input = chance.pick(&inputs).unwrap_or(&empty).clone();
        let other = chance.pick(&inputs).unwrap_or(&empty).clone();
        let made = mutated(&input, &other, chance);
        tried += 1;
        if catch_unwind(|| (target.run)(&made)).is_err() {
            broken += 1;
            std::fs::write(corpus_folder(target.name).join(format!("broken-{tried}")), &made)?;
        }
    }
    println!("{}: {tried} inputs tried, {broken} broke a law", target.name);
    Ok(broken)
}
