//! The screens: one file each, and a template of the same name. A file asks the API, says the answer in words and figures, and
//! leaves how it looks to the template.
//!
//! - `routes`: the address of each screen. `page`: how a template becomes an answer.
//! - `wrong`: what is shown when a question fails. `door`: login, logout, light and dark. `live`: what moves while one looks.

mod alert_routes;
mod deliveries;
mod door;
mod live;
mod new_watch;
mod operations;
mod overview;
mod page;
mod plan;
mod routes;
mod search;
mod watches;
mod wrong;

pub use routes::routes;
pub use wrong::wrong;
