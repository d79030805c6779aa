//! Documents that are not pages.

mod bare_links;
mod draft;
mod fault;
mod pdf;

pub use fault::Fault;
pub fn pdf_html(bytes: &[u8]) -> Result<String, Fault> { pdf::read_pdf(bytes).map(|d| d.finish("application/pdf")) }
