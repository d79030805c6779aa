//! Bytes as people count them (powers of ten, as budgets do).

pub fn bytes_shown(count: u64) -> String {
    let units = [(1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB")];
    match units.into_iter().find(|(size, _)| count as f64 >= *size) {
        Some((size, unit)) => format!("{:.1}{unit}", count as f64 / size),
        None => format!("{count}B"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_counted_in_the_largest_unit_that_is_filled() {
        assert_eq!([999, 1_000, 12_345_678].map(bytes_shown), ["999B", "1.0kB", "12.3MB"]);
    }
}
