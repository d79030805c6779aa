//! The pages for people, before the API and its guard: what they ask passes the guard like any other question.

use axum::Router;
use axum::http::Extensions;
use vernal_api::{PeerAddress, random_text};
use vernal_dashboard::Dashboard;

/// The dashboard and behind it the guarded API. `archive` is the origin where archived bytes are shown.
pub fn before(api: Router, is_secure: bool, archive: Option<String>, read_only: bool) -> Router {
    vernal_dashboard::router(Dashboard { api, carry, random: random_text, is_secure, archive, read_only })
}

/// A question is put in the name of the address that asked for the screen.
fn carry(extensions: &Extensions) -> Extensions {
    let mut carried = Extensions::new();
    if let Some(peer) = extensions.get::<PeerAddress>() {
        carried.insert(*peer);
    }
    carried
}
