//! Where in paper 003 a value or claim stands.

use crate::lab::papers::exhibit::Page;

pub fn at(place: &'static str) -> Page {
    Page { paper: "003", place }
}
