//! The screens: one file each, and a template of the same name. A file asks the API, says the answer in words and figures, and
//! leaves how it looks to the template.
//!
//! - `routes`: the address of each screen. `page`: how a template becomes an answer.
//! - `page_head`: what stands above the screens of a page. `history`: its visits, drawn.
//! - `told`: an event, as rows and screens tell it.
//! - `wrong`: what is shown when a question fails. `login`: login, logout, light and dark. `live`: what moves while one looks.

mod alerts;
mod as_it_was;
mod blame;
mod changes;
mod diff;
mod diff_items;
mod event;
mod evidence;
mod help;
mod history;
mod history_page;
mod hits;
mod lab;
mod links;
mod live;
mod login;
mod marks;
mod operations;
mod overview;
mod page;
mod page_head;
mod plan;
mod routes;
mod search;
mod site;
mod sites;
mod told;
mod versions;
mod wrong;

pub use routes::routes;
pub use wrong::wrong;
