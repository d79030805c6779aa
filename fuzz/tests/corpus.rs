//! Every kept input is replayed, and a few thousand fresh mutations of each target are tried.

use vernal_fuzz::{TARGETS, corpus, mutated};
use vernal_model::Chance;

/// The chance number of the mutations; a number that broke something stays in the corpus as its input.
const CHANCE: u64 = 20_261_115;
const MUTATIONS: usize = 2_000;

#[test]
fn every_kept_input_and_its_mutations_keep_the_laws() {
    for target in &TARGETS {
        let inputs = corpus(target.name).unwrap_or_else(|why| panic!("corpus of {}: {why}", target.name));
        assert!(!inputs.is_empty(), "the corpus of {} is empty", target.name);
        for input in &inputs {
            (target.run)(input);
        }
        let mut chance = Chance::new(CHANCE).stream(target.name);
        for _ in 0..MUTATIONS {
            let input = chance.pick(&inputs).cloned().unwrap_or_default();
            let other = chance.pick(&inputs).cloned().unwrap_or_default();
            (target.run)(&mutated(&input, &other, &mut chance));
        }
    }
}
