//! The open files and connections that this process may have, and how they are shared out.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Where the system names no limit. No part of the crawl uses more.
const DESCRIPTORS_MAX: usize = 1 << 16;

/// Raises the limit as far as the system lets us.
pub fn raise() {
    let limit = getrlimit(Resource::Nofile);
    let wanted = limit.maximum.map_or(DESCRIPTORS_MAX as u64, |hard| hard.min(DESCRIPTORS_MAX as u64));
    if limit.current.is_some_and(|current| current < wanted) {
        // What cannot be raised is enough for a smaller crawl: the shares below follow what there is.
        let _ = setrlimit(Resource::Nofile, Rlimit { current: Some(wanted), maximum: limit.maximum });
    }
}

/// How many descriptors this process may have now.
pub fn limit() -> usize {
    let current = getrlimit(Resource::Nofile).current;
    current.and_then(|current| usize::try_from(current).ok()).map_or(DESCRIPTORS_MAX, |some| some.min(DESCRIPTORS_MAX))
}

/// The share of each part. What is left over, an eighth at least, belongs to our own files.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Shares {
    /// Files that the store keeps open.
    pub store: usize,
    /// Requests at a time.
    pub requests: usize,
    /// Connections to sites that are kept for the next request.
    pub idle_connections: usize,
}

pub fn shares(descriptors: usize) -> Shares {
    let quarter = (descriptors / 4).max(1);
    Shares { store: quarter, requests: quarter, idle_connections: quarter }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runtime::connections::ConnectionLimits;

    #[test]
    fn an_eighth_is_left_for_our_own_files() {
        for descriptors in [64, 256, 1_024, 20_000] {
            let shares = shares(descriptors);
            let used = shares.store + shares.requests + shares.idle_connections;
            let connections = ConnectionLimits::of_descriptors(descriptors).connections_max;
            assert!(used + connections <= descriptors - descriptors / 8, "{descriptors}");
        }
    }
}
