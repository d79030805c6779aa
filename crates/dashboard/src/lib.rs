//! Pages for people, drawn by the server: everything here is told by the public API, asked as any stranger asks it, with the
//! token of the reader. This room knows no other room of ours.
//!
//! - `dashboard`: what whoever serves it gives, and the routes.
//! - `reader`: who looks, and the questions put to the API for them. `session`: a token for a cookie. `question`, `problem`:
//!   what is asked, and what went wrong.
//! - `fields`: what a form says. `answers`: the parts of the API's answers that the screens show.
//! - `frame`: what stands around every screen. `screen`: the screens, one file each, with a template of the same name.
//! - `chart`: drawings as SVG. `numbers`, `times`: figures and moments in words. `words`: words of pages, cut to what is read.
//! - `assets`: style, script and fonts, embedded. `headers`: what browsers are told to refuse.

mod answers;
mod assets;
mod chart;
mod dashboard;
mod fields;
mod frame;
mod headers;
mod numbers;
mod problem;
mod question;
mod reader;
mod screen;
mod session;
mod times;
mod words;

pub use dashboard::{Dashboard, router};
