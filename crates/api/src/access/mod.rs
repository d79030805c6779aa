//! The parts of the access guard: who asks, what that needs, and how much of it there may be.
//!
//! - `tokens`: tokens with roles, made and revoked while the crawl runs. `secret`: the texts that they are.
//! - `roles`: the role that each route needs, declared once.
//! - `rates`: requests in a time. `places`: expensive questions at a time.
//! - `cors`: pages of other origins that may ask.

pub mod cors;
pub mod places;
pub mod rates;
pub mod roles;
pub mod secret;
pub mod tokens;

pub use cors::{CorsOrigins, origin};
pub use secret::random_text;
pub use tokens::AccessTokens;
