//! How many pages to sample, and how downloads follow a sample: the papers' formulas, each as a plain function.

/// s ≈ √(N·r): pages of each site to sample when nothing is known of change (N pages a site, a share r downloaded).
pub fn sample_size(pages_per_site: f64, share: f64) -> f64 {
    (pages_per_site * share).max(0.0).sqrt()
}

/// s = √(N·r·f(p_t)/(6·(p̄_r − p̄))) (Cho and Ntoulas 2002; seed 000, 2.6), from the shares of changed pages that were
/// seen: p_t is the least of the top share r, f the density of shares there, p̄_r the mean above it and p̄ the mean of
/// all. Seed 001 swaps the two means, which would make the root negative. `None` where nothing sets sites apart.
pub fn optimal_sample_size(pages_per_site: f64, share: f64, rates: &[f64]) -> Option<f64> {
    if rates.is_empty() || share <= 0.0 {
        return None;
    }
    let mut sorted = rates.to_vec();
    sorted.sort_by(|a, b| b.total_cmp(a));
    let top = ((sorted.len() as f64 * share).round() as usize).clamp(1, sorted.len());
    let threshold = sorted[top - 1];
    let mean = |rates: &[f64]| rates.iter().sum::<f64>() / rates.len() as f64;
    let lead = mean(&sorted[..top]) - mean(&sorted);
    let near = sorted.iter().filter(|&&rate| (rate - threshold).abs() <= DENSITY_HALF_WIDTH).count();
    let density = near as f64 / sorted.len() as f64 / (2.0 * DENSITY_HALF_WIDTH);
    (lead > 1e-9).then(|| (pages_per_site * share * density / (6.0 * lead)).sqrt())
}

/// The density of shares is counted this far to either side.
const DENSITY_HALF_WIDTH: f64 = 0.1;

/// The proportional policy's quotas: Q_w = (c_w/z_w)·D/Σ(c_v/z_v); nothing for anyone if no sample found a change.
pub fn proportional_quotas(rates: &[f64], downloads: f64) -> Vec<f64> {
    let all: f64 = rates.iter().sum();
    rates.iter().map(|rate| if all > 0.0 { rate * downloads / all } else { 0.0 }).collect()
}

/// How many groups to split the sites into when resources are low, so that a site gets all it needs when it has its
/// turn: pages over downloads (seed 000, 2.8).
pub fn groups_needed(pages: f64, downloads: f64) -> u64 {
    if downloads <= 0.0 { 1 } else { (pages / downloads).ceil().clamp(1.0, GROUPS_MAX) as u64 }
}

/// Beyond this a site's turn would not come within a working life.
const GROUPS_MAX: f64 = 520.0;

/// S = V·P/T: the share of the storage that old versions of sampled pages take (seed 000, 3.3.2.2).
pub fn storage_share(versions: f64, sampled: f64, pages: f64) -> f64 {
    versions * sampled / pages
}

/// The hybrid's next sample as Appendix A of seed 000 computes it: ⌊c_w·P/Σc⌋, and ⌊P/20⌋ where that is below 5. It can
/// overspend P, and gives nothing to quiet sites if P is below 20.
pub fn allocation_as_printed(rates: &[f64], sampled: u64) -> Vec<u64> {
    let quotas = proportional_quotas(rates, sampled as f64);
    quotas
        .into_iter()
        .map(|quota| quota.floor() as u64)
        .map(|quota| if quota < 5 { sampled / 20 } else { quota })
        .collect()
}

/// The same, repaired: quiet sites get at least max(1, ⌊P/20⌋), and the whole is P again. What the quiet sites get is
/// taken from the others in proportion; if P is too small even for the floors, it is shared out by them alone.
pub fn allocation(rates: &[f64], sampled: u64, lots: &[u64]) -> Vec<u64> {
    let floor = (sampled / 20).max(1);
    let printed: Vec<u64> =
        proportional_quotas(rates, sampled as f64).into_iter().map(|quota| quota.floor() as u64).collect();
    let is_quiet = |quota: u64| quota < 5;
    let floors: u64 = printed.iter().filter(|&&quota| is_quiet(quota)).map(|_| floor).sum();
    let busy: Vec<f64> = printed.iter().map(|&quota| if is_quiet(quota) { 0.0 } else { quota as f64 }).collect();
    if floors > sampled || busy.iter().all(|&weight| weight == 0.0) {
        let weights: Vec<f64> = printed.iter().map(|&quota| quota.max(floor) as f64).collect();
        return apportioned(&weights, sampled, lots);
    }
    let mut shares = apportioned(&busy, sampled - floors, lots);
    for (share, &quota) in shares.iter_mut().zip(&printed) {
        if is_quiet(quota) {
            *share = floor;
        }
    }
    shares
}

/// Whole numbers in proportion to the weights, with the sum `seats` (largest remainders; equal ones by lot).
pub fn apportioned(weights: &[f64], seats: u64, lots: &[u64]) -> Vec<u64> {
    let all: f64 = weights.iter().sum();
    if all <= 0.0 || weights.is_empty() {
        return vec![0; weights.len()];
    }
    let exact: Vec<f64> = weights.iter().map(|weight| weight * seats as f64 / all).collect();
    let mut shares: Vec<u64> = exact.iter().map(|share| share.floor() as u64).collect();
    let left = seats.saturating_sub(shares.iter().sum());
    let mut order: Vec<usize> = (0..weights.len()).collect();
    let remainder = |at: usize| exact[at] - exact[at].floor();
    let lot = |at: usize| lots.get(at).copied().unwrap_or(at as u64);
    order.sort_by(|&a, &b| remainder(b).total_cmp(&remainder(a)).then(lot(a).cmp(&lot(b))).then(a.cmp(&b)));
    for &at in order.iter().take(left as usize) {
        shares[at] += 1;
    }
    shares
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn an_allocation_spends_exactly_what_there_is(rates in prop::collection::vec(0.0f64..1.0, 1..40), sampled in 0u64..500) {
            let given = allocation(&rates, sampled, &[]);
            prop_assert_eq!(given.iter().sum::<u64>(), sampled);
            let floors = rates.len() as u64 * (sampled / 20).max(1);
            if floors <= sampled {
                prop_assert!(given.iter().all(|&pages| pages > 0), "{:?}", given);
            }
        }
    }

    #[test]
    fn the_optimal_size_needs_sites_that_differ() {
        assert_eq!(optimal_sample_size(100.0, 0.1, &[0.3; 20]), None);
        let rates: Vec<f64> = (0..100).map(|site| f64::from(site) / 100.0).collect();
        // Evenly spread shares: the density is 1 in the middle, p̄_r − p̄ = 0.25 at r = ½.
        let size = optimal_sample_size(200.0, 0.5, &rates).unwrap();
        assert!((size - (200.0 * 0.5 * 1.05 / (6.0 * 0.25f64)).sqrt()).abs() < 0.1, "{size}");
    }
}
