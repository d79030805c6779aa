//! What is remembered of a page, in the deed of its last visit: format (1), shape (4), scale (4) and rate (4), little-endian;
//! nothing while no visit of it was compared.

use vernal_model::PolicyState;

use super::page::Page;

const FORMAT: u8 = 1;

pub fn state_of(page: &Page) -> PolicyState {
    let rate = page.rate();
    if rate == 0.0 {
        return PolicyState::default();
    }
    let mut bytes = [FORMAT; 13];
    bytes[1..5].copy_from_slice(&page.shape.to_le_bytes());
    bytes[5..9].copy_from_slice(&page.scale.to_le_bytes());
    bytes[9..].copy_from_slice(&rate.to_le_bytes());
    PolicyState::new(&bytes).expect("13 bytes are fewer than a policy may keep")
}

/// Shape, scale and rate; `None` if these bytes are none that `state_of` wrote.
pub fn evidence_from(state: &PolicyState) -> Option<[f32; 3]> {
    let bytes: &[u8; 13] = state.bytes().try_into().ok()?;
    let part = |from: usize| f32::from_le_bytes([bytes[from], bytes[from + 1], bytes[from + 2], bytes[from + 3]]);
    let parts = [part(1), part(5), part(9)];
    let sound = parts.iter().all(|part| part.is_finite() && (0.0..1e9).contains(part)) && parts[2] > 0.0;
    (bytes[0] == FORMAT && sound).then_some(parts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_is_written_is_read_and_broken_bytes_are_refused(
            (shape, scale, rate) in (0.0f32..100.0, 0.0f32..10_000.0, 1e-6f32..100.0),
            broken in 0usize..13,
        ) {
            let mut page = Page::default();
            (page.shape, page.scale) = (shape, scale);
            page.set_rate(rate);
            let state = state_of(&page);
            prop_assert_eq!(evidence_from(&state), Some([shape, scale, page.rate()]));
            prop_assert_eq!(evidence_from(&PolicyState::new(&state.bytes()[..broken]).unwrap()), None);
            let mut other = state.bytes().to_vec();
            other[0] += 1;
            prop_assert_eq!(evidence_from(&PolicyState::new(&other).unwrap()), None);
        }
    }

    #[test]
    fn a_page_that_was_never_compared_needs_no_bytes() {
        assert!(state_of(&Page::default()).bytes().is_empty());
        assert_eq!(evidence_from(&PolicyState::default()), None);
    }
}
