//! Reads files that are packages of XML parts: DOCX, PPTX, ODT and its kin, XLSX, EPUB.
//!
//! - `parts`: the parts of a package, within limits.
//! - `xml`: a walk over the elements of a part, within limits.
//! - `relations`: which part or address a number stands for.
//! - `properties`: title, author and dates.
//! - `docx`, `pptx`, `opendocument`, `sheets`, `epub`: one reader each. `fields` reads the links that Word writes as fields.

mod docx;
mod docx_styles;
mod epub;
mod fields;
mod opendocument;
mod parts;
mod pptx;
mod properties;
mod relations;
mod sheets;
mod xml;

pub use docx::read_docx;
pub use epub::read_epub;
pub use fields::Fields;
pub use opendocument::read_opendocument;
pub use pptx::read_pptx;
pub use sheets::read_xlsx;
