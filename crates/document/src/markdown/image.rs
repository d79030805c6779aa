//! An image that says something: not one for looks alone, whose author left its text empty on purpose, and no counter of visits.

use crate::parse::scan::OpenTag;

/// The rest of what a longer text says of an image is left out.
const SAYS_BYTES_MAX: usize = 400;
/// An image of so few pixels shows nothing.
const DOT_PIXELS_MAX: u32 = 2;

pub struct Image {
    /// What its author says that it shows.
    pub says: String,
    /// As written.
    pub address: String,
}

impl Image {
    pub fn of(tag: &OpenTag<'_, '_>) -> Option<Image> {
        let says = tag.value("alt");
        let is_for_looks = says.as_ref().is_some_and(|says| says.trim().is_empty())
            || tag.value("role").is_some_and(|role| matches!(&*role, "presentation" | "none"));
        let pixels = |name: &str| tag.value(name).and_then(|pixels| pixels.trim().parse::<u32>().ok());
        let is_dot = ["width", "height"].iter().any(|name| pixels(name).is_some_and(|pixels| pixels <= DOT_PIXELS_MAX));
        if is_for_looks || is_dot {
            return None;
        }
        // Where images are loaded late, their place is held by one that stands in the page itself.
        let addresses = ["src", "data-src"].into_iter().filter_map(|name| tag.value(name));
        let mut addresses = addresses.map(|address| address.trim().to_owned());
        let address = addresses.find(|address| !address.is_empty() && !address.starts_with("data:"))?;
        let says = says.unwrap_or_default();
        let end = says.floor_char_boundary(SAYS_BYTES_MAX.min(says.len()));
        Some(Image { says: says[..end].to_owned(), address })
    }
}
