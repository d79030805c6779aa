fn main() {
    for name in std::env::args().skip(1) {
        let bytes = std::fs::read(&name).unwrap();
        match vernal_extract::pdf_html(&bytes) { Ok(html) => print!("{html}"), Err(error) => eprintln!("{name}: {error}") }
    }
}
