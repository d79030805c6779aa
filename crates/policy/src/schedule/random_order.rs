//! Round-robin in other orders (Cho and Garcia-Molina, "Effective page refresh policies"): each round in a new random
//! order, or every visit at random whatever came before.

use vernal_model::{Moment, PageKey, Span};

use super::strides::{NOTE_BYTES_MAX, Rule};
use super::words::{Words, lot, word};
use crate::Seen;

/// One round of virtual time.
const ROUND: Span = Span::from_days(1);

/// Every page once in a round, each round in a new order.
#[derive(Copy, Clone, Debug, Default)]
pub struct RandomOrder;

impl Rule for RandomOrder {
    const NAME: &'static str = "round-robin:random";
    type Note = ();

    fn hear(&self, (): &mut (), _: &Seen) {}

    fn stride(&self, (): &(), page: PageKey, base: Moment) -> Span {
        let round = base.micros() as u64 / ROUND.micros() + 1;
        let place = round * ROUND.micros() + lot(page, round) % ROUND.micros();
        Span::from_micros(place - base.micros() as u64)
    }

    fn state(&self, (): &(), _: &mut [u8; NOTE_BYTES_MAX]) -> usize {
        0
    }

    fn note_from(&self, bytes: &[u8]) -> Option<()> {
        bytes.is_empty().then_some(())
    }

    fn why(&self, (): &(), _: Moment) -> Words {
        vec![word("policy", "round-robin:random: every page once in a round, each round in a new random order")]
    }
}

/// Visits at random: what a page waits does not depend on how long it has waited.
#[derive(Copy, Clone, Debug, Default)]
pub struct PurelyRandom;

impl Rule for PurelyRandom {
    const NAME: &'static str = "round-robin:purely-random";
    type Note = ();

    fn hear(&self, (): &mut (), _: &Seen) {}

    fn stride(&self, (): &(), page: PageKey, base: Moment) -> Span {
        let share = (lot(page, base.micros() as u64) >> 11) as f64 / (1u64 << 53) as f64;
        ROUND.scaled(-(1.0 - share).ln())
    }

    fn state(&self, (): &(), _: &mut [u8; NOTE_BYTES_MAX]) -> usize {
        0
    }

    fn note_from(&self, bytes: &[u8]) -> Option<()> {
        bytes.is_empty().then_some(())
    }

    fn why(&self, (): &(), _: Moment) -> Words {
        vec![word("policy", "round-robin:purely-random: every visit goes to a page at random")]
    }
}
