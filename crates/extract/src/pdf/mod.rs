//! Reads PDF files.
//!
//! - `reader`: opens the file, walks over its pages and writes what it finds.
//! - `letters`: what is drawn on a page, letter by letter, with its place.
//! - `unicode`: the letter of a glyph that the file does not name.
//! - `words`: letters become words.
//! - `rows`: words become rows of groups.
//! - `bands`: rows become columns, tables and running text, in reading order.
//! - `paragraphs`: lines become paragraphs, headings and list items; hyphens at line ends are joined.
//! - `frame`: running heads and page numbers.
//! - `links`: the links of a page.
//! - `text_string`: the strings of titles and authors.

mod bands;
mod frame;
mod letters;
mod links;
mod paragraphs;
mod reader;
mod rows;
mod text_string;
mod unicode;
mod words;

pub use reader::read_pdf;
