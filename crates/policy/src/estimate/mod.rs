//! What a history of visits says.

mod degree_of_success;

pub use degree_of_success::RecentVisits;
