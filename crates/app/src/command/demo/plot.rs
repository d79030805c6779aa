//! A curve drawn with letters: shares of 0 to 1 over time.

const ROWS: usize = 8;
const COLUMNS_MAX: usize = 72;
/// An eighth of a row each.
const BLOCKS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// From the top row down, with a scale at the left.
pub fn lines(shares: &[f64]) -> Vec<String> {
    let columns = squeezed(shares);
    (0..ROWS)
        .rev()
        .map(|row| {
            let bar: String = columns.iter().map(|share| block(*share, row)).collect();
            let scale = match row {
                row if row == ROWS - 1 => "100%",
                row if row == ROWS / 2 - 1 => " 50%",
                0 => "  0%",
                _ => "    ",
            };
            format!("{scale} │{bar}")
        })
        .collect()
}

/// Neighbours share a column when there are too many.
fn squeezed(shares: &[f64]) -> Vec<f64> {
    let width = shares.len().div_ceil(COLUMNS_MAX).max(1);
    shares.chunks(width).map(|chunk| chunk.iter().sum::<f64>() / chunk.len() as f64).collect()
}

fn block(share: f64, row: usize) -> char {
    let eighths = (share.clamp(0.0, 1.0) * (ROWS * 8) as f64).round() as usize;
    BLOCKS[eighths.saturating_sub(row * 8).min(8)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn full_is_full_and_nothing_is_empty() {
        let drawn = lines(&[0.0, 0.5, 1.0]);
        assert_eq!(drawn.len(), ROWS);
        assert_eq!(drawn[0], "100% │  █");
        assert_eq!(drawn[ROWS - 1], "  0% │ ██");
        assert!(lines(&vec![1.0; 500])[0].chars().count() <= COLUMNS_MAX + 6);
    }
}
