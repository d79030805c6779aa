//! Keeping it running: one screen each for how the crawl stands, its settings, seeds, noise, exports, what was forgotten, and
//! what went wrong.

mod exports;
mod forgotten;
mod log;
mod noise;
mod routes;
mod seeds;
mod settings;
mod state;
mod tabs;

pub use routes::routes;
pub use tabs::Tabs;
