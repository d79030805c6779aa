//! How closely a page is expected to keep to its prior: the shape of the prior.
//!
//! Shape 1, by which a page may well change ten times as often as expected or hardly at all, is what recorded histories bear
//! out: narrower and wider ones were tried on them and won nothing. Where importance tells rates it can tell them closely, and
//! a weak prior wastes visits. So where there are importance buckets, each visit is foretold with every shape, and the one that
//! foretold best is taken. Elsewhere visits are not counted here, and the shape is 1.

/// The shapes to choose from; the first is the one to begin with.
const SHAPES: [f64; 3] = [1.0, 2.0, 4.0];
/// So many visits are remembered, older ones with less weight.
const VISITS_KEPT: f64 = 20_000.0;
/// Another shape is taken when it is ahead by so much, in logarithm.
const LEAD: f64 = 3.0;

#[derive(Copy, Clone, Debug, Default, PartialEq)]
pub struct PriorStrength {
    /// How well each shape has foretold visits, in logarithm.
    foretold: [f64; SHAPES.len()],
    taken: u8,
}

impl PriorStrength {
    pub fn shape(&self) -> f64 {
        SHAPES[usize::from(self.taken)]
    }

    /// Hears what a visit found; `survival` says how likely no change was with a shape.
    pub fn hear(&mut self, changed: bool, survival: impl Fn(f64) -> f64) {
        for (foretold, &shape) in self.foretold.iter_mut().zip(&SHAPES) {
            let same = survival(shape).clamp(1e-9, 1.0 - 1e-9);
            *foretold = (1.0 - 1.0 / VISITS_KEPT) * *foretold + if changed { (1.0 - same).ln() } else { same.ln() };
        }
    }

    /// Takes the shape that foretold best; whether it is another one.
    pub fn settle(&mut self) -> bool {
        let foretold = |at: u8| self.foretold[usize::from(at)];
        let best =
            (0..SHAPES.len() as u8).fold(self.taken, |best, at| if foretold(at) > foretold(best) { at } else { best });
        let is_ahead = foretold(best) > foretold(self.taken) + LEAD;
        if is_ahead {
            self.taken = best;
        }
        is_ahead
    }

    /// Shape taken (1), then how well each foretold (8 each), little-endian; one zero where nothing was ever heard.
    pub fn write(&self, bytes: &mut Vec<u8>) {
        if *self == PriorStrength::default() {
            return bytes.push(0);
        }
        bytes.push(1 + self.taken);
        self.foretold.iter().for_each(|foretold| bytes.extend(foretold.to_le_bytes()));
    }

    pub fn read(bytes: &mut &[u8]) -> Option<PriorStrength> {
        let Some(taken) = (*bytes.split_off_first()?).checked_sub(1) else { return Some(PriorStrength::default()) };
        let mut strength = PriorStrength {
            taken: Some(taken).filter(|&taken| usize::from(taken) < SHAPES.len())?,
            ..PriorStrength::default()
        };
        for foretold in &mut strength.foretold {
            *foretold = f64::from_le_bytes(*bytes.split_off(..8)?.first_chunk()?);
            Some(*foretold).filter(|foretold| foretold.is_finite())?;
        }
        Some(strength)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::Gamma;
    use vernal_model::Chance;

    /// Visits to pages whose rates are spread by a shape around 1 a day, each foretold from the prior alone.
    fn after(shape: f64, visits: u32) -> PriorStrength {
        let (mut chance, mut strength) = (Chance::new(7).stream("strength"), PriorStrength::default());
        for _ in 0..visits {
            let days = 0.2 + 2.0 * chance.share();
            let survival = |shape: f64| Gamma { a: shape, b: shape }.survival(days);
            strength.hear(!chance.happens(survival(shape)), survival);
            strength.settle();
        }
        strength
    }

    #[test]
    fn the_shape_that_is_true_is_taken() {
        for (at, shape) in SHAPES.into_iter().enumerate() {
            assert_eq!(after(shape, 10_000).shape(), SHAPES[at]);
        }
    }

    #[test]
    fn few_visits_move_nothing() {
        assert_eq!(after(4.0, 20).shape(), 1.0);
    }

    #[test]
    fn what_is_written_is_read_and_broken_bytes_are_refused() {
        for strength in [PriorStrength::default(), after(4.0, 5_000)] {
            let mut bytes = Vec::new();
            strength.write(&mut bytes);
            let mut rest = &bytes[..];
            assert_eq!(PriorStrength::read(&mut rest), Some(strength));
            assert!(rest.is_empty());
            assert_eq!(PriorStrength::read(&mut &bytes[..bytes.len() - 1]), None);
        }
        let mut wrong = vec![1 + SHAPES.len() as u8];
        wrong.extend([0; 24]);
        assert_eq!(PriorStrength::read(&mut &wrong[..]), None);
    }
}
