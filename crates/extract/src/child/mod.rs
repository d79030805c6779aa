//! Files from the web are read in child processes of our own binary.
//!
//! - `limits`: what a file may cost.
//! - `frames`: how parent and child speak over the child's standard input and output.
//! - `confine`: what a child gives up before it looks at a file: files, network, other programs.
//! - `serve`: the child's own loop.
//! - `process`: one child as its parent sees it.
//! - `pool`: the warm children; a new one takes the place of one that hung or fell over.

mod confine;
mod frames;
mod limits;
mod pool;
mod process;
mod serve;

pub use confine::{Confinement, confine};
pub use limits::Limits;
pub use pool::{Counts, Pool};
pub use serve::serve;
