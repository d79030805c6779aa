//! Figures as people read them.

/// `1,035`
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut shown = String::with_capacity(digits.len() + digits.len() / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            shown.push(',');
        }
        shown.push(digit);
    }
    shown
}

/// `93.8`, of a share between 0 and 1.
pub fn percent(share: f64) -> String {
    format!("{:.1}", share * 100.0)
}

/// `93.8 %`, or a dash where nothing is known.
pub fn share(share: Option<f64>) -> String {
    share.map_or_else(|| "–".into(), |share| format!("{} %", percent(share)))
}

/// `1 page`, `2 pages`
pub fn counted(number: u64, one: &str) -> String {
    let many = if number == 1 { "" } else { "s" };
    format!("{} {one}{many}", count(number))
}

/// `196.7 MB`, in powers of a thousand.
pub fn bytes(number: u64) -> String {
    const UNITS: [&str; 5] = ["kB", "MB", "GB", "TB", "PB"];
    if number < 1_000 {
        return format!("{number} B");
    }
    let mut size = number as f64 / 1_000.0;
    let mut unit = 0;
    while size >= 999.95 && unit + 1 < UNITS.len() {
        size /= 1_000.0;
        unit += 1;
    }
    format!("{size:.1} {}", UNITS[unit])
}

/// A figure with as many places as say something: `12`, `4.2`, `0.07`.
pub fn figure(number: f64) -> String {
    match number.abs() {
        0.0 => "0".into(),
        size if size >= 100.0 => count(number.round().max(0.0) as u64),
        size if size >= 1.0 => format!("{number:.1}"),
        _ => format!("{number:.2}"),
    }
}

/// A part of a whole, in percent of a drawing.
pub fn part(amount: f64, of: f64) -> f64 {
    if of > 0.0 { (amount / of * 100.0).clamp(0.0, 100.0) } else { 0.0 }
}

/// The range in which the true share lies that `hits` of `of` samples estimate, 95 times in a hundred (Wilson).
pub fn wilson(share: f64, of: u64) -> Option<(f64, f64)> {
    const Z: f64 = 1.96;
    if of == 0 {
        return None;
    }
    let n = of as f64;
    let middle = (share + Z * Z / (2.0 * n)) / (1.0 + Z * Z / n);
    let half = Z / (1.0 + Z * Z / n) * (share * (1.0 - share) / n + Z * Z / (4.0 * n * n)).sqrt();
    Some(((middle - half).max(0.0), (middle + half).min(1.0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_written_as_people_read_them() {
        assert_eq!([count(0), count(999), count(1_035), count(1_000_000)], ["0", "999", "1,035", "1,000,000"]);
        assert_eq!(
            [bytes(999), bytes(1_000), bytes(999_999), bytes(48_400_000_000)],
            ["999 B", "1.0 kB", "1.0 MB", "48.4 GB"]
        );
        assert_eq!([counted(1, "page"), counted(2, "page")], ["1 page", "2 pages"]);
        assert_eq!([share(Some(0.938)), share(None)], ["93.8 %", "–"]);
    }

    #[test]
    fn the_range_of_a_share_holds_the_share() {
        let (low, high) = wilson(0.971, 1_000).unwrap();
        assert!((low - 0.9587).abs() < 1e-3 && (high - 0.9797).abs() < 1e-3, "{low} {high}");
        assert_eq!(wilson(1.0, 5).map(|(low, high)| (low < 1.0, high)), Some((true, 1.0)));
        assert_eq!(wilson(0.5, 0), None);
    }
}
