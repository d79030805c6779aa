//! Cuts ranked URLs into three priority lists (Yadav 2012, 3.1.3).

use std::ops::Range;

/// Three almost equal parts of `length` ranked URLs, highest first. The remainder goes to the earlier lists.
// Thirds instead of thresholds, so that low ranks are never starved (Yadav 2012, 3.1.3).
pub fn thirds(length: usize) -> [Range<usize>; 3] {
    let first = length.div_ceil(3);
    let second = first + (length - first).div_ceil(2);
    [0..first, first..second, second..length]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thirds_are_almost_equal_and_the_earlier_ones_take_what_is_left() {
        for length in 0..200 {
            let [first, second, third] = thirds(length);
            assert_eq!((first.start, first.end, second.end, third.end), (0, second.start, third.start, length));
            assert!(first.len() >= second.len() && second.len() >= third.len() && first.len() <= third.len() + 1);
        }
    }
}
