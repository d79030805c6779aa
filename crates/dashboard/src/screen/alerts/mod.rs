//! Alerts: the watches, making one (`watch_form`), what was delivered, and where it goes.

mod addresses;
mod deliveries;
mod new_watch;
mod routes;
mod watch_form;
mod watches;

pub use addresses::addresses;
pub use deliveries::{Row as DeliveryRow, row as delivery_row};
